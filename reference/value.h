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
using Tensors = Buffer<std::optional<Tensor>>;  // without tensor: a None of a Tensor?[]

// One argument of an operator call. None is std::monostate; a dtype, layout or memory format argument is its number.
using Value = std::variant<std::monostate, Tensor, Int, double, bool, std::string, Ints, Doubles, Bools, Tensors>;

// A Scalar as a number of the compute type, seen through a dtype: an integer wraps; a floating or complex dtype keeps
// it as PyTorch's arithmetic does, in the compute dtype of `dtype`.
template <class T>
T number(const Scalar& scalar, DType dtype);

// The same, not yet seen through a dtype; a floating Scalar is truncated to an Int.
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

std::string_view kind_name(const Value& value);  // for sentences: "a list of integers"

// The number that a value is; none where it is none.
std::optional<Scalar> number_in(const Value& value);

// A number as a tensor without dimensions, of bool, int64 or float64, and the first element of a tensor as a number.
Tensor tensor_of(const Scalar& scalar);
Scalar item(const Tensor& tensor);

Real real(const Scalar& scalar);
// ATen's Scalar conversion: a bool dtype takes every number, a floating one its range and infinity; an unsigned one
// takes a negative integer, which wraps, but no negative float. The limits are compared as doubles.
bool fits(const Scalar& scalar, DType dtype);

Scalar negated(const Scalar& scalar);  // an integer wraps, and its 0 has no sign; a bool stays
bool is_floating(const Scalar& scalar);
bool is_bool(const Scalar& scalar);

// For sentences: "1.5", "(2, 3)", "float32 (2, 3)".
std::ostream& operator<<(std::ostream& out, const Dims& dims);
std::ostream& operator<<(std::ostream& out, const Ints& ints);
std::ostream& operator<<(std::ostream& out, const Buffer<Int>& ints);
std::ostream& operator<<(std::ostream& out, const Scalar& scalar);
std::ostream& operator<<(std::ostream& out, DType dtype);
std::string describe(const Tensor& tensor);

}  // namespace assay
