#pragma once

#include "fuzz/mutator/random.h"
#include "fuzz/mutator/tree.h"

namespace assay::fuzz {

// Makes one change of a tree: changes a number; redirects an index; removes, repeats or reorders elements of a list; or
// replaces a field by the same field at another place. Indices mostly follow their elements. Parts copied from `other`,
// a tree of the same schema, bring the elements that they refer to. `other` may be the tree itself.
void mutate(Table& root, Table& other, Random& random);

}  // namespace assay::fuzz
