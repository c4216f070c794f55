#pragma once

#include <optional>
#include <string>

#include "reference/value.h"

// Compares a value with the expected value.
namespace assay::files {

struct Tolerance {
  double rtol = 0, atol = 0;  // |got - want| <= atol + rtol * |want|
};

struct Comparison {
  std::string difference;  // a difference of kind, dtype or sizes; if there is one, no elements are compared
  Int elements = 0, outside = 0;
  double distance = 0;  // the largest |got - want|
  // The element that is farthest outside of the tolerance: its index, and both values as text.
  Dims index;
  std::string got, want;

  bool agrees() const { return difference.empty() && outside == 0; }
};

// Tensors agree if dtype and sizes are equal and each element is within the tolerance, equal, or NaN on both sides. A
// tensor that is not floating must be equal if both tolerances are 0. Dim orders may differ. An integer agrees with the
// equal float.
Comparison compare(const Value& got, const Value& want, const Tolerance& tolerance);

std::string sentence(const Comparison& comparison, const Tolerance& tolerance);

}  // namespace assay::files
