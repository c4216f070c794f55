#pragma once

#include <optional>
#include <span>

#include "dtype.gen.h"
#include "format/rule.h"
#include "format/view.h"

// The metadata of a tensor, in the form that .pte, .ptd and .bpte files share.
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

// The ids of the rules about a layout. Each kind of file has its own ids.
struct LayoutRules {
  RuleId dtype, rank, dim_order, sizes, bytes;
};

// Checks the metadata of a tensor. Returns the number of its bytes, or nothing if a rule is broken.
std::optional<std::uint64_t> check_layout(const Layout& layout, const LayoutRules& rules, const Place& place,
                                          Findings& findings);

// The product of the sizes and of the bytes of an element. A size 0 counts as 1, so that the product also bounds the
// strides. Returns nothing if the product exceeds a signed 64-bit integer.
std::optional<std::uint64_t> checked_product(std::span<const std::int32_t> sizes, std::uint64_t element);

}  // namespace assay::format
