#pragma once

#include <span>
#include <string>
#include <vector>

#include "conformance/cases/recorded.h"
#include "conformance/judge/judge.h"

// The recorded answers of eager PyTorch, as answers of a testee.
namespace assay::mutation {

std::vector<RecordedCalls> recorded_in(std::span<const std::string> folders);

Reaction reaction_of(const RecordedCall& recorded);

// Whether the judge accepts the reaction as right, also with the verdict quality.
bool is_right(const Operator& op, const RecordedCall& recorded, const Expectation& expected, const Reaction& reaction);

inline bool like(const Tensor& a, const Tensor& b) { return a.dtype == b.dtype && a.sizes == b.sizes; }

}  // namespace assay::mutation
