#include <algorithm>
#include <cmath>

#include "kernels.gen.h"
#include "optimized/selection/planes.h"
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
    clear(call.tensor(out + k));
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

// Group norm. Operands: grad_output, input, mean, rstd, weight, N, C, HxW, group, output_mask; the gradients.
struct Groups {
  GroupSizes sizes;
  Reading<double> gradients, inputs, mean, rstd, weights;
  Strides of_gradients, of_inputs;
  bool has_weights;

  Groups(const Call& call, const GroupSizes& sizes_, const Strides& strides)
      : sizes(sizes_),
        gradients(call.tensor(0), call.tensor(0).dtype),
        inputs(call.tensor(1), call.tensor(1).dtype),
        mean(call.tensor(2), call.tensor(2).dtype),
        rstd(call.tensor(3), call.tensor(3).dtype),
        weights(call.tensor(call[4].is_tensor() ? 4 : 1), call.tensor(call[4].is_tensor() ? 4 : 1).dtype),
        of_gradients(strides),
        of_inputs(strides),
        has_weights(call[4].is_tensor()) {}

  static std::ptrdiff_t place(const Strides& s, std::int64_t image, std::int64_t channel, std::int64_t pixel) {
    return static_cast<std::ptrdiff_t>(image * s.of[0] + channel * s.of[1] + pixel * s.of[2]);
  }
  // Calls f(pixel, gradient, difference) for each pixel of a channel.
  template <class F>
  void each_pixel(std::int64_t image, std::int64_t channel, F f) const {
    const double mean_of_group = mean[static_cast<std::ptrdiff_t>(group(image, channel))];
    for (std::int64_t p = 0; p < sizes.pixels; ++p)
      f(p, gradients[place(of_gradients, image, channel, p)],
        inputs[place(of_inputs, image, channel, p)] - mean_of_group);
  }
  std::int64_t group(std::int64_t image, std::int64_t channel) const {
    return image * sizes.groups + channel / sizes.of_group();
  }
  double weight(std::int64_t channel) const { return has_weights ? weights[static_cast<std::ptrdiff_t>(channel)] : 1; }
};

void find_gradient_of_input(const Groups& g, const Tensor& out) {
  const Writing<double> y(out);
  const Shape shape = shape_of(out);
  const Strides to = strides_of(out);
  const std::int64_t of_group = g.sizes.of_group();
  const auto n = static_cast<double>(of_group * g.sizes.pixels);
  for (std::int64_t k = 0; k < g.sizes.images * g.sizes.groups; ++k) {
    const std::int64_t image = k / g.sizes.groups, first = k % g.sizes.groups * of_group;
    Means sums;
    for (std::int64_t c = first; c < first + of_group; ++c)
      g.each_pixel(image, c, [&](std::int64_t, double gradient, double d) { sums.add(gradient * g.weight(c), d); });
    for (std::int64_t c = first; c < first + of_group; ++c)
      g.each_pixel(image, c, [&](std::int64_t p, double gradient, double d) {
        y.set(place_of(to, shape, (image * g.sizes.channels + c) * g.sizes.pixels + p),
              sums.gradient(gradient * g.weight(c), d, g.rstd[static_cast<std::ptrdiff_t>(k)], n));
      });
  }
}
void find_gradient_of_parameter(const Groups& g, bool is_weight, const Tensor& out) {
  const Writing<double> y(out);
  for (std::int64_t c = 0; c < g.sizes.channels; ++c) {
    double total = 0;
    for (std::int64_t image = 0; image < g.sizes.images; ++image) {
      const double rstd = g.rstd[static_cast<std::ptrdiff_t>(g.group(image, c))];
      g.each_pixel(image, c,
                   [&](std::int64_t, double gradient, double d) { total += gradient * (is_weight ? d * rstd : 1); });
    }
    y.set(static_cast<std::ptrdiff_t>(c), total);
  }
}

bool accepts_groups(const Call& call) { return call.arguments.size() == 13 && has_dtypes(call, 2, 4, 9, 10); }
bool run_groups(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor &gradient = call.tensor(0), &input = call.tensor(1);
  GroupSizes sizes;
  Strides strides, of_gradient;
  const auto planes = [&](const Tensor& t, Strides& s) {
    return planes_of(t, sizes.images, sizes.channels, sizes.pixels, s);
  };
  if (!read_groups(call, 5, input, sizes) || !planes(input, strides) || !planes(gradient, of_gradient) ||
      !std::ranges::equal(gradient.shape(), input.shape()) || !std::equal(strides.of, strides.of + 3, of_gradient.of))
    return false;
  const Shape channels{1, {static_cast<std::int32_t>(sizes.channels)}};
  for (const std::size_t i : {2u, 3u})
    if (call.tensor(i).count() != sizes.images * sizes.groups || !call.tensor(i).is_contiguous()) return false;
  if (call[4].is_tensor() ? !std::ranges::equal(call.tensor(4).shape(), channels.span())
                          : is_asked(call[9], 1) || is_asked(call[9], 2))
    return false;
  if (!resize_asked(call, call[9], 10, shape_of(input), channels)) return false;
  const Groups g(call, sizes, strides);
  if (is_asked(call[9], 0)) find_gradient_of_input(g, call.tensor(10));
  if (is_asked(call[9], 1)) find_gradient_of_parameter(g, true, call.tensor(11));
  if (is_asked(call[9], 2)) find_gradient_of_parameter(g, false, call.tensor(12));
  return true;
}

}  // namespace

constexpr Kernel group_norm_gradient{"group_norm_gradient", accepts_groups, nullptr, run_groups};
constexpr Kernel layer_norm_gradient{"layer_norm_gradient", accepts_layer, nullptr, run_layer};

}  // namespace assay::optimized
