#include "optimized/kernels/reduction.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/reduction.cpp"
#include <hwy/foreach_target.h>

#include "optimized/kernels/exponential-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

// Floats that are added as floats: a sum of n equal floats loses n / lanes / 2 roundings.
constexpr std::size_t block = 512, rows_of_block = 32;

template <class T>
using Total = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;

struct Sum {
  template <class T>
  static T fold(T a, T b) {
    using U = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
    return T(U(a) + U(b));
  }
};
struct Prod {
  template <class T>
  static T fold(T a, T b) {
    using U = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
    return T(U(a) * U(b));
  }
};
struct Max {
  template <class T>
  static T fold(T a, T b) {
    return b > a || b != b ? b : a;
  }
};
struct Min {
  template <class T>
  static T fold(T a, T b) {
    return b < a || b != b ? b : a;
  }
};
struct Any {
  template <class T>
  static T fold(T a, T b) {
    return a != 0 || b != 0;
  }
};

template <class F, class T>
void fold_rows(const void* elements, const Rows& rows, void* totals) {
  const T* x = static_cast<const T*>(elements);
  for (std::size_t r = 0; r < rows.count; ++r, x += rows.distance) {
    Total<T> all = static_cast<Total<T>*>(totals)[r];
    for (std::size_t i = 0; i < rows.elements; ++i)
      all = F::fold(all, static_cast<Total<T>>(x[static_cast<std::ptrdiff_t>(i) * rows.stride]));
    static_cast<Total<T>*>(totals)[r] = all;
  }
}

template <class F, class T>
void fold_each_column(const void* elements, std::ptrdiff_t row_stride, std::size_t rows, std::size_t n, void* totals) {
  const T* x = static_cast<const T*>(elements);
  auto* all = static_cast<Total<T>*>(totals);
  for (std::size_t i = 0; i < rows; ++i, x += row_stride)
    for (std::size_t j = 0; j < n; ++j) all[j] = F::fold(all[j], static_cast<Total<T>>(x[j]));
}

// The sum of term(i, part) for each vector of n elements, as floats. Two sums at once wait less for each other.
template <class Term>
HWY_INLINE float sum_of_block(std::size_t n, const Term& term) {
  Vector even = hn::Zero(floats), odd = even;
  std::size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    even = hn::Add(even, term(i, WholeVector()));
    odd = hn::Add(odd, term(i + lanes, WholeVector()));
  }
  each_vector(i, n, [&](std::size_t j, const auto& part) HWY_ATTR { even = hn::Add(even, part.kept(term(j, part))); });
  return hn::GetLane(hn::SumOfLanes(floats, hn::Add(even, odd)));
}

// The same: blocks are added as doubles.
template <class Term>
HWY_INLINE double sum_of(std::size_t n, const Term& term) {
  double all = 0;
  for (std::size_t begin = 0; begin < n; begin += block)
    all += static_cast<double>(sum_of_block(
        std::min(block, n - begin), [&](std::size_t i, const auto& part) HWY_ATTR { return term(begin + i, part); }));
  return all;
}

HWY_INLINE double sum_of(const float* x, std::size_t n) {
  return sum_of(n, [x](std::size_t i, const auto& part) HWY_ATTR { return part.load(x + i); });
}

void sum_rows(const void* elements, const Rows& rows, void* totals) {
  if (rows.stride != 1) return fold_rows<Sum, float>(elements, rows, totals);
  const float* x = static_cast<const float*>(elements);
  for (std::size_t r = 0; r < rows.count; ++r, x += rows.distance)
    static_cast<double*>(totals)[r] += sum_of(x, rows.elements);
}

void sum_each_column(const void* elements, std::ptrdiff_t row_stride, std::size_t rows, std::size_t n, void* totals) {
  const float* x = static_cast<const float*>(elements);
  double* all = static_cast<double*>(totals);
  for (std::size_t begin = 0; begin < rows; begin += rows_of_block) {
    float part[fold_columns] = {};
    const std::size_t end = std::min(rows, begin + rows_of_block);
    for (std::size_t i = begin; i < end; ++i, x += row_stride)
#pragma omp simd
      for (std::size_t j = 0; j < n; ++j) part[j] += x[j];
    for (std::size_t j = 0; j < n; ++j) all[j] += static_cast<double>(part[j]);
  }
}

