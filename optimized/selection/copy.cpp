#include "optimized/selection/copy.h"

#include <cstring>

#include "optimized/kernels/transpose.h"
#include "optimized/selection/elements.h"

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

struct Pair {  // an element of 16 bytes
  std::uint64_t parts[2];
};

}  // namespace

void copy(const Nest& nest, std::byte* to, const std::byte* from, std::uint64_t element_bytes,
          const kernels::Threads& threads) {
  static_assert(max_rank <= kernels::most_axes);
  if (nest.loops == 0) return;
  if (element_bytes == sizeof(Pair)) {
    const auto bytes = static_cast<std::ptrdiff_t>(sizeof(Pair));
    const int inner = nest.loops - 1;
    return each_row(nest, 2, [&](const std::ptrdiff_t* i, std::ptrdiff_t n) {
      move<Pair>(to + i[0] * bytes, nest.stride[0][inner], from + i[1] * bytes, nest.stride[1][inner], n);
    });
  }
  kernels::CopyAxis axes[max_rank];
  for (int d = 0; d < nest.loops; ++d)
    axes[d] = {static_cast<std::size_t>(nest.count[d]), nest.stride[1][d], nest.stride[0][d]};
  kernels::copy({axes, static_cast<std::size_t>(nest.loops)}, element_bytes, from, to, threads);
}

void copy_converted(const Nest& nest, const Tensor& to, std::ptrdiff_t at, const Tensor& from, std::ptrdiff_t first,
                    DType common, const kernels::Threads& threads) {
  if (to.dtype == from.dtype) return copy(nest, to.at(at), from.at(first), to.element_bytes(), threads);
  const int inner = nest.loops - 1;
  each_row(nest, 2, [&](const std::ptrdiff_t* i, std::ptrdiff_t n) {
    for (std::ptrdiff_t k = 0; k < n; ++k) {
      alignas(8) std::byte element[sizeof(Pair)];
      convert(from.dtype, from.at(first + i[1] + k * nest.stride[1][inner]), common, element);
      convert(common, element, to.dtype, to.at(at + i[0] + k * nest.stride[0][inner]));
    }
  });
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
      return move<Pair>;
  }
}

}  // namespace assay::optimized
