#pragma once

#include <string>
#include <vector>

#include "reference/operator.h"

// From the arguments that a text gives to those that `call` takes.
namespace assay {

// How many of the arguments are not out arguments.
inline std::size_t input_count(const Operator& op) { return op.arguments.size() - op.outs(); }

// Appends the defaults of the schema to the first arguments, then None for each out argument. Throws a malformed Fault
// of call.argument when there are too many, or one without default is missing.
void complete(const Operator& op, std::vector<Value>& arguments);

// The operator of this name. Throws an unsupported Fault of call.operator that names similar ones.
const Operator& operator_named(std::string_view name);

}  // namespace assay
