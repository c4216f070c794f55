#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reference/tensor.h"

namespace assay {

using Scalar = std::variant<bool, Int, double>;
using Doubles = std::vector<double>;
using Bools = std::vector<bool>;
using Tensors = Buffer<std::optional<Tensor>>;  // an empty item is a None in a Tensor?[]

// The value of one argument of a call. std::monostate represents None. An Int also represents a dtype, layout or memory
// format by its number.
using Value = std::variant<std::monostate, Tensor, Int, double, bool, std::string, Ints, Doubles, Bools, Tensors>;

// Converts a Scalar to T for arithmetic in a dtype. T may be
// - Real: a floating dtype rounds the number to compute_dtype(dtype), as PyTorch's arithmetic does,
// - Complex: the number is rounded to the dtype of the parts,
// - Int: the number is truncated and wraps to the range of the dtype,
// - Element: the result is the element of this dtype with the value of the number.
template <class T>
T number(const Scalar& scalar, DType dtype);

// Converts a Scalar to T without rounding to a dtype. If T is Int, a floating Scalar is truncated.
template <class T>
T exact(const Scalar& scalar);

template <>
Real number(const Scalar& scalar, DType dtype);
template <>
Int number(const Scalar& scalar, DType dtype);
template <>
Complex number(const Scalar& scalar, DType dtype);
template <>
Element number(const Scalar& scalar, DType dtype);
template <>
Real exact(const Scalar& scalar);
template <>
Int exact(const Scalar& scalar);
template <>
Complex exact(const Scalar& scalar);

std::string_view kind_name(const Value& value);  // the kind of the value for messages, such as "a list of integers"

// Returns the number in the value, or nothing if the value is not a number.
std::optional<Scalar> number_in(const Value& value);

// tensor_of returns a number as a bool, int64 or float64 tensor of rank 0. item returns the first element of a tensor
// as a number; it requires a tensor that has an element.
Tensor tensor_of(const Scalar& scalar);
Scalar item(const Tensor& tensor);

Real real(const Scalar& scalar);
// Whether ATen converts the Scalar to the dtype without an error. bool accepts every number. A floating or complex
// dtype accepts the numbers in its range, infinities and NaN. An integer dtype accepts the numbers in its range. An
// unsigned dtype also accepts a negative integer, which wraps, if its absolute value is in the range. An opaque dtype
// accepts no number. The number and the limits of the range are compared as doubles.
bool fits(const Scalar& scalar, DType dtype);

// The Scalar with the opposite sign. An integer wraps, and the result for 0 is 0. A bool is unchanged.
Scalar negated(const Scalar& scalar);
bool is_floating(const Scalar& scalar);
bool is_bool(const Scalar& scalar);

// Texts for messages, such as "1.5", "(2, 3)" and "float32 (2, 3)".
std::ostream& operator<<(std::ostream& out, const Dims& dims);
std::ostream& operator<<(std::ostream& out, const Ints& ints);
std::ostream& operator<<(std::ostream& out, const Buffer<Int>& ints);
std::ostream& operator<<(std::ostream& out, const Scalar& scalar);
std::ostream& operator<<(std::ostream& out, DType dtype);
std::string describe(const Tensor& tensor);

}  // namespace assay

// Compiled once, with the optimization of the reference: code that is compiled with less of it copies and destroys the
// bytes of tensors one by one.
extern template class std::vector<assay::Tensor>;
extern template class std::vector<assay::Value>;
