#pragma once

#include <vector>

#include "conformance/delegates/interval_method.h"
#include "conformance/delegates/payload.h"

// A payload as the operators of the specification that compute it.
namespace assay::delegates {

// The outputs of a payload for these inputs, as the reference computes them. Throws Fault if the payload has a node
// whose meaning is not known, or if an operator refuses its call.
std::vector<Tensor> outputs_of(const Payload& payload, xnnpack::Form form, std::span<const Tensor> inputs,
                               const Budget& budget = {});

// In which dtype a node that reads or writes float16 values keeps the partial results of its sums.
enum class HalfSums : std::uint8_t { in_float32, in_float16 };

// The same outputs with the values that are right for them.
std::vector<RightOutput> right_outputs(const Payload& payload, xnnpack::Form form, HalfSums sums,
                                       std::span<const Tensor> inputs, const Budget& budget = {});

// Whether XNNPACK computes another graph than the one that the payload states.
bool is_folded(const Payload& payload);
bool has_halves(const Payload& payload);  // whether a value is of float16

}  // namespace assay::delegates
