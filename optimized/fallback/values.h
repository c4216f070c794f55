#pragma once

#include "optimized/runtime/value.h"
#include "reference/value.h"

namespace assay::optimized {

// A value as the reference has it. `with_elements`: of tensors too. Throws assay::Fault where a list of integers has a
// value that is none.
assay::Value to_reference(const Value& value, bool with_elements = true);

// Puts a result of the reference where the method has it; all of `results` or, where one does not fit, none. Throws
// assay::Fault.
struct Result {
  assay::Value value;
  Value* to;
};
void store(std::span<Result> results, format::RuleId rule);

}  // namespace assay::optimized
