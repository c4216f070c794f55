// Vectors of floats of the instruction set that is being compiled, and parts of them.
#if defined(ASSAY_KERNELS_VECTORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_VECTORS_INL_H
#undef ASSAY_KERNELS_VECTORS_INL_H
#else
#define ASSAY_KERNELS_VECTORS_INL_H
#endif

#include <hwy/highway.h>

#include <cstring>

#include "optimized/kernels/instruction_set.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;
constexpr Floats floats{};
constexpr std::size_t lanes = hn::MaxLanes(Floats());

constexpr InstructionSet instruction_set = HWY_TARGET == HWY_AVX3   ? InstructionSet::avx512
                                           : HWY_TARGET == HWY_AVX2 ? InstructionSet::avx2
                                           : HWY_TARGET == HWY_SSE4 ? InstructionSet::sse4
                                                                    : InstructionSet::neon;
static_assert(traits(instruction_set).lanes == lanes);

// Only from 256 bits on does a masked access leave what it masks alone.
constexpr bool masks = HWY_TARGET <= HWY_AVX2;

// The first n < lanes floats, then zeros; nothing behind them is read.
HWY_INLINE Vector load_part(const float* p, std::size_t n) {
  if constexpr (masks) {
    return hn::MaskedLoad(hn::FirstN(floats, n), floats, p);
  } else {
    HWY_ALIGN float whole[lanes] = {};
    std::memcpy(whole, p, n * sizeof(float));
    return hn::Load(floats, whole);
  }
}
HWY_INLINE void store_part(Vector v, float* p, std::size_t n) {
  if constexpr (masks) {
    hn::BlendedStore(v, hn::FirstN(floats, n), floats, p);
  } else {
    HWY_ALIGN float whole[lanes];
    hn::Store(v, floats, whole);
    std::memcpy(p, whole, n * sizeof(float));
  }
}
HWY_INLINE Vector load(const float* p, std::size_t n) { return n < lanes ? load_part(p, n) : hn::LoadU(floats, p); }
HWY_INLINE void store(Vector v, float* p, std::size_t n) {
  if (n < lanes)
    store_part(v, p, n);
  else
    hn::StoreU(v, floats, p);
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
