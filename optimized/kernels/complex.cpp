#include "optimized/kernels/complex.h"

#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/complex.cpp"
#include <hwy/foreach_target.h>

#include "optimized/kernels/vectors-inl.h"

// The compiler makes vectors of these loops.
HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

void multiply_pairs(const float* a, const float* b, float* y, std::size_t n) {
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) {
    const double ax = a[2 * i], ay = a[2 * i + 1], bx = b[2 * i], by = b[2 * i + 1];
    y[2 * i] = static_cast<float>(ax * bx - ay * by);
    y[2 * i + 1] = static_cast<float>(ax * by + ay * bx);
  }
}

// The squares of floats are normal doubles, or 0.
void size_pairs(const float* z, float* y, std::size_t n) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) {
    const double a = std::fabs(static_cast<double>(z[2 * i])), b = std::fabs(static_cast<double>(z[2 * i + 1]));
    const bool is_infinite = (a == infinity) | (b == infinity);
    y[i] = static_cast<float>(is_infinite ? infinity : std::sqrt(a * a + b * b));
  }
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

void multiply_complex(InstructionSet set, const float* a, const float* b, float* y, std::size_t n) {
  constexpr decltype(&HWY_STATIC_DISPATCH(multiply_pairs)) of_set[] = ASSAY_OF_EACH_SET(multiply_pairs);
  of_set[static_cast<std::size_t>(set)](a, b, y, n);
}

void complex_sizes(InstructionSet set, const float* z, float* y, std::size_t n) {
  constexpr decltype(&HWY_STATIC_DISPATCH(size_pairs)) of_set[] = ASSAY_OF_EACH_SET(size_pairs);
  of_set[static_cast<std::size_t>(set)](z, y, n);
}

}  // namespace assay::kernels
#endif
