#include "optimized/selection/copy.h"

#include <cstring>

#include "optimized/kernels/transpose.h"

namespace assay::optimized {
namespace {

template <class T>
void move(std::byte* to, std::ptrdiff_t to_stride, const std::byte* from, std::ptrdiff_t from_stride,
          std::ptrdiff_t n) {
  if (to_stride == 1 && from_stride == 1)
    return static_cast<void>(std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T)));
  T* y = reinterpret_cast<T*>(to);
  const T* x = reinterpret_cast<const T*>(from);
  for (std::ptrdiff_t i = 0; i < n; ++i) y[i * to_stride] = x[i * from_stride];
}

}  // namespace

void copy(const Nest& nest, std::byte* to, const std::byte* from, std::uint64_t element_bytes,
          const kernels::Threads& threads) {
  static_assert(max_rank <= kernels::most_axes);
  if (nest.loops == 0) return;
  kernels::CopyAxis axes[max_rank];
  for (int d = 0; d < nest.loops; ++d)
    axes[d] = {static_cast<std::size_t>(nest.count[d]), nest.stride[1][d], nest.stride[0][d]};
  kernels::copy({axes, static_cast<std::size_t>(nest.loops)}, element_bytes, from, to, threads);
}

void copy(const Tensor& to, const Tensor& from, const kernels::Threads& threads) {
  if (to.data == from.data) return;
  const Strides strides[] = {strides_of(to), strides_of(from)};
  copy(nest_of(shape_of(to), to.dim_order, strides), to.data, from.data, to.element_bytes(), threads);
}

Mover find_mover(std::uint64_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return move<std::uint8_t>;
    case 2:
      return move<std::uint16_t>;
    case 4:
      return move<std::uint32_t>;
    case 8:
      return move<std::uint64_t>;
    default:
      return nullptr;
  }
}

}  // namespace assay::optimized
