#pragma once

#include <cstring>
#include <type_traits>

#include "optimized/selection/codes.h"
#include "optimized/selection/elements.h"
#include "optimized/selection/layout.h"
#include "optimized/selection/numbers.h"

// Plain loops over elements of any dtype and in any layout, for calls whose speed does not matter. They compute with
// numbers of three types: doubles, integers that wrap, and complex numbers of doubles.
namespace assay::optimized {

// Calls f.operator()<T>() for the type of number in which a call with this common dtype is computed. Returns false if
// the dtype is opaque.
template <class F>
bool with_number(DType common, F f) {
  if (is_floating(common)) return f.template operator()<double>();
  if (is_complex(common)) return f.template operator()<Complex>();
  return find_reader<std::int64_t>(common) && f.template operator()<std::int64_t>();
}

constexpr std::size_t most_element_bytes = 16;

// The elements of a tensor as numbers. Each element is converted to the dtype `as` first.
template <class T>
class Reading {
 public:
  Reading(const Tensor& t, DType as)
      : data_(t.data),
        bytes_(static_cast<std::ptrdiff_t>(t.element_bytes())),
        from_(t.dtype),
        as_(as),
        read_(find_reader<T>(as)) {}
  T operator[](std::ptrdiff_t i) const {
    const std::byte* element = data_ + i * bytes_;
    if (from_ == as_) return read_(element);
    alignas(8) std::byte converted[most_element_bytes];
    convert(from_, element, as_, converted);
    return read_(converted);
  }

 private:
  const std::byte* data_;
  std::ptrdiff_t bytes_;
  DType from_, as_;
  ReadNumber<T> read_;
};

// Stores numbers as elements of a tensor. Each number is rounded to the dtype `as` first.
template <class T>
class Writing {
 public:
  Writing(const Tensor& t, DType as)
      : data_(t.data),
        bytes_(static_cast<std::ptrdiff_t>(t.element_bytes())),
        to_(t.dtype),
        as_(as),
        write_(find_writer<T>(as)) {}
  explicit Writing(const Tensor& t) : Writing(t, t.dtype) {}
  void set(std::ptrdiff_t i, T x) const {
    std::byte* element = data_ + i * bytes_;
    if (to_ == as_) return write_(x, element);
    alignas(8) std::byte rounded[most_element_bytes];
    write_(x, rounded);
    convert(as_, rounded, to_, element);
  }

 private:
  std::byte* data_;
  std::ptrdiff_t bytes_;
  DType to_, as_;
  WriteNumber<T> write_;
};

// Calls f(index) for each index of a shape, in row-major order.
template <class F>
void each_index(const Shape& shape, F f) {
  std::int32_t index[max_rank] = {};
  for (std::int64_t n = shape.count(); n > 0; --n) {
    f(static_cast<const std::int32_t*>(index));
    for (int d = shape.rank - 1; d >= 0 && ++index[d] == shape.sizes[d]; --d) index[d] = 0;
  }
}
// The places of the elements of a tensor in row-major order, one after another.
class Walk {
 public:
  explicit Walk(const Tensor& t) : Walk(shape_of(t), strides_of(t)) {}
  Walk(const Shape& shape, const Strides& strides) : shape_(shape), strides_(strides) {}
  std::ptrdiff_t place() const { return place_; }
  void next() {
    for (int d = shape_.rank - 1; d >= 0; --d) {
      place_ += strides_.of[d];
      if (++index_[d] < shape_.sizes[d]) return;
      place_ -= strides_.of[d] * shape_.sizes[d], index_[d] = 0;
    }
  }

 private:
  Shape shape_;
  Strides strides_;
  std::int32_t index_[max_rank] = {};
  std::ptrdiff_t place_ = 0;
};

// Calls element(at) with the places of an element in each operand of the nest.
template <class Element>
void each_element(const Nest& nest, int operands, Element element) {
  const int inner = nest.loops - 1;
  each_row(nest, operands, [&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
    std::ptrdiff_t now[most_operands];
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      for (int k = 0; k < operands; ++k) now[k] = at[k] + i * nest.stride[k][inner];
      element(static_cast<const std::ptrdiff_t*>(now));
    }
  });
}

// The place of the first dimensions of an index.
inline std::ptrdiff_t place_of(const Strides& strides, const std::int32_t* index, int dims) {
  std::ptrdiff_t place = 0;
  for (int d = 0; d < dims; ++d) place += index[d] * strides.of[d];
  return place;
}

// The place of the k-th element in row-major order.
inline std::ptrdiff_t place_of(const Strides& strides, const Shape& shape, std::int64_t k) {
  std::ptrdiff_t place = 0;
  for (int d = shape.rank; d-- > 0; k /= shape.sizes[d]) place += k % shape.sizes[d] * strides.of[d];
  return place;
}

// Sets all bytes of a tensor to 0. An empty tensor may have no memory.
inline void clear(const Tensor& t) {
  if (t.bytes() > 0) std::memset(t.data, 0, t.bytes());
}

// Sums and products. Integers wrap.
template <class T>
T plus(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}
template <class T>
T times(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}

// A product that does not turn NaN into an infinity, as that of C does.
inline Complex product(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
inline double product(double a, double b) { return a * b; }
inline std::int64_t product(std::int64_t a, std::int64_t b) { return times(a, b); }
// A quotient that does not turn NaN into an infinity, as that of C does. It is scaled by the larger part of the
// divisor.
inline Complex quotient(Complex a, Complex b) {
  const bool is_real_larger = std::fabs(b.real()) >= std::fabs(b.imag());
  if (is_real_larger && b.real() == 0 && b.imag() == 0) return {a.real() / 0.0, a.imag() / 0.0};
  const double c = is_real_larger ? b.real() : b.imag(), d = is_real_larger ? b.imag() : b.real(), ratio = d / c;
  const double scale = 1 / (c + d * ratio);
  return is_real_larger ? Complex((a.real() + a.imag() * ratio) * scale, (a.imag() - a.real() * ratio) * scale)
                        : Complex((a.real() * ratio + a.imag()) * scale, (a.imag() * ratio - a.real()) * scale);
}
inline double quotient(double a, double b) { return a / b; }

// Reads a number of the program for a computation in the dtype, as number_as does.
template <class T>
bool read_scalar(DType common, const Value& number, T& to) {
  std::uint64_t element = 0;
  const DType part = part_of(common);
  if (!number_as(part, number, &element)) return false;
  if constexpr (std::is_integral_v<T>)
    std::memcpy(&to, &element, sizeof to);
  else
    to = find_reader(computed_in(part))(&element);
  return true;
}

}  // namespace assay::optimized
