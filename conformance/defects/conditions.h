#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "conformance/defects/answer_elements.h"

namespace assay::defects {

struct Condition {
  std::string says;  // "for NaN"
  std::function<bool(const Result&)> holds;
  bool is_place = false;
  double weight = 1;  // of its score beside that of other conditions
};

// Right elements that a condition without a substitute tells from wrong ones.
inline constexpr std::size_t fewest_outside = 4;
inline constexpr double weight_of_limits = 0.95;  // that are fitted to the answers: another condition is told before

// All conditions that elements of these answers can meet, the most telling first.
std::vector<Condition> conditions_of(const Operator& op, std::span<const Seen> seen);

}  // namespace assay::defects
