#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/product_halves.cpp"
#include <hwy/foreach_target.h>

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
void pack(const Panels& panels, const float* b, std::size_t row_stride, std::size_t column_stride, void* packed) {
  pack_rows(
      panels, [=](std::size_t row) { return b + row * row_stride; }, column_stride, nullptr,
      static_cast<Half*>(packed));
}

}  // namespace

constexpr HalfWeights float16_weights{pack<Float16>, find_block<Float16>},
    bfloat16_weights{pack<BFloat16>, find_block<BFloat16>};

}  // namespace assay::kernels
#endif
