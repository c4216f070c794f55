#pragma once

#include "reference/operator.h"

namespace assay {

// The functional form of an operator, which returns its results: what a graph of torch.export calls where a program
// calls the operator with outs. Generated from spec/operators.
struct FunctionalForm {
  std::string_view name;  // "aten::add.Tensor"
  const Operator* op;     // "aten::add.out"
  bool takes_options;     // takes also dtype, layout, device and pin_memory by name, which the outs decide for `op`

  // Names, kinds and defaults, as in the schema of `op`: all but its outs. An operator that changes an argument in
  // place does so in this form, too.
  std::span<const SchemaArgument> arguments() const { return op->arguments.first(op->arguments.size() - op->outs()); }
};

// Sorted by name. An operator that returns a number is its own functional form. One that changes an argument and has no
// outs, "aten::copy_", has none.
std::span<const FunctionalForm> functional_table();
const FunctionalForm* find_functional(std::string_view name);

}  // namespace assay
