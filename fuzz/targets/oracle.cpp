#include "conformance/text/oracle.h"
#include "fuzz/limits.h"
#include "fuzz/oracle.h"
#include "fuzz/target.h"

// A line of assay call --jsonl.
namespace assay::fuzz {

void attack_oracle(Input input) {
  const std::string_view line(reinterpret_cast<const char*>(input.data()), input.size());
  const Measured measured(heap_for(input.size()), most_seconds);
  const std::string answer = answer_line(line);
  check_text(answer, most_output);
  must(answer.find('\n') == answer.npos && Json::accept(answer), "json",
       "the answer is no line of JSON: ", answer.substr(0, 200));
}

}  // namespace assay::fuzz
