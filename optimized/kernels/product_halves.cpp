#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/product_halves.cpp"
#include <hwy/foreach_target.h>

#include <cmath>
#include <cstring>

#include "optimized/kernels/product-inl.h"

#if HWY_ONCE
namespace assay::kernels {
namespace {

template <class Half>
MultiplyBlock find_block(InstructionSet set) {
  constexpr MultiplyBlock of_set[] = ASSAY_OF_EACH_SET(multiply_block<Half>);
  return of_set[static_cast<std::size_t>(set)];
}

template <class Half>
std::size_t packed_floats(const Panels& panels) {
  return (panels.floats() + 1) / 2 + (has_factor<Half> ? bytes_of_line / sizeof(float) : 0);
}

// The factor that makes all subnormal numbers of type Float16 normal, unless another number exceeds the type then.
float factor_for(const Panels& panels, const float* b, std::size_t row_stride, std::size_t column_stride) {
  constexpr float factor = 1024, most = 65504 / factor;
  bool fits = true;
  for (std::size_t i = 0; i < panels.depth; ++i)
    for (std::size_t j = 0; j < panels.columns; ++j) fits &= std::fabs(b[i * row_stride + j * column_stride]) <= most;
  return fits ? factor : 1;
}

template <class Half>
void pack(const Panels& panels, const float* b, std::size_t row_stride, std::size_t column_stride, void* packed) {
  float factor = 1;
  if constexpr (has_factor<Half>) {
    factor = factor_for(panels, b, row_stride, column_stride);
    std::memcpy(packed, &factor, sizeof factor);
    packed = static_cast<std::byte*>(packed) + bytes_of_line;
  }
  pack_rows(
      panels, [=](std::size_t row) { return b + row * row_stride; }, column_stride, nullptr, static_cast<Half*>(packed),
      factor);
}

}  // namespace

constexpr HalfWeights float16_weights{packed_floats<Float16>, pack<Float16>, find_block<Float16>},
    bfloat16_weights{packed_floats<BFloat16>, pack<BFloat16>, find_block<BFloat16>};

}  // namespace assay::kernels
#endif
