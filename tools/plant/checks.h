#pragma once

#include <set>
#include <span>
#include <string_view>

// The checks of format/, of which one can be taken out.
namespace assay::format {

struct PlantedCheck {
  std::string_view place, condition;  // "format/open.cpp:51", "space > 0"
};
std::span<const PlantedCheck> planted_checks();

inline int removed_check = -1;       // its number, -1: none
inline std::set<int> broken_checks;  // that did not hold since this was cleared

inline bool asked(int check, bool holds) {
  if (!holds) broken_checks.insert(check);
  return holds;
}

}  // namespace assay::format
