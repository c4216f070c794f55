#pragma once

#include <string>
#include <string_view>

#include "conformance/contract/contract.h"

namespace assay {

// The contract of that name: a file, or one of conformance/data/contracts. Its slices are those of
// conformance/data/slices. Both folders are found above the executable or above the working folder. Throws Fault
// (malformed) with place and rule: contract.file, contract.yaml, contract.key, contract.kind, contract.slice,
// contract.flag, contract.dtype, contract.layout, contract.operator, contract.arithmetic, contract.argument,
// contract.row.
Contract read_contract(const std::string& name_or_file);

// The contract that a testee comes with: that of its name, or one that promises everything. Whose kernels come by that
// name's interface, as executorch:./lib.so, has promised nothing himself, and may answer that a call is unsupported.
Contract contract_of(std::string_view testee);

}  // namespace assay
