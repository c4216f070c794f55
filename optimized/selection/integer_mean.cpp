#include <algorithm>
#include <cmath>

#include "optimized/kernels/pool.h"
#include "optimized/selection/images.h"
#include "optimized/selection/integer_numbers.h"
#include "optimized/selection/reduced.h"

// aten::mean and aten::sum of images of 8-bit codes over height and width, into codes. The rewrite compute_with_codes
// makes such calls.
namespace assay::optimized {
namespace {

bool is_sum(const Call& call) { return call.roles->name == "aten::sum.IntList_out"; }

bool accepts(const Call& call) {
  constexpr std::uint32_t height_and_width = 0b1100;
  if (!call.set || !is_tensor_of_codes(call[0]) || !is_tensor_of_codes(*call.arguments.back())) return false;
  const Tensor &x = call.tensor(0), &y = call.out();
  Shape result;
  std::uint32_t reduced = 0;
  return x.rank == 4 && x.dtype == y.dtype && x.count() > 0 && images_of(x) && y.is_contiguous() &&
         plan(call, Dims::named_or_all, result, reduced) && reduced == height_and_width &&
         std::ranges::equal(result.span(), y.shape()) && fit_sums(*call.fusion->codes, x.size(2) * x.size(3));
}

template <class Code>
void average(const Call& call, const kernels::ScaledSums& numbers, const kernels::Threads& threads) {
  const Tensor& x = call.tensor(0);
  const kernels::Images images = *images_of(x);
  const std::size_t channels = images.pixel_stride, pixels = images.height * images.width;
  const auto pixel = static_cast<std::ptrdiff_t>(channels);
  const Code* from = x.elements<Code>();
  Code* to = call.out().elements<Code>();
  if (images.channels_first) {
    kernels::share(threads, images.count * channels, pixels, [&](kernels::Range planes) {
      for (std::size_t i = planes.begin; i < planes.end; ++i)
        kernels::sum_of_codes<Code>(*call.set, {from + i * pixels, 1, pixels, 0, 1}, numbers, 1, to + i);
    });
    return;
  }
  for (std::size_t n = 0; n < images.count; ++n, from += pixels * channels, to += channels)
    kernels::share(threads, channels, pixels, [&](kernels::Range range) {
      kernels::sum_of_codes<Code>(*call.set, {from + range.begin, 1, pixels, 0, pixel}, numbers, range.size(),
                                  to + range.begin);
    });
}

bool run(const Step& step, Execution& execution) {
  const Call& call = step.call;
  const CodesOfCall& codes = *call.fusion->codes;
  const std::int64_t pixels = call.tensor(0).size(2) * call.tensor(0).size(3);
  const kernels::ScaledSums numbers = is_sum(call) ? kernels::ScaledSums{0, codes.factor, codes.offset, codes.result}
                                                   : mean_of_codes(codes, pixels, pixels);
  if (call.out().dtype == DType::int8)
    average<std::int8_t>(call, numbers, execution.threads);
  else
    average<std::uint8_t>(call, numbers, execution.threads);
  return true;
}

}  // namespace

extern const Kernel mean_i8;
const Kernel mean_i8{"mean_i8", accepts, nullptr, run, false, nullptr, true};

}  // namespace assay::optimized
