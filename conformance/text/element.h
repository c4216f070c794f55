#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "reference/dtype.h"

// One element of a tensor, or one Scalar, as text.
namespace assay {

// A number as it is written. Bits are an integer beyond int64.
using Number = std::variant<bool, Int, Bits, double>;

// `true` `false` `12` `-1.5` `1e-3` `inf` `-inf` `nan` `-nan`, also Python's `True` and `False`; none for anything
// else.
std::optional<Number> number_of(std::string_view text);

// The element that stores the number: a floating dtype rounds it to nearest even, an integer dtype must hold it
// exactly, bool takes true, false, 0 and 1. Throws a malformed Fault of call.tensor.
Bits element_of(const Number& number, DType dtype);

// Likewise from text; an element of an opaque dtype is its bits in hexadecimal, `0x3f`.
Bits element_of(std::string_view text, DType dtype);

// A short text that `element_of` reads as this element, but for the payload of a NaN and a bool byte beyond 1.
std::string element_text(Bits element, DType dtype);

// The shortest text of a double, with a point or an exponent so that it reads as no integer.
std::string double_text(double value);

}  // namespace assay