// The largest or the smallest of n floats and `identity`; NaN if one of them is.
template <class F>
HWY_INLINE float extreme_of(const float* x, std::size_t n, float identity) {
  constexpr bool largest = std::is_same_v<F, Max>;
  Vector most = hn::Set(floats, identity);
  auto is_nan = hn::IsNaN(most);
  each_vector(0, n, [&](std::size_t i, const auto& part) HWY_ATTR {
    const Vector now = part.kept(part.load(x + i), most);
    is_nan = hn::Or(is_nan, hn::IsNaN(now));
    most = largest ? hn::Max(now, most) : hn::Min(now, most);
  });
  if (!hn::AllFalse(floats, is_nan)) return std::numeric_limits<float>::quiet_NaN();
  return hn::GetLane(largest ? hn::MaxOfLanes(floats, most) : hn::MinOfLanes(floats, most));
}

template <class F>
void extreme_rows(const void* elements, const Rows& rows, void* totals) {
  if (rows.stride != 1) return fold_rows<F, float>(elements, rows, totals);
  const float* x = static_cast<const float*>(elements);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float identity = std::is_same_v<F, Max> ? -infinity : infinity;
  for (std::size_t r = 0; r < rows.count; ++r, x += rows.distance) {
    double& all = static_cast<double*>(totals)[r];
    all = F::fold(all, static_cast<double>(extreme_of<F>(x, rows.elements, identity)));
  }
}

constexpr FoldRows find_fold_of(Fold fold, Element element) {
  switch (element) {
    case Element::f32:
      if (fold == Fold::sum) return {sum_rows, sum_each_column};
      if (fold == Fold::max) return {extreme_rows<Max>, fold_each_column<Max, float>};
      if (fold == Fold::min) return {extreme_rows<Min>, fold_each_column<Min, float>};
      if (fold == Fold::prod) return {fold_rows<Prod, float>, fold_each_column<Prod, float>};
      return {};
    case Element::i64:
      if (fold == Fold::sum) return {fold_rows<Sum, std::int64_t>, fold_each_column<Sum, std::int64_t>};
      if (fold == Fold::max) return {fold_rows<Max, std::int64_t>, fold_each_column<Max, std::int64_t>};
      if (fold == Fold::min) return {fold_rows<Min, std::int64_t>, fold_each_column<Min, std::int64_t>};
      if (fold == Fold::prod) return {fold_rows<Prod, std::int64_t>, fold_each_column<Prod, std::int64_t>};
      return {};
    case Element::f64:
      if (fold == Fold::sum) return {fold_rows<Sum, double>, fold_each_column<Sum, double>};
      if (fold == Fold::max) return {fold_rows<Max, double>, fold_each_column<Max, double>};
      if (fold == Fold::min) return {fold_rows<Min, double>, fold_each_column<Min, double>};
      if (fold == Fold::prod) return {fold_rows<Prod, double>, fold_each_column<Prod, double>};
      return {};
    case Element::boolean:
      if (fold == Fold::max) return {fold_rows<Max, std::uint8_t>, fold_each_column<Max, std::uint8_t>};
      if (fold == Fold::min) return {fold_rows<Min, std::uint8_t>, fold_each_column<Min, std::uint8_t>};
      if (fold == Fold::any) return {fold_rows<Any, std::uint8_t>, fold_each_column<Any, std::uint8_t>};
      return {};
  }
  return {};
}

template <class Asked>
FoldRows fold_asked() {
  constexpr FoldRows found = find_fold_of(Asked::fold(), Asked::element());
  return found;
}

void softmax_row(Softmax kind, const float* x, float* y, std::size_t n) {
  constexpr float lowest = -std::numeric_limits<float>::infinity();
  const float top = extreme_of<Max>(x, n, lowest);
  if (kind == Softmax::safe && top == lowest) return static_cast<void>(std::fill_n(y, n, 0.0f));
  const bool logarithm = kind == Softmax::logarithm;
  const Vector tops = hn::Set(floats, top);
  const double sum = sum_of(n, [&](std::size_t i, const auto& part) HWY_ATTR {
    const Vector e = exponential(hn::Sub(part.load(x + i), tops));
    if (!logarithm) part.store(e, y + i);
    return e;
  });
  const Vector scale = hn::Set(floats, static_cast<float>(logarithm ? std::log(sum) : 1 / sum));
  each_vector(0, n, [&](std::size_t i, const auto& vector) HWY_ATTR {
    vector.store(logarithm ? hn::Sub(hn::Sub(vector.load(x + i), tops), scale) : hn::Mul(vector.load(y + i), scale),
                 y + i);
  });
}

