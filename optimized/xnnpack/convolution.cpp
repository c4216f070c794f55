#include <algorithm>

#include "optimized/selection/convolution_call.h"
#include "optimized/selection/images.h"
#include "optimized/xnnpack/kernels.h"
#include "optimized/xnnpack/operator.h"

// aten::convolution of float32 images that lie channels last, by XNNPACK.
namespace assay::optimized {
namespace xnnpack {
namespace {

using namespace convolution;

struct State {
  xnn_operator_t op;
  kernels::Images images;
};

std::uint32_t u32(std::size_t n) { return static_cast<std::uint32_t>(n); }

xnn_status create(const Call& call, const kernels::Convolution& c, const float* weights, const float* shift,
                  xnn_operator_t& op) {
  Limits limits;
  limits_of(call, limits);
  const std::size_t channels = c.groups * c.inputs, outputs = c.groups * c.outputs;
  const auto y = u32(c.y.padding), x = u32(c.x.padding);
  return xnn_create_convolution2d_nhwc_f32(y, x, y, x, u32(c.y.kernel), u32(c.x.kernel), u32(c.y.stride),
                                           u32(c.x.stride), u32(c.y.dilation), u32(c.x.dilation), u32(c.groups),
                                           c.inputs, c.outputs, channels, outputs, weights, shift, limits.low,
                                           limits.high, 0, &op);
}

xnn_status set_up(const Call& call, const State& state, pthreadpool_t pool) {
  const kernels::Images& i = state.images;
  return xnn_setup_convolution2d_nhwc_f32(state.op, i.count, i.height, i.width, call.tensor(input).elements<float>(),
                                          call.tensor(out).elements<float>(), pool);
}

// Weights in XNNPACK's order: by output channel, tap and input channel.
void order_weights(const Call& call, const kernels::Convolution& c, std::span<const float> scale, float* to) {
  const kernels::WeightStrides strides = weight_strides(call);
  const float* weights = call.tensor(weight).elements<float>();
  for (std::size_t o = 0; o < c.groups * c.outputs; ++o)
    for (std::size_t y = 0; y < c.y.kernel; ++y)
      for (std::size_t x = 0; x < c.x.kernel; ++x)
        for (std::size_t i = 0; i < c.inputs; ++i)
          *to++ = weights[o * strides.first + i * strides.second + y * strides.y + x * strides.x] *
                  (scale.empty() ? 1 : scale[o]);
}

bool make(const Call& call, const kernels::Convolution& c, Memory& memory, State& state) {
  const std::size_t outputs = c.groups * c.outputs;
  const bool norm = call.fusion && !call.fusion->norm.empty();
  const auto weights = memory.floats(outputs * c.y.kernel * c.x.kernel * c.inputs);
  const auto folded = memory.floats(2 * outputs);
  if (weights.empty() || folded.empty()) return false;
  const auto scale = folded.first(norm ? outputs : 0), shift = folded.last(outputs);
  if (norm) fold(call, scale, shift);
  const float* of_call = has_bias(call) ? call.tensor(bias).elements<float>() : nullptr;
  if (!memory.is_counting()) order_weights(call, c, scale, weights.data());
  return create(call, c, weights.data(), norm ? shift.data() : of_call, state.op) == xnn_status_success &&
         set_up(call, state, nullptr) == xnn_status_success;
}

const void* prepare(const Call& call, Stores& stores) {
  const auto state = stores.tables.take<State>(1);
  if (state.empty()) return nullptr;
  state[0] = {nullptr, *images_of(call.tensor(input))};
  Memory memory(*stores.prepared);
  if (!make(call, *fixed_convolution(call), memory, state[0]) || !memory.was_asked())
    stores.refused = "XNNPACK cannot make the operator in this memory";
  call.tensor(input).read_beyond = true;
  return state.data();
}

bool run(const Step& step, Execution& execution) {
  const State& state = *static_cast<const State*>(step.state);
  return run_operator(state.op, execution.threads, [&](pthreadpool_t pool) { return set_up(step.call, state, pool); });
}

}  // namespace

bool can_convolve(const Call& call) {
  Limits limits;
  const auto c = fixed_convolution(call);
  if (!c || c->transposed || !limits_of(call, limits) || !is_readable(call.tensor(input))) return false;
  if (has_bias(call) && !call.tensor(bias).constant) return false;
  return !images_of(call.tensor(input))->channels_first && !images_of(call.tensor(out))->channels_first && is_ready();
}

}  // namespace xnnpack

namespace {

// Chosen by backends_bench. Where few products make a sum, XNNPACK is 5 to 40 % faster, as its tiles are small and
// overlap. Elsewhere it is within 4 % or slower, up to three times slower where each channel has its own taps. For
// images of one pixel the difference was too small to choose.
constexpr std::size_t most_products = 128, least_results = 49;

bool is_faster(const Call& call) {
  const auto c = *convolution::fixed_convolution(call);
  const Tensor& out = call.tensor(convolution::out);
  return c.groups == 1 && c.y.kernel * c.x.kernel * c.inputs <= most_products &&
         static_cast<std::size_t>(out.count()) >= least_results * c.outputs;
}

bool accepts(const Call& call) { return call.relaxed && xnnpack::can_convolve(call) && is_faster(call); }

}  // namespace

const Kernel convolution_xnnpack_f32{"convolution_xnnpack_f32", accepts, xnnpack::prepare, xnnpack::run};

}  // namespace assay::optimized
