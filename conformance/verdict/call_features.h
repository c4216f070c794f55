#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::verdict {

// A property of calls on which kernels branch. Its values are a closed list; the dtype's are the names of dtypes.
struct CallFeature {
  std::string_view name;
  std::vector<std::string_view> values;
};

inline constexpr std::size_t call_feature_count = 24;
inline constexpr std::size_t most_feature_values = 10;  // of a feature other than the dtype: each is one digit
// The table of spec/verdicts.md, "Made cases". The dtype comes first.
const std::array<CallFeature, call_feature_count>& call_features();

// For each feature the number of its value, or `no_value` where a call does not have the feature.
using CallFeatures = std::array<std::int8_t, call_feature_count>;
inline constexpr std::int8_t no_value = -1;

// The field `features` of a record: a digit for each feature after the dtype, which the record states as a name, and
// '-' for `no_value`.
std::string to_text(const CallFeatures& features);

// Without a dtype. Throws std::invalid_argument with one sentence if `text` is not such a field.
CallFeatures features_from(std::string_view text);

}  // namespace assay::verdict
