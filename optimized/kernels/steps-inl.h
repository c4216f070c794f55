// Quantizes rows of floats. The compiler makes vectors of these loops.
#if defined(ASSAY_KERNELS_STEPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_STEPS_INL_H
#undef ASSAY_KERNELS_STEPS_INL_H
#else
#define ASSAY_KERNELS_STEPS_INL_H
#endif

#include <cmath>

#include "optimized/kernels/steps.h"
#include "optimized/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

struct Ends {
  float least = 0, most = 0;
};

// The smallest and the largest of n floats and 0. They do not depend on NaN.
HWY_INLINE Ends ends_of(const float* x, std::size_t n) {
  float least = 0, most = 0;
#pragma omp simd reduction(min : least) reduction(max : most)
  for (std::size_t i = 0; i < n; ++i) least = x[i] < least ? x[i] : least, most = x[i] > most ? x[i] : most;
  return {least, most};
}

// Stores the codes of n floats; returns false if one of their steps is NaN.
HWY_INLINE bool store_codes(const Steps& steps, const float* x, std::size_t n, std::uint8_t* codes) {
  const float k = steps.factor, zero = static_cast<float>(steps.zero), low = -zero, high = 255 - zero;
  std::uint32_t has_nan = 0;
#pragma omp simd reduction(| : has_nan)
  for (std::size_t i = 0; i < n; ++i) {
    const float scaled = x[i] * k, raised = scaled < low ? low : scaled, step = raised > high ? high : raised;
    has_nan |= step == step ? 0u : 1u;
    codes[i] = static_cast<std::uint8_t>(static_cast<std::int32_t>(std::nearbyint(step == step ? step : 0) + zero));
  }
  return has_nan == 0;
}

// Stores the codes of a row.
HWY_INLINE Steps quantize_row(const float* x, std::size_t n, std::uint8_t* codes) {
  const Ends ends = ends_of(x, n);
  Steps steps = steps_between(ends.least, ends.most);
  if (!store_codes(steps, x, n, codes)) steps.inverse = std::nanf("");
  return steps;
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
