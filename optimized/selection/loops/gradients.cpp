#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels.gen.h"
#include "optimized/selection/scalars.h"

// Gradients of norms. In each part that is normalised, with d = x - mean and h = gradient * weight, the gradient of x
// is rstd (h - mean(h)) - rstd^3 d mean(h d). The gradient of the weight is the sum of gradient d rstd, that of the
// bias the sum of the gradient.
namespace assay::optimized {
namespace {

bool is_asked(const Value& mask, std::size_t k) { return mask.booleans[k] != 0; }
bool is_mask(const Value& mask) { return mask.kind == ValueKind::booleans && mask.count == 3; }

// Whether the dtypes belong together: gradient and input have one, mean, rstd and weight the same, or float32 if that
// is a half type.
bool has_dtypes(const Call& call, std::size_t mean, std::size_t weight, std::size_t mask, std::size_t out) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, mean, mean + 1, out, out + 1, out + 2})
    if (!call[i].is_tensor()) return false;
  const DType dtype = call.tensor(1).dtype, statistics = call.tensor(mean).dtype;
  if (!is_floating(dtype) || call.tensor(0).dtype != dtype || call.tensor(mean + 1).dtype != statistics) return false;
  if (statistics != dtype && !(computed_in(dtype) != dtype && statistics == DType::float32)) return false;
  if (call[weight].is_tensor() ? call.tensor(weight).dtype != statistics : call[weight].kind != ValueKind::none)
    return false;
  if (!is_mask(call[mask])) return false;
  for (std::size_t k = 0; k < 3; ++k)
    if (is_asked(call[mask], k) && call.tensor(out + k).dtype != dtype) return false;
  return true;
}

bool resize_asked(const Call& call, const Value& mask, std::size_t out, const Shape& input, const Shape& weight) {
  const Shape none{1, {0}};
  const auto shape = [&](std::size_t k) { return !is_asked(mask, k) ? none : k == 0 ? input : weight; };
  for (std::size_t k = 0; k < 3; ++k)
    if (!can_have(call.tensor(out + k), shape(k))) return false;
  for (std::size_t k = 0; k < 3; ++k) {
    resize(call.tensor(out + k), shape(k).span());
    std::memset(call.tensor(out + k).data, 0, call.tensor(out + k).bytes());
  }
  return true;
}

// The two means that the gradient of a part needs.
struct Means {
  double h = 0, product = 0;

  void add(double weighed, double d) { h += weighed, product += weighed * d; }
  double gradient(double weighed, double d, double rstd, double n) const {
    return rstd * (weighed - h / n) - rstd * rstd * rstd * d * (product / n);
  }
};

// Layer norm. Operands: grad_output, input, normalized_shape, mean, rstd, weight, bias, output_mask; the gradients.
bool accepts_layer(const Call& call) {
  if (call.arguments.size() != 11 || !has_dtypes(call, 3, 5, 7, 8)) return false;
  return call[6].is_tensor() ? !call[5].is_tensor() || call.tensor(5).dtype == call.tensor(6).dtype
                             : call[6].kind == ValueKind::none;
}
bool run_layer(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor &gradient = call.tensor(0), &input = call.tensor(1), &means = call.tensor(3), &rstds = call.tensor(4);
  const auto listed = call[2].items();
  const int rank = input.rank, last = static_cast<int>(listed.size()), first = rank - last;
  if (!integers(call[2]) || listed.empty() || first < 0 || !std::ranges::equal(gradient.shape(), input.shape()))
    return false;
  Shape rows = shape_of(input), normalized{last, {}};
  for (int d = first; d < rank; ++d) {
    if (listed[static_cast<std::size_t>(d - first)]->integer != input.sizes[d]) return false;
    normalized.sizes[d - first] = input.sizes[d];
  }
  rows.rank = first;
  const std::int64_t n = normalized.count();
  const Value& mask = call[7];
  for (const std::size_t i : {5u, 6u}) {
    if (call[i].is_tensor() && !std::ranges::equal(call.tensor(i).shape(), normalized.span())) return false;
    if (!call[i].is_tensor() && is_asked(mask, i - 4)) return false;
  }
  if (means.count() != rows.count() || rstds.count() != rows.count() || !means.is_contiguous() ||
      !rstds.is_contiguous())
    return false;
  if (!resize_asked(call, mask, 8, shape_of(input), normalized)) return false;
  const Strides of_g = strides_of(gradient), of_x = strides_of(input);
  const Reading<double> g(gradient, gradient.dtype), x(input, input.dtype), mean(means, means.dtype),
      rstd(rstds, rstds.dtype);
  const bool has_weight = call[5].is_tensor();
  const Tensor& weights = has_weight ? call.tensor(5) : input;
  const Reading<double> weight(weights, weights.dtype);
  const Strides of_weight = has_weight ? strides_of(weights) : Strides{};
  const Strides tails[] = {of_g, of_x, of_weight, {}};
  Strides shifted[3]{};
  for (int d = 0; d < last; ++d)
    shifted[0].of[d] = of_g.of[d + first], shifted[1].of[d] = of_x.of[d + first], shifted[2].of[d] = tails[2].of[d];
  // Calls f(row, place in the normalized shape, gradient, weight, difference) for each element.
  const auto each_of_row = [&](const std::int32_t* row, std::int64_t k, auto f) {
    const std::ptrdiff_t in_g = place_of(of_g, row, first), in_x = place_of(of_x, row, first);
    each_index(normalized, [&](const std::int32_t* index) {
      const double d = x[in_x + place_of(shifted[1], index, last)] - mean[k];
      f(index, g[in_g + place_of(shifted[0], index, last)], has_weight ? weight[place_of(shifted[2], index, last)] : 1,
        d);
    });
  };
  std::int64_t k = 0;
  const Writing<double> of_input(call.tensor(8));
  const Strides to = strides_of(call.tensor(8));
  each_index(rows, [&](const std::int32_t* row) {
    Means sums;
    if (is_asked(mask, 0)) {
      each_of_row(row, k, [&](const std::int32_t*, double y, double w, double d) { sums.add(y * w, d); });
      each_of_row(row, k, [&](const std::int32_t* index, double y, double w, double d) {
        std::ptrdiff_t place = place_of(to, row, first);
        for (int i = 0; i < last; ++i) place += index[i] * to.of[first + i];
        of_input.set(place, sums.gradient(y * w, d, rstd[k], static_cast<double>(n)));
      });
    }
    ++k;
  });
  for (std::size_t which = 1; which < 3; ++which) {
    if (!is_asked(mask, which)) continue;
    const Tensor& out = call.tensor(8 + which);
    const Writing<double> result(out);
    const Strides of_out = strides_of(out);
    each_index(normalized, [&](const std::int32_t* index) {
      double total = 0;
      std::int64_t r = 0;
      each_index(rows, [&](const std::int32_t* row) {
        const double y = g[place_of(of_g, row, first) + place_of(shifted[0], index, last)];
        const double d = x[place_of(of_x, row, first) + place_of(shifted[1], index, last)] - mean[r];
        total += which == 1 ? y * d * rstd[r] : y;
        ++r;
      });
      result.set(place_of(of_out, index, last), total);
    });
  }
  return true;
}

}  // namespace

constexpr Kernel layer_norm_gradient{"layer_norm_gradient", accepts_layer, nullptr, run_layer};

}  // namespace assay::optimized
