#include "operators/quantized.gen.h"

#include <cmath>

#include "operators/quantization.gen.h"

namespace assay {
namespace {

// How codes are packed in a byte: their number, and a function that gives the k-th.
struct Packing {
  Int codes;
  Int (*code)(Int byte, Int k);
};
constexpr Packing one_code{1, [](Int byte, Int) { return byte; }};
constexpr Packing two_codes{2, [](Int byte, Int k) { return (k == 0 ? byte / 16 : byte & 15) - 8; }};
constexpr Packing four_codes{4, [](Int byte, Int k) { return (k == 3 ? byte >> 6 : byte >> (2 * k) & 3) - 2; }};

// The number of groups of columns; each has its own scale.
Int groups_of(const Array<Real>& scales) { return scales.sizes.size() == 2 ? scales.sizes[1] : 1; }

using ZeroPoints = std::optional<Array<Real>>;

void embed(Array<Real>& out, const Array<Int>& weight, const Array<Real>& scales, const ZeroPoints& zero_points,
           const Array<Int>& indices, const Rounding& round, const Packing& packing) {
  const Int columns = weight.sizes[1] * packing.codes;
  for (Int flat = 0; flat < out.count(); ++flat) {
    const Int row = indices[flat / columns], column = flat % columns,
              group = row * groups_of(scales) + column * groups_of(scales) / columns;
    Real steps =
        static_cast<Real>(packing.code(weight[row * weight.sizes[1] + column / packing.codes], column % packing.codes));
    if (zero_points) steps = round(steps - (*zero_points)[zero_points->count() == 1 ? 0 : group]);
    out[flat] = round(steps * scales[group]);
  }
}

Real centered(Real a, Real b) { return a - b; }
Real centered_magnitude(Real a, Real b) { return std::fabs(a) + std::fabs(b); }

// sum_k input[i,k] minus(weight, zero_points) scales for each row i of input and column j; place gives the positions of
// the element of weight, and of the group of scales and zero points.
template <class Minus, class Place>
void multiply_dequantized(Array<Real>& out, const Array<Real>& input, const Array<Real>& weight,
                          const Array<Real>& scales, const ZeroPoints& zero_points, Minus minus, Place place) {
  const Int inner = input.sizes[1], columns = out.sizes[1];
  for (Int flat = 0; flat < out.count(); ++flat) {
    Sum<Real> sum = 0;
    for (Int k = 0; k < inner; ++k) {
      const auto [cell, group] = place(flat % columns, k);
      sum += input[flat / columns * inner + k] * minus(weight[cell], zero_points ? (*zero_points)[group] : 0) *
             scales[group];
    }
    out[flat] = sum;
  }
}

// The positions of weight k of column j, and of its scale.
struct Place {
  Int cell, group;
};
auto in_column(const Array<Real>& weight) {
  return [&weight](Int j, Int k) { return Place{k * weight.sizes[1] + j, k}; };
}
auto in_row(const Array<Real>& weight, const Array<Real>& scales) {
  const Int columns = weight.sizes[1], number = groups_of(scales), size = (columns + number - 1) / number;
  return [=](Int j, Int k) { return Place{j * columns + k, j * number + k / size}; };
}

}  // namespace

void operators::embedding_byte(Array<Real>& out, const Array<Int>& weight, const Array<Real>& weight_scales,
                               const ZeroPoints& weight_zero_points, const Array<Int>& indices, const Rounding& round) {
  embed(out, weight, weight_scales, weight_zero_points, indices, round, one_code);
}
void operators::embedding_4bit(Array<Real>& out, const Array<Int>& weight, const Array<Real>& weight_scales,
                               const ZeroPoints& weight_zero_points, const Array<Int>& indices, const Rounding& round) {
  embed(out, weight, weight_scales, weight_zero_points, indices, round, two_codes);
}
void operators::embedding_2bit(Array<Real>& out, const Array<Int>& weight, const Array<Real>& weight_scales,
                               const ZeroPoints& weight_zero_points, const Array<Int>& indices, const Rounding& round) {
  embed(out, weight, weight_scales, weight_zero_points, indices, round, four_codes);
}

Real operators::quantized_add(Real a, Real a_scale, Int a_zero_point, Real b, Real b_scale, Int b_zero_point,
                              Real out_scale, Int out_zero_point, Int out_quant_min, Int out_quant_max,
                              const Rounding& round) {
  const Real sum = round(dequantize_per_tensor(a, a_scale, a_zero_point, round, round) +
                         dequantize_per_tensor(b, b_scale, b_zero_point, round, round));
  return quantize_per_tensor(sum, out_scale, out_zero_point, out_quant_min, out_quant_max, round);
}

void operators::mixed_mm(Array<Real>& out, const Array<Real>& input, const Array<Real>& weight,
                         const Array<Real>& weight_scales, const ZeroPoints& weight_zero_points) {
  multiply_dequantized(out, input, weight, weight_scales, weight_zero_points, centered, in_column(weight));
}
// A column may overflow where a dequantized element of the column of the weight does.
void operators::mixed_mm_magnitude(Array<Real>& out, const Array<Real>& input, const Array<Real>& weight,
                                   const Array<Real>& weight_scales, const ZeroPoints& weight_zero_points,
                                   const Arithmetic& a) {
  multiply_dequantized(out, magnitudes(input), weight, magnitudes(weight_scales), weight_zero_points,
                       centered_magnitude, in_column(weight));
  for (Int flat = 0; flat < out.count(); ++flat)
    for (Int k = 0; k < input.sizes[1]; ++k) {
      const auto [cell, row] = in_column(weight)(flat % out.sizes[1], k);
      const Real size = centered_magnitude(weight[cell], weight_zero_points ? (*weight_zero_points)[row] : 0) *
                        std::fabs(weight_scales[row]);
      if (std::isfinite(size) && size >= a.largest) out[flat] = overflowing(std::fabs(out[flat]));
    }
}
void operators::mixed_linear(Array<Real>& out, const Array<Real>& input, const Array<Real>& weight,
                             const Array<Real>& weight_scales, const ZeroPoints& weight_zero_points) {
  multiply_dequantized(out, input, weight, weight_scales, weight_zero_points, centered, in_row(weight, weight_scales));
}
void operators::mixed_linear_magnitude(Array<Real>& out, const Array<Real>& input, const Array<Real>& weight,
                                       const Array<Real>& weight_scales, const ZeroPoints& weight_zero_points,
                                       const Arithmetic& a) {
  multiply_dequantized(out, magnitudes(input), weight, magnitudes(weight_scales), weight_zero_points,
                       centered_magnitude, in_row(weight, weight_scales));
  for (Real& size : out.data)
    if (size >= a.largest) size = overflowing(size);
}

}  // namespace assay
