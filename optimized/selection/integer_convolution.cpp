#include <algorithm>

#include "optimized/kernels/lines.h"
#include "optimized/kernels/transpose.h"
#include "optimized/selection/convolution_call.h"
#include "optimized/selection/images.h"
#include "optimized/selection/integer_numbers.h"

// aten::convolution whose input, weight and result are 8-bit codes. The rewrite compute_with_codes makes such calls.
namespace assay::optimized {
namespace {

using namespace convolution;
using kernels::IntegerConvolution;

// The convolution of a call, or nothing if the kernel does not support it.
std::optional<IntegerConvolution> integer_convolution_of(const Call& call) {
  if (!call.set || !is_tensor_of_codes(call[input]) || !is_tensor_of_codes(call[out]) ||
      !is_weight_of_codes(call[weight]))
    return {};
  Shape result;
  const auto shape = geometry_of(call, result);
  const Tensor &x = call.tensor(input), &y = call.tensor(out);
  if (!shape || !std::ranges::equal(result.span(), y.shape()) || !images_of(x) || !images_of(y) || y.count() == 0)
    return {};
  return integer_convolution(*shape, *call.fusion->codes, x.dtype);
}

IntegerNumbers numbers_of(const Call& call) { return {*call.fusion->codes, call.tensor(weight), call[bias], 0}; }

struct State {
  IntegerConvolution convolution;
  kernels::Images images, results;
  const float* packed = nullptr;
  // Bytes of scratch: what the kernel needs, and images that are turned to channels last.
  std::size_t work = 0, turned_images = 0, turned_results = 0;
};

kernels::CodeImages code_images(const kernels::Images& images, const void* data) {
  return {data, images.count, images.height, images.width, images.pixel_stride};
}

bool accepts(const Call& call) { return integer_convolution_of(call) && numbers_of(call).are_supported(); }

const void* prepare(const Call& call, Stores& stores) {
  const auto state = stores.tables.take<State>(1);
  if (state.empty()) return nullptr;
  State& s = state[0] = {*integer_convolution_of(call), *images_of(call.tensor(input)), *images_of(call.tensor(out))};
  kernels::Threads threads;
  threads.count = stores.threads;
  s.work = kernels::whole_lines(kernels::scratch_bytes(s.convolution, code_images(s.images, nullptr), threads));
  if (s.images.channels_first)
    s.turned_images = kernels::whole_lines(static_cast<std::size_t>(call.tensor(input).count()));
  if (s.results.channels_first)
    s.turned_results = kernels::whole_lines(static_cast<std::size_t>(call.tensor(out).count()));
  stores.scratch = s.work + s.turned_images + s.turned_results;
  const auto packed = stores.packed.take(kernels::packed_floats(s.convolution));
  s.packed = packed.data;
  if (packed.to_make.empty()) return &s;
  const IntegerNumbers numbers = numbers_of(call);
  kernels::pack(s.convolution, call.tensor(weight).elements<std::int8_t>(), weight_strides(call),
                {IntegerNumbers::of, &numbers}, packed.to_make.data());
  return &s;
}

bool run(const Step& step, Execution& execution) {
  const State& s = *static_cast<const State*>(step.state);
  const Tensor &x = step.call.tensor(input), &y = step.call.tensor(out);
  std::byte *turned = execution.scratch.data() + s.work, *results = turned + s.turned_images;
  const kernels::Images& images = s.images;
  const auto channels = static_cast<std::size_t>(y.size(1));
  if (images.channels_first)
    kernels::channels_first_to_last(images.count, images.pixel_stride, images.height * images.width, 1, x.data, turned,
                                    execution.threads);
  kernels::convolve(s.convolution, code_images(images, images.channels_first ? turned : x.data), s.packed,
                    s.results.channels_first ? results : y.data, channels, execution.scratch.data(), execution.threads);
  if (s.results.channels_first)
    kernels::channels_last_to_first(s.results.count, channels, s.results.height * s.results.width, 1, results, y.data,
                                    execution.threads);
  return true;
}

}  // namespace

extern const Kernel convolution_i8;
const Kernel convolution_i8{"convolution_i8", accepts, prepare, run, false, nullptr, true};

}  // namespace assay::optimized
