#include <algorithm>

#include "optimized/kernels/quantize.h"
#include "optimized/runtime/kernel.h"

// Replaces 8-bit codes by the codes of a table. The rewrite look_up_codes makes such calls of quantize_per_tensor.
namespace assay::optimized {
namespace {

bool is_of_codes(const Tensor& t) { return !t.moves && (t.dtype == DType::int8 || t.dtype == DType::uint8); }

bool accepts(const Call& call) {
  if (!call.set || !call.fusion->codes->table || !call[0].is_tensor() || !call.arguments.back()->is_tensor())
    return false;
  const Tensor &x = call.tensor(0), &y = call.out();
  return is_of_codes(x) && is_of_codes(y) && std::ranges::equal(x.shape(), y.shape()) &&
         ((x.is_contiguous() && y.is_contiguous()) || std::equal(x.dim_order, x.dim_order + x.rank, y.dim_order));
}

bool run(const Step& step, Execution& execution) {
  const std::uint8_t *table = step.call.fusion->codes->table, *x = step.call.tensor(0).elements<std::uint8_t>();
  std::uint8_t* y = step.call.out().elements<std::uint8_t>();
  kernels::share(execution.threads, static_cast<std::size_t>(step.call.out().count()), 1, [&](kernels::Range range) {
    kernels::look_up(*step.call.set, table, x + range.begin, y + range.begin, range.size());
  });
  return true;
}

}  // namespace

extern const Kernel look_up_i8;
const Kernel look_up_i8{"look_up_i8", accepts, nullptr, run, false, nullptr, true};

}  // namespace assay::optimized
