#pragma once

#include <string_view>
#include <unordered_map>

#include "reference/program/container.h"

// What the checks of a program's parts share. Each reports all that it finds.
namespace assay {

// Which rule says what about a tensor's metadata: it is stated by .pte, .ptd and .bpte files alike.
struct LayoutRules {
  RuleId dtype, rank, dim_order, sizes, bytes;
};

// The bytes of a tensor; none when its metadata break a rule.
std::optional<std::uint64_t> check_layout(Int scalar_type, std::span<const std::int32_t> sizes,
                                          std::span<const std::uint8_t> dim_order, const LayoutRules& rules,
                                          const Place& place, Findings& findings);

template <class Table>
std::optional<std::uint64_t> check_layout(const Table& t, const LayoutRules& rules, const Place& place,
                                          Findings& findings) {
  return check_layout(t.scalar_type, t.sizes, t.dim_order, rules, place, findings);
}

// What has a name: an entry of a data file, or of the program itself, which has no layout.
struct NamedBytes {
  const ptd::TensorLayoutT* layout;
  std::size_t size;
};
using NamedBytesByKey = std::unordered_map<std::string_view, std::optional<NamedBytes>>;  // none: its entry is broken

// A value whose type may be another when the program runs: an operator on numbers writes its result where it is told
// to, and the exporter puts a Null or an Int there.
constexpr bool is_number(pte::KernelTypes type) {
  return type >= pte::KernelTypes::Null && type <= pte::KernelTypes::Double;
}

// What the checks of a method look at.
struct MethodCheck {
  const Program& program;
  const pte::ExecutionPlanT& plan;
  const NamedBytesByKey& named;
  std::unordered_map<std::string_view, const pte::TensorT*>& external;  // the first tensor of each name in all methods
  Findings& findings;

  bool has_value(Int index) const { return index >= 0 && static_cast<std::uint64_t>(index) < plan.values.size(); }
  const pte::KernelTypesUnion& value(Int index) const { return plan.values[static_cast<std::size_t>(index)]->val; }
  bool check_index(Int index, RuleId rule, const Place& place) const {
    return findings.check(has_value(index), rule, place, "names value ", index, ", but there are ", plan.values.size(),
                          " values");
  }
};

void check_values(const MethodCheck& method, const Place& place);
void check_instructions(const MethodCheck& method, const Place& place);

template <class Same>
bool same_layout(const pte::TensorT& a, const Same& b) {
  return a.scalar_type == b.scalar_type && a.sizes == b.sizes && a.dim_order == b.dim_order;
}

}  // namespace assay
