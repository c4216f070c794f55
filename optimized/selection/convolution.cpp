#include "optimized/selection/convolution.h"

#include <algorithm>

#include "optimized/kernels/transpose.h"
#include "optimized/selection/convolution_call.h"
#include "optimized/selection/images.h"

namespace assay::optimized {
namespace convolution {
namespace {

using kernels::Convolution;

struct Sizes {
  Convolution convolution;
  kernels::Images images, results, residuals;
  // Floats of scratch: first the weights, unless they are constant; then what the kernel needs; then, channels last,
  // the results and the residual.
  std::size_t weights, padded, turned;

  std::size_t scratch_bytes() const { return (weights + padded + turned) * sizeof(float); }
};
Sizes sizes_of(const Call& call, const Algorithm& algorithm, const Convolution& convolution, const Tensor& result) {
  Sizes s{convolution, *images_of(call.tensor(input)), *images_of(result), {}, 0, 0, 0};
  const Value* residual = call.fusion ? call.fusion->residual : nullptr;
  if (residual) s.residuals = *images_of(*residual->tensor);
  constexpr std::size_t line = kernels::packed_alignment / sizeof(float);
  if (!call.tensor(weight).constant) s.weights = (algorithm.packed_floats(convolution) + line - 1) / line * line;
  s.padded = algorithm.scratch_floats(convolution, s.images);
  const std::size_t turned = s.results.channels_first + (residual && s.residuals.channels_first);
  s.turned = turned * static_cast<std::size_t>(result.count());
  return s;
}

struct State {
  const Algorithm* algorithm = nullptr;
  Sizes sizes;  // unless they may change
  const float* packed = nullptr;
  const float* bias = nullptr;  // with the shift of a batch norm; null for the call's own bias
  kernels::Epilogue epilogue;
};

}  // namespace

const void* prepare(const Call& call, Stores& stores, const Algorithm& algorithm) {
  const auto state = stores.tables.take<State>(1);
  if (state.empty()) return nullptr;
  State& s = state[0] = {&algorithm, {}, nullptr, nullptr, {}};
  Shape result;
  const Convolution convolution = *convolution_of(call, result);
  s.sizes = sizes_of(call, algorithm, convolution, call.tensor(out));
  stores.scratch = s.sizes.scratch_bytes();
  const auto channels = static_cast<std::size_t>(result.sizes[1]);
  const bool norm = call.fusion && !call.fusion->norm.empty();
  if (call.fusion) s.epilogue = epilogue_of(*call.fusion);
  if (!call.tensor(weight).constant) return &s;
  const auto shift = stores.packed.take(norm ? channels : 0), scale = stores.packed.take(norm ? channels : 0),
             packed = stores.packed.take(algorithm.packed_floats(convolution));
  s.packed = packed.data, s.bias = norm ? shift.data : nullptr;
  if (packed.to_make.empty()) return &s;
  if (norm) fold(call, scale.to_make.first(channels), shift.to_make.first(channels));
  algorithm.pack(convolution, call.tensor(weight).elements<float>(), weight_strides(call), norm ? scale.data : nullptr,
                 packed.to_make.data());
  return &s;
}

namespace {

// The sizes that the tensors have now. Returns nothing if the result cannot have its sizes, if there is too little
// scratch, or if the residual does not have as many elements as the result.
std::optional<Sizes> moved_sizes(const Call& call, const Algorithm& algorithm, std::size_t scratch) {
  Shape result;
  const auto c = convolution_of(call, result);
  if (!c || !can_have(call.tensor(out), result)) return {};
  Tensor y = call.tensor(out);
  y.sizes = result.sizes;
  const Sizes sizes = sizes_of(call, algorithm, *c, y);
  const Value* residual = call.fusion ? call.fusion->residual : nullptr;
  if (sizes.scratch_bytes() > scratch || (residual && residual->tensor->count() != y.count())) return {};
  resize(call.tensor(out), result.span());
  return sizes;
}

}  // namespace

bool run(const Step& step, Execution& execution) {
  const State& state = *static_cast<const State*>(step.state);
  const Algorithm& algorithm = *state.algorithm;
  const Call& call = step.call;
  Tensor& w = call.tensor(weight);
  const bool is_packed = w.constant;
  if (!is_packed && wants_finite_weights(state.sizes.convolution) && !has_finite_weights(w)) return false;
  const auto moved = moves(call) ? moved_sizes(call, algorithm, execution.scratch.size()) : std::nullopt;
  if (moves(call) && !moved) return false;
  const Sizes& s = moved ? *moved : state.sizes;
  if (call.tensor(out).count() == 0) return true;  // there are no images
  kernels::Images images = s.images;
  images.data = call.tensor(input).elements<float>();
  const float* of_call = has_bias(call) ? call.tensor(bias).elements<float>() : nullptr;
  kernels::Epilogue epilogue = state.epilogue;
  const auto channels = static_cast<std::size_t>(call.tensor(out).size(1));
  auto* weights = reinterpret_cast<float*>(execution.scratch.data());
  if (!is_packed) algorithm.pack(s.convolution, w.elements<float>(), weight_strides(call), nullptr, weights);
  float *scratch = weights + s.weights, *turned = scratch + s.padded;
  if (call.fusion && call.fusion->residual) {
    const float* from = call.fusion->residual->tensor->elements<float>();
    if (s.residuals.channels_first) {
      kernels::channels_first_to_last(s.residuals.count, channels, s.residuals.height * s.residuals.width,
                                      sizeof(float), from, turned, execution.threads);
      from = turned, turned += call.tensor(out).count();
    }
    epilogue.residual = from, epilogue.residual_stride = channels;
  }
  float* to = s.results.channels_first ? turned : call.tensor(out).elements<float>();
  algorithm.convolve(s.convolution, images, is_packed ? state.packed : weights, state.bias ? state.bias : of_call, to,
                     channels, scratch, epilogue, execution.threads);
  if (s.results.channels_first)
    kernels::channels_last_to_first(s.results.count, channels, s.results.height * s.results.width, sizeof(float), to,
                                    call.tensor(out).data, execution.threads);
  return true;
}

const Tensor* packed_weight(const Call& call) { return call.tensor(weight).constant ? &call.tensor(weight) : nullptr; }

namespace {

bool accepts(const Call& call) {
  if (!call.set) return false;
  Shape result;
  const auto c = convolution_of(call, result);
  if (!c) return false;
  const Tensor &w = call.tensor(weight), &y = call.tensor(out);
  if (w.constant && wants_finite_weights(*c) && !has_finite_weights(call.tensor(weight))) return false;
  // Scratch for the largest images is enough for smaller ones, and smaller images have the same layout.
  const bool has_sizes = moves(call) ? !call.tensor(input).unbounded : std::ranges::equal(result.span(), y.shape());
  return has_sizes && images_of(y) && fits_fusion(call);
}

constexpr Algorithm direct{kernels::packed_floats, kernels::pack, kernels::scratch_floats, kernels::convolve};

const void* prepare_direct(const Call& call, Stores& stores) { return prepare(call, stores, direct); }

}  // namespace
}  // namespace convolution

extern const Kernel convolution_f32;
const Kernel convolution_f32{
    "convolution_f32",         convolution::accepts, convolution::prepare_direct, convolution::run, false,
    convolution::packed_weight};

}  // namespace assay::optimized
