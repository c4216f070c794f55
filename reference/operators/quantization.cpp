#include "operators/quantization.gen.h"

#include <cmath>
#include <limits>

namespace assay {
namespace {

// Rounds half to even, as the rounding mode is.
Real nearest(Real x) { return std::nearbyint(x); }

// Keeps NaN; gives high where low is above high.
Real clamp(Real x, Real low, Real high) {
  if (std::isnan(x)) return x;
  return std::min(std::max(x, low), high);
}

Real code(Real scaled, Real zero_point, Int quant_min, Int quant_max, const Rounding& round) {
  return clamp(round(nearest(scaled) + round(zero_point)), round(static_cast<Real>(quant_min)),
               round(static_cast<Real>(quant_max)));
}

template <class T>
struct Ends {
  T low = 0, high = 0;
};

// The smallest and the largest of x and 0; both are NaN where x has a NaN.
template <class T>
Ends<T> ends(std::span<const T> x) {
  Ends<T> e;
  for (T v : x) {
    if (v != v) return {v, v};
    e = {std::min(e.low, v), std::max(e.high, v)};
  }
  return e;
}

// PyTorch rounds a scalar that it subtracts, as it rounds an element of a tensor. It does not round a scalar that it
// multiplies with.
template <class T>
T dequantized(T input, T scale, T zero_point, const Rounding& round_difference, const Rounding& round) {
  const T steps = round_difference(round_difference(input) - round_difference(zero_point));
  return round(round(steps) * round.scalar(scale));
}

Real difference(Real a, Real b) { return a - b; }
Int difference(Int a, Int b) { return wrapping_subtract(a, b); }

// Keeps NaN.
Real at_least(Real x, Real least) { return x < least ? least : x; }

struct Parameters {
  Real scale;
  Real zero_point;
};

template <class T>
Parameters asymmetric(std::span<const T> row, const Rounding& own, const Rounding& round) {
  constexpr Real lowest = -128, highest = 127, least_scale = 0x1p-23;
  const Ends<T> e = ends(row);
  const Real scale =
      at_least(round(round(static_cast<Real>(own(difference(e.high, e.low)))) / (highest - lowest)), least_scale);
  const Real low = round(round(static_cast<Real>(e.low)) / scale),
             high = round(round(static_cast<Real>(e.high)) / scale);
  const bool from_low = round(round(lowest + low) + round(highest + high)) > 0;
  return {scale, nearest(clamp(from_low ? round(lowest - low) : round(highest - high), lowest, highest))};
}

// The scale is a float64, but eager rounds it to another dtype, whose accuracy it has. Where the range of the input is
// infinite in that dtype, there is no bound: an implementation with a larger range may find any scale.
Real scale_magnitude(Real scale, const Rounding& round) {
  if (std::isinf(scale)) return unbounded;
  return std::fabs(scale) * std::ldexp(Real{1}, info(DType::float64).precision - info(round.dtype).precision);
}

template <class T>
void each_token(Array<Real>& scale, Array<Int>& zero_point, const Array<T>& input, const Rounding& own,
                const Rounding& round) {
  const std::size_t length =
      input.sizes.size() == 0 ? 1 : static_cast<std::size_t>(input.sizes[input.sizes.size() - 1]);
  for (Int r = 0; r < scale.count(); ++r) {
    const Parameters p =
        asymmetric(std::span<const T>(input.data).subspan(static_cast<std::size_t>(r) * length, length), own, round);
    scale[r] = p.scale;
    zero_point[r] = truncated_to(DType::int64, p.zero_point);
  }
}

}  // namespace

Real operators::quantize_per_tensor(Real input, Real scale, Real zero_point, Int quant_min, Int quant_max,
                                    const Rounding& round) {
  return code(round(input * round(1 / scale)), zero_point, quant_min, quant_max, round);
}
Real operators::quantize_per_tensor(Real input, Real scale, Int zero_point, Int quant_min, Int quant_max,
                                    const Rounding& round) {
  return quantize_per_tensor(input, scale, static_cast<Real>(zero_point), quant_min, quant_max, round);
}
Real operators::quantize_per_channel(Real input, Real scales, Real zero_points, Int quant_min, Int quant_max,
                                     const Rounding& round_scale, const Rounding& round) {
  return code(round(input * round_scale(1 / scales)), zero_points, quant_min, quant_max, round);
}
Real operators::quantize_per_token(Real input, Real scales, Real zero_points, Int quant_min, Int quant_max,
                                   const Rounding& round_scale, const Rounding& round) {
  return code(round(round(input * round_scale(1 / scales)) + zero_points), 0, quant_min, quant_max, round);
}

Real operators::dequantize_per_tensor(Real input, Real scale, Real zero_point, const Rounding& round_difference,
                                      const Rounding& round) {
  return dequantized(input, scale, zero_point, round_difference, round);
}
Complex operators::dequantize_per_tensor(Complex input, Complex scale, Complex zero_point,
                                         const Rounding& round_difference, const Rounding& round) {
  return dequantized(input, scale, zero_point, round_difference, round);
}
Complex operators::dequantize_per_tensor(Complex input, Real scale, Int zero_point, const Rounding& round_difference,
                                         const Rounding& round) {
  return dequantized<Complex>(input, scale, zero_point, round_difference, round);
}
Real operators::dequantize_per_tensor(Real input, Real scale, Int zero_point, const Rounding& round_difference,
                                      const Rounding& round) {
  return dequantize_per_tensor(input, scale, static_cast<Real>(zero_point), round_difference, round);
}
Int operators::dequantize_per_tensor(Int input, Int scale, Int zero_point, const Rounding&, const Rounding& round) {
  return round(wrapping_multiply(round(wrapping_subtract(input, zero_point)), scale));
}
Real operators::dequantize_per_channel(Real input, Real scales, std::optional<Real> zero_points,
                                       const Rounding& round_difference, const Rounding& round) {
  const Real steps = zero_points ? round_difference(round_difference(input) - round_difference(*zero_points)) : input;
  return round(round(steps) * scales);
}
Real operators::dequantize_per_token(Real input, Real scales, Real zero_points, const Rounding& round_difference,
                                     const Rounding& round) {
  return dequantize_per_channel(input, scales, zero_points, round_difference, round);
}

void operators::choose_qparams(Array<Real>& scale_out, Array<Int>& zero_point_out, const Array<Real>& input,
                               Int quant_min, Int quant_max, Real eps, const Rounding& round) {
  const Rounding wide{compute_dtype(round.dtype)};
  const Ends<Real> e = ends<Real>(input.data);
  const Real own = round(round(e.high - e.low) / wide(static_cast<Real>(quant_max - quant_min)));
  const Real scale = std::isnan(eps) ? eps : at_least(own, wide(eps));
  const Int steps = truncated_to(DType::int32, nearest(wide(e.low / scale)));
  scale_out[0] = scale;
  zero_point_out[0] = std::clamp(wrap_to(DType::int32, quant_min - steps), quant_min, quant_max);
}

void operators::choose_qparams_per_token_asymmetric(Array<Real>& scale_out, Array<Int>& zero_point_out,
                                                    const Array<Real>& input, const Rounding& own,
                                                    const Rounding& round) {
  each_token(scale_out, zero_point_out, input, own, round);
}
void operators::choose_qparams_per_token_asymmetric(Array<Real>& scale_out, Array<Int>& zero_point_out,
                                                    const Array<Int>& input, const Rounding& own,
                                                    const Rounding& round) {
  each_token(scale_out, zero_point_out, input, own, round);
}

void operators::choose_qparams_magnitude(Array<Real>& scale_out, Array<Int>& zero_point_out, const Array<Real>& input,
                                         Int quant_min, Int quant_max, Real eps, const Rounding& round) {
  choose_qparams(scale_out, zero_point_out, input, quant_min, quant_max, eps, round);
  scale_out[0] = scale_magnitude(scale_out[0], round);
}
void operators::choose_qparams_of_rows_magnitude(Array<Real>& scale_out, Array<Int>& zero_point_out,
                                                 const Array<Real>& input, const Rounding& own, const Rounding& round) {
  each_token(scale_out, zero_point_out, input, own, round);
  for (Real& scale : scale_out.data) scale = scale_magnitude(scale, round);
}
void operators::choose_qparams_of_rows_magnitude(Array<Real>& scale_out, Array<Int>& zero_point_out,
                                                 const Array<Int>& input, const Rounding& own, const Rounding& round) {
  each_token(scale_out, zero_point_out, input, own, round);
  for (Real& scale : scale_out.data) scale = scale_magnitude(scale, round);
}

}  // namespace assay
