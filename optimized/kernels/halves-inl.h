// Vectors of floats that are stored as half types.
#if defined(ASSAY_KERNELS_HALVES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_HALVES_INL_H
#undef ASSAY_KERNELS_HALVES_INL_H
#else
#define ASSAY_KERNELS_HALVES_INL_H
#endif

#include "optimized/kernels/halves.h"
#include "optimized/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

using Words = hn::Rebind<std::uint32_t, Floats>;   // the bits of floats
using Shorts = hn::Rebind<std::uint16_t, Floats>;  // the bits of half types

// Whether the instruction set converts float16.
constexpr bool converts_float16 = HWY_TARGET <= HWY_AVX2 || (HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64);

HWY_INLINE hn::Vec<Words> word(std::uint32_t x) { return hn::Set(Words(), x); }

// The floats that are stored at p: a whole vector.
HWY_INLINE Vector load(const float* p) { return hn::LoadU(floats, p); }
HWY_INLINE Vector load(const BFloat16* p) {
  const auto shorts = hn::LoadU(Shorts(), &p->bits);
  return hn::BitCast(floats, hn::ShiftLeft<16>(hn::PromoteTo(Words(), shorts)));
}
HWY_INLINE Vector load(const Float16* p) {
  const auto shorts = hn::LoadU(Shorts(), &p->bits);
  if constexpr (converts_float16)
    return hn::PromoteTo(floats, hn::BitCast(hn::Rebind<hwy::float16_t, Floats>(), shorts));
  const hn::RebindToSigned<Words> integers;
  const auto bits = hn::PromoteTo(Words(), shorts), low = hn::And(hn::ShiftLeft<13>(bits), word(0x0fffe000));
  const auto exceeds = [&](std::int32_t x) HWY_ATTR {
    return hn::VecFromMask(integers, hn::Gt(hn::BitCast(integers, low), hn::Set(integers, x)));
  };
  const auto top = hn::And(hn::BitCast(Words(), exceeds(0x0f7fffff)), word(0x7f800000)),
             quiet = hn::And(hn::BitCast(Words(), exceeds(0x0f800000)), word(0x00400000)),
             sign = hn::ShiftLeft<16>(hn::And(bits, word(0x8000)));
  const Vector size = hn::Mul(hn::BitCast(floats, low), hn::Set(floats, 0x1p112f));
  return hn::BitCast(floats, hn::Or(hn::Or(hn::BitCast(Words(), size), sign), hn::Or(top, quiet)));
}

// Stores a whole vector, rounded to the type of p.
HWY_INLINE void store(Vector x, float* p) { hn::StoreU(x, floats, p); }
HWY_INLINE void store(Vector x, BFloat16* p) {
  const auto bits = hn::BitCast(Words(), x), even = hn::And(hn::ShiftRight<16>(bits), word(1));
  const auto rounded = hn::Add(hn::Add(bits, word(0x7fff)), even), quiet = hn::Or(bits, word(0x400000));
  const auto whole = hn::IfThenElse(hn::RebindMask(Words(), hn::IsNaN(x)), quiet, rounded);
  hn::StoreU(hn::TruncateTo(Shorts(), hn::ShiftRight<16>(whole)), Shorts(), &p->bits);
}
HWY_INLINE void store(Vector x, Float16* p) {
  if constexpr (converts_float16) {
    const auto halves = hn::DemoteTo(hn::Rebind<hwy::float16_t, Floats>(), x);
    return hn::StoreU(hn::BitCast(Shorts(), halves), Shorts(), &p->bits);
  }
  const hn::RebindToSigned<Words> integers;
  const auto bits = hn::BitCast(Words(), x), size = hn::And(bits, word(0x7fffffff));
  const auto exceeds = [&](std::int32_t limit) HWY_ATTR {
    return hn::RebindMask(Words(), hn::Gt(hn::BitCast(integers, size), hn::Set(integers, limit)));
  };
  const auto even = hn::And(hn::ShiftRight<13>(size), word(1));
  const auto normal = hn::ShiftRight<13>(hn::Add(hn::Add(size, word(0xfff - (112u << 23))), even));
  const Vector shifted = hn::Add(hn::BitCast(floats, size), hn::Set(floats, 0.5f));
  const auto small = hn::Sub(hn::BitCast(Words(), shifted), word(0x3f000000));
  const auto nan = hn::Or(word(0x7e00), hn::And(hn::ShiftRight<13>(size), word(0x3ff)));
  const auto finite = hn::IfThenElse(exceeds(0x387fffff), normal, small);
  const auto rounded =
      hn::IfThenElse(exceeds(0x7f800000), nan, hn::IfThenElse(exceeds(0x477fffff), word(0x7c00), finite));
  const auto sign = hn::And(hn::ShiftRight<16>(bits), word(0x8000));
  hn::StoreU(hn::TruncateTo(Shorts(), hn::Or(rounded, sign)), Shorts(), &p->bits);
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
