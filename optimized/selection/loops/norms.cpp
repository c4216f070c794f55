#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels.gen.h"
#include "optimized/selection/planes.h"
#include "optimized/selection/scalars.h"
#include "optimized/selection/views.h"

// Norms of any floating dtype and layout, by plain loops. Means and variances are doubles.
namespace assay::optimized {
namespace {

// Whether a parameter is None, or has the dtype of the input; a half type may also have parameters of float32.
bool is_parameter(const Value& v, DType input) {
  if (!v.is_tensor()) return v.kind == ValueKind::none && !v.changes;
  return v.tensor->dtype == input || (computed_in(input) != input && v.tensor->dtype == DType::float32);
}
// The dtype of statistics: that of the weight, else of the bias, else of the input.
DType dtype_of_statistics(const Value& weight, const Value& bias, DType input) {
  return weight.is_tensor() ? weight.tensor->dtype : bias.is_tensor() ? bias.tensor->dtype : input;
}
// Whether the operands of a norm have the dtypes that belong together: weight, bias, result, mean, and rstd.
bool has_dtypes(const Call& call, std::size_t weight, std::size_t bias, std::size_t out) {
  if (!call[0].is_tensor() || !is_floating(call.tensor(0).dtype)) return false;
  const DType input = call.tensor(0).dtype, of_both = dtype_of_statistics(call[weight], call[bias], input);
  if (!is_parameter(call[weight], input) || !is_parameter(call[bias], input)) return false;
  if (call[weight].is_tensor() && call[bias].is_tensor() && call.tensor(bias).dtype != of_both) return false;
  return call[out].is_tensor() && call.tensor(out).dtype == input && call[out + 1].is_tensor() &&
         call.tensor(out + 1).dtype == of_both && call[out + 2].is_tensor() && call.tensor(out + 2).dtype == of_both;
}

// Elements of an optional parameter; `otherwise` if it is None.
class Parameter {
 public:
  Parameter(const Value& v, const Tensor& any, double otherwise)
      : elements_(v.is_tensor() ? *v.tensor : any, v.is_tensor() ? v.tensor->dtype : any.dtype),
        is_given_(v.is_tensor()),
        otherwise_(otherwise) {}
  double operator[](std::ptrdiff_t i) const { return is_given_ ? elements_[i] : otherwise_; }

