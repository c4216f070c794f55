#include "reference/value.h"

#include <cmath>
#include <ostream>

#include "reference/fault.h"

namespace assay {
namespace {

// Writes the list, and cuts a long one.
std::ostream& list(std::ostream& out, std::span<const Int> items) {
  constexpr std::size_t most = 64;
  out << '(';
  for (std::size_t i = 0; i < std::min(items.size(), most); ++i) out << (i ? ", " : "") << items[i];
  return out << (items.size() > most ? ", ...)" : ")");
}

Int integer(const Scalar& scalar) {
  if (const double* d = std::get_if<double>(&scalar))
    return info(DType::int64).int_of(info(DType::int64).bits_of_real(*d));
  return std::visit([](auto v) { return static_cast<Int>(v); }, scalar);
}

}  // namespace

Real real(const Scalar& scalar) {
  return std::visit([](auto v) { return static_cast<Real>(v); }, scalar);
}

template <>
Real number<Real>(const Scalar& scalar, DType dtype) {
  return is_floating(dtype) ? round_to(compute_dtype(dtype), real(scalar)) : real(scalar);
}

template <>
Int number<Int>(const Scalar& scalar, DType dtype) {
  return wrap_to(dtype, integer(scalar));
}

template <>
Complex number<Complex>(const Scalar& scalar, DType dtype) {
  return round_to(info(dtype).part, real(scalar));
}

// For a complex dtype the bytes after the real part are zeros, which are an imaginary part of zero.
template <>
Element number<Element>(const Scalar& scalar, DType dtype) {
  const DTypeInfo& d = info(dtype);
  if (d.is_opaque()) return {static_cast<Bits>(integer(scalar))};
  if (is_floating(scalar)) return {d.bits_of_real(number<Real>(scalar, d.part))};
  return {d.bits_of_int(integer(scalar))};
}

template <>
Real exact<Real>(const Scalar& scalar) {
  return real(scalar);
}

template <>
Complex exact<Complex>(const Scalar& scalar) {
  return real(scalar);
}

template <>
Int exact<Int>(const Scalar& scalar) {
  return integer(scalar);
}

std::string_view kind_name(const Value& value) {
  constexpr std::string_view names[] = {
      "None",     "a tensor",           "an integer",       "a float",         "a bool",
      "a string", "a list of integers", "a list of floats", "a list of bools", "a list of tensors"};
  static_assert(std::size(names) == std::variant_size_v<Value>);
  return names[value.index()];
}

std::optional<Scalar> number_in(const Value& value) {
  if (const bool* b = std::get_if<bool>(&value)) return *b;
  if (const Int* n = std::get_if<Int>(&value)) return *n;
  if (const double* d = std::get_if<double>(&value)) return *d;
  return std::nullopt;
}

Tensor tensor_of(const Scalar& scalar) {
  Tensor tensor = make(is_bool(scalar) ? DType::boolean : is_floating(scalar) ? DType::float64 : DType::int64, {});
  Array<Element> element;
  element[0] = number<Element>(scalar, tensor.dtype);
  write(element, tensor);
  return tensor;
}

Scalar item(const Tensor& tensor) {
  if (is_floating(tensor.dtype)) return read<Real>(tensor)[0];
  const Int n = read<Int>(tensor)[0];
  return tensor.dtype == DType::boolean ? Scalar(n != 0) : Scalar(n);
}

bool fits(const Scalar& scalar, DType dtype) {
  const Real v = real(scalar);
  if (info(dtype).is_opaque()) return false;
  if (dtype == DType::boolean) return true;
  if (is_floating(dtype) || is_complex(dtype)) return !std::isfinite(v) || std::fabs(v) <= largest(dtype);
  const bool wraps = !is_floating(scalar) && least_integer(dtype) == 0;
  return v >= (wraps ? -largest_integer(dtype) : least_integer(dtype)) && v <= largest_integer(dtype);
}

Scalar negated(const Scalar& scalar) {
  if (const Int* n = std::get_if<Int>(&scalar)) return wrapping_negate(*n);
  if (const double* v = std::get_if<double>(&scalar)) return -*v;
  return scalar;
}

bool is_floating(const Scalar& scalar) { return std::holds_alternative<double>(scalar); }
bool is_bool(const Scalar& scalar) { return std::holds_alternative<bool>(scalar); }

std::ostream& operator<<(std::ostream& out, const Dims& dims) {
  if (dims.known()) return list(out, {dims.begin(), dims.end()});
  for (int d = 0; d < dims.size(); ++d) out << (d ? ", ?" : "(?");
  return out << ')';
}
std::ostream& operator<<(std::ostream& out, const Ints& ints) { return list(out, ints); }
std::ostream& operator<<(std::ostream& out, const Buffer<Int>& ints) { return list(out, ints); }
std::ostream& operator<<(std::ostream& out, DType dtype) { return out << info(dtype).name; }
std::ostream& operator<<(std::ostream& out, const Scalar& scalar) {
  if (const bool* b = std::get_if<bool>(&scalar)) return out << (*b ? "true" : "false");
  return std::visit([&](auto v) -> std::ostream& { return out << v; }, scalar);
}

std::string describe(const Tensor& tensor) { return concat(tensor.dtype, " ", tensor.sizes); }

}  // namespace assay

template class std::vector<assay::Tensor>;
template class std::vector<assay::Value>;
