#include "format/roles.h"

#include <algorithm>

#include "operator_roles.gen.h"

namespace assay::format {
namespace {

// The order of `full` and "name.overload", or "name" where there is no overload.
int compare(std::string_view full, std::string_view name, std::string_view overload) {
  if (const int order = full.compare(0, name.size(), name); order != 0) return order;
  const std::string_view rest = full.substr(name.size());
  if (rest.empty() || overload.empty()) return rest.empty() ? -!overload.empty() : 1;
  return rest.front() == '.' ? rest.substr(1).compare(overload) : rest.front() - '.';
}

}  // namespace

std::span<const ArgumentRole> OperatorRoles::arguments() const {
  return std::span(argument_roles).subspan(first, count);
}

bool OperatorRoles::has(Use use) const {
  return std::ranges::find(arguments(), use, &ArgumentRole::use) != arguments().end();
}

const OperatorRoles* find_roles(const pte::Operator& op) {
  const std::string_view name = text_of(op.name()), overload = text_of(op.overload());
  const auto found = std::ranges::partition_point(
      operator_roles, [&](const OperatorRoles& r) { return compare(r.name, name, overload) < 0; });
  return found != std::end(operator_roles) && compare(found->name, name, overload) == 0 ? found : nullptr;
}

}  // namespace assay::format
