#include "optimized/operators/copy.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace assay::optimized {
namespace {

struct Axis {
  std::ptrdiff_t count, to, from;  // strides
};

template <class T>
void copy_row(T* to, const T* from, const Axis& x) {
  if (x.to == 1 && x.from == 1) {
    if (to != from) std::memcpy(to, from, static_cast<std::size_t>(x.count) * sizeof(T));
  } else if (x.to == 1 && x.from == 0) {
    std::fill_n(to, x.count, *from);
  } else {
    for (std::ptrdiff_t i = 0; i < x.count; ++i) to[i * x.to] = from[i * x.from];
  }
}

// A transposition is done in squares, of which both sides stay in the cache.
template <class T>
void copy_plane(T* to, const T* from, const Axis& y, const Axis& x) {
  constexpr std::ptrdiff_t side = 16;
  if (x.from == 1 || x.from == 0 || y.from != 1) {
    for (std::ptrdiff_t i = 0; i < y.count; ++i) copy_row(to + i * y.to, from + i * y.from, x);
    return;
  }
  for (std::ptrdiff_t i = 0; i < y.count; i += side)
    for (std::ptrdiff_t j = 0; j < x.count; j += side) {
      const std::ptrdiff_t rows = std::min(side, y.count - i), columns = std::min(side, x.count - j);
      for (std::ptrdiff_t a = i; a < i + rows; ++a)
        for (std::ptrdiff_t b = j; b < j + columns; ++b) to[a * y.to + b * x.to] = from[a + b * x.from];
    }
}

template <class T>
void copy_as(const Nest& nest, std::byte* to, const std::byte* from) {
  T* y = reinterpret_cast<T*>(to);
  const T* x = reinterpret_cast<const T*>(from);
  const int inner = nest.loops - 1;
  const auto axis = [&](int d) { return Axis{nest.count[d], nest.stride[0][d], nest.stride[1][d]}; };
  if (nest.loops <= 1) return nest.loops == 1 ? copy_row(y, x, axis(0)) : void();
  // The loop in which the elements are read one after another comes next to the innermost.
  Nest outer = nest;
  for (int d = 0; d < inner; ++d)
    if (nest.stride[1][d] == 1)
      for (int e = d; e + 1 < inner; ++e) {
        std::swap(outer.count[e], outer.count[e + 1]);
        for (auto& stride : outer.stride) std::swap(stride[e], stride[e + 1]);
      }
  const Axis across = axis(inner),
             along{outer.count[inner - 1], outer.stride[0][inner - 1], outer.stride[1][inner - 1]};
  outer.loops = inner;
  each_row(outer, 2,
           [&](const std::ptrdiff_t* at, std::ptrdiff_t) { copy_plane(y + at[0], x + at[1], along, across); });
}

}  // namespace

void copy(const Nest& nest, std::byte* to, const std::byte* from, std::uint64_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return copy_as<std::uint8_t>(nest, to, from);
    case 2:
      return copy_as<std::uint16_t>(nest, to, from);
    case 4:
      return copy_as<std::uint32_t>(nest, to, from);
    case 8:
      return copy_as<std::uint64_t>(nest, to, from);
  }
}

}  // namespace assay::optimized
