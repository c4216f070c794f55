#pragma once

#include <functional>
#include <string>

#include "conformance/contract/contract.h"
#include "conformance/testee/library.h"
#include "reference/program/program.h"
#include "reference/runtime/delegate.h"

namespace assay::inspect {

struct Testee {
  const testee::KernelLibrary& library;
  const contract::Contract& contract;
  Backends backends = own_backends();  // only the names count
};

// Calls `tell` for each delegate whose backend the testee lacks ("delegate 0 of forward: the backend XnnpackBackend"),
// and for each instruction that the testee has no kernel for, with the operator, or with the dtypes and layouts that
// its contract does not promise: "instruction 3 of forward: aten::add.out, float16 (2, 3)". Charges the budget of the
// scope.
void each_lacking(const ValidProgram& program, const Testee& testee, const std::function<void(std::string)>& tell);

}  // namespace assay::inspect
