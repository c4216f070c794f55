#pragma once

#include <span>
#include <string>
#include <vector>

#include "reference/operator.h"
#include "reference/value.h"

namespace assay {

// Where the data leave several answers open (ties), an entry names its choice; here stands which answers are allowed.
// Returns what is wrong with the outs in one sentence, or nothing. The outs have the expected dtypes and sizes.
std::string choice_fault(const Operator& op, std::span<const Value> arguments, std::span<const Tensor> expected,
                         std::span<const Tensor> got);

// Whether the data leave a single answer open, the expected one. False where it is not plain to see.
bool has_one_answer(const Operator& op, std::span<const Value> arguments);

// Whether the answers that the choice leaves open are drawn at random, so that no two need be equal.
bool is_drawn(const Operator& op);

}  // namespace assay
