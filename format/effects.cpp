#include "format/effects.h"

namespace assay::format {

Method::Method(const pte::ExecutionPlan& plan, Workspace& workspace)
    : plan_(plan),
      starts_(workspace.take<std::uint32_t>(plan.chains()->size())),
      roles_(workspace.take<const OperatorRoles*>(size_of(plan.operators()))) {
  for (std::uint32_t c = 0; c < plan.chains()->size(); ++c) {
    if (!starts_.empty()) starts_[c] = instructions_;
    instructions_ += plan.chains()->Get(c)->instructions()->size();
  }
  for (std::uint32_t i = 0; i < roles_.size(); ++i) roles_[i] = find_roles(*plan.operators()->Get(i));
}

}  // namespace assay::format
