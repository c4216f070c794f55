#pragma once

#include <string>
#include <vector>

#include "reference/operator.h"

// From the arguments that a text gives to those that `call` takes.
namespace assay {

// The length of the schema's list, 2 for int[2]; 0 where it says none or the argument is no list.
Int list_length(const Operator& op, const SchemaArgument& argument);

// How many of the arguments are not out arguments.
inline std::size_t input_count(const Operator& op) { return op.arguments.size() - op.outs(); }

// Appends the defaults of the schema to the first arguments, then None for each out argument. Throws a malformed Fault
// of call.argument when there are too many, or one without default is missing.
void complete(const Operator& op, std::vector<Value>& arguments);

// The operator of this name. Throws an unsupported Fault of call.operator that names similar ones.
const Operator& operator_named(std::string_view name);

}  // namespace assay
