#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "reference/budget.h"

namespace assay {

inline constexpr int max_rank = 16;

using Ints = std::vector<Int>;

// The exception that is thrown when code reads an unknown fact. Two facts can be unknown: the sizes of a tensor (see
// Dims::unknown), and the elements of a tensor without bytes.
struct Unknown {};

// The sizes of a tensor, or an index: at most max_rank integers, stored inline.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<Int> v) : Dims(std::span(v.begin(), v.size())) {}
  explicit Dims(std::span<const Int> v) {
    for (Int n : v) push_back(n);
  }
  static Dims filled(int size, Int value) {
    Dims d;
    d.size_ = size;
    std::fill_n(d.at_.begin(), size, value);
    return d;
  }
  // Returns the integers 0, 1, ... size - 1. They are the dim order of a contiguous tensor.
  static Dims counting(int size) {
    Dims d = filled(size, 0);
    std::iota(d.begin(), d.end(), Int{0});
    return d;
  }

  // Returns the unknown sizes of a tensor with rank `size`. Reading any of these sizes throws Unknown.
  static Dims unknown(int size) {
    Dims d = filled(size, 0);
    d.known_ = false;
    return d;
  }

  bool known() const { return known_; }
  int size() const { return size_; }
  Int& operator[](Int i) {
    assert(0 <= i && i < size_);
    return begin()[i];
  }
  Int operator[](Int i) const {
    assert(0 <= i && i < size_);
    return begin()[i];
  }
  Int* begin() { return look(), at_.data(); }
  Int* end() { return look(), at_.data() + size_; }
  const Int* begin() const { return look(), at_.data(); }
  const Int* end() const { return look(), at_.data() + size_; }
  // Throws std::length_error if there are max_rank integers already.
  void push_back(Int v) {
    if (size_ == max_rank) throw std::length_error("rank");
    at_[static_cast<std::size_t>(size_++)] = v;
  }
  void insert(Int at, Int v) {
    push_back(v);
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(Int at) {
    std::rotate(begin() + at, begin() + at + 1, end());
    --size_;
  }
  friend bool operator==(const Dims& a, const Dims& b) { return std::ranges::equal(a, b); }

 private:
  void look() const {
    if (!known_) [[unlikely]]
      throw Unknown{};
  }

  std::array<Int, max_rank> at_{};
  int size_ = 0;
  bool known_ = true;
};

// The number of elements of a tensor with these sizes. The result 2^56 means "2^56 or more". No memory can hold so many
// elements.
inline Int count(const Dims& sizes) {
  constexpr Int most = Int{1} << 56;
  Int n = std::ranges::find(sizes, 0) == sizes.end();
  for (Int size : sizes) n = n > most / std::max<Int>(size, 1) ? most : n * size;
  return n;
}

// The position of element `index` in the row-major order of an array with these sizes.
inline Int offset(const Dims& sizes, const Dims& index) {
  Int flat = 0;
  for (int d = 0; d < sizes.size(); ++d) flat = flat * sizes[d] + index[d];
  return flat;
}

inline bool inside(const Dims& sizes, const Dims& index) {
  for (int d = 0; d < sizes.size(); ++d)
    if (index[d] < 0 || index[d] >= sizes[d]) return false;
  return true;
}

// The work of visiting one element, in units of Budget::Limits::work. A loop charges all its visits before the first
// one.
inline constexpr Int work_of_a_visit = 8;
inline void charge_visits(Int elements) { Budget::Scope::work(elements * work_of_a_visit); }

// for (const Dims& i : indices(sizes)) visits every index; the last dimension changes fastest. The constructor charges
// the visits to the budget.
class indices {
 public:
  explicit indices(const Dims& sizes) : sizes_(sizes) { charge_visits(count(sizes)); }
  class iterator {
   public:
    iterator(const Dims& sizes, Int left) : sizes_(&sizes), at_(Dims::filled(sizes.size(), 0)), left_(left) {}
    const Dims& operator*() const { return at_; }
    iterator& operator++() {
      --left_;
      for (int d = sizes_->size() - 1; d >= 0; --d) {
        if (++at_[d] < (*sizes_)[d]) break;
        at_[d] = 0;
      }
      return *this;
    }
    bool operator!=(const iterator& o) const { return left_ != o.left_; }

   private:
    const Dims* sizes_;
    Dims at_;
    Int left_;
  };
  iterator begin() const { return {sizes_, count(sizes_)}; }
  iterator end() const { return {sizes_, 0}; }

 private:
  Dims sizes_;
};

// A dense row-major array of Real, Int, Complex or Element.
template <class T>
struct Array {
  Dims sizes;
  Buffer<T> data;

  Array() : data(1) {}  // makes a scalar: no dimensions, one element
  explicit Array(const Dims& s) : sizes(s), data(static_cast<std::size_t>(assay::count(s))) {}
  Int count() const { return static_cast<Int>(data.size()); }
  T& operator()(const Dims& i) { return data[static_cast<std::size_t>(offset(sizes, i))]; }
  const T& operator()(const Dims& i) const { return data[static_cast<std::size_t>(offset(sizes, i))]; }
  T& operator[](Int i) { return data[static_cast<std::size_t>(i)]; }
  const T& operator[](Int i) const { return data[static_cast<std::size_t>(i)]; }
};

template <class T>
using Arrays = Buffer<Array<T>>;

// Returns the absolute value of each finite element, and 0 for an infinity or NaN. The bounds of errors by
// rounding and overflow are computed from these values. Arithmetic with an infinity or NaN neither rounds nor
// overflows. Therefore such an element adds 0 to a bound.
inline Array<Real> magnitudes(Array<Real> x) {
  for (Real& v : x.data) v = std::isfinite(v) ? std::fabs(v) : 0;
  return x;
}
inline Array<Complex> magnitudes(Array<Complex> x) {
  const auto is_finite = [](const Complex& v) { return std::isfinite(v.real()) && std::isfinite(v.imag()); };
  for (Complex& v : x.data) v = is_finite(v) ? std::min(std::abs(v), std::numeric_limits<Real>::max()) : 0;
  return x;
}

// Returns the elements of `x` as an array with `rank` dimensions. Dimension `dim` has all elements of `x`; every other
// dimension has size 1. A negative `dim` counts from the end.
template <class T>
Array<T> placed_along(Array<T> x, Int dim, int rank) {
  const Int count = x.count();
  x.sizes = Dims::filled(rank, 1);
  x.sizes[dim < 0 ? dim + rank : dim] = count;
  return x;
}
template <class T>
std::optional<Array<T>> placed_along(std::optional<Array<T>> x, Int dim, int rank) {
  return x ? std::optional(placed_along(std::move(*x), dim, rank)) : std::nullopt;
}

// The index of dimension `dim`, where a negative `dim` counts from the end. A rank of 0 is treated as 1.
inline Int wrap_dim(Int dim, int rank) { return dim < 0 ? dim + std::max(rank, 1) : dim; }

// floor(a / b). Requires b > 0.
inline Int floor_div(Int a, Int b) { return a / b - (a % b < 0); }

}  // namespace assay
