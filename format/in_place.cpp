#include "format/in_place.h"

#include <algorithm>

#include "in_place.gen.h"

namespace assay::format {

const OperatorRoles* operator_of_form(const OperatorRoles& form) {
  const auto* end = std::end(in_place_forms);
  const auto* found =
      std::ranges::lower_bound(in_place_forms, form.name, {}, &std::pair<std::string_view, std::string_view>::first);
  if (found == end || found->first != form.name) return nullptr;
  const auto all = all_roles();
  return &*std::ranges::lower_bound(all, found->second, {}, &OperatorRoles::name);
}

}  // namespace assay::format
