#pragma once

#include <span>
#include <vector>

#include "reference/operator.h"
#include "reference/program/decoded.h"

namespace assay::reproduce {

// A call as a program. The inputs of its method `forward` are the call's tensors in schema order. All other arguments
// are values of the program. The call is the only instruction, and the outs are the outputs.
struct CallProgram {
  Program program;
  std::vector<Tensor> inputs;
};

// `arguments` follow the schema. Of an out, the dtype, the sizes (as an upper bound) and the dim order are used.
CallProgram program_of_call(const Operator& op, std::span<const Value> arguments);

// The program with its inputs, and with the outs as the expected outputs.
BundledProgram bundle_of_call(const Operator& op, std::span<const Value> arguments);

// The program with its inputs, and with these values as the expected outputs.
BundledProgram bundle_of(const CallProgram& call, std::span<const Value> outs);

}  // namespace assay::reproduce
