#include "conformance/adapters/optimized/testee.h"

#include "conformance/testee/no_testee.h"
#include "optimized/kernels/instruction_set.h"

namespace assay::adapters {

std::optional<OptimizedTestee> optimized_for(std::string_view testee) {
  constexpr std::string_view name = "optimized", with_words = "optimized:";
  if (testee == name) return OptimizedTestee();
  if (!testee.starts_with(with_words)) return {};
  OptimizedTestee all;
  for (std::string_view rest = testee.substr(with_words.size() - 1); !rest.empty();) {
    rest.remove_prefix(1);
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(word.size());
    const auto set = kernels::find_instruction_set(word);
    if (word == "relaxed")
      all.relaxed = true;
    else if (set && kernels::is_compiled(*set))
      all.instruction_set = word;
    else
      testee::no_testee("\"", word, "\" is neither an instruction set of this build nor \"relaxed\"");
  }
  return all;
}

}  // namespace assay::adapters
