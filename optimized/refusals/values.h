#pragma once

#include "optimized/runtime/value.h"
#include "reference/value.h"

namespace assay::optimized {

// Converts a value to a value of the reference. If `with_elements` is false, tensors get no elements. Throws
// assay::Fault if a list of integers has an item that is no integer.
assay::Value to_reference(const Value& value, bool with_elements = true);

// A result of the reference, and the value of the method that would store it.
struct Result {
  assay::Value value;
  Value* to;
};
// Throws assay::Fault if a result does not fit.
void require_fit(std::span<Result> results, format::RuleId rule);

}  // namespace assay::optimized
