#pragma once

#include <string_view>

namespace assay::corrupt {

// The name of the enclosing table's list that a field indexes: "operators" for "KernelCall.op_index". Returns empty if
// the field is not an index.
std::string_view list_indexed_by(std::string_view field);

}  // namespace assay::corrupt
