#pragma once

#include <functional>
#include <string>

#include "conformance/testees/library.h"
#include "reference/program/program.h"

namespace assay {

// Tells of each instruction that the library has no kernel for: its operator, or its dtypes and layouts, as the library
// states them. "instruction 3 of forward: aten::add.out, float16 (2, 3)". Charges the scope's budget.
void each_lacking(const ValidProgram& program, const KernelLibrary& library,
                  const std::function<void(std::string)>& tell);

}  // namespace assay
