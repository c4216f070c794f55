#pragma once

#include <functional>
#include <string>

#include "conformance/contract/contract.h"
#include "conformance/testee/library.h"
#include "reference/program/program.h"

namespace assay {

struct Testee {
  const KernelLibrary& library;
  const Contract& contract;
};

// Tells of each instruction that the testee has no kernel for: its operator, or its dtypes and layouts, as its
// contract promises them. "instruction 3 of forward: aten::add.out, float16 (2, 3)". Charges the scope's budget.
void each_lacking(const ValidProgram& program, const Testee& testee, const std::function<void(std::string)>& tell);

}  // namespace assay
