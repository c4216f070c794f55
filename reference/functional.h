#pragma once

#include "reference/operator.h"

namespace assay {

// The functional form of an operator, which returns its results. A graph of torch.export calls this form where a
// program calls the operator with outs. Generated from spec/operators.
struct FunctionalForm {
  std::string_view name;  // "aten::add.Tensor"
  const Operator* op;     // "aten::add.out"
  bool takes_options;     // also takes dtype, layout, device and pin_memory by name; in `op` the outs decide them

  // Names, kinds and defaults as in the schema of `op`, without its outs. An operator that changes an argument in place
  // does so in this form, too.
  std::span<const SchemaArgument> arguments() const { return op->arguments.first(op->arguments.size() - op->outs()); }
};

// Sorted by name. An operator that returns a number is its own functional form. An operator that changes an argument
// and has no outs ("aten::copy_") has no functional form.
std::span<const FunctionalForm> functional_table();
const FunctionalForm* find_functional(std::string_view name);

}  // namespace assay
