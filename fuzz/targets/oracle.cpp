#include "conformance/text/call_json.h"

#include "fuzz/limits.h"
#include "fuzz/oracle.h"
#include "fuzz/target.h"

// The input is a line of assay call --jsonl.
namespace assay::fuzz {

void attack_oracle(Input input) {
  const std::string_view line(reinterpret_cast<const char*>(input.data()), input.size());
  std::string answer;
  {
    const Measured measured(heap_for(input.size()), most_seconds);
    answer = answer_line(line, limits);
  }
  must(answer.find('\n') == answer.npos, "json", "the answer has two lines");
  check_json(answer);
}

}  // namespace assay::fuzz
