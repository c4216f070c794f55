#pragma once

#include <vector>

#include "conformance/delegates/intervals.h"
#include "conformance/delegates/payload.h"

// A payload as the operators of the specification that compute it.
namespace assay::delegates {

// An output of a payload with the interval of each of its elements.
struct RightOutput {
  Tensor expected;
  Interval interval;
};

// The outputs of a payload for these inputs, as the reference computes them. Throws Fault if the payload has a node
// whose meaning is not known, or if an operator refuses its call.
std::vector<Tensor> outputs_of(const Payload& payload, xnnpack::Form form, std::span<const Tensor> inputs);

// The same outputs with the values that are right for them. Each call of an operator is right within its entry's bound,
// and the bounds of earlier calls are pushed through later calls.
std::vector<RightOutput> right_outputs(const Payload& payload, xnnpack::Form form, std::span<const Tensor> inputs);

}  // namespace assay::delegates
