// Quantizes rows of floats.
#if defined(ASSAY_KERNELS_STEPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_STEPS_INL_H
#undef ASSAY_KERNELS_STEPS_INL_H
#else
#define ASSAY_KERNELS_STEPS_INL_H
#endif

#include <cstring>
#include <limits>

#include "optimized/kernels/steps.h"
#include "optimized/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

// The range of n floats and 0.
HWY_INLINE Ends ends_of(const float* x, std::size_t n) {
  constexpr std::size_t together = 4;
  Vector least[together], most[together];
  unrolled<together>([&](auto j) HWY_ATTR { least[j] = most[j] = hn::Zero(floats); });
  const auto widen = [&](std::size_t j, Vector v)
                         HWY_ATTR { least[j] = hn::Min(v, least[j]), most[j] = hn::Max(v, most[j]); };
  std::size_t i = 0;
  if (n >= together * lanes) {
    for (; i + together * lanes <= n; i += together * lanes)
      unrolled<together>([&](auto j) HWY_ATTR { widen(j, hn::LoadU(floats, x + i + j * lanes)); });
    least[0] = hn::Min(hn::Min(least[0], least[1]), hn::Min(least[2], least[3]));
    most[0] = hn::Max(hn::Max(most[0], most[1]), hn::Max(most[2], most[3]));
  }
  for (; i + lanes <= n; i += lanes) widen(0, hn::LoadU(floats, x + i));
  if (i < n) widen(0, n < lanes ? load(x, n) : hn::LoadU(floats, x + n - lanes));
  return {hn::GetLane(hn::MinOfLanes(floats, least[0])), hn::GetLane(hn::MaxOfLanes(floats, most[0]))};
}

// The numbers of `count` rows with these ends, at most one for each lane.
HWY_INLINE void find_steps(Vector least, Vector most, std::size_t count, Steps* steps) {
  const auto of = [](float x) HWY_ATTR { return hn::Set(floats, x); };
  const Vector zero = hn::Zero(floats), range = hn::Sub(most, least),
               k = hn::IfThenElse(hn::Eq(range, zero), of(1), hn::Div(of(255), range));
  const Vector a = hn::Mul(least, k), b = hn::Mul(most, k);
  const auto is_low = hn::Gt(hn::Add(hn::Add(a, of(-128)), hn::Add(b, of(127))), zero);
  const Vector exact = hn::IfThenElse(is_low, hn::Sub(of(-128), a), hn::Sub(of(127), b)),
               limited = hn::Min(hn::Max(exact, of(-128)), of(127));
  const auto has_nan = hn::IsNaN(exact);
  HWY_ALIGN float factors[lanes], zeros[lanes], inverses[lanes];
  hn::Store(hn::IfThenElse(has_nan, zero, k), floats, factors);
  hn::Store(hn::IfThenElse(has_nan, zero, hn::Add(hn::Round(limited), of(128))), floats, zeros);
  hn::Store(hn::IfThenElse(has_nan, of(std::numeric_limits<float>::quiet_NaN()), hn::Div(of(1), k)), floats, inverses);
  for (std::size_t r = 0; r < count; ++r) steps[r] = {factors[r], static_cast<std::int32_t>(zeros[r]), inverses[r]};
}
HWY_INLINE Steps steps_between(Ends ends) {
  Steps steps;
  find_steps(hn::Set(floats, ends.least), hn::Set(floats, ends.most), 1, &steps);
  return steps;
}

// Turns floats of a row into codes.
class ToSteps {
 public:
  using Tag = hn::Rebind<std::uint8_t, Floats>;
  explicit HWY_INLINE ToSteps(const Steps& steps)
      : factor_(hn::Set(floats, steps.factor)),
        zero_(hn::Set(signed_integers, steps.zero)),
        low_(hn::Neg(hn::ConvertTo(floats, zero_))),
        high_(hn::Add(low_, hn::Set(floats, 255))),
        has_nan_(hn::FirstN(floats, 0)) {}

  HWY_INLINE hn::Vec<Tag> operator()(Vector x) {
    const Vector scaled = hn::Mul(x, factor_), step = hn::Min(hn::Max(scaled, low_), high_);
    has_nan_ = hn::Or(has_nan_, hn::IsNaN(scaled));
    // The sum is rounded to an integer, half to even, which is in the low bits of the float.
    const auto bits = hn::BitCast(signed_integers, hn::Add(step, hn::Set(floats, 0x1.8p23f)));
    return hn::TruncateTo(Tag(), hn::BitCast(hn::RebindToUnsigned<Floats>(), hn::Add(bits, zero_)));
  }
  HWY_INLINE bool has_nan() const { return !hn::AllFalse(floats, has_nan_); }

 private:
  static constexpr hn::RebindToSigned<Floats> signed_integers{};
  Vector factor_;
  hn::Vec<hn::RebindToSigned<Floats>> zero_;
  Vector low_, high_;
  hn::Mask<Floats> has_nan_;
};

// Stores the codes of n floats. If one of their steps is NaN, the inverse becomes NaN.
HWY_INLINE void store_codes(Steps& steps, const float* x, std::size_t n, std::uint8_t* codes) {
  ToSteps to_steps(steps);
  const auto store_at = [&](std::size_t i)
                            HWY_ATTR { hn::StoreU(to_steps(hn::LoadU(floats, x + i)), ToSteps::Tag(), codes + i); };
  for (std::size_t i = 0; i + lanes <= n; i += lanes) store_at(i);
  if (n < lanes) {
    HWY_ALIGN std::uint8_t all[lanes];
    const Vector part = hn::IfThenElse(hn::FirstN(floats, n), load(x, n), hn::Set(floats, *x));  // 0 may give NaN
    hn::StoreU(to_steps(part), ToSteps::Tag(), all);
    std::memcpy(codes, all, n);
  } else if (n % lanes > 0) {
    store_at(n - lanes);  // some codes again
  }
  if (to_steps.has_nan()) steps.inverse = std::numeric_limits<float>::quiet_NaN();
}

// Stores the codes of a row.
HWY_INLINE Steps quantize_row(const float* x, std::size_t n, std::uint8_t* codes) {
  Steps steps = steps_between(ends_of(x, n));
  store_codes(steps, x, n, codes);
  return steps;
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
