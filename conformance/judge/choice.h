#pragma once

#include <span>
#include <string>
#include <vector>

#include "reference/operator.h"
#include "reference/value.h"

namespace assay::judge {

// Some data allow several right answers (ties). An entry then names its `choice`, and this function checks an answer
// against it. Returns one sentence about the error, or none. The outs have the expected dtypes and sizes.
std::string choice_fault(const Operator& op, std::span<const Value> arguments, std::span<const Tensor> expected,
                         std::span<const Tensor> got);

// True if the data allow only the expected answer. May return false for such data when it is not easy to decide.
bool has_one_answer(const Operator& op, std::span<const Value> arguments);

// True if the entry's choice is a random draw, so that no two answers need be equal.
bool is_drawn(const Operator& op);

}  // namespace assay::judge
