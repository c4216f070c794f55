#pragma once

#include "optimized/runtime/kernel.h"

// Steps that work on values themselves, not on the elements of tensors.
namespace assay::optimized {

struct Handle {
  std::string_view op;
  bool (*run)(const Step& step, Run& run);
};
const Handle* find_handle(std::string_view op);  // null: the operator works on elements

bool run_move(const Step& step, Run& run);  // arguments: from, to
bool run_jump(const Step& step, Run& run);  // argument: the condition; state: the step to go to where it is false

}  // namespace assay::optimized
