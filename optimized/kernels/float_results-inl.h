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

// Computes f32(x scale + shift) of a vector, where the product, which is exact, and the sum are doubles.
#if HWY_TARGET == HWY_SCALAR
class ScaleInDoubles {
 public:
  HWY_INLINE ScaleInDoubles(Vector scale, Vector shift) : scale_(scale), shift_(shift) {}
  HWY_INLINE Vector operator()(Vector x) const {
    return Vector(static_cast<float>(double{x.raw} * double{scale_.raw} + double{shift_.raw}));
  }

 private:
  Vector scale_, shift_;
};
#else
class ScaleInDoubles {
 public:
  HWY_INLINE ScaleInDoubles(Vector scale, Vector shift)
      : scale_{lower(scale), upper(scale)}, shift_{lower(shift), upper(shift)} {}
  HWY_INLINE Vector operator()(Vector x) const {
    return hn::Combine(floats, hn::DemoteTo(half, hn::MulAdd(upper(x), scale_[1], shift_[1])),
                       hn::DemoteTo(half, hn::MulAdd(lower(x), scale_[0], shift_[0])));
  }

 private:
  using DoubleTag = hn::RepartitionToWide<Floats>;
  using Doubles = hn::Vec<DoubleTag>;
  static constexpr DoubleTag doubles{};
  static constexpr hn::Half<Floats> half{};
  static HWY_INLINE Doubles lower(Vector x) { return hn::PromoteTo(doubles, hn::LowerHalf(half, x)); }
  static HWY_INLINE Doubles upper(Vector x) { return hn::PromoteTo(doubles, hn::UpperHalf(half, x)); }
  Doubles scale_[2], shift_[2];
};
#endif

// Turns sums of a vector of channels into floats.
class ToFloats {
 public:
  // `of_one` is what the zero point 1 adds to the sums.
  HWY_INLINE ToFloats(const FloatResults& results, Integers of_one, Vector scale, Vector shift)
      : of_one_(of_one),
        scaled_(scale, shift),
        low_(hn::Set(floats, results.epilogue.activation == Activation::clamp ? results.epilogue.low : -infinity)),
        high_(hn::Set(floats, results.epilogue.activation == Activation::clamp ? results.epilogue.high : infinity)) {}

  HWY_INLINE Vector operator()(const Steps& steps, Integers sums) const {
    const Integers exact = hn::Add(sums, hn::Mul(of_one_, number(steps.zero)));
    return clamped(scaled_(hn::Mul(hn::ConvertTo(floats, exact), hn::Set(floats, steps.inverse))), low_, high_);
  }

 private:
  static constexpr float infinity = std::numeric_limits<float>::infinity();

  Integers of_one_;
  ScaleInDoubles scaled_;
  Vector low_, high_;
};

// Applies what is left to do to n floats that were stored.
HWY_INLINE void finish(const FloatResults& results, float* out, std::size_t n) {
  if (results.epilogue.activation > Activation::clamp) activate(instruction_set, results.epilogue, out, out, n);
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