Moments layer_norm_row(const float* x, const Affine& affine, double eps, float* y, std::size_t n) {
  const double mean = sum_of(x, n) / static_cast<double>(n);
  const float middle = static_cast<float>(mean);
  const Vector middles = hn::Set(floats, middle);
  const double squares = sum_of(n, [&](std::size_t i, const auto& part) HWY_ATTR {
    const Vector off = hn::Sub(part.load(x + i), middles);
    return hn::Mul(off, off);
  });
  // Corrects for the rounded mean: the sum of squares is too large by n (mean - middle)^2.
  const double off = mean - static_cast<double>(middle);
  const double variance = std::isfinite(off) ? std::max(0.0, squares / static_cast<double>(n) - off * off) : squares;
  const float rstd = static_cast<float>(1 / std::sqrt(variance + eps));
  const float *weight = affine.weight, *bias = affine.bias;
  const std::size_t run = affine.run;
  if (run == 1) {
#pragma omp simd
    for (std::size_t i = 0; i < n; ++i)
      y[i] = (x[i] - middle) * rstd * (weight ? weight[i] : 1.0f) + (bias ? bias[i] : 0.0f);
    return {middle, rstd};
  }
  for (std::size_t c = 0; c * run < n; ++c, x += run, y += run) {
    const float factor = weight ? weight[c] : 1, addend = bias ? bias[c] : 0;
#pragma omp simd
    for (std::size_t i = 0; i < run; ++i) y[i] = (x[i] - middle) * rstd * factor + addend;
  }
  return {middle, rstd};
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

template <Fold asked_fold, Element asked_element>
FoldRows find_fold(InstructionSet set) {
  struct Asked {
    static constexpr Fold fold() { return asked_fold; }
    static constexpr Element element() { return asked_element; }
  };
  constexpr FoldRows (*of_set[])() = ASSAY_OF_EACH_SET(fold_asked<Asked>);
  return of_set[static_cast<std::size_t>(set)]();
}
template FoldRows find_fold<Fold::sum, Element::f32>(InstructionSet);
template FoldRows find_fold<Fold::max, Element::f32>(InstructionSet);
template FoldRows find_fold<Fold::min, Element::f32>(InstructionSet);
template FoldRows find_fold<Fold::sum, Element::i64>(InstructionSet);
template FoldRows find_fold<Fold::max, Element::i64>(InstructionSet);
template FoldRows find_fold<Fold::min, Element::i64>(InstructionSet);
template FoldRows find_fold<Fold::prod, Element::f32>(InstructionSet);
template FoldRows find_fold<Fold::prod, Element::i64>(InstructionSet);
template FoldRows find_fold<Fold::sum, Element::f64>(InstructionSet);
template FoldRows find_fold<Fold::max, Element::f64>(InstructionSet);
template FoldRows find_fold<Fold::min, Element::f64>(InstructionSet);
template FoldRows find_fold<Fold::prod, Element::f64>(InstructionSet);
template FoldRows find_fold<Fold::max, Element::boolean>(InstructionSet);
template FoldRows find_fold<Fold::min, Element::boolean>(InstructionSet);
template FoldRows find_fold<Fold::any, Element::boolean>(InstructionSet);

void softmax(InstructionSet set, Softmax kind, const float* x, float* y, std::size_t n) {
  constexpr decltype(&HWY_STATIC_DISPATCH(softmax_row)) of_set[] = ASSAY_OF_EACH_SET(softmax_row);
  of_set[static_cast<std::size_t>(set)](kind, x, y, n);
}

Moments layer_norm(InstructionSet set, const float* x, const Affine& affine, double eps, float* y, std::size_t n) {
  constexpr decltype(&HWY_STATIC_DISPATCH(layer_norm_row)) of_set[] = ASSAY_OF_EACH_SET(layer_norm_row);
  return of_set[static_cast<std::size_t>(set)](x, affine, eps, y, n);
}

}  // namespace assay::kernels
#endif
