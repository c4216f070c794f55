#pragma once

#include <span>
#include <vector>

#include "conformance/verdict/call_features.h"
#include "reference/operator.h"
#include "reference/value.h"

namespace assay::cases {

// A feature is `verdict::no_value` where the operator or the call does not have it.
verdict::CallFeatures call_features_of(const Operator& op, std::span<const Value> arguments);

// Whether two features are properties of the sizes and layouts of tensors, or both are properties of the dtypes. A
// change of one of them often changes the other.
bool change_together(std::size_t feature, std::size_t other);

// The features of calls with one tensor of float32, for every kind of sizes and layouts that the features tell apart.
std::vector<verdict::CallFeatures> features_of_tensors();

// Whether kernels of the operator branch on three features at a time: convolution, pooling, normalisation, indexing,
// concatenation.
bool branches_on_triples(const Operator& op);

}  // namespace assay::cases
