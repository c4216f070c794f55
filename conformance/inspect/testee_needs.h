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
  // Makes a call on the testee's kernel. Returns why the kernel gave no answer, in its own words; empty if it answered.
  // May be null; the contract then decides for all calls.
  std::function<std::string(const Operator& op, std::span<const Value> arguments)> refusal = {};
};

// How many instructions a kernel of the testee was called for, and for how many only the contract decided: their
// arguments are not known before the program runs, or are too large to try, or the kernels do not run on this machine.
struct Tries {
  std::uint64_t tried = 0, not_tried = 0;
};

// Calls `tell` for each delegate whose backend the testee lacks ("delegate 0 of forward: the backend XnnpackBackend"),
// and for each instruction that the testee has no kernel for: "instruction 3 of forward: aten::add.out, float32 (2, 3)
// contiguous, ...: the kernel says: ...". The kernel gets tensors with the upper bounds of their sizes whose elements
// are all 0, and if it refuses them, all 1. Charges the budget of the scope.
Tries each_lacking(const ValidProgram& program, const Testee& testee, const std::function<void(std::string)>& tell);

}  // namespace assay::inspect
