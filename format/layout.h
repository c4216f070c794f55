#pragma once

#include <optional>
#include <span>

#include "dtype.gen.h"
#include "format/rule.h"
#include "format/view.h"

// The metadata of a tensor, which .pte, .ptd and .bpte files state alike.
namespace assay::format {

inline constexpr std::size_t max_rank = 16;

struct Layout {
  int scalar_type;
  std::span<const std::int32_t> sizes;
  std::span<const std::uint8_t> dim_order;
};
template <class Table>
Layout layout_of(const Table& t) {
  return {t.scalar_type(), items(t.sizes()), items(t.dim_order())};
}

bool same(const Layout& a, const Layout& b);

// Which rule says what about it.
struct LayoutRules {
  RuleId dtype, rank, dim_order, sizes, bytes;
};

// The bytes of a tensor; none when its metadata break a rule.
std::optional<std::uint64_t> check_layout(const Layout& layout, const LayoutRules& rules, const Place& place,
                                          Findings& findings);

// The product of sizes and of an element's bytes, a size 0 counting as 1, so that strides are bounded by it too. None:
// it does not fit a signed 64-bit integer.
std::optional<std::uint64_t> checked_product(std::span<const std::int32_t> sizes, std::uint64_t element);

}  // namespace assay::format
