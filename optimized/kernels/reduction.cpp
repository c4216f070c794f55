#include "optimized/kernels/reduction.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/reduction.cpp"
#include <hwy/foreach_target.h>

#include <hwy/contrib/math/math-inl.h>

#include "optimized/kernels/vectors-inl.h"

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
void fold_row(const void* elements, std::ptrdiff_t stride, std::size_t n, void* total) {
  const T* x = static_cast<const T*>(elements);
  Total<T> all = *static_cast<Total<T>*>(total);
  for (std::size_t i = 0; i < n; ++i)
    all = F::fold(all, static_cast<Total<T>>(x[static_cast<std::ptrdiff_t>(i) * stride]));
  *static_cast<Total<T>*>(total) = all;
}

template <class F, class T>
void fold_each_column(const void* elements, std::ptrdiff_t row_stride, std::size_t rows, std::size_t n, void* totals) {
  const T* x = static_cast<const T*>(elements);
  auto* all = static_cast<Total<T>*>(totals);
  for (std::size_t i = 0; i < rows; ++i, x += row_stride)
    for (std::size_t j = 0; j < n; ++j) all[j] = F::fold(all[j], static_cast<Total<T>>(x[j]));
}

HWY_INLINE float sum_of(const float* x, std::size_t n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < n; ++i) sum += x[i];
  return sum;
}

void sum_row(const void* elements, std::ptrdiff_t stride, std::size_t n, void* total) {
  if (stride != 1) return fold_row<Sum, float>(elements, stride, n, total);
  const float* x = static_cast<const float*>(elements);
  double all = *static_cast<double*>(total);
  for (std::size_t i = 0; i < n; i += block) all += static_cast<double>(sum_of(x + i, std::min(block, n - i)));
  *static_cast<double*>(total) = all;
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

// The larger or the smaller of each pair; NaN where one of them is.
template <class F>
HWY_INLINE Vector extreme(Vector a, Vector b) {
  const auto beyond = std::is_same_v<F, Max> ? hn::Gt(b, a) : hn::Lt(b, a);
  return hn::IfThenElse(hn::Or(beyond, hn::IsNaN(b)), b, a);
}

template <class F>
HWY_INLINE float extreme_of(const float* x, std::size_t n, float identity) {
  std::size_t i = 0;
  Vector most = hn::Set(floats, identity);
  for (; i + lanes <= n; i += lanes) most = extreme<F>(most, hn::LoadU(floats, x + i));
  HWY_ALIGN float each[lanes];
  hn::Store(most, floats, each);
  float all = identity;
  for (const float e : each) all = F::fold(all, e);
  for (; i < n; ++i) all = F::fold(all, x[i]);
  return all;
}

template <class F>
void extreme_row(const void* elements, std::ptrdiff_t stride, std::size_t n, void* total) {
  if (stride != 1) return fold_row<F, float>(elements, stride, n, total);
  double& all = *static_cast<double*>(total);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float identity = std::is_same_v<F, Max> ? -infinity : infinity;
  all = F::fold(all, static_cast<double>(extreme_of<F>(static_cast<const float*>(elements), n, identity)));
}

constexpr FoldRows find_fold_of(Fold fold, Element element) {
  switch (element) {
    case Element::f32:
      if (fold == Fold::sum) return {sum_row, sum_each_column};
      if (fold == Fold::max) return {extreme_row<Max>, fold_each_column<Max, float>};
      if (fold == Fold::min) return {extreme_row<Min>, fold_each_column<Min, float>};
      if (fold == Fold::prod) return {fold_row<Prod, float>, fold_each_column<Prod, float>};
      return {};
    case Element::i64:
      if (fold == Fold::sum) return {fold_row<Sum, std::int64_t>, fold_each_column<Sum, std::int64_t>};
      if (fold == Fold::max) return {fold_row<Max, std::int64_t>, fold_each_column<Max, std::int64_t>};
      if (fold == Fold::min) return {fold_row<Min, std::int64_t>, fold_each_column<Min, std::int64_t>};
      if (fold == Fold::prod) return {fold_row<Prod, std::int64_t>, fold_each_column<Prod, std::int64_t>};
      return {};
    case Element::f64:
      if (fold == Fold::sum) return {fold_row<Sum, double>, fold_each_column<Sum, double>};
      if (fold == Fold::max) return {fold_row<Max, double>, fold_each_column<Max, double>};
      if (fold == Fold::min) return {fold_row<Min, double>, fold_each_column<Min, double>};
      if (fold == Fold::prod) return {fold_row<Prod, double>, fold_each_column<Prod, double>};
      return {};
    case Element::boolean:
      if (fold == Fold::max) return {fold_row<Max, std::uint8_t>, fold_each_column<Max, std::uint8_t>};
      if (fold == Fold::min) return {fold_row<Min, std::uint8_t>, fold_each_column<Min, std::uint8_t>};
      if (fold == Fold::any) return {fold_row<Any, std::uint8_t>, fold_each_column<Any, std::uint8_t>};
      return {};
  }
  return {};
}

template <class Asked>
FoldRows fold_asked() {
  constexpr FoldRows found = find_fold_of(Asked::fold(), Asked::element());
  return found;
}

HWY_INLINE Vector exponential(Vector x) { return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(floats, x)); }

