// Writes a call as a line of `assay call --jsonl`; record/record traps records the answer of eager PyTorch.
//
//   trap_call SENTENCE [--out=DTYPE]... OPERATOR ARG...   as `assay call` takes them. The id of the line is the
//   sentence, behind which is the rule that the call breaks: "trap: a pad has two ends; breaks constant_pad_nd.R1".

#include <fmt/format.h>

#include <string>
#include <vector>

#include "conformance/text/arguments.h"
#include "conformance/text/request.h"
#include "reference/call.h"

namespace {

using namespace assay;

std::string request(const std::vector<std::string>& words) {
  std::vector<std::string> outs;
  auto word = words.begin() + 1;
  for (; word != words.end() && word->starts_with("--out="); ++word) outs.push_back(word->substr(6));
  if (word == words.end()) throw Fault(Outcome::malformed, "arguments", "an operator is missing");
  const Operator& op = operator_named(*word);
  const std::vector<Value> arguments = read_arguments(op, {word + 1, words.end()}, outs);
  std::vector<Value> called = arguments;
  const std::string rule = call(op, called).rule;
  return request_line(op, arguments, words[0] + (rule.empty() ? "" : "; breaks " + rule));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return fmt::print(stderr, "usage: trap_call SENTENCE [--out=DTYPE]... OPERATOR ARG...\n"), 2;
  try {
    fmt::print("{}\n", request({argv + 1, argv + argc}));
  } catch (const Fault& f) {
    return fmt::print(stderr, "trap_call: {}, {}: {}\n", name(f.outcome), f.rule, f.message), exit_code(f.outcome);
  }
}
