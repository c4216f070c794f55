#pragma once

#include "optimized/runtime/kernel.h"

// Steps that work on values themselves, not on the elements of tensors.
namespace assay::optimized {

struct Handle {
  std::string_view op;
  bool (*run)(const Step& step, Execution& execution);
};
const Handle* find_handle(std::string_view op);  // null if the operator works on elements

void hand_over(const Value& from, Value& to);           // `to` becomes the value `from`; keeps `changes`
bool run_move(const Step& step, Execution& execution);  // the arguments of the step are `from` and `to`
// The argument of the step is the condition. Its state is the step that follows if the condition is false.
bool run_jump(const Step& step, Execution& execution);

}  // namespace assay::optimized
