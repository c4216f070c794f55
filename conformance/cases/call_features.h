#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/operator.h"
#include "reference/value.h"

namespace assay::cases {

// A property of calls on which kernels branch. Its values are a closed list; the dtype's are the names of dtypes.
struct CallFeature {
  std::string_view name;
  std::vector<std::string_view> values;
};

inline constexpr std::size_t call_feature_count = 24;
const std::array<CallFeature, call_feature_count>& call_features();

// For each feature the number of its value, or `no_value` where the operator or the call does not have the feature.
using CallFeatures = std::array<std::int8_t, call_feature_count>;
inline constexpr std::int8_t no_value = -1;
CallFeatures call_features_of(const Operator& op, std::span<const Value> arguments);

// Whether two features are properties of the sizes and layouts of tensors, or both are properties of the dtypes. A
// change of one of them often changes the other.
bool change_together(std::size_t feature, std::size_t other);

// The features of calls with one tensor of float32, for every kind of sizes and layouts that the features tell apart.
std::vector<CallFeatures> features_of_tensors();

// Whether kernels of the operator branch on three features at a time: convolution, pooling, normalisation, indexing,
// concatenation.
bool branches_on_triples(const Operator& op);

}  // namespace assay::cases
