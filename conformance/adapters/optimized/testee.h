#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay {

// Which optimized runtime a testee is: "optimized", or with words, "optimized:avx2,relaxed".
struct OptimizedTestee {
  std::string instruction_set = {};  // empty: the best of this machine
  bool relaxed = false;              // arithmetic
};
// None: the name is another testee's. Throws Fault with rule "testee" for a word that means nothing in this build.
std::optional<OptimizedTestee> optimized_for(std::string_view testee);

}  // namespace assay
