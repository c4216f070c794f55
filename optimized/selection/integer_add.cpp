#include <algorithm>

#include "optimized/kernels/quantize.h"
#include "optimized/selection/codes.h"
#include "optimized/selection/layout.h"

// aten::add of two tensors of 8-bit codes into codes, by floats or in fixed point. The rewrite compute_with_codes makes
// such calls.
namespace assay::optimized {
namespace {

enum Operand { self, other, alpha, out };

bool accepts(const Call& call) {
  if (!call.set || !call[self].is_tensor() || !call[other].is_tensor() || !call[out].is_tensor()) return false;
  const Tensor &a = call.tensor(self), &b = call.tensor(other), &y = call.tensor(out);
  if (y.dtype != DType::int8 && y.dtype != DType::uint8) return false;
  return std::ranges::all_of(std::initializer_list<const Tensor*>{&a, &b, &y}, [&](const Tensor* t) {
    return !t->moves && t->dtype == y.dtype && std::ranges::equal(t->shape(), y.shape()) &&
           ((t->is_contiguous() && y.is_contiguous()) || std::equal(t->dim_order, t->dim_order + t->rank, y.dim_order));
  });
}

template <class Code>
bool add(const Step& step, const kernels::Threads& threads) {
  const CodesOfCall& codes = *step.call.fusion->codes;
  const Code *a = step.call.tensor(self).elements<Code>(), *b = step.call.tensor(other).elements<Code>();
  Code* y = step.call.tensor(out).elements<Code>();
  const auto add_rows = [&](auto row, const auto& numbers) {
    kernels::share(threads, static_cast<std::size_t>(step.call.tensor(out).count()), 1, [&](kernels::Range range) {
      row(numbers, a + range.begin, b + range.begin, y + range.begin, range.size());
    });
    return true;
  };
  if (codes.fixed_point) return add_rows(kernels::find_add_fixed<Code>(*step.call.set), *codes.fixed_point);
  return add_rows(kernels::find_add<Code>(*step.call.set),
                  kernels::AddedCodes{codes.input.zero_point, codes.input.scale, codes.other.zero_point,
                                      codes.other.scale, codes.result});
}

bool run(const Step& step, Execution& execution) {
  return step.call.tensor(out).dtype == DType::int8 ? add<std::int8_t>(step, execution.threads)
                                                    : add<std::uint8_t>(step, execution.threads);
}

}  // namespace

extern const Kernel add_i8;
const Kernel add_i8{"add_i8", accepts, nullptr, run, false, nullptr, true};

}  // namespace assay::optimized
