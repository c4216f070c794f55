#pragma once

#include <optional>
#include <string>

#include "reference/value.h"

// Holds a value against the one that is expected.
namespace assay {

struct Tolerance {
  double rtol = 0, atol = 0;  // |got - want| <= atol + rtol * |want|
};

struct Comparison {
  std::string difference;  // of kind, dtype or sizes; then nothing else is compared
  Int elements = 0, outside = 0;
  double distance = 0;  // the largest |got - want|
  // The element outside that is farthest off: its index, and both as text.
  Dims index;
  std::string got, want;

  bool agrees() const { return difference.empty() && outside == 0; }
};

// Tensors agree where dtype and sizes are equal and each element is within the tolerance, equal, or NaN on both sides;
// what is no floating tensor is exact when both tolerances are 0. Dim orders may differ. An integer agrees with the
// equal float.
Comparison compare(const Value& got, const Value& want, const Tolerance& tolerance);

std::string sentence(const Comparison& comparison, const Tolerance& tolerance);

}  // namespace assay
