#include "optimized/selection/convolution_call.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "optimized/selection/images.h"

namespace assay::optimized::convolution {

using kernels::Convolution;

namespace {

// Entry i of a list for this many dimensions. A list of one entry holds for all dimensions.
std::optional<std::size_t> number(const Value& list, int i, int dimensions) {
  const auto items = list.items();
  if (list.kind != ValueKind::integers || (items.size() != 1 && items.size() != static_cast<std::size_t>(dimensions)))
    return {};
  const Value& v = *items[items.size() == 1 ? 0 : static_cast<std::size_t>(i)];
  if (v.kind != ValueKind::integer || v.changes || v.integer < 0 || v.integer > (1 << 20)) return {};
  return static_cast<std::size_t>(v.integer);
}

std::optional<kernels::ConvolutionAxis> axis_of(const Call& call, int i, int dimensions) {
  const auto s = number(call[stride], i, dimensions), p = number(call[padding], i, dimensions),
             d = number(call[dilation], i, dimensions), o = number(call[output_padding], i, dimensions);
  if (!s || !p || !d || !o || *s == 0 || *d == 0) return {};
  const auto kernel = static_cast<std::size_t>(call.tensor(weight).size(2 + i));
  if (kernel == 0 || (*o != 0 && (!call[transposed].boolean || (*o >= *s && *o >= *d)))) return {};
  return kernels::ConvolutionAxis{kernel, *s, *p, *d, *o};
}

// The number of results over this many cells. 0 if there are none.
std::size_t results_of(const kernels::ConvolutionAxis& axis, std::size_t cells, bool is_transposed) {
  const std::size_t reach = axis.dilation * (axis.kernel - 1) + 1;
  if (cells == 0 || (is_transposed ? (cells - 1) * axis.stride + reach + axis.output_padding <= 2 * axis.padding
                                   : cells + 2 * axis.padding < reach))
    return 0;
  return axis.results(cells, is_transposed);
}

}  // namespace

std::optional<Convolution> convolution_of(const Call& call, Shape& result) {
  if (!is_float32(call[input]) || !is_f32(call[weight]) || !is_float32(call[out])) return {};
  return geometry_of(call, result);
}

std::optional<Convolution> geometry_of(const Call& call, Shape& result) {
  const Tensor &x = call.tensor(input), &w = call.tensor(weight), &y = call.tensor(out);
  if ((has_bias(call) && !is_f32(call[bias])) || (x.rank != 3 && x.rank != 4)) return {};
  if (w.rank != x.rank || y.rank != x.rank || call[transposed].kind != ValueKind::boolean || call[transposed].changes ||
      call[groups].kind != ValueKind::integer || call[groups].changes || call[groups].integer <= 0)
    return {};
  if (w.count() == 0 || !images_of(x)) return {};
  Convolution c;
  c.set = *call.set;
  c.transposed = call[transposed].boolean;
  c.groups = static_cast<std::size_t>(call[groups].integer);
  const auto size = [](const Tensor& t, int d) { return static_cast<std::size_t>(t.size(d)); };
  if (size(x, 1) % c.groups != 0 || size(w, 0) % c.groups != 0) return {};
  c.inputs = size(x, 1) / c.groups, c.outputs = c.transposed ? size(w, 1) : size(w, 0) / c.groups;
  const std::size_t channels = c.groups * c.outputs;
  if (c.transposed ? size(w, 0) != size(x, 1) : size(w, 1) != c.inputs) return {};
  if (has_bias(call) && (call.tensor(bias).rank != 1 || size(call.tensor(bias), 0) != channels)) return {};
  const int dimensions = x.rank - 2;
  result = {x.rank, {x.sizes[0], static_cast<std::int32_t>(channels)}};
  for (int i = 0; i < dimensions; ++i) {
    const auto axis = axis_of(call, i, dimensions);
    const std::size_t n = axis ? results_of(*axis, size(x, 2 + i), c.transposed) : 0;
    if (n == 0 || n > INT32_MAX) return {};
    result.sizes[2 + i] = static_cast<std::int32_t>(n);
    (i == dimensions - 1 ? c.x : c.y) = *axis;
  }
  return c;
}

bool wants_finite_weights(const Convolution& c) { return c.transposed || c.y.padding + c.x.padding > 0; }

bool has_finite_weights(Tensor& w) {
  if (w.constant && w.finite != Tensor::Finite::unknown) return w.finite == Tensor::Finite::yes;
  float x, sum = 0;  // becomes NaN where a weight is not finite, else stays 0
  for (std::uint64_t at = 0; at < w.bytes(); at += sizeof x) {
    std::memcpy(&x, w.data + at, sizeof x);  // it may be unaligned while memory is only counted
    sum += x * 0;
  }
  if (w.constant) w.finite = sum == 0 ? Tensor::Finite::yes : Tensor::Finite::no;
  return sum == 0;
}

bool fits_fusion(const Call& call) {
  if (!call.fusion || !call.tensor(weight).constant) return !call.fusion;
  const Value* residual = call.fusion->residual;
  if (residual && (residual->tensor->count() != call.tensor(out).count() || !images_of(*residual->tensor)))
    return false;
  return call.fusion->norm.empty() || !has_bias(call) || call.tensor(bias).constant;
}

std::optional<Convolution> fixed_convolution(const Call& call) {
  Shape result;
  if (!call.set) return {};
  const auto c = convolution_of(call, result);
  if (!c || moves(call) || !call.tensor(weight).constant || !fits_fusion(call)) return {};
  if (wants_finite_weights(*c) && !has_finite_weights(call.tensor(weight))) return {};
  const Tensor& y = call.tensor(out);
  return images_of(y) && std::ranges::equal(result.span(), y.shape()) ? c : std::nullopt;
}

kernels::WeightStrides weight_strides(const Call& call) {
  const Strides strides = strides_of(call.tensor(weight));
  const auto along = [&](int d) { return static_cast<std::size_t>(strides.of[d]); };
  const bool two = call.tensor(input).rank == 4;
  return {along(0), along(1), two ? along(2) : 0, along(two ? 3 : 2)};
}

void fold(const Call& call, std::span<float> scale, std::span<float> shift) {
  const auto norm = call.fusion->norm;
  const auto of = [&](const Value& v, std::size_t i, float none) {
    return v.kind == ValueKind::none ? none : v.tensor->elements<float>()[i];
  };
  const double eps = norm[6]->real;
  for (std::size_t i = 0; i < scale.size(); ++i) {
    const double a = of(*norm[1], i, 1) / std::sqrt(static_cast<double>(of(*norm[4], i, 0)) + eps);
    scale[i] = static_cast<float>(a);
    shift[i] =
        static_cast<float>(of(*norm[2], i, 0) + (of(call[bias], i, 0) - static_cast<double>(of(*norm[3], i, 0))) * a);
  }
}

}  // namespace assay::optimized::convolution
