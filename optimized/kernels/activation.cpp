#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/activation.cpp"
#include <hwy/foreach_target.h>

#include "optimized/kernels/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

template <Activation activation>
void activate_as(float low, float high, const float* x, float* y, std::size_t n) {
  const Vector low_vector = number(low), high_vector = number(high);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(activated(activation, hn::LoadU(floats, x + i), low_vector, high_vector), floats, y + i);
  if (i == n) return;
  const Part rest(n - i);
  rest.store(activated(activation, rest.load(x + i), low_vector, high_vector), y + i);
}

void activate_vectors(Activation activation, float low, float high, const float* x, float* y, std::size_t n) {
  constexpr decltype(&activate_as<Activation::none>) each[] = {
      activate_as<Activation::none>,      activate_as<Activation::clamp>,    activate_as<Activation::hardsigmoid>,
      activate_as<Activation::hardswish>, activate_as<Activation::sigmoid>,  activate_as<Activation::silu>,
      activate_as<Activation::gelu>,      activate_as<Activation::gelu_tanh>};
  each[static_cast<std::size_t>(activation)](low, high, x, y, n);
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

void activate(InstructionSet set, Activation activation, float low, float high, const float* x, float* y,
              std::size_t n) {
  constexpr decltype(&HWY_STATIC_DISPATCH(activate_vectors)) of_set[] = {
      HWY_CHOOSE_SSE4(activate_vectors), HWY_CHOOSE_AVX2(activate_vectors), HWY_CHOOSE_AVX3(activate_vectors),
      HWY_CHOOSE_NEON(activate_vectors), HWY_CHOOSE_FALLBACK(activate_vectors)};
  of_set[static_cast<std::size_t>(set)](activation, low, high, x, y, n);
}

}  // namespace assay::kernels
#endif