// body(i, n) for each vector of the elements from begin to end; the last one may be partial.
template <class Body>
HWY_INLINE void each_vector(std::size_t begin, std::size_t end, const Body& body) {
  std::size_t i = begin;
  for (; i + lanes <= end; i += lanes) body(i, WholeVector());
  if (i < end) body(i, Part(end - i));
}

void softmax_row(Softmax kind, const float* x, float* y, std::size_t n) {
  constexpr float lowest = -std::numeric_limits<float>::infinity();
  const float top = extreme_of<Max>(x, n, lowest);
  if (kind == Softmax::safe && top == lowest) return static_cast<void>(std::fill_n(y, n, 0.0f));
  const bool logarithm = kind == Softmax::logarithm;
  const Vector tops = hn::Set(floats, top);
  double sum = 0;
  for (std::size_t begin = 0; begin < n; begin += block) {
    Vector part = hn::Zero(floats);
    each_vector(begin, std::min(n, begin + block), [&](std::size_t i, const auto& vector) HWY_ATTR {
      const Vector e = vector.kept(exponential(hn::Sub(vector.load(x + i), tops)));
      part = hn::Add(part, e);
      if (!logarithm) vector.store(e, y + i);
    });
    HWY_ALIGN float each[lanes];
    hn::Store(part, floats, each);
    for (const float e : each) sum += static_cast<double>(e);
  }
  const Vector scale = hn::Set(floats, static_cast<float>(logarithm ? std::log(sum) : 1 / sum));
  each_vector(0, n, [&](std::size_t i, const auto& vector) HWY_ATTR {
    vector.store(logarithm ? hn::Sub(hn::Sub(vector.load(x + i), tops), scale) : hn::Mul(vector.load(y + i), scale),
                 y + i);
  });
}

Moments layer_norm_row(const float* x, const float* weight, const float* bias, double eps, float* y, std::size_t n) {
  double sum = 0, squares = 0;
  sum_row(x, 1, n, &sum);
  const double mean = sum / static_cast<double>(n);
  const float middle = static_cast<float>(mean);
  for (std::size_t begin = 0; begin < n; begin += block) {
    const std::size_t end = std::min(n, begin + block);
    float part = 0;
#pragma omp simd reduction(+ : part)
    for (std::size_t i = begin; i < end; ++i) part += (x[i] - middle) * (x[i] - middle);
    squares += static_cast<double>(part);
  }
  // Corrects for the rounded mean: the sum of squares is too large by n (mean - middle)^2.
  const double off = mean - static_cast<double>(middle);
  const double variance = std::isfinite(off) ? std::max(0.0, squares / static_cast<double>(n) - off * off) : squares;
  const float rstd = static_cast<float>(1 / std::sqrt(variance + eps));
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i)
    y[i] = (x[i] - middle) * rstd * (weight ? weight[i] : 1.0f) + (bias ? bias[i] : 0.0f);
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

Moments layer_norm(InstructionSet set, const float* x, const float* weight, const float* bias, double eps, float* y,
                   std::size_t n) {
  constexpr decltype(&HWY_STATIC_DISPATCH(layer_norm_row)) of_set[] = ASSAY_OF_EACH_SET(layer_norm_row);
  return of_set[static_cast<std::size_t>(set)](x, weight, bias, eps, y, n);
}

}  // namespace assay::kernels
#endif
