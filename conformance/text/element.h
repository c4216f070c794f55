#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "reference/dtype.h"

// One element of a tensor, or one Scalar, as text.
namespace assay::text {

// A number as it is written. Bits holds integers beyond int64.
using Number = std::variant<bool, Int, Bits, double>;

// `true` `false` `12` `-1.5` `1e-3` `inf` `-inf` `nan` `-nan`, also Python's `True` and `False`; none for anything
// else.
std::optional<Number> number_of(std::string_view text);

// The element that stores the number. A floating dtype rounds the number to nearest even. An integer dtype must hold it
// exactly. Bool takes true, false, 0 and 1. For a complex dtype, it is the real part. Throws a malformed Fault of
// call.tensor.
Element element_of(const Number& number, DType dtype);

// The complex element with these parts.
Element element_of(const Number& real, const Number& imaginary, DType dtype);

// The same from text. An element of a complex dtype is `1+2j`, `2j` or a number; an element of an opaque dtype is its
// bits in hexadecimal, `0x3f`.
Element element_of(std::string_view text, DType dtype);

// A short text that `element_of` reads as the same element, except for the payload of a NaN and a bool byte above 1.
std::string element_text(const Element& element, DType dtype);

// The same for one number, such as a part of a complex element.
std::string number_text(Bits number, DType dtype);

// The shortest text of a double, with a point or an exponent, so that it does not read as an integer.
std::string double_text(double value);

}  // namespace assay::text
