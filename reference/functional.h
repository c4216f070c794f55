#pragma once

#include "reference/operator.h"

namespace assay {

// The functional form of an operator: the form that returns its results instead of writing them to outs. Graphs of
// torch.export call this form. The table of forms is generated from spec/operators.
struct FunctionalForm {
  std::string_view name;  // "aten::add.Tensor"
  const Operator* op;     // "aten::add.out"
  // Whether the form also takes dtype, layout, device and pin_memory by name. In a call of `op` the outs decide these.
  bool takes_options;

  // The arguments of the schema of `op` without its outs. An operator that changes an argument in place does so in this
  // form, too.
  std::span<const SchemaArgument> arguments() const { return op->arguments.first(op->arguments.size() - op->outs()); }
};

// All forms, sorted by name. An operator that returns a number is its own functional form. An operator that changes an
// argument and has no outs, such as "aten::copy_", has no functional form.
std::span<const FunctionalForm> functional_table();
const FunctionalForm* find_functional(std::string_view name);

}  // namespace assay
