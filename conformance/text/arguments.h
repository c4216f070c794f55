#pragma once

#include <span>
#include <string>
#include <vector>

#include "reference/operator.h"

// Turns the arguments that a text gives into those that `call` takes.
namespace assay {

// The number of arguments that are not out arguments.
inline std::size_t input_count(const Operator& op) { return op.arguments.size() - op.outs(); }

// Appends the defaults of the schema to the first arguments, then None for each out argument. Throws a malformed Fault
// of call.argument if there are too many arguments, or if one without a default is missing.
void complete(const Operator& op, std::vector<Value>& arguments);

// The arguments that literals denote: the first inputs, and the first out arguments as read_out_literal reads them. The
// others are as `complete` gives them. Throws Faults as `complete`, read_literal and read_out_literal do, and call.out
// if there are too many outs, or one is a list.
std::vector<Value> read_arguments(const Operator& op, std::span<const std::string> inputs,
                                  std::span<const std::string> outs);

// The operator with this name. If there is none, throws an unsupported Fault of call.operator that names similar
// operators.
const Operator& operator_named(std::string_view name);

}  // namespace assay
