#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels.gen.h"
#include "optimized/selection/codes.h"
#include "optimized/selection/layout.h"
#include "optimized/selection/numbers.h"

// The scale and the zero point with which codes cover the numbers of a tensor, or of each of its rows. Each step is
// rounded to the dtype of the input, or to float32 if this dtype is an integer.
namespace assay::optimized {
namespace {

// The least and the largest of 0 and of numbers. Both are NaN if one of the numbers is.
template <class T>
struct Ends {
  T low = 0, high = 0;

  void add(T x) {
    if (x != x || low != low)
      low = high = std::numeric_limits<T>::quiet_NaN();
    else
      low = std::min(low, x), high = std::max(high, x);
  }
  // high - low, rounded to the dtype. Integers wrap.
  double range(DType dtype) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<double>(static_cast<T>(static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low)));
    else
      return stored_as(dtype, high - low);
  }
};

template <class T>
Ends<T> ends_of(const Tensor& t, std::ptrdiff_t first, const Nest& nest) {
  const ReadNumber<T> read = find_reader<T>(t.dtype);
  const auto bytes = static_cast<std::ptrdiff_t>(t.element_bytes());
  Ends<T> ends;
  each_row(nest, 1, [&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
    const std::ptrdiff_t stride = nest.stride[0][nest.loops - 1];
    for (std::ptrdiff_t i = 0; i < n; ++i) ends.add(read(t.data + (first + at[0] + i * stride) * bytes));
  });
  return ends;
}

bool names_code(const Value& v) {
  const auto dtype = named(v);
  return dtype && is_code(*dtype);
}

bool has_outs(const Call& call, std::size_t scale) {
  return call[0].is_tensor() && call[scale].is_tensor() && call[scale + 1].is_tensor() &&
         call.tensor(scale).dtype == DType::float64 && call.tensor(scale + 1).dtype == DType::int64;
}

// Operands: input, quant_min, quant_max, eps, dtype, scale_out, zero_point_out.
bool accepts_tensor(const Call& call) {
  return has_outs(call, 5) && is_floating(call.tensor(0).dtype) && call.tensor(0).dtype != DType::float64 &&
         names_code(call[4]);
}

std::int32_t integer_of(double x) {
  return x > -0x1p31 - 1 && x < 0x1p31 ? static_cast<std::int32_t>(x) : std::numeric_limits<std::int32_t>::min();
}

bool run_tensor(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor& input = call.tensor(0);
  const Value &low = call[1], &high = call[2], &eps = call[3];
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (low.kind != ValueKind::integer || high.kind != ValueKind::integer || low.integer > 0 || low.integer < -most - 1 ||
      high.integer < 0 || high.integer > most || low.integer == high.integer || input.count() == 0)
    return false;
  if (eps.kind != ValueKind::real && eps.kind != ValueKind::integer) return false;
  const Shape one{1, {1}};
  if (!can_have(call.tensor(5), one) || !resize(call.tensor(6), one.span())) return false;
  resize(call.tensor(5), one.span());
  const Strides strides = strides_of(input);
  const auto ends = ends_of<double>(input, 0, nest_of(shape_of(input), input.dim_order, {&strides, 1}));
  const auto rounded = [&](double x) { return stored_as(input.dtype, x); };
  const double least = static_cast<double>(
      static_cast<float>(eps.kind == ValueKind::real ? eps.real : static_cast<double>(eps.integer)));
  const auto steps_of_range = static_cast<double>(static_cast<float>(high.integer - low.integer));
  const double own = rounded(rounded(ends.high - ends.low) / steps_of_range);
  const double scale = least != least || own < least ? least : own;
  const std::int32_t steps = integer_of(std::nearbyint(static_cast<double>(static_cast<float>(ends.low / scale))));
  const auto zero_point =
      static_cast<std::int32_t>(static_cast<std::uint32_t>(low.integer) - static_cast<std::uint32_t>(steps));
  *call.tensor(5).elements<double>() = scale;
  *call.tensor(6).elements<std::int64_t>() = std::min(std::max<std::int64_t>(zero_point, low.integer), high.integer);
  return true;
}

// Operands: input, dtype, scale_out, zero_point_out. The dtype is not used.
bool accepts_tokens(const Call& call) { return has_outs(call, 2) && is_number(call.tensor(0).dtype); }

struct Parameters {
  double scale;
  std::int64_t zero_point;
};

// The codes are -128 to 127. The zero point is computed from the end of the range that is the more exact.
template <class T>
Parameters parameters_of(const Ends<T>& ends, DType input) {
  constexpr double lowest = -128, highest = 127, least_scale = 0x1p-23;
  const DType dtype = is_floating(input) ? input : DType::float32;
  const auto rounded = [&](double x) { return stored_as(dtype, x); };
  const double range = rounded(ends.range(input)), own = rounded(range / (highest - lowest));
  const double scale = own < least_scale ? least_scale : own;
  const double low = rounded(rounded(static_cast<double>(ends.low)) / scale),
               high = rounded(rounded(static_cast<double>(ends.high)) / scale);
  const bool is_low = rounded(rounded(lowest + low) + rounded(highest + high)) > 0;
  const double exact = is_low ? rounded(lowest - low) : rounded(highest - high);
  const double within = exact < lowest ? lowest : exact > highest ? highest : exact;
  return {scale, within == within ? static_cast<std::int64_t>(std::nearbyint(within))
                                  : std::numeric_limits<std::int64_t>::min()};
}

bool run_tokens(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor& input = call.tensor(0);
  Tensor &scales = call.tensor(2), &zero_points = call.tensor(3);
  Shape rows = shape_of(input), row = rows;
  std::fill_n(row.sizes, input.rank, 1);
  if (input.rank > 0) {
    row.sizes[input.rank - 1] = input.sizes[input.rank - 1], rows.sizes[input.rank - 1] = 1;
    if (row.sizes[input.rank - 1] < 1) return false;
  }
  if (!can_have(scales, rows) || !resize(zero_points, rows.span())) return false;
  resize(scales, rows.span());
  const Strides strides[] = {strides_of(scales), strides_of(zero_points), strides_of(input)};
  const Nest outer = nest_of(rows, scales.dim_order, strides), inner = nest_of(row, input.dim_order, {&strides[2], 1});
  each_row(outer, 3, [&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
    const int last = outer.loops - 1;
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const std::ptrdiff_t first = at[2] + i * outer.stride[2][last];
      const Parameters p = input.dtype == DType::int64
                               ? parameters_of(ends_of<std::int64_t>(input, first, inner), input.dtype)
                               : parameters_of(ends_of<double>(input, first, inner), input.dtype);
      scales.elements<double>()[at[0] + i * outer.stride[0][last]] = p.scale;
      zero_points.elements<std::int64_t>()[at[1] + i * outer.stride[1][last]] = p.zero_point;
    }
  });
  return true;
}

}  // namespace

constexpr Kernel choose_qparams{"choose_qparams", accepts_tensor, nullptr, run_tensor};
constexpr Kernel choose_qparams_per_token{"choose_qparams_per_token", accepts_tokens, nullptr, run_tokens};

}  // namespace assay::optimized
