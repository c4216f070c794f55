#pragma once

#include <span>
#include <vector>

#include "reference/operator.h"
#include "reference/program/decoded.h"

namespace assay {

// A call as a program: its method `forward` has the call's tensors as inputs, in the order of the schema, all other
// arguments as values, the call as its one instruction, and the outs as outputs.
struct CallProgram {
  Program program;
  std::vector<Tensor> inputs;
};

// `arguments` follow the schema. Of its outs dtype, sizes, which are the most that they may become, and dim order
// count.
CallProgram program_of_call(const Operator& op, std::span<const Value> arguments);

// The same with its inputs, and with the outs as what is expected of it.
BundledProgram bundle_of_call(const Operator& op, std::span<const Value> arguments);

}  // namespace assay
