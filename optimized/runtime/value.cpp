#include "optimized/runtime/value.h"

#include <algorithm>

namespace assay::optimized {
namespace {

std::int64_t product(std::span<const std::int32_t> sizes) {
  std::int64_t n = 1;
  for (const std::int32_t s : sizes) n *= s;
  return n;
}

}  // namespace

std::int64_t Tensor::count() const { return product(shape()); }
std::uint64_t Tensor::element_bytes() const {
  return static_cast<std::uint64_t>(find_dtype(static_cast<int>(dtype))->bytes);
}

bool Tensor::is_contiguous() const {
  int last = -1;
  for (int i = 0; i < rank; ++i) {
    const int d = dim_order[i];
    if (sizes[d] == 1) continue;
    if (d < last) return false;
    last = d;
  }
  return true;
}

bool resize(Tensor& tensor, std::span<const std::int32_t> sizes) {
  const std::span<const std::int32_t> declared(tensor.declared, tensor.rank);
  if (sizes.size() != declared.size()) return false;
  if (!tensor.moves) return std::ranges::equal(sizes, declared);
  if (std::ranges::any_of(sizes, [](std::int32_t n) { return n < 0; })) return false;
  const std::int64_t n = product(sizes);
  if (!tensor.unbounded && !std::ranges::equal(sizes, declared, std::ranges::less_equal())) return false;
  if (static_cast<std::uint64_t>(n) * tensor.element_bytes() > tensor.capacity) return false;
  std::ranges::copy(sizes, tensor.sizes);
  return true;
}

format::RuleId rule_of_sizes(const Tensor& tensor, std::size_t rank, format::RuleId other) {
  return tensor.unbounded && tensor.rank == rank ? "V4" : other;
}

}  // namespace assay::optimized
