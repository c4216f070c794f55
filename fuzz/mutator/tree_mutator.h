#pragma once

#include "fuzz/mutator/random.h"
#include "fuzz/mutator/tree.h"

namespace assay::fuzz {

// Makes one change of a tree: a number becomes another, an index that of another element, elements of a list go, come
// again or change places, a field becomes what it is elsewhere. Indices mostly follow the elements that they are of.
// What is taken from `other`, a tree of the same schema, brings the elements that it refers to; the tree itself will
// do.
void mutate(Table& root, Table& other, Random& random);

}  // namespace assay::fuzz
