#pragma once

#include "optimized/runtime/kernel.h"

// Steps that work on values themselves, not on the elements of tensors.
namespace assay::optimized {

struct Handle {
  std::string_view op;
  bool (*run)(const Step& step, Execution& execution);
};
const Handle* find_handle(std::string_view op);  // null: the operator works on elements

bool run_move(const Step& step, Execution& execution);  // arguments: from, to
bool run_jump(const Step& step,
              Execution& execution);  // argument: the condition; state: the step to go to where the condition is false

}  // namespace assay::optimized