 private:
  Reading<double> elements_;
  bool is_given_;
  double otherwise_;
};

struct Statistics {
  double mean = 0, variance = 0;
};

// The mean and the variance of the elements that are operand 0 of a nest, from the place `first` on.
Statistics statistics(const Reading<double>& x, const Nest& nest, std::ptrdiff_t first, std::int64_t n) {
  Statistics s;
  if (n == 0) return {0, std::numeric_limits<double>::quiet_NaN()};
  each_element(nest, 1, [&](const std::ptrdiff_t* at) { s.mean += x[first + at[0]]; });
  s.mean /= static_cast<double>(n);
  each_element(nest, 1, [&](const std::ptrdiff_t* at) {
    const double d = x[first + at[0]] - s.mean;
    s.variance += d * d;
  });
  s.variance /= static_cast<double>(n);
  return s;
}

bool has_sizes(const Tensor& t, std::span<const std::int32_t> sizes) { return std::ranges::equal(t.shape(), sizes); }

// Layer norm. Operands: input, normalized_shape, weight, bias, eps, out, mean, rstd.
bool accepts_layer_norm(const Call& call) {
  return call.arguments.size() == 8 && has_dtypes(call, 2, 3, 5) && call[4].kind == ValueKind::real;
}
bool run_layer_norm(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor& input = call.tensor(0);
  Tensor &out = call.tensor(5), &means = call.tensor(6), &rstds = call.tensor(7);
  const auto listed = call[1].items();
  if (!integers(call[1]) || listed.empty() || listed.size() > input.rank) return false;
  const int rank = input.rank, last = static_cast<int>(listed.size()), first = rank - last;
  Shape rows = shape_of(input), inner = rows, normalized{last, {}};
  for (int d = 0; d < rank; ++d) {
    if (d >= first && listed[static_cast<std::size_t>(d - first)]->integer != input.sizes[d]) return false;
    if (d >= first) normalized.sizes[d - first] = input.sizes[d];
    (d < first ? inner : rows).sizes[d] = 1;
  }
  for (const std::size_t i : {2u, 3u})
    if (call[i].is_tensor() && !has_sizes(call.tensor(i), normalized.span())) return false;
  if (!can_have(means, rows) || !can_have(rstds, rows) || !resize(out, input.shape())) return false;
  resize(means, rows.span()), resize(rstds, rows.span());
  const auto padded = [&](const Value& v) { return v.is_tensor() ? strides_in(inner, *v.tensor) : Strides{}; };
  const Strides of_rows[] = {strides_of(input), strides_of(out), strides_of(means), strides_of(rstds)};
  const Strides of_inner[] = {of_rows[0], of_rows[1], padded(call[2]), padded(call[3])};
  const Nest each = nest_of(rows, row_major, of_rows), within = nest_of(inner, row_major, of_inner);
  const Reading<double> x(input, input.dtype);
  const Parameter weight(call[2], input, 1), bias(call[3], input, 0);
  const Writing<double> y(out), mean(means), rstd(rstds);
  each_element(each, 4, [&](const std::ptrdiff_t* at) {
    const Statistics s = statistics(x, within, at[0], inner.count());
    const double scale = 1 / std::sqrt(s.variance + call[4].real);
    mean.set(at[2], s.mean), rstd.set(at[3], scale);
    each_element(within, 4, [&](const std::ptrdiff_t* in) {
      y.set(at[1] + in[1], (x[at[0] + in[0]] - s.mean) * scale * weight[in[2]] + bias[in[3]]);
    });
  });
  return true;
}

// Group norm. Operands: input, weight, bias, N, C, HxW, group, eps, out, mean, rstd.

bool accepts_group_norm(const Call& call) {
  return call.arguments.size() == 11 && has_dtypes(call, 1, 2, 8) && call[7].kind == ValueKind::real;
}
bool run_group_norm(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor& input = call.tensor(0);
  Tensor &out = call.tensor(8), &means = call.tensor(9), &rstds = call.tensor(10);
  GroupSizes sizes;
  if (!read_groups(call, 3, input, sizes)) return false;
  const auto [images, channels, pixels, groups] = sizes;
  const std::int32_t each_channel[] = {static_cast<std::int32_t>(channels)};
  for (const std::size_t i : {1u, 2u})
    if (call[i].is_tensor() && !has_sizes(call.tensor(i), each_channel)) return false;
  const Shape rows{2, {static_cast<std::int32_t>(images), static_cast<std::int32_t>(groups)}};
  Strides in;
  if (!planes_of(input, images, channels, pixels, in) || !can_have(means, rows) || !can_have(rstds, rows) ||
      !resize(out, input.shape()))
    return false;
  resize(means, rows.span()), resize(rstds, rows.span());
  const Strides of_means = strides_of(means), of_rstds = strides_of(rstds);
  const std::int64_t of_group = sizes.of_group();
  const Shape group{3, {1, static_cast<std::int32_t>(of_group), static_cast<std::int32_t>(pixels)}};
  const Nest within = nest_of(group, row_major, {&in, 1});
  const Reading<double> x(input, input.dtype);
  const Parameter weight(call[1], input, 1), bias(call[2], input, 0);
  const Writing<double> y(out), mean(means), rstd(rstds);
  Walk to(out);
  for (std::int64_t i = 0; i < images * groups; ++i) {
    const std::int64_t image = i / groups, g = i % groups, channel = g * of_group;
    const std::ptrdiff_t first = image * in.of[0] + channel * in.of[1];
    const Statistics s = statistics(x, within, first, of_group * pixels);
    const double scale = 1 / std::sqrt(s.variance + call[7].real);
    mean.set(image * of_means.of[0] + g * of_means.of[1], s.mean);
    rstd.set(image * of_rstds.of[0] + g * of_rstds.of[1], scale);
    for (std::int64_t c = channel; c < channel + of_group; ++c)
      for (std::int64_t p = 0; p < pixels; ++p, to.next()) {
        const double normal = (x[image * in.of[0] + c * in.of[1] + p * in.of[2]] - s.mean) * scale;
        y.set(to.place(), normal * weight[c] + bias[c]);
      }
  }
  return true;
}

// Batch norms normalise each channel, which is an index of dimension 1.

// The nest of a channel in both tensors, where operand 0 is the first.
Nest channel_of(const Tensor& input, const Tensor& out) {
  Shape shape = shape_of(input);
  shape.sizes[1] = 1;
  const Strides strides[] = {strides_of(input), strides_of(out)};
  return nest_of(shape, row_major, strides);
}
bool has_channels(const Call& call, std::initializer_list<std::size_t> parameters) {
  const Tensor& input = call.tensor(0);
  return input.rank >= 2 && std::ranges::all_of(parameters, [&](std::size_t i) {
           return !call[i].is_tensor() || (call.tensor(i).rank == 1 && call.tensor(i).sizes[0] == input.sizes[1]);
         });
}

// Normalises a channel by given statistics, as a x + b.
void scale_channel(const Call& call, std::int64_t channel, const Statistics& s, double eps, const Tensor& out) {
  const Tensor& input = call.tensor(0);
  const Reading<double> x(input, input.dtype);
  const Parameter weight(call[1], input, 1), bias(call[2], input, 0);
  const Writing<double> y(out);
  const double a = weight[channel] / std::sqrt(s.variance + eps), b = bias[channel] - a * s.mean;
  const std::ptrdiff_t from = channel * strides_of(input).of[1], to = channel * strides_of(out).of[1];
  each_element(channel_of(input, out), 2,
               [&](const std::ptrdiff_t* at) { y.set(to + at[1], a * x[from + at[0]] + b); });
}

// Normalises a channel by its own statistics, which are returned. The results are out, mean and rstd, from argument
// `first` on. A variance that is 0 with eps 0 gives rstd 0.
Statistics normalize_channel(const Call& call, std::int64_t channel, double eps, std::size_t first) {
  const Tensor &input = call.tensor(0), &out = call.tensor(first);
  const Reading<double> x(input, input.dtype);
  const Parameter weight(call[1], input, 1), bias(call[2], input, 0);
  const Writing<double> y(out), mean(call.tensor(first + 1)), rstd(call.tensor(first + 2));
  const Nest nest = channel_of(input, out);
  const std::ptrdiff_t from = channel * strides_of(input).of[1], to = channel * strides_of(out).of[1];
  const Statistics s = statistics(x, nest, from, input.count() / input.size(1));
  const double scale = s.variance == 0 && eps == 0 ? 0 : 1 / std::sqrt(s.variance + eps);
  mean.set(channel, s.mean), rstd.set(channel, scale);
  each_element(nest, 2, [&](const std::ptrdiff_t* at) {
    y.set(to + at[1], (x[from + at[0]] - s.mean) * scale * weight[channel] + bias[channel]);
  });
  return s;
}

// Operands: input, weight, bias, running_mean, running_var, momentum, eps, out, two empty results.
bool accepts_batch_norm(const Call& call) {
  if (call.arguments.size() != 10 || !call[3].is_tensor() || !call[4].is_tensor() || !call[7].is_tensor()) return false;
  const DType statistics = call.tensor(3).dtype;
  return call[0].is_tensor() && is_floating(call.tensor(0).dtype) && is_parameter(call[3], call.tensor(0).dtype) &&
         call.tensor(4).dtype == statistics && call.tensor(7).dtype == call.tensor(0).dtype &&
         (!call[1].is_tensor() || call.tensor(1).dtype == statistics) &&
         (!call[2].is_tensor() || call.tensor(2).dtype == statistics) && call[6].kind == ValueKind::real &&
         call[8].is_tensor() && call[9].is_tensor() && call.tensor(8).dtype == statistics &&
         call.tensor(9).dtype == statistics;
}
bool run_batch_norm(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor& input = call.tensor(0);
  Tensor& out = call.tensor(7);
  constexpr std::int32_t none[] = {0};
  if (!has_channels(call, {1, 2, 3, 4}) || !resize(out, input.shape()) || !resize(call.tensor(8), none) ||
      !resize(call.tensor(9), none))
    return false;
  const Reading<double> mean(call.tensor(3), call.tensor(3).dtype), variance(call.tensor(4), call.tensor(4).dtype);
  for (std::int64_t c = 0; c < input.size(1); ++c) scale_channel(call, c, {mean[c], variance[c]}, call[6].real, out);
  return true;
}

// Operands: input, weight, bias, training, momentum, eps, out, mean, rstd.
bool accepts_norm_of_batch(const Call& call) {
  return call.arguments.size() == 9 && has_dtypes(call, 1, 2, 6) && call[3].kind == ValueKind::boolean &&
         call[5].kind == ValueKind::real;
}
bool run_norm_of_batch(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor& input = call.tensor(0);
  Tensor &out = call.tensor(6), &means = call.tensor(7), &rstds = call.tensor(8);
  if (!call[3].boolean || !has_channels(call, {1, 2}) || input.count() == 0) return false;
  const std::int32_t channels[] = {input.sizes[1]};
  const Shape shape{1, {input.sizes[1]}};
  if (!can_have(means, shape) || !can_have(rstds, shape) || !resize(out, input.shape())) return false;
  resize(means, channels), resize(rstds, channels);
  for (std::int64_t c = 0; c < input.size(1); ++c) normalize_channel(call, c, call[5].real, 6);
  return true;
}

// Operands: input, weight, bias, running_mean, running_var, training, momentum, eps, out, mean, rstd. With training,
// the running statistics move towards those of the batch, whose variance is then a sum divided by n - 1. Else they take
// the place of those of the batch.
bool accepts_running(const Call& call) {
  if (call.arguments.size() != 11 || !call[0].is_tensor() || !is_floating(call.tensor(0).dtype)) return false;
  for (const std::size_t i : {3u, 4u, 8u, 9u, 10u})
    if (!call[i].is_tensor()) return false;
  const DType input = call.tensor(0).dtype, statistics = call.tensor(3).dtype;
  for (const std::size_t i : {1u, 2u, 4u, 9u, 10u})
    if (call[i].is_tensor() ? call.tensor(i).dtype != statistics : call[i].kind != ValueKind::none) return false;
  return is_parameter(call[3], input) && call.tensor(8).dtype == input && call[5].kind == ValueKind::boolean &&
         call[6].kind == ValueKind::real && call[7].kind == ValueKind::real;
}
bool run_running(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor &input = call.tensor(0), &running_mean = call.tensor(3), &running_var = call.tensor(4);
  const bool training = call[5].boolean;
  if (!has_channels(call, {1, 2, 3, 4}) || (training && input.count() == 0)) return false;
  const Shape shape{1, {training ? input.sizes[1] : 0}};
  if (!can_have(call.tensor(9), shape) || !can_have(call.tensor(10), shape) || !resize(call.tensor(8), input.shape()))
    return false;
  resize(call.tensor(9), shape.span()), resize(call.tensor(10), shape.span());
  const double n = static_cast<double>(input.count()) / static_cast<double>(std::max<std::int64_t>(input.size(1), 1)),
               momentum = call[6].real;
  const Reading<double> mean(running_mean, running_mean.dtype), variance(running_var, running_var.dtype);
  const Writing<double> to_mean(running_mean), to_variance(running_var);
  for (std::int64_t c = 0; c < input.size(1); ++c) {
    if (!training) {
      scale_channel(call, c, {mean[c], variance[c]}, call[7].real, call.tensor(8));
      continue;
    }
    const Statistics s = normalize_channel(call, c, call[7].real, 8);
    to_mean.set(c, (1 - momentum) * mean[c] + momentum * s.mean);
    to_variance.set(c, (1 - momentum) * variance[c] + momentum * s.variance * n / (n - 1));
  }
  return true;
}

}  // namespace

constexpr Kernel layer_norm_any{"layer_norm_any", accepts_layer_norm, nullptr, run_layer_norm};
constexpr Kernel group_norm_any{"group_norm_any", accepts_group_norm, nullptr, run_group_norm};
constexpr Kernel batch_norm_any{"batch_norm_any", accepts_batch_norm, nullptr, run_batch_norm};
constexpr Kernel norm_of_batch_any{"norm_of_batch_any", accepts_norm_of_batch, nullptr, run_norm_of_batch};
constexpr Kernel running_norm{"running_norm", accepts_running, nullptr, run_running};

}  // namespace assay::optimized
