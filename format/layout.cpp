#include "format/layout.h"

#include <algorithm>
#include <limits>

namespace assay::format {
namespace {

bool is_permutation(std::span<const std::uint8_t> dim_order) {
  std::uint32_t seen = 0;
  for (const std::uint8_t d : dim_order)
    if (d < dim_order.size()) seen |= std::uint32_t{1} << d;
  return seen == (std::uint32_t{1} << dim_order.size()) - 1;
}

}  // namespace

bool same(const Layout& a, const Layout& b) {
  return a.scalar_type == b.scalar_type && std::ranges::equal(a.sizes, b.sizes) &&
         std::ranges::equal(a.dim_order, b.dim_order);
}

std::optional<std::uint64_t> checked_product(std::span<const std::int32_t> sizes, std::uint64_t element) {
  std::uint64_t product = element;
  for (const std::int32_t n : sizes) {
    const auto factor = static_cast<std::uint64_t>(std::max<std::int32_t>(n, 1));
    if (product > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / factor) return {};
    product *= factor;
  }
  return product;
}

std::optional<std::uint64_t> check_layout(const Layout& layout, const LayoutRules& rules, const Place& place,
                                          Findings& f) {
  const auto& [scalar_type, sizes, dim_order] = layout;
  const DTypeFacts* dtype = find_dtype(scalar_type);
  bool holds = f.check(dtype != nullptr, rules.dtype, place, scalar_type, " is not the number of a dtype");
  if (!f.check(sizes.size() <= max_rank, rules.rank, place, "has ", sizes.size(), " dimensions, but ", max_rank,
               " is the most"))
    return {};
  holds &= f.check(dim_order.size() == sizes.size() && is_permutation(dim_order), rules.dim_order, place,
                   "its dim order of ", dim_order.size(), " does not name each of ", sizes.size(), " dimensions once");
  holds &= f.check(std::ranges::none_of(sizes, [](auto n) { return n < 0; }), rules.sizes, place, "a size is negative");
  if (!holds) return {};
  const auto bytes = checked_product(sizes, static_cast<std::uint64_t>(dtype->bytes));
  if (!f.check(bytes.has_value(), rules.bytes, place, "its sizes are those of more bytes than there can be")) return {};
  return std::ranges::find(sizes, 0) == sizes.end() ? *bytes : 0;
}

}  // namespace assay::format
