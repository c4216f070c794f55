#include <algorithm>

#include "kernels.gen.h"
#include "optimized/kernels/reduction.h"
#include "optimized/operators/layout.h"

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

// The normalized shape is that of the parameters, and the end of the input's.
bool is_end(const Call& call) {
  const Tensor& input = call.tensor(0);
  const auto shape = call[1].items();
  if (!integers(call[1]) || shape.empty() || shape.size() > input.rank) return false;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int32_t n = input.sizes[input.rank - shape.size() + d];
    if (n < 1 || shape[d]->integer != n) return false;
    for (const std::size_t i : {2u, 3u})
      if (call[i].kind == ValueKind::tensor && (call.tensor(i).rank != shape.size() || call.tensor(i).sizes[d] != n))
        return false;
  }
  return true;
}

bool run(const Step& step, Run& run) {
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
  const auto set = *call.set;
  const auto elements = [&](std::size_t i) {
    return call[i].kind == ValueKind::tensor ? call.tensor(i).elements<const float>() : nullptr;
  };
  const float *x = elements(0), *weight = elements(2), *bias = elements(3);
  const auto size = static_cast<std::size_t>(n);
  kernels::share(run.threads, static_cast<std::size_t>(means.count()), size, [&](kernels::Range range) {
    for (std::size_t r = range.begin; r < range.end; ++r) {
      const kernels::Moments m =
          kernels::layer_norm(set, x + r * size, weight, bias, call[4].real, out.elements<float>() + r * size, size);
      means.elements<float>()[r] = m.mean, rstds.elements<float>()[r] = m.rstd;
    }
  });
  return true;
}

}  // namespace

constexpr Kernel layer_norm_f32{"layer_norm_f32", accepts, nullptr, run};

}  // namespace assay::optimized
