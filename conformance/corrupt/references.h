#pragma once

#include <string_view>

namespace assay::corrupt {

// The list, in a table around it, of which the numbers of a field are indices: "operators" of "KernelCall.op_index".
// Empty: they are no indices.
std::string_view list_indexed_by(std::string_view field);

}  // namespace assay::corrupt
