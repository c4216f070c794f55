#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay {

// The optimized runtime that a testee's name selects: "optimized", or with options, "optimized:avx2,relaxed".
struct OptimizedTestee {
  std::string instruction_set = {};  // empty for the best one of this machine
  bool relaxed = false;              // whether relaxed arithmetic is allowed
};
// Returns nothing if the name is not that of an optimized runtime. Throws Fault with rule "testee" for an option that
// this build does not have.
std::optional<OptimizedTestee> optimized_for(std::string_view testee);

}  // namespace assay
