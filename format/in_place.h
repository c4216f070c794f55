#pragma once

#include "format/operator_roles.h"

namespace assay::format {

// For an in-place form, such as aten::relu_: the operator whose out is then self, aten::relu.out. Null for any other
// operator. The arguments of a form stand at the same places, and the out follows them.
const OperatorRoles* operator_of_form(const OperatorRoles& form);

}  // namespace assay::format
