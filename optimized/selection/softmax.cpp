#include <algorithm>

#include "kernels.gen.h"
#include "optimized/kernels/reduction.h"
#include "optimized/selection/layout.h"

namespace assay::optimized {
namespace {

// Operands: self, dim, half_to_float, out.
bool accepts(const Call& call) {
  if (!call.set || call[0].kind != ValueKind::tensor || call[3].kind != ValueKind::tensor) return false;
  const Tensor &self = call.tensor(0), &out = call.tensor(3);
  return self.dtype == DType::float32 && out.dtype == DType::float32 && self.rank == out.rank && !self.unbounded &&
         is_fixed(call[1]) && dim_of(call[1], self.rank) >= 0 && call[2].kind == ValueKind::boolean &&
         is_fixed(call[2]) && !call[2].boolean;
}

// Whether rows are contiguous, one after another, in self and out.
bool is_innermost(const Call& call, int dim) {
  const Tensor &self = call.tensor(0), &out = call.tensor(3);
  return self.rank == 0 || (self.dim_order[self.rank - 1] == dim &&
                            std::equal(self.dim_order, self.dim_order + self.rank, out.dim_order));
}

// A row whose elements are not contiguous is copied to scratch, which is as large as a row can become.
const void* prepare(const Call& call, Stores& stores) {
  const Tensor& self = call.tensor(0);
  const int dim = dim_of(call[1], self.rank);
  if (is_innermost(call, dim)) return nullptr;
  std::int64_t most = 1;
  for (int d = 0; d < self.rank; ++d)
    if (d == dim || self.moves) most *= std::max<std::int32_t>(self.declared[d], 1);
  stores.scratch = static_cast<std::uint64_t>(most) * sizeof(float);
  return nullptr;
}

template <kernels::Softmax kind_of_operator>
bool run(const Step& step, Execution& execution) {
  const Call& call = step.call;
  const auto kind = call.fusion && call.fusion->safe ? kernels::Softmax::safe : kind_of_operator;
  const Tensor& self = call.tensor(0);
  Tensor& out = call.tensor(3);
  if (!resize(out, self.shape())) return false;
  const auto set = *call.set;
  const int dim = dim_of(call[1], self.rank);
  const float* x = self.elements<float>();
  float* y = out.elements<float>();
  const std::int64_t n = self.rank > 0 ? self.size(dim) : 1, count = self.count();
  if (is_innermost(call, dim)) {
    const auto size = static_cast<std::size_t>(n);
    if (count > 0)
      kernels::share(execution.threads, static_cast<std::size_t>(count / n), size, [&](kernels::Range rows) {
        for (std::size_t i = rows.begin * size; i < rows.end * size; i += size)
          kernels::softmax(set, kind, x + i, y + i, size);
      });
    return true;
  }
  Shape rows = shape_of(self);
  rows.sizes[dim] = n > 0;
  const Strides strides[] = {strides_of(out), strides_of(self)};
  const Nest nest = nest_of(rows, out.dim_order, strides);
  auto* row = reinterpret_cast<float*>(execution.scratch.data());
  each_row(nest, 2, [&](const std::ptrdiff_t* at, std::ptrdiff_t many) {
    const int inner = nest.loops - 1;
    for (std::ptrdiff_t r = 0; r < many; ++r) {
      float* to = y + at[0] + r * nest.stride[0][inner];
      const float* from = x + at[1] + r * nest.stride[1][inner];
      for (std::int64_t i = 0; i < n; ++i) row[i] = from[i * strides[1].of[dim]];
      kernels::softmax(set, kind, row, row, static_cast<std::size_t>(n));
      for (std::int64_t i = 0; i < n; ++i) to[i * strides[0].of[dim]] = row[i];
    }
  });
  return true;
}

}  // namespace

constexpr Kernel softmax_f32{"softmax_f32", accepts, prepare, run<kernels::Softmax::plain>};
constexpr Kernel log_softmax_f32{"log_softmax_f32", accepts, prepare, run<kernels::Softmax::logarithm>};

}  // namespace assay::optimized
