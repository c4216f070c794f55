// Turns sums of products of steps into floats.
#if defined(ASSAY_KERNELS_FLOAT_RESULTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_FLOAT_RESULTS_INL_H
#undef ASSAY_KERNELS_FLOAT_RESULTS_INL_H
#else
#define ASSAY_KERNELS_FLOAT_RESULTS_INL_H
#endif

#include "optimized/kernels/dot-inl.h"
#include "optimized/kernels/integer_blocks.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

// f32(x scale + shift), where the product, which is exact, and the sum are doubles.
HWY_INLINE Vector scaled_in_doubles(Vector x, Vector scale, Vector shift) {
#if HWY_TARGET == HWY_SCALAR
  return Vector(
      static_cast<float>(static_cast<double>(x.raw) * static_cast<double>(scale.raw) + static_cast<double>(shift.raw)));
#else
  constexpr hn::RepartitionToWide<Floats> doubles{};
  constexpr hn::Half<Floats> half{};
  const auto narrowed = [&](auto part) HWY_ATTR {
    return hn::DemoteTo(half, hn::MulAdd(hn::PromoteTo(doubles, part(x)), hn::PromoteTo(doubles, part(scale)),
                                         hn::PromoteTo(doubles, part(shift))));
  };
  return hn::Combine(floats, narrowed([&](Vector v) HWY_ATTR { return hn::UpperHalf(half, v); }),
                     narrowed([&](Vector v) HWY_ATTR { return hn::LowerHalf(half, v); }));
#endif
}

class ToFloats {
 public:
  explicit HWY_INLINE ToFloats(const FloatResults& results)
      : results_(results),
        low_(hn::Set(floats, results.epilogue.activation == Activation::clamp ? results.epilogue.low : -infinity)),
        high_(hn::Set(floats, results.epilogue.activation == Activation::clamp ? results.epilogue.high : infinity)) {}

  // A vector of sums of a result. `of_one` is what the zero point 1 adds to them.
  HWY_INLINE Vector operator()(std::size_t result, Integers sums, Integers of_one, Vector scale, Vector shift) const {
    const Steps& steps = results_.steps[result * results_.step_stride];
    const Integers exact = hn::Add(sums, hn::Mul(of_one, number(steps.zero)));
    const Vector x = hn::Mul(hn::ConvertTo(floats, exact), hn::Set(floats, steps.inverse));
    return clamped(scaled_in_doubles(x, scale, shift), low_, high_);
  }
  // Applies what is left to do to n floats that were stored.
  HWY_INLINE void finish(float* out, std::size_t n) const {
    if (results_.epilogue.activation > Activation::clamp) activate(instruction_set, results_.epilogue, out, out, n);
  }

 private:
  static constexpr float infinity = std::numeric_limits<float>::infinity();

  const FloatResults& results_;
  Vector low_, high_;
};

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
