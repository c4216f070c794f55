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
// The sizes of the first dimensions of the input, and of the last ones, which normalized_shape lists.
bool split(const Call& call, Shape& rows, Shape& normalized) {
  const Tensor& input = call.tensor(1);
  const auto listed = call[2].items();
  const int last = static_cast<int>(listed.size()), first = input.rank - last;
  if (!integers(call[2]) || listed.empty() || first < 0) return false;
  rows = shape_of(input), normalized = {last, {}};
  rows.rank = first;
  for (int d = 0; d < last; ++d) {
    normalized.sizes[d] = input.sizes[first + d];
    if (listed[static_cast<std::size_t>(d)]->integer != normalized.sizes[d]) return false;
  }
  return true;
}

// Whether the operands have the sizes that belong together.
bool has_sizes(const Call& call, const Shape& rows, const Shape& normalized) {
  for (const std::size_t i : {5u, 6u}) {
    if (call[i].is_tensor() && !std::ranges::equal(call.tensor(i).shape(), normalized.span())) return false;
    if (!call[i].is_tensor() && is_asked(call[7], i - 4)) return false;
  }
  for (const std::size_t i : {3u, 4u})
    if (call.tensor(i).count() != rows.count() || !call.tensor(i).is_contiguous()) return false;
  return std::ranges::equal(call.tensor(0).shape(), call.tensor(1).shape());
}

struct Layer {
  Shape rows, normalized;
  Reading<double> gradients, inputs, mean, rstd, weights;
  Strides of_gradients, of_inputs, of_weights;
  bool has_weights;

  Layer(const Call& call, const Tensor& weight, const Shape& rows_, const Shape& normalized_)
      : rows(rows_),
        normalized(normalized_),
        gradients(call.tensor(0), call.tensor(0).dtype),
        inputs(call.tensor(1), call.tensor(1).dtype),
        mean(call.tensor(3), call.tensor(3).dtype),
        rstd(call.tensor(4), call.tensor(4).dtype),
        weights(weight, weight.dtype),
        of_gradients(strides_of(call.tensor(0))),
        of_inputs(strides_of(call.tensor(1))),
        of_weights(strides_of(weight)),
        has_weights(call[5].is_tensor()) {}

  // Calls f(row, k) for the index of each row, where k is the number of rows before it.
  template <class F>
  void each_row(F f) const {
    std::int64_t k = 0;
    each_index(rows, [&](const std::int32_t* row) { f(row, k++); });
  }
  std::ptrdiff_t place(const Strides& strides, const std::int32_t* row, const std::int32_t* index) const {
    std::ptrdiff_t at = place_of(strides, row, rows.rank);
    for (int d = 0; d < normalized.rank; ++d) at += index[d] * strides.of[rows.rank + d];
    return at;
  }
  double gradient(const std::int32_t* row, const std::int32_t* index) const {
    return gradients[place(of_gradients, row, index)];
  }
  double weighed(const std::int32_t* row, const std::int32_t* index) const {
    return gradient(row, index) * (has_weights ? weights[place_of(of_weights, index, normalized.rank)] : 1);
  }
  double difference(const std::int32_t* row, const std::int32_t* index, std::int64_t k) const {
    return inputs[place(of_inputs, row, index)] - mean[k];
  }
};

void find_gradient_of_input(const Layer& layer, const Tensor& out) {
  const Writing<double> y(out);
  const Strides to = strides_of(out);
  const auto n = static_cast<double>(layer.normalized.count());
  layer.each_row([&](const std::int32_t* row, std::int64_t k) {
    Means sums;
    const auto each = [&](auto f) {
      each_index(layer.normalized, [&](const std::int32_t* index) {
        f(index, layer.weighed(row, index), layer.difference(row, index, k));
      });
    };
    each([&](const std::int32_t*, double weighed, double d) { sums.add(weighed, d); });
    each([&](const std::int32_t* index, double weighed, double d) {
      y.set(layer.place(to, row, index), sums.gradient(weighed, d, layer.rstd[k], n));
    });
  });
}

// The gradient of the weight or of the bias.
void find_gradient_of_parameter(const Layer& layer, bool is_weight, const Tensor& out) {
  const Writing<double> y(out);
  const Strides to = strides_of(out);
  each_index(layer.normalized, [&](const std::int32_t* index) {
    double total = 0;
    layer.each_row([&](const std::int32_t* row, std::int64_t k) {
      total += layer.gradient(row, index) * (is_weight ? layer.difference(row, index, k) * layer.rstd[k] : 1);
    });
    y.set(place_of(to, index, layer.normalized.rank), total);
  });
}

bool run_layer(const Step& step, Execution&) {
  const Call& call = step.call;
  Shape rows, normalized;
  if (!split(call, rows, normalized) || !has_sizes(call, rows, normalized) ||
      !resize_asked(call, call[7], 8, shape_of(call.tensor(1)), normalized))
    return false;
  const Layer layer(call, call.tensor(call[5].is_tensor() ? 5 : 1), rows, normalized);
  if (is_asked(call[7], 0)) find_gradient_of_input(layer, call.tensor(8));
  if (is_asked(call[7], 1)) find_gradient_of_parameter(layer, true, call.tensor(9));
  if (is_asked(call[7], 2)) find_gradient_of_parameter(layer, false, call.tensor(10));
  return true;
}

}  // namespace

constexpr Kernel layer_norm_gradient{"layer_norm_gradient", accepts_layer, nullptr, run_layer};

}  // namespace assay::optimized
