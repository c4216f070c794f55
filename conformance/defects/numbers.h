#pragma once

#include <optional>

#include "conformance/defects/hypothesis.h"

// The numbers in arguments and results.
namespace assay::defects {

bool is_whole(DType dtype);           // an integer dtype or bool
bool is_same_number(Real a, Real b);  // NaN is the same as NaN, and 0 is not -0

// A number or tensor argument as numbers; none if it has none, or complex ones.
std::optional<Array<Real>> numbers_of(const Value& v);

// The largest magnitude among the numbers of the tensor arguments.
Real largest_input(const cases::HostCall& call);

// Replaces the numbers for which `is` holds. Returns whether there were any.
bool replace(Tensor& t, bool (*is)(Real, DType), Real (*now)(Real));

// Whether each wrong number of the first result is what `may_be` accepts for the right one, and there is one.
bool has_only(const Answered& a, bool (*is_meant)(DType), bool (*may_be)(Real right, Real got));

// Whether results differ by what float32 can lose of numbers of this size, and most by what it can lose of themselves.
bool are_near(const Array<Real>& got, const Array<Real>& right, Real size);

}  // namespace assay::defects
