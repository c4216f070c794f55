#include <algorithm>
#include <cstring>

#include "kernels.gen.h"
#include "optimized/selection/scalars.h"

// Padding with elements of the tensor, along the last one, two or three dimensions.
namespace assay::optimized {
namespace {

// The element of a dimension of n that a place before or behind it repeats.
using Repeated = std::int64_t (*)(std::int64_t place, std::int64_t n);
std::int64_t mirrored(std::int64_t place, std::int64_t n) {
  return place < 0 ? -place : place >= n ? 2 * (n - 1) - place : place;
}
std::int64_t nearest(std::int64_t place, std::int64_t n) { return std::clamp<std::int64_t>(place, 0, n - 1); }

// Operands: self, padding, out. The padding before and after each dimension, the last dimension first.
bool accepts(const Call& call) {
  return call[0].is_tensor() && call[2].is_tensor() && call.tensor(0).dtype == call.tensor(2).dtype &&
         is_number_or_complex(call.tensor(0).dtype);
}

template <int n, bool mirrors>
bool run(const Step& step, Execution&) {
  constexpr Repeated repeated = mirrors ? mirrored : nearest;
  const Tensor& self = step.call.tensor(0);
  Tensor& out = step.call.tensor(2);
  const auto pad = step.call[1].items();
  const int rank = self.rank;
  if (!integers(step.call[1]) || pad.size() != 2 * n || rank < n + 1 || rank > n + 2) return false;
  Shape shape = shape_of(self);
  std::int64_t before[max_rank] = {};
  for (int d = rank - n - 1; d < rank; ++d)
    if (self.sizes[d] == 0) return false;
  for (std::size_t k = 0; k < n; ++k) {
    const int d = rank - 1 - static_cast<int>(k);
    const std::int64_t b = pad[2 * k]->integer, a = pad[2 * k + 1]->integer, size = self.sizes[d];
    constexpr std::int64_t most = INT32_MAX;
    if (std::max(b, a) > most || std::min(b, a) < -most || (mirrors && std::max(b, a) >= size)) return false;
    if (size + b + a < 0 || size + b + a > most) return false;
    before[d] = b, shape.sizes[d] = static_cast<std::int32_t>(size + b + a);
  }
  if (std::all_of(shape.sizes, shape.sizes + rank, [](std::int32_t size) { return size < 1; })) return false;
  if (!resize(out, shape.span())) return false;
  const Strides from = strides_of(self), to = strides_of(out);
  each_index(shape, [&](const std::int32_t* index) {
    std::ptrdiff_t place = 0;
    for (int d = 0; d < rank; ++d) place += from.of[d] * repeated(index[d] - before[d], self.sizes[d]);
    std::memcpy(out.at(place_of(to, index, rank)), self.at(place), out.element_bytes());
  });
  return true;
}

template <int n, bool mirrors>
constexpr Kernel pad(const char* name) {
  return {name, accepts, nullptr, run<n, mirrors>};
}

}  // namespace

constexpr Kernel reflection_pad1d = pad<1, true>("reflection_pad1d");
constexpr Kernel reflection_pad2d = pad<2, true>("reflection_pad2d");
constexpr Kernel reflection_pad3d = pad<3, true>("reflection_pad3d");
constexpr Kernel replication_pad1d = pad<1, false>("replication_pad1d");
constexpr Kernel replication_pad2d = pad<2, false>("replication_pad2d");
constexpr Kernel replication_pad3d = pad<3, false>("replication_pad3d");

}  // namespace assay::optimized
