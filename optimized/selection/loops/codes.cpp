#include <algorithm>
#include <cmath>

#include "kernels.gen.h"
#include "optimized/selection/scalars.h"

// Arithmetic on quantized tensors: sums of codes, and products with weights that are codes.
namespace assay::optimized {
namespace {

double rounded(double x) { return stored_as(DType::float32, x); }

// Sums of codes. Operands: a, its scale, zero point, least and largest code; the same of b; scale, zero point, least
// and largest code of the result; out. Each step is rounded to float32.
bool has_limits(const Call& call, std::size_t low) {
  const Value &least = call[low], &largest = call[low + 1];
  return least.kind == ValueKind::integer && largest.kind == ValueKind::integer && least.integer >= 0 &&
         largest.integer <= 255 && least.integer <= largest.integer;
}
bool accepts_sum(const Call& call) {
  if (call.arguments.size() != 15 || !call[0].is_tensor() || !call[5].is_tensor()) return false;
  const DType dtype = call.tensor(0).dtype;
  return (dtype == DType::uint8 || dtype == DType::int8 || dtype == DType::int32) && call.tensor(5).dtype == dtype &&
         call.out().dtype == dtype;
}
struct Quantizer {
  double scale;
  std::int64_t zero_point;

  double number(std::int64_t code) const {
    return rounded(rounded(static_cast<double>(code - zero_point)) * rounded(scale));
  }
  double code(double number) const {
    return std::nearbyint(rounded(number * rounded(1 / scale))) + static_cast<double>(zero_point);
  }
};
bool quantizer_of(const Call& call, std::size_t scale, Quantizer& q) {
  q = {call[scale].real, call[scale + 1].integer};
  return call[scale].kind == ValueKind::real && call[scale + 1].kind == ValueKind::integer &&
         q.zero_point >= INT32_MIN && q.zero_point <= INT32_MAX;
}
bool run_sum(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor &a = call.tensor(0), &b = call.tensor(5);
  Tensor& out = call.out();
  Quantizer of_a, of_b, of_out;
  const bool is_valid = quantizer_of(call, 1, of_a) && quantizer_of(call, 6, of_b) && quantizer_of(call, 10, of_out) &&
                        has_limits(call, 3) && has_limits(call, 8) && has_limits(call, 12) && of_out.scale != 0;
  if (!is_valid || (a.dtype == DType::int8 && call[13].integer > 127)) return false;
  if (!std::ranges::equal(a.shape(), b.shape()) || !resize(out, a.shape())) return false;
  const auto low = static_cast<double>(call[12].integer), high = static_cast<double>(call[13].integer);
  const Strides strides[] = {strides_of(out), strides_of(a), strides_of(b)};
  const Reading<std::int64_t> x(a, a.dtype), y(b, b.dtype);
  const Writing<double> to(out);
  each_element(nest_of(shape_of(a), out.dim_order, strides), 3, [&](const std::ptrdiff_t* at) {
    const double sum = rounded(of_a.number(x[at[1]]) + of_b.number(y[at[2]])), code = of_out.code(sum);
    to.set(at[0], code < low ? low : code > high ? high : code);
  });
  return true;
}

// Products with a weight of codes. The scales and zero points have the dtype of the input.
bool accepts_product(const Call& call) {
  if (!call[0].is_tensor() || !call[1].is_tensor() || !call[2].is_tensor()) return false;
  const DType dtype = call.tensor(0).dtype;
  const bool is_named = call.arguments.size() == 6;
  if ((dtype != DType::float16 && dtype != DType::float32) || call.tensor(1).dtype != DType::int8 ||
      call.tensor(2).dtype != dtype)
    return false;
  if (call[3].is_tensor() ? call.tensor(3).dtype != dtype : call[3].kind != ValueKind::none) return false;
  const DType out = call.out().dtype;
  return is_named ? named(call[4], dtype) == out && (out == DType::float16 || out == DType::float32) : out == dtype;
}

struct Weight {
  const Tensor &codes, &scales;
  Reading<std::int64_t> code;
  Reading<double> scale, zero_point;
  bool has_zero_points;
  Strides of_codes, of_scales, of_zero_points;

  explicit Weight(const Call& call)
      : codes(call.tensor(1)),
        scales(call.tensor(2)),
        code(codes, codes.dtype),
        scale(scales, scales.dtype),
        zero_point(call[3].is_tensor() ? call.tensor(3) : scales, scales.dtype),
        has_zero_points(call[3].is_tensor()),
        of_codes(strides_of(codes)),
        of_scales(strides_of(scales)),
        of_zero_points(call[3].is_tensor() ? strides_of(call.tensor(3)) : Strides{}) {}
  double at(std::int64_t i, std::int64_t j, std::int64_t row, std::int64_t group) const {
    const auto place = [&](const Strides& s) { return row * s.of[0] + (scales.rank == 2 ? group * s.of[1] : 0); };
    const auto x = static_cast<double>(code[i * of_codes.of[0] + j * of_codes.of[1]]);
    return (x - (has_zero_points ? zero_point[place(of_zero_points)] : 0)) * scale[place(of_scales)];
  }
};

// mixed_mm has a scale for each row of the weight. mixed_linear has rows that are columns of the result, with scales
// for groups of their elements.
template <bool is_linear>
bool run_product(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor &input = call.tensor(0), &codes = call.tensor(1), &scales = call.tensor(2);
  Tensor& out = call.out();
  const int summed = is_linear ? 1 : 0;
  if (input.rank != 2 || codes.rank != 2 || input.size(1) != codes.size(summed)) return false;
  if (is_linear ? (scales.rank != 1 && scales.rank != 2) || scales.size(0) != codes.size(0) ||
                      (scales.rank == 2 && scales.size(1) < 1)
                : scales.rank != 1 || scales.size(0) != codes.size(0))
    return false;
  if (call[3].is_tensor() && !std::ranges::equal(call.tensor(3).shape(), scales.shape())) return false;
  const std::int32_t sizes[] = {input.sizes[0], codes.sizes[1 - summed]};
  if (!resize(out, sizes)) return false;
  const std::int64_t n = input.size(1), groups = scales.rank == 2 ? scales.size(1) : 1,
                     size = std::max<std::int64_t>((n + groups - 1) / groups, 1);
  const Weight weight(call);
  const Reading<double> x(input, input.dtype);
  const Writing<double> y(out);
  const Strides from = strides_of(input), to = strides_of(out);
  for (std::int64_t i = 0; i < sizes[0]; ++i)
    for (std::int64_t j = 0; j < sizes[1]; ++j) {
      double total = 0;
      for (std::int64_t k = 0; k < n; ++k)
        total +=
            x[i * from.of[0] + k * from.of[1]] * (is_linear ? weight.at(j, k, j, k / size) : weight.at(k, j, k, 0));
      y.set(i * to.of[0] + j * to.of[1], total);
    }
  return true;
}

}  // namespace

constexpr Kernel quantized_sum{"quantized_sum", accepts_sum, nullptr, run_sum};
constexpr Kernel mixed_mm{"mixed_mm", accepts_product, nullptr, run_product<false>};
constexpr Kernel mixed_linear{"mixed_linear", accepts_product, nullptr, run_product<true>};

}  // namespace assay::optimized
