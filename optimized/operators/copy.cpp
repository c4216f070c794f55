#include "optimized/operators/copy.h"

#include "optimized/kernels/transpose.h"

namespace assay::optimized {

void copy(const Nest& nest, std::byte* to, const std::byte* from, std::uint64_t element_bytes,
          const kernels::Threads& threads) {
  static_assert(max_rank <= kernels::most_axes);
  if (nest.loops == 0) return;
  kernels::CopyAxis axes[max_rank];
  for (int d = 0; d < nest.loops; ++d)
    axes[d] = {static_cast<std::size_t>(nest.count[d]), nest.stride[1][d], nest.stride[0][d]};
  kernels::copy({axes, static_cast<std::size_t>(nest.loops)}, element_bytes, from, to, threads);
}

}  // namespace assay::optimized
