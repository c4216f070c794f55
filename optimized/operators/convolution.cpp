#include "optimized/kernels/convolution.h"

#include <algorithm>
#include <cmath>

#include "optimized/kernels/transpose.h"
#include "optimized/operators/images.h"
#include "optimized/operators/layout.h"
#include "optimized/runtime/kernel.h"

// aten::convolution of f32, over one or two dimensions.
namespace assay::optimized {
namespace {

enum Operand { input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, out };

using kernels::Convolution;

// Number i of a list for so many dimensions, one of which may stand for all.
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

// Results over so many cells; 0: there is none.
std::size_t results_of(const kernels::ConvolutionAxis& axis, std::size_t cells, bool is_transposed) {
  const std::size_t reach = axis.dilation * (axis.kernel - 1) + 1;
  if (cells == 0 || (is_transposed ? (cells - 1) * axis.stride + reach + axis.output_padding <= 2 * axis.padding
                                   : cells + 2 * axis.padding < reach))
    return 0;
  return axis.results(cells, is_transposed);
}

bool moves(const Call& call) { return call.tensor(input).moves || call.tensor(out).moves; }

// What the call is, and the sizes of its result.
std::optional<Convolution> convolution_of(const Call& call, Shape& result) {
  const auto is_floats = [&](std::size_t i) {
    return call[i].kind == ValueKind::tensor && call.tensor(i).dtype == DType::float32;
  };
  if (!is_floats(input) || !is_f32(call[weight]) || !is_floats(out)) return {};
  const Tensor &x = call.tensor(input), &w = call.tensor(weight), &y = call.tensor(out);
  const bool has_bias = call[bias].kind != ValueKind::none;
  if ((has_bias && !is_f32(call[bias])) || (x.rank != 3 && x.rank != 4)) return {};
  if (w.rank != x.rank || y.rank != x.rank || call[transposed].kind != ValueKind::boolean || call[transposed].changes ||
      call[groups].kind != ValueKind::integer || call[groups].changes || call[groups].integer <= 0)
    return {};
  if (w.count() == 0 || x.count() == 0 || !images_of(x)) return {};
  Convolution c;
  c.set = *call.set;
  c.transposed = call[transposed].boolean;
  c.groups = static_cast<std::size_t>(call[groups].integer);
  const auto size = [](const Tensor& t, int d) { return static_cast<std::size_t>(t.size(d)); };
  if (size(x, 1) % c.groups != 0 || size(w, 0) % c.groups != 0) return {};
  c.inputs = size(x, 1) / c.groups, c.outputs = c.transposed ? size(w, 1) : size(w, 0) / c.groups;
  const std::size_t channels = c.groups * c.outputs;
  if (c.transposed ? size(w, 0) != size(x, 1) : size(w, 1) != c.inputs) return {};
  if (has_bias && (call.tensor(bias).rank != 1 || size(call.tensor(bias), 0) != channels)) return {};
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

// No product is made of what lies outside of an image; the kernels make one with zero, which is not seen where weights
// are finite.
bool wants_finite_weights(const Convolution& c) { return c.transposed || c.y.padding + c.x.padding > 0; }
bool has_finite_weights(Tensor& w) {
  if (w.constant && w.finite != Tensor::Finite::unknown) return w.finite == Tensor::Finite::yes;
  const float* x = w.elements<float>();
  float sum = 0;  // of zeros, or NaN
  for (std::int64_t i = 0; i < w.count(); ++i) sum += x[i] * 0;
  if (w.constant) w.finite = sum == 0 ? Tensor::Finite::yes : Tensor::Finite::no;
  return sum == 0;
}

bool accepts(const Call& call) {
  if (!call.set) return false;
  Shape result;
  const auto c = convolution_of(call, result);
  if (!c) return false;
  const Tensor &w = call.tensor(weight), &y = call.tensor(out);
  if (w.constant && wants_finite_weights(*c) && !has_finite_weights(call.tensor(weight))) return false;
  if (moves(call))
    return !call.fusion && !call.tensor(input).unbounded && is_row_major(call.tensor(input)) && is_row_major(y);
  if (!images_of(y) || !std::ranges::equal(result.span(), y.shape())) return false;
  if (!call.fusion || !w.constant) return !call.fusion;
  const Value* residual = call.fusion->residual;
  if (residual && (residual->tensor->count() != call.tensor(out).count() || !images_of(*residual->tensor)))
    return false;
  const bool has_bias = call[bias].kind != ValueKind::none;
  return call.fusion->norm.empty() || !has_bias || call.tensor(bias).constant;
}

struct Sizes {
  Convolution convolution;
  kernels::Images images, results, residuals;
  // Floats of scratch: weights that are no constant, what the kernel needs, then results and what is added, channels
  // last.
  std::size_t weights, padded, turned;

  std::size_t scratch_bytes() const { return (weights + padded + turned) * sizeof(float); }
};
Sizes sizes_of(const Call& call, const Convolution& convolution, const Tensor& result) {
  Sizes s{convolution, *images_of(call.tensor(input)), *images_of(result), {}, 0, 0, 0};
  const Value* residual = call.fusion ? call.fusion->residual : nullptr;
  if (residual) s.residuals = *images_of(*residual->tensor);
  constexpr std::size_t line = kernels::packed_alignment / sizeof(float);
  if (!call.tensor(weight).constant) s.weights = (kernels::packed_floats(convolution) + line - 1) / line * line;
  s.padded = kernels::scratch_floats(convolution, s.images);
  const std::size_t turned = s.results.channels_first + (residual && s.residuals.channels_first);
  s.turned = turned * static_cast<std::size_t>(result.count());
  return s;
}

struct State {
  Sizes sizes;  // unless they move
  const float* packed = nullptr;
  const float* bias = nullptr;  // of a batch norm, too; null: as the call has it
  kernels::Epilogue epilogue;
};

void pack(const Call& call, const Convolution& convolution, const float* scale, float* packed) {
  const Strides strides = strides_of(call.tensor(weight));
  const auto along = [&](int d) { return static_cast<std::size_t>(strides.of[d]); };
  const bool two = call.tensor(input).rank == 4;
  kernels::pack(convolution, call.tensor(weight).elements<float>(),
                {along(0), along(1), two ? along(2) : 0, along(two ? 3 : 2)}, scale, packed);
}

// What a batch norm of constants makes of each channel: x scale + shift.
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

const void* prepare(const Call& call, Stores& stores) {
  const auto state = stores.tables.take<State>(1);
  if (state.empty()) return nullptr;
  State& s = state[0] = {};
  Shape result;
  const Convolution convolution = *convolution_of(call, result);
  s.sizes = sizes_of(call, convolution, call.tensor(out));
  stores.scratch = s.sizes.scratch_bytes();
  const auto channels = static_cast<std::size_t>(result.sizes[1]);
  const bool norm = call.fusion && !call.fusion->norm.empty();
  if (call.fusion) s.epilogue = epilogue_of(*call.fusion);
  if (!call.tensor(weight).constant) return &s;
  const auto shift = stores.packed.take(norm ? channels : 0), scale = stores.packed.take(norm ? channels : 0),
             packed = stores.packed.take(kernels::packed_floats(s.sizes.convolution));
  s.packed = packed.data, s.bias = norm ? shift.data : nullptr;
  if (packed.to_make.empty()) return &s;
  if (norm) fold(call, scale.to_make.first(channels), shift.to_make.first(channels));
  pack(call, s.sizes.convolution, norm ? scale.data : nullptr, packed.to_make.data());
  return &s;
}

// Of the sizes that tensors have now; none: the result cannot have its own, or they want more scratch than there is.
std::optional<Sizes> moved_sizes(const Call& call, std::size_t scratch) {
  Shape result;
  const auto c = convolution_of(call, result);
  if (!c || !can_have(call.tensor(out), result)) return {};
  Tensor y = call.tensor(out);
  y.sizes = result.sizes;
  const Sizes sizes = sizes_of(call, *c, y);
  if (sizes.scratch_bytes() > scratch) return {};
  resize(call.tensor(out), result.span());
  return sizes;
}

bool run(const Step& step, Run& run) {
  const State& state = *static_cast<const State*>(step.state);
  const Call& call = step.call;
  Tensor& w = call.tensor(weight);
  const bool is_packed = w.constant;
  if (!is_packed && wants_finite_weights(state.sizes.convolution) && !has_finite_weights(w)) return false;
  const auto moved = moves(call) ? moved_sizes(call, run.scratch.size()) : std::nullopt;
  if (moves(call) && !moved) return false;
  const Sizes& s = moved ? *moved : state.sizes;
  kernels::Images images = s.images;
  images.data = call.tensor(input).elements<float>();
  const float* of_call = call[bias].kind == ValueKind::none ? nullptr : call.tensor(bias).elements<float>();
  kernels::Epilogue epilogue = state.epilogue;
  const auto channels = static_cast<std::size_t>(call.tensor(out).size(1));
  auto* weights = reinterpret_cast<float*>(run.scratch.data());
  if (!is_packed) pack(call, s.convolution, nullptr, weights);
  float *scratch = weights + s.weights, *turned = scratch + s.padded;
  if (call.fusion && call.fusion->residual) {
    const float* from = call.fusion->residual->tensor->elements<float>();
    if (s.residuals.channels_first) {
      kernels::channels_first_to_last(s.residuals.count, channels, s.residuals.height * s.residuals.width,
                                      sizeof(float), from, turned, run.threads);
      from = turned, turned += call.tensor(out).count();
    }
    epilogue.residual = from, epilogue.residual_stride = channels;
  }
  float* to = s.results.channels_first ? turned : call.tensor(out).elements<float>();
  kernels::convolve(s.convolution, images, is_packed ? state.packed : weights, state.bias ? state.bias : of_call, to,
                    channels, scratch, epilogue, run.threads);
  if (s.results.channels_first)
    kernels::channels_last_to_first(s.results.count, channels, s.results.height * s.results.width, sizeof(float), to,
                                    call.tensor(out).data, run.threads);
  return true;
}

}  // namespace

extern const Kernel convolution_f32;
const Kernel convolution_f32{"convolution_f32", accepts, prepare, run};

}  // namespace assay::optimized
