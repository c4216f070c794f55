#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels.gen.h"
#include "optimized/kernels/reduction.h"
#include "optimized/selection/moments.h"

namespace assay::optimized {
namespace {

// Operands: input, normalized_shape, weight, bias, eps, out, mean, rstd.
bool is_parameter(const Call& call, std::size_t i) {
  if (call[i].kind == ValueKind::none) return !call[i].changes;
  return call[i].kind == ValueKind::tensor && call.tensor(i).dtype == DType::float32 && is_row_major(call.tensor(i));
}

bool accepts(const Call& call) {
  if (!call.set || call[0].kind != ValueKind::tensor || !is_parameter(call, 2) || !is_parameter(call, 3) ||
      call[4].kind != ValueKind::real || call[4].changes)
    return false;
  const Tensor& input = call.tensor(0);
  for (const std::size_t i : {0u, 5u, 6u, 7u}) {
    if (call[i].kind != ValueKind::tensor) return false;
    const Tensor& t = call.tensor(i);
    if (t.dtype != DType::float32 || t.rank != input.rank || !is_row_major(t)) return false;
  }
  return true;
}

// Whether the normalized shape is the shape of the weight and bias, and the last sizes of the input.
bool is_end(const Call& call) {
  const Tensor& input = call.tensor(0);
  const auto shape = call[1].items();
  if (!integers(call[1]) || shape.empty() || shape.size() > input.rank) return false;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int32_t n = input.sizes[input.rank - shape.size() + d];
    if (shape[d]->integer != n) return false;
    for (const std::size_t i : {2u, 3u})
      if (call[i].kind == ValueKind::tensor && (call.tensor(i).rank != shape.size() || call.tensor(i).sizes[d] != n))
        return false;
  }
  return true;
}

// Without elements, the mean is 0 and the variance NaN.
bool set_empty(const Tensor& means, const Tensor& rstds) {
  std::fill_n(means.elements<float>(), means.count(), 0.0f);
  std::fill_n(rstds.elements<float>(), rstds.count(), std::numeric_limits<float>::quiet_NaN());
  return true;
}

bool run(const Step& step, Execution& execution) {
  const Call& call = step.call;
  if (!is_end(call)) return false;
  const Tensor& input = call.tensor(0);
  const std::size_t rank = input.rank, last = call[1].count;
  std::int64_t n = 1;
  for (std::size_t d = rank - last; d < rank; ++d) n *= input.sizes[d];
  Shape rows = shape_of(input);
  std::fill_n(rows.sizes + rank - last, last, 1);
  Tensor &out = call.tensor(5), &means = call.tensor(6), &rstds = call.tensor(7);
  if (!can_have(means, rows) || !can_have(rstds, rows) || !resize(out, input.shape())) return false;
  resize(means, rows.span()), resize(rstds, rows.span());
  if (n == 0) return set_empty(means, rstds);
  const auto set = *call.set;
  const auto elements = [&](std::size_t i) {
    return call[i].kind == ValueKind::tensor ? call.tensor(i).elements<const float>() : nullptr;
  };
  const float *x = elements(0), *weight = elements(2), *bias = elements(3);
  const auto size = static_cast<std::size_t>(n);
  kernels::share(execution.threads, static_cast<std::size_t>(means.count()), size, [&](kernels::Range range) {
    for (std::size_t r = range.begin; r < range.end; ++r) {
      const kernels::Moments m =
          kernels::layer_norm(set, x + r * size, {weight, bias}, call[4].real, out.elements<float>() + r * size, size);
      means.elements<float>()[r] = m.mean, rstds.elements<float>()[r] = m.rstd;
    }
  });
  return true;
}

// Operands: input, weight, bias, N, C, HxW, group, eps, out, mean, rstd.
bool accepts_group_norm(const Call& call) {
  for (const std::size_t i : {0u, 8u, 9u, 10u})
    if (!is_parameter(call, i) || call[i].kind != ValueKind::tensor) return false;
  return call.set && is_parameter(call, 1) && is_parameter(call, 2) && call[7].kind == ValueKind::real &&
         call.tensor(8).rank == call.tensor(0).rank && call.tensor(9).rank == 2 && call.tensor(10).rank == 2;
}

// A vector of this many elements, or None.
bool is_vector(const Value& v, std::int64_t n) {
  return v.kind == ValueKind::none || (v.tensor->rank == 1 && v.tensor->size(0) == n);
}
const float* elements_of(const Value& v) { return v.kind == ValueKind::none ? nullptr : v.tensor->elements<float>(); }

bool run_group_norm(const Step& step, Execution& execution) {
  const Call& call = step.call;
  const Tensor& input = call.tensor(0);
  Tensor &out = call.tensor(8), &means = call.tensor(9), &rstds = call.tensor(10);
  std::int64_t numbers[4], count = 1;
  for (std::size_t i = 0; i < 4; ++i) {
    if (call[3 + i].kind != ValueKind::integer || call[3 + i].integer < (i == 1 || i == 3) ||
        call[3 + i].integer > INT32_MAX)
      return false;
    numbers[i] = call[3 + i].integer;
    if (i < 3 && __builtin_mul_overflow(count, numbers[i], &count)) return false;
  }
  const std::int64_t images = numbers[0], channels = numbers[1], pixels = numbers[2], groups = numbers[3];
  const Shape rows{2, {static_cast<std::int32_t>(images), static_cast<std::int32_t>(groups)}};
  if (channels % groups != 0 || input.count() != count || !is_vector(call[1], channels) ||
      !is_vector(call[2], channels) || !can_have(means, rows) || !can_have(rstds, rows) || !resize(out, input.shape()))
    return false;
  resize(means, rows.span()), resize(rstds, rows.span());
  if (count == 0) return set_empty(means, rstds);
  const auto set = *call.set;
  const float *x = input.elements<float>(), *weight = elements_of(call[1]), *bias = elements_of(call[2]);
  const std::int64_t of_group = channels / groups;
  const auto run = static_cast<std::size_t>(pixels);
  const auto size = static_cast<std::size_t>(of_group * pixels);
  kernels::share(execution.threads, static_cast<std::size_t>(images * groups), size, [&](kernels::Range range) {
    for (std::size_t r = range.begin; r < range.end; ++r) {
      const std::int64_t first = static_cast<std::int64_t>(r) % groups * of_group;
      const kernels::Affine affine{weight ? weight + first : nullptr, bias ? bias + first : nullptr, run};
      const kernels::Moments m =
          kernels::layer_norm(set, x + r * size, affine, call[7].real, out.elements<float>() + r * size, size);
      means.elements<float>()[r] = m.mean, rstds.elements<float>()[r] = m.rstd;
    }
  });
  return true;
}

// How channels are in memory: the number of elements before and after each is the same, in row-major order or channels
// last.
struct Channels {
  std::int64_t before = 1, count = 1, after = 1;
};
bool channels_of(const Tensor& input, Channels& channels) {
  const int rank = input.rank;
  bool is_last = rank >= 2 && input.dim_order[0] == 0 && input.dim_order[rank - 1] == 1;
  for (int i = 1; i + 1 < rank; ++i) is_last = is_last && input.dim_order[i] == i + 1;
  if (rank < 2 || (!is_last && !is_row_major(input))) return false;
  channels = {input.size(0), input.size(1), 1};
  for (int d = 2; d < rank; ++d) (is_last ? channels.before : channels.after) *= input.size(d);
  return true;
}

// y = x scale + shift for each channel. The scales come first, then the shifts.
void scale_channels(const float* x, float* y, const Channels& channels, const float* scales) {
  for (std::int64_t i = 0; i < channels.before; ++i)
    for (std::int64_t c = 0; c < channels.count; ++c) {
      const float scale = scales[c], shift = scales[channels.count + c];
      for (std::int64_t k = 0; k < channels.after; ++k) *y++ = *x++ * scale + shift;
    }
}

const void* prepare_batch_norm(const Call& call, Stores& stores) {
  stores.scratch =
      2 * sizeof(float) * static_cast<std::uint64_t>(std::max<std::int32_t>(call.tensor(0).declared[1], 1));
  return nullptr;
}

bool accepts_images(const Call& call, std::size_t out, std::size_t parameters) {
  for (std::size_t i = 1; i <= parameters; ++i)
    if (!is_parameter(call, i)) return false;
  for (std::size_t i = out + 1; i < out + 3; ++i)
    if (call[i].kind != ValueKind::tensor || call.tensor(i).dtype != DType::float32 || call.tensor(i).rank != 1)
      return false;
  Channels channels;
  const auto is_image = [&](std::size_t i) {
    return call[i].kind == ValueKind::tensor && call.tensor(i).dtype == DType::float32 &&
           channels_of(call.tensor(i), channels);
  };
  return is_image(0) && is_image(out) && call.tensor(0).rank == call.tensor(out).rank && !call.tensor(0).unbounded &&
         std::equal(call.tensor(0).dim_order, call.tensor(0).dim_order + call.tensor(0).rank,
                    call.tensor(out).dim_order) &&
         call[out - 1].kind == ValueKind::real;
}

// Operands: input, weight, bias, running_mean, running_var, momentum, eps, out, and two empty outs.
bool accepts_batch_norm(const Call& call) {
  return accepts_images(call, 7, 4) && call[3].kind == ValueKind::tensor && call[4].kind == ValueKind::tensor;
}

bool run_batch_norm(const Step& step, Execution& execution) {
  const Call& call = step.call;
  const Tensor& input = call.tensor(0);
  Channels channels;
  const Shape nothing{1, {0}};
  if (!channels_of(input, channels) ||
      execution.scratch.size() < 2 * sizeof(float) * static_cast<std::size_t>(channels.count) ||
      !can_have(call.tensor(8), nothing) || !can_have(call.tensor(9), nothing))
    return false;
  for (std::size_t i = 1; i < 5; ++i)
    if (!is_vector(call[i], channels.count)) return false;
  if (!resize(call.tensor(7), input.shape())) return false;
  resize(call.tensor(8), nothing.span()), resize(call.tensor(9), nothing.span());
  const float *weight = elements_of(call[1]), *bias = elements_of(call[2]), *mean = elements_of(call[3]),
              *variance = elements_of(call[4]);
  auto* scales = reinterpret_cast<float*>(execution.scratch.data());
  for (std::int64_t c = 0; c < channels.count; ++c) {
    const double scale = (weight ? weight[c] : 1) / std::sqrt(static_cast<double>(variance[c]) + call[6].real);
    scales[c] = static_cast<float>(scale);
    scales[channels.count + c] = static_cast<float>((bias ? bias[c] : 0) - static_cast<double>(mean[c]) * scale);
  }
  scale_channels(input.elements<float>(), call.tensor(7).elements<float>(), channels, scales);
  return true;
}

// Operands: input, weight, bias, training, momentum, eps, out, save_mean, save_invstd.
bool accepts_norm_of_batch(const Call& call) { return accepts_images(call, 6, 2); }

bool run_norm_of_batch(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor& input = call.tensor(0);
  Tensor &out = call.tensor(6), &means = call.tensor(7), &rstds = call.tensor(8);
  Channels channels;
  if (!channels_of(input, channels) || input.count() == 0 || call[3].kind != ValueKind::boolean || !call[3].boolean ||
      !is_vector(call[1], channels.count) || !is_vector(call[2], channels.count))
    return false;
  const Shape vector{1, {static_cast<std::int32_t>(channels.count)}};
  if (!can_have(means, vector) || !can_have(rstds, vector) || !resize(out, input.shape())) return false;
  resize(means, vector.span()), resize(rstds, vector.span());
  const float *weight = elements_of(call[1]), *bias = elements_of(call[2]);
  Nest nest;
  nest.loops = 2, nest.count[0] = channels.before, nest.count[1] = channels.after;
  nest.stride[0][0] = channels.count * channels.after, nest.stride[0][1] = 1;
  const double n = static_cast<double>(channels.before * channels.after);
  for (std::int64_t c = 0; c < channels.count; ++c) {
    const float* x = input.elements<float>() + c * channels.after;
    float* y = out.elements<float>() + c * channels.after;
    const Moments m = moments(x, nest);
    const auto mean = static_cast<float>(m.mean);
    auto rstd = static_cast<float>(1 / std::sqrt(m.squares / n + call[5].real));
    const bool is_flat = std::isinf(rstd);  // all elements are equal, and eps is 0
    if (is_flat) rstd = 0;
    means.elements<float>()[c] = mean, rstds.elements<float>()[c] = rstd;
    const float w = weight && !is_flat ? weight[c] : 1, b = bias ? bias[c] : 0;
    each_row(nest, 1, [&](const std::ptrdiff_t* at, std::ptrdiff_t count) {
      for (std::ptrdiff_t i = at[0]; i < at[0] + count; ++i) y[i] = (x[i] - mean) * rstd * w + b;
    });
  }
  return true;
}

}  // namespace

constexpr Kernel layer_norm_f32{"layer_norm_f32", accepts, nullptr, run};
constexpr Kernel group_norm_f32{"group_norm_f32", accepts_group_norm, nullptr, run_group_norm};
constexpr Kernel batch_norm_f32{"batch_norm_f32", accepts_batch_norm, prepare_batch_norm, run_batch_norm};
constexpr Kernel norm_of_batch_f32{"norm_of_batch_f32", accepts_norm_of_batch, nullptr, run_norm_of_batch};

}  // namespace assay::optimized
