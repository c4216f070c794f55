#include "optimized/kernels/convolution.h"

#include <cmath>

#include "optimized/kernels/transpose.h"
#include "optimized/operators/images.h"
#include "optimized/operators/layout.h"
#include "optimized/runtime/kernel.h"

// aten::convolution of f32 with constant weights, over one or two dimensions.
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

// Whether so many cells give that many results, of which there is one at least.
bool fits(const kernels::ConvolutionAxis& axis, std::size_t cells, std::size_t results, bool is_transposed) {
  const std::size_t reach = axis.dilation * (axis.kernel - 1) + 1;
  if (cells == 0 || results == 0) return false;
  if (is_transposed ? (cells - 1) * axis.stride + reach + axis.output_padding <= 2 * axis.padding
                    : cells + 2 * axis.padding < reach)
    return false;
  return axis.results(cells, is_transposed) == results;
}

std::optional<Convolution> convolution_of(const Call& call) {
  if (!is_f32(call[input]) || !is_f32(call[weight]) || !is_f32(call[out])) return {};
  const Tensor &x = call.tensor(input), &w = call.tensor(weight), &y = call.tensor(out);
  const bool has_bias = call[bias].kind != ValueKind::none;
  if (!w.constant || (has_bias && !is_f32(call[bias])) || (x.rank != 3 && x.rank != 4)) return {};
  if (w.rank != x.rank || y.rank != x.rank || call[transposed].kind != ValueKind::boolean ||
      call[groups].kind != ValueKind::integer || call[groups].changes || call[groups].integer <= 0)
    return {};
  if (w.count() == 0 || x.count() == 0 || y.count() == 0) return {};
  if (!images_of(x) || !images_of(y)) return {};
  Convolution c;
  c.set = *call.set;
  c.transposed = call[transposed].boolean;
  c.groups = static_cast<std::size_t>(call[groups].integer);
  const auto size = [](const Tensor& t, int d) { return static_cast<std::size_t>(t.size(d)); };
  if (size(x, 1) % c.groups != 0 || size(y, 1) % c.groups != 0 || size(x, 0) != size(y, 0)) return {};
  c.inputs = size(x, 1) / c.groups, c.outputs = size(y, 1) / c.groups;
  const std::size_t first = c.transposed ? c.groups * c.inputs : c.groups * c.outputs;
  if (size(w, 0) != first || size(w, 1) != (c.transposed ? c.outputs : c.inputs)) return {};
  if (has_bias && (call.tensor(bias).rank != 1 || size(call.tensor(bias), 0) != size(y, 1))) return {};
  const int dimensions = x.rank - 2;
  for (int i = 0; i < dimensions; ++i) {
    const auto axis = axis_of(call, i, dimensions);
    if (!axis || !fits(*axis, size(x, 2 + i), size(y, 2 + i), c.transposed)) return {};
    (i == dimensions - 1 ? c.x : c.y) = *axis;
  }
  return c;
}

// No product is made of what lies outside of an image; the kernels make one with zero, which is not seen where weights
// are finite.
bool has_finite_weights(Tensor& w) {
  if (w.finite == Tensor::Finite::unknown) {
    const float* x = w.elements<float>();
    float sum = 0;  // of zeros, or NaN
    for (std::int64_t i = 0; i < w.count(); ++i) sum += x[i] * 0;
    w.finite = sum == 0 ? Tensor::Finite::yes : Tensor::Finite::no;
  }
  return w.finite == Tensor::Finite::yes;
}

bool accepts(const Call& call) {
  if (!call.set) return false;
  const auto c = convolution_of(call);
  if (!c) return false;
  if ((c->transposed || c->y.padding + c->x.padding > 0) && !has_finite_weights(call.tensor(weight))) return false;
  if (!call.fusion) return true;
  const Value* residual = call.fusion->residual;
  if (residual && (residual->tensor->count() != call.tensor(out).count() || !images_of(*residual->tensor)))
    return false;
  const bool has_bias = call[bias].kind != ValueKind::none;
  return call.fusion->norm.empty() || !has_bias || call.tensor(bias).constant;
}

struct State {
  Convolution convolution;
  kernels::Images images, results, residuals;
  const float* packed;
  const float* bias;   // of a batch norm, too; null: as the call has it
  std::size_t padded;  // floats of scratch, behind which results and what is added stand, channels last
  kernels::Epilogue epilogue;
};

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
  State& s = state[0];
  s.convolution = *convolution_of(call);
  s.images = *images_of(call.tensor(input)), s.results = *images_of(call.tensor(out));
  const auto channels = static_cast<std::size_t>(call.tensor(out).size(1));
  s.padded = kernels::scratch_floats(s.convolution, s.images);
  const Value* residual = call.fusion ? call.fusion->residual : nullptr;
  if (residual) s.residuals = *images_of(*residual->tensor);
  const std::size_t turned = s.results.channels_first + (residual && s.residuals.channels_first);
  stores.scratch = (s.padded + turned * static_cast<std::size_t>(call.tensor(out).count())) * sizeof(float);
  const bool norm = call.fusion && !call.fusion->norm.empty();
  const auto shift = take_floats(stores.packed, norm ? channels : 0),
             scale = take_floats(stores.packed, norm ? channels : 0);
  const auto packed = take_floats(stores.packed, kernels::packed_floats(s.convolution));
  s.packed = packed.data(), s.bias = norm ? shift.data() : nullptr;
  if (call.fusion) s.epilogue = epilogue_of(*call.fusion);
  if (packed.empty()) return &s;
  if (norm) fold(call, scale.first(channels), shift.first(channels));
  const Strides strides = strides_of(call.tensor(weight));
  const auto along = [&](int d) { return static_cast<std::size_t>(strides.of[d]); };
  const bool two = call.tensor(input).rank == 4;
  kernels::pack(s.convolution, call.tensor(weight).elements<float>(),
                {along(0), along(1), two ? along(2) : 0, along(two ? 3 : 2)}, norm ? scale.data() : nullptr,
                packed.data());
  return &s;
}

bool run(const Step& step, Run& run) {
  const State& s = *static_cast<const State*>(step.state);
  const Call& call = step.call;
  kernels::Images images = s.images;
  images.data = call.tensor(input).elements<float>();
  const float* of_call = call[bias].kind == ValueKind::none ? nullptr : call.tensor(bias).elements<float>();
  kernels::Epilogue epilogue = s.epilogue;
  const auto channels = static_cast<std::size_t>(call.tensor(out).size(1));
  auto* scratch = reinterpret_cast<float*>(run.scratch.data());
  float* turned = scratch + s.padded;
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
  kernels::convolve(s.convolution, images, s.packed, s.bias ? s.bias : of_call, to, channels, scratch, epilogue,
                    run.threads);
  if (s.results.channels_first)
    kernels::channels_last_to_first(s.results.count, channels, s.results.height * s.results.width, sizeof(float), to,
                                    call.tensor(out).data, run.threads);
  return true;
}

}  // namespace

extern const Kernel convolution_f32;
const Kernel convolution_f32{"convolution_f32", accepts, prepare, run};

}  // namespace assay::optimized
