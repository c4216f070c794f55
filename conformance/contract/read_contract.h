#pragma once

#include <string>
#include <string_view>

#include "conformance/contract/contract.h"

namespace assay::contract {

// Reads a contract: a file, or the one with that name in conformance/data/contracts. Its slices are those of
// conformance/data/slices. Both folders are looked for above the executable and above the working folder. Throws Fault
// (malformed) with place and rule: contract.file, contract.yaml, contract.key, contract.kind, contract.slice,
// contract.flag, contract.dtype, contract.layout, contract.operator, contract.arithmetic, contract.argument,
// contract.row.
Contract read_contract(const std::string& name_or_file);

// The contract of a testee: the one with its name, or one that promises everything. A library that is named by its
// interface, such as executorch:./lib.so, gets the contract of the interface. It has promised nothing itself, so it may
// also answer that a call is unsupported.
Contract contract_of(std::string_view testee);

}  // namespace assay::contract
