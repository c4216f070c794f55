#include <algorithm>

#include "optimized/kernels/lines.h"
#include "optimized/kernels/transpose.h"
#include "optimized/selection/convolution_call.h"
#include "optimized/selection/images.h"
#include "optimized/selection/integer_numbers.h"

// aten::convolution whose weight is 8-bit codes. The input and the result are codes, too, in the calls that the rewrite
// compute_with_codes makes. They are float32 in the calls that multiply_quantized_rows makes: the input is quantized
// when the call runs.
namespace assay::optimized {
namespace {

using namespace convolution;
using kernels::IntegerConvolution;

// The geometry of a call whose sizes cannot change, or nothing if the kernels do not support it.
std::optional<kernels::Convolution> shape_of(const Call& call) {
  Shape result;
  const auto shape = geometry_of(call, result);
  const Tensor &x = call.tensor(input), &y = call.tensor(out);
  if (!shape || !std::ranges::equal(result.span(), y.shape()) || !images_of(x) || !images_of(y) || y.count() == 0)
    return {};
  return shape;
}

struct State {
  IntegerConvolution convolution;
  kernels::Images images, results;
  const float* packed = nullptr;
  kernels::Epilogue epilogue = {};
  // Bytes of scratch: what the kernel needs, images that are turned to channels last, and codes and numbers of steps.
  std::size_t work = 0, turned_images = 0, turned_results = 0, codes = 0, steps = 0;
};

kernels::CodeImages code_images(const kernels::Images& images, const void* data) {
  return {data, images.count, images.height, images.width, images.pixel_stride};
}

// Finds the memory of the convolution and packs its weight.
State* prepare_convolution(const Call& call, Stores& stores, const IntegerConvolution& convolution,
                           const kernels::Channels& channels) {
  const auto state = stores.tables.take<State>(1);
  if (state.empty()) return nullptr;
  const Tensor &x = call.tensor(input), &y = call.tensor(out);
  State& s = state[0] = {convolution, *images_of(x), *images_of(y)};
  kernels::Threads threads;
  threads.count = stores.threads;
  s.work = kernels::whole_lines(kernels::scratch_bytes(convolution, code_images(s.images, nullptr), threads));
  if (s.images.channels_first) s.turned_images = kernels::whole_lines(x.bytes());
  if (s.results.channels_first) s.turned_results = kernels::whole_lines(y.bytes());
  stores.scratch = s.work + s.turned_images + s.turned_results;
  const auto packed = stores.packed.take(kernels::packed_floats(convolution));
  s.packed = packed.data;
  if (!packed.to_make.empty())
    kernels::pack(convolution, call.tensor(weight).elements<std::int8_t>(), weight_strides(call), channels,
                  packed.to_make.data());
  return &s;
}

// Calls compute(the images, channels last, the place of the results) and turns images and results.
template <class Compute>
void run_convolution(const State& s, const Call& call, Execution& execution, const Compute& compute) {
  const Tensor &x = call.tensor(input), &y = call.tensor(out);
  const std::size_t element = x.element_bytes(), result_element = y.element_bytes();
  std::byte *turned = execution.scratch.data() + s.work, *results = turned + s.turned_images;
  const kernels::Images& images = s.images;
  if (images.channels_first)
    kernels::channels_first_to_last(images.count, images.pixel_stride, images.height * images.width, element, x.data,
                                    turned, execution.threads);
  compute(images.channels_first ? turned : x.data, s.results.channels_first ? results : y.data);
  if (s.results.channels_first)
    kernels::channels_last_to_first(s.results.count, static_cast<std::size_t>(y.size(1)),
                                    s.results.height * s.results.width, result_element, results, y.data,
                                    execution.threads);
}

// -- codes ------------------------------------------------------------------------------------------------------------

std::optional<IntegerConvolution> convolution_of_codes(const Call& call) {
  if (!call.set || !is_tensor_of_codes(call[input]) || !is_tensor_of_codes(call[out]) ||
      !is_weight_of_codes(call[weight]))
    return {};
  const auto shape = shape_of(call);
  return shape ? integer_convolution(*shape, *call.fusion->codes, call.tensor(input).dtype) : std::nullopt;
}

IntegerNumbers numbers_of(const Call& call) { return {*call.fusion->codes, call.tensor(weight), call[bias], 0}; }

bool accepts_codes(const Call& call) { return convolution_of_codes(call) && numbers_of(call).are_supported(); }

const void* prepare_codes(const Call& call, Stores& stores) {
  const IntegerNumbers numbers = numbers_of(call);
  return prepare_convolution(call, stores, *convolution_of_codes(call), {IntegerNumbers::of, &numbers});
}

bool run_codes(const Step& step, Execution& execution) {
  const State& s = *static_cast<const State*>(step.state);
  run_convolution(s, step.call, execution, [&](const void* images, void* results) {
    kernels::convolve(s.convolution, code_images(s.images, images), s.packed, results,
                      static_cast<std::size_t>(step.call.out().size(1)), execution.scratch.data(), execution.threads);
  });
  return true;
}

// -- steps ------------------------------------------------------------------------------------------------------------

std::optional<IntegerConvolution> convolution_of_steps(const Call& call) {
  const RowsOfCall* rows = call.fusion->codes->rows;
  if (!call.set || !rows || rows->has_groups || call.fusion->residual || !call.fusion->norm.empty() ||
      !is_f32(call[input]) || !is_f32(call[out]) || call.tensor(input).moves || call.tensor(out).moves ||
      !is_weight_of_codes(call[weight]) || has_bias(call))
    return {};
  const auto shape = shape_of(call);
  if (!shape || !kernels::can_convolve(*shape) || (rows->are_pixels && !kernels::can_have_pixel_steps(*shape)))
    return {};
  IntegerConvolution c;
  c.shape = *shape, c.has_signed_input = false, c.has_steps = true, c.uses_vnni = kernels::has_vnni(shape->set);
  return c;
}

kernels::ChannelNumbers numbers_of_channel(const void* rows, std::size_t channel) {
  const auto& r = *static_cast<const RowsOfCall*>(rows);
  const Tensor& scales = *r.scales->tensor;
  return {scales.elements<float>()[scales.count() == 1 ? 0 : channel],
          r.bias ? r.bias->tensor->elements<float>()[channel] : -0.0f, 0};
}

bool accepts_steps(const Call& call) { return convolution_of_steps(call).has_value(); }

std::size_t rows_of_steps(const Call& call, const kernels::Images& images) {
  return images.count * (call.fusion->codes->rows->are_pixels ? images.height * images.width : 1);
}

const void* prepare_steps(const Call& call, Stores& stores) {
  State* s =
      prepare_convolution(call, stores, *convolution_of_steps(call), {numbers_of_channel, call.fusion->codes->rows});
  if (!s) return nullptr;
  s->epilogue = epilogue_of(*call.fusion);
  s->codes = kernels::whole_lines(static_cast<std::size_t>(call.tensor(input).count()));
  s->steps = rows_of_steps(call, s->images) * sizeof(kernels::Steps);
  stores.scratch += s->codes + s->steps;
  return s;
}

bool run_steps(const Step& step, Execution& execution) {
  const State& s = *static_cast<const State*>(step.state);
  auto* codes = reinterpret_cast<std::uint8_t*>(execution.scratch.data() + s.work + s.turned_images + s.turned_results);
  auto* steps = reinterpret_cast<kernels::Steps*>(codes + s.codes);
  const std::size_t rows = rows_of_steps(step.call, s.images);
  run_convolution(s, step.call, execution, [&](const void* images, void* results) {
    kernels::quantize_rows(s.convolution.shape.set, static_cast<const float*>(images), rows,
                           static_cast<std::size_t>(step.call.tensor(input).count()) / rows, codes, steps,
                           execution.threads);
    kernels::convolve_steps(s.convolution, code_images(s.images, codes),
                            {steps, step.call.fusion->codes->rows->are_pixels}, s.packed, static_cast<float*>(results),
                            static_cast<std::size_t>(step.call.out().size(1)), execution.scratch.data(), s.epilogue,
                            execution.threads);
  });
  return true;
}

}  // namespace

extern const Kernel convolution_i8, convolution_of_rows_i8;
const Kernel convolution_i8{"convolution_i8", accepts_codes, prepare_codes, run_codes, false, nullptr, true};
const Kernel convolution_of_rows_i8{
    "convolution_of_rows_i8", accepts_steps, prepare_steps, run_steps, false, nullptr, true};

}  // namespace assay::optimized
