#pragma once

#include "format/names.h"
#include "format/rule.h"
#include "format/view.h"
#include "format/workspace.h"

// Functions that several checks of a method use. Each check reports every fault that it finds.
namespace assay::format {

// Whether the type is a number or Null. While a program runs, such a value may get another of these types: an operator
// writes a number to a value for which the exporter wrote a Null or an Int.
constexpr bool is_number(pte::KernelTypes type) {
  return type >= pte::KernelTypes::Null && type <= pte::KernelTypes::Double;
}

struct MethodCheck {
  const ProgramView& program;
  const pte::ExecutionPlan& plan;
  const NamedData& named;
  Findings& findings;

  bool has_value(std::int64_t index) const { return index >= 0 && index < size_of(plan.values()); }
  const pte::EValue& value(std::int64_t index) const { return *plan.values()->Get(static_cast<std::uint32_t>(index)); }
  bool check_index(std::int64_t index, RuleId rule, const Place& place) const {
    return findings.check(has_value(index), rule, place, "names value ", index, ", but there are ",
                          size_of(plan.values()), " values");
  }
};

// Whether a check can use the memory that it took from the workspace. Reports V4 if the workspace was too small.
inline bool has_room(const Workspace& workspace, Findings& f) {
  return !workspace.counts_only() && f.check(workspace.has_room(), "V4", {}, "the check needs a workspace of ",
                                             workspace.mark(), " bytes, more than it is given");
}

void check_values(const MethodCheck& method, const Place& place);
void check_instructions(const MethodCheck& method, const Place& place);

}  // namespace assay::format
