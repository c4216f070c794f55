#include "format/operator_roles.h"

#include <algorithm>

#include "operator_roles.gen.h"

namespace assay::format {
namespace {

// Compares `full` with "name.overload", or with "name" if there is no overload.
int compare(std::string_view full, std::string_view name, std::string_view overload) {
  for (const std::string_view part : {name, std::string_view(overload.empty() ? "" : "."), overload}) {
    const std::string_view head(full.data(), std::min(full.size(), part.size()));
    if (const int order = head.compare(part); order != 0) return order;
    full.remove_prefix(head.size());
  }
  return !full.empty();
}

}  // namespace

std::span<const ArgumentRole> OperatorRoles::arguments() const {
  return std::span(argument_roles).subspan(first, count);
}

bool OperatorRoles::has(Use use) const {
  return std::ranges::find(arguments(), use, &ArgumentRole::use) != arguments().end();
}

const OperatorRoles* OperatorRoles::operator_with_out() const { return with_out ? &operator_roles[with_out] : nullptr; }

std::span<const OperatorRoles> all_roles() { return operator_roles; }

const OperatorRoles* find_roles(const pte::Operator& op) {
  const std::string_view name = text_of(op.name()), overload = text_of(op.overload());
  const auto found = std::ranges::partition_point(
      operator_roles, [&](const OperatorRoles& r) { return compare(r.name, name, overload) < 0; });
  return found != std::end(operator_roles) && compare(found->name, name, overload) == 0 ? found : nullptr;
}

}  // namespace assay::format
