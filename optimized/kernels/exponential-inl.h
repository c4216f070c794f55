// e^x of a vector.
#if defined(ASSAY_KERNELS_EXPONENTIAL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_EXPONENTIAL_INL_H
#undef ASSAY_KERNELS_EXPONENTIAL_INL_H
#else
#define ASSAY_KERNELS_EXPONENTIAL_INL_H
#endif

#include "optimized/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

HWY_INLINE Vector number(float x) { return hn::Set(floats, x); }

// c[0] + c[1] x + c[2] x^2 + ...
template <std::size_t n>
HWY_INLINE Vector polynomial(Vector x, const float (&c)[n]) {
  Vector sum = number(c[n - 1]);
  unrolled<n - 1>([&](auto i) HWY_ATTR { sum = hn::MulAdd(sum, x, number(c[n - 2 - i])); });
  return sum;
}

// A number plus this one is rounded to an integer, which is in its lowest bits.
constexpr float shift = 0x1.8p23f;

// x 2^k, where k is an integer from -150 to 128, and `shifted` is k + shift.
HWY_INLINE Vector scaled_by_power(Vector x, Vector shifted) {
#if HWY_TARGET == HWY_AVX3
  return Vector{_mm512_scalef_ps(x.raw, hn::Sub(shifted, number(shift)).raw)};
#else
  // Two factors, because 2^k may not be a normal number.
  const hn::Rebind<std::int32_t, Floats> integers;
  const auto exponent = hn::Sub(hn::BitCast(integers, shifted), hn::BitCast(integers, number(shift)));
  const auto half = hn::ShiftRight<1>(exponent);
  const auto power = [&](auto e) HWY_ATTR {
    return hn::BitCast(floats, hn::ShiftLeft<23>(hn::Add(e, hn::Set(integers, 127))));
  };
  return hn::Mul(hn::Mul(x, power(half)), power(hn::Sub(exponent, half)));
#endif
}

// e^x = 2^k e^r, |r| <= ln(2) / 2. The result is rounded once more if it is below the normal numbers. With fused
// products, the error is at most 0.8913 ulp.
HWY_INLINE Vector exponential(Vector x) {
  constexpr float c[] = {1, 1, 0.49999994f, 0.16666521f, 0.04166827f, 0.008368677f, 0.0013820411f};
  constexpr float high_ln2 = 0.693145751953125f, low_ln2 = 1.42860677e-6f;  // a product of the first with k is exact
  const Vector bounded = clamped(x, number(-104), number(89));
  const Vector shifted = hn::MulAdd(bounded, number(1.44269504f), number(shift));
  const Vector k = hn::Sub(shifted, number(shift));
  const Vector r = hn::NegMulAdd(k, number(low_ln2), hn::NegMulAdd(k, number(high_ln2), bounded));
  return scaled_by_power(polynomial(r, c), shifted);
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
