// Activation functions of a vector.
#if defined(ASSAY_KERNELS_ACTIVATION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_ACTIVATION_INL_H
#undef ASSAY_KERNELS_ACTIVATION_INL_H
#else
#define ASSAY_KERNELS_ACTIVATION_INL_H
#endif

#include "optimized/kernels/epilogue.h"
#include "optimized/kernels/exponential-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

// 1 / (1 + e^-x), computed from e^-|x|, which cannot overflow.
HWY_INLINE Vector sigmoid(Vector x) {
  const Vector e = exponential(hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(floats)), e, number(1)), hn::Add(number(1), e));
}

HWY_INLINE Vector six_of(Vector x) { return clamped(hn::Add(x, number(3)), hn::Zero(floats), number(6)); }

// x / 6 as a fused product. Its error is at most half an ulp, plus 2^-25 of an ulp. A division takes much longer.
HWY_INLINE Vector sixth(Vector x) {
  constexpr float sixth = 1.0f / 6, rest = -0x1.555556p-28f;  // their sum is 1/6
  if (HWY_TARGET == HWY_SSE4) return hn::Div(x, number(6));
  return hn::MulAdd(x, number(sixth), hn::Mul(x, number(rest)));
}
HWY_INLINE Vector hardsigmoid(Vector x) { return sixth(six_of(x)); }
HWY_INLINE Vector hardswish(Vector x) { return hn::Mul(x, hardsigmoid(x)); }
HWY_INLINE Vector silu(Vector x) { return hn::Mul(x, sigmoid(x)); }

HWY_INLINE Vector gelu_tanh(Vector x) {
  constexpr float slope = 1.5957691216057308f,
                  cubic = 0.071354816272600146f;  // 2 sqrt(2/pi), and 0.044715 times that number.
  return hn::Mul(x, sigmoid(hn::Mul(x, hn::MulAdd(hn::Mul(x, x), number(cubic), number(slope)))));
}

// Phi(-|x|) = e^(-x^2/2) t g(t - 0.7), t = 1 / (1 + |x| / 4), where g is a Chebyshev approximation for |x| <= 5.5 with
// an error below 2^-25. For |x| > 5.5 the factor e^(-x^2/2) makes the error smaller.
HWY_INLINE Vector gelu(Vector x) {
  constexpr float g[] = {0.2684824466705322f, 0.5116530060768127f,   0.6721136569976807f,  0.5789322257041931f,
                         0.2557394802570343f, -0.04160529747605324f, -0.09623069316148758f};
  const Vector t = hn::Div(number(1), hn::MulAdd(hn::Abs(x), number(0.25f), number(1)));
  const Vector sum = polynomial(hn::Sub(t, number(0.7f)), g);
  const Vector tail = hn::Mul(hn::Mul(sum, t), exponential(hn::Mul(hn::Mul(x, x), number(-0.5f))));
  return hn::Mul(x, hn::IfThenElse(hn::Lt(x, hn::Zero(floats)), tail, hn::Sub(number(1), tail)));
}

HWY_INLINE Vector fake_quantized(const FakeQuantizer& q, Vector x) {
  const Vector zero_point = number(q.zero_point);
  const Vector code = hn::Add(hn::Round(hn::Mul(x, number(q.inverse_scale))), zero_point);
  const Vector limited = hn::Min(hn::Max(code, number(q.low)), number(q.high));
  const Vector known = hn::IfThenElse(hn::IsNaN(code), number(q.code_of_nan), limited);
  return hn::Mul(hn::Sub(known, zero_point), number(q.scale));
}

// The activations that are applied to sums in registers. The other activations are applied to results that were just
// stored.
constexpr bool is_short(Activation activation) {
  return activation <= Activation::clamp || activation == Activation::hardswish;
}

HWY_INLINE Vector activated(Activation activation, const Epilogue& epilogue, Vector x) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::clamp:
      return clamped(x, number(epilogue.low), number(epilogue.high));
    case Activation::hardsigmoid:
      return hardsigmoid(x);
    case Activation::hardswish:
      return hardswish(x);
    case Activation::sigmoid:
      return sigmoid(x);
    case Activation::silu:
      return silu(x);
    case Activation::gelu:
      return gelu(x);
    case Activation::gelu_tanh:
      return gelu_tanh(x);
    case Activation::fake_quantize:
      return fake_quantized(epilogue.fake_quantizer, x);
  }
  return x;
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
