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
using Tensors = Buffer<std::optional<Tensor>>;  // an empty element is a None of a Tensor?[]

// One argument of an operator call. None is std::monostate. A dtype, layout or memory format argument is its number.
using Value = std::variant<std::monostate, Tensor, Int, double, bool, std::string, Ints, Doubles, Bools, Tensors>;

// A Scalar as a number of the compute type, converted through a dtype. An integer dtype wraps it. A floating or complex
// dtype keeps it in the compute dtype of `dtype`, as PyTorch's arithmetic does.
template <class T>
T number(const Scalar& scalar, DType dtype);

// The same without conversion through a dtype. A floating Scalar is truncated to an Int.
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

std::string_view kind_name(const Value& value);  // for messages: "a list of integers"

// The number in the value; none if the value is not a number.
std::optional<Scalar> number_in(const Value& value);

// A number as a bool, int64 or float64 tensor without dimensions, and back from the first element of a tensor.
Tensor tensor_of(const Scalar& scalar);
Scalar item(const Tensor& tensor);

Real real(const Scalar& scalar);
// ATen's Scalar conversion. A bool dtype takes every number. A floating dtype takes its range and infinity. An unsigned
// dtype takes a negative integer, which wraps, but no negative float. The limits are compared as doubles.
bool fits(const Scalar& scalar, DType dtype);

Scalar negated(const Scalar& scalar);  // an integer wraps and its zero has no sign; a bool is unchanged
bool is_floating(const Scalar& scalar);
bool is_bool(const Scalar& scalar);

// For messages: "1.5", "(2, 3)", "float32 (2, 3)".
std::ostream& operator<<(std::ostream& out, const Dims& dims);
std::ostream& operator<<(std::ostream& out, const Ints& ints);
std::ostream& operator<<(std::ostream& out, const Buffer<Int>& ints);
std::ostream& operator<<(std::ostream& out, const Scalar& scalar);
std::ostream& operator<<(std::ostream& out, DType dtype);
std::string describe(const Tensor& tensor);

}  // namespace assay
