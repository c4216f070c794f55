#pragma once

#include "fuzz/mutator/random.h"
#include "reference/program/decoded.h"

namespace assay::fuzz {

// Makes one change of a plan's instructions that keeps the program plausible: adds a call of an operator of the
// specification on existing or new values; replaces the operator of a call; adds a view, a move, a jump or a free; or
// gives a tensor the memory, the constant or the name of another tensor.
void mutate_instructions(pte::ExecutionPlanT& plan, Random& random);

}  // namespace assay::fuzz
