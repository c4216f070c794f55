#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/activation.cpp"
#include <hwy/foreach_target.h>

#include "optimized/kernels/activation-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

template <Activation activation>
void activate_as(const Epilogue& epilogue, const float* x, float* y, std::size_t n) {
  const Epilogue e = epilogue;  // a copy: the compiler knows that no store to y changes its numbers
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(activated(activation, e, hn::LoadU(floats, x + i)), floats, y + i);
  if (i == n) return;
  const Part rest(n - i);
  rest.store(activated(activation, e, rest.load(x + i)), y + i);
}

void activate_vectors(const Epilogue& epilogue, const float* x, float* y, std::size_t n) {
  using enum Activation;
  constexpr decltype(&activate_as<none>) each[] = {
      activate_as<none>, activate_as<clamp>, activate_as<hardsigmoid>, activate_as<hardswish>,    activate_as<sigmoid>,
      activate_as<silu>, activate_as<gelu>,  activate_as<gelu_tanh>,   activate_as<fake_quantize>};
  each[static_cast<std::size_t>(epilogue.activation)](epilogue, x, y, n);
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

void activate(InstructionSet set, const Epilogue& epilogue, const float* x, float* y, std::size_t n) {
  constexpr decltype(&HWY_STATIC_DISPATCH(activate_vectors)) of_set[] = ASSAY_OF_EACH_SET(activate_vectors);
  of_set[static_cast<std::size_t>(set)](epilogue, x, y, n);
}

}  // namespace assay::kernels
#endif
