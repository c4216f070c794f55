#pragma once

#include "fuzz/mutator/random.h"
#include "reference/program/decoded.h"

namespace assay::fuzz {

// Makes one change of a plan's instructions that a program of meaning might have: a call of an operator of the
// specification on values that are there or are made for it, another operator for a call, a view, a move, a jump, a
// free; or a tensor takes the memory, the constant or the name of another.
void mutate_instructions(pte::ExecutionPlanT& plan, Random& random);

}  // namespace assay::fuzz
