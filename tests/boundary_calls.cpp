// Calls at the boundaries of rules, made from recorded ones, as lines of `assay call --jsonl`; tools/record asks eager.
//
//   boundary_calls FOLDER [PATTERN]   an id says the rule and on which side of it the call is: "add.R2 outside".

#include <fmt/format.h>

#include "conformance/cases/boundary.h"
#include "conformance/text/arguments.h"
#include "conformance/text/json.h"
#include "reference/fault.h"

namespace {

using namespace assay;

std::string request(const Operator& op, const BoundaryCall& call) {
  Json args = Json::array(), out = Json::array();
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    (i < input_count(op) ? args : out).push_back(to_json(call.arguments[i], op.arguments[i].type));
  const std::string id = fmt::format("{} {}", call.rule->id, call.outside ? "outside" : "inside");
  return assay::line_of(Json{{"id", id}, {"operator", op.name}, {"args", args}, {"out", out}});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return fmt::print(stderr, "usage: boundary_calls FOLDER [PATTERN]\n"), 2;
  try {
    const Corpus corpus(argv[1]);
    for (const RecordedCalls* calls : corpus.matching(argc == 3 ? argv[2] : ""))
      for (const BoundaryCall& call : boundary_calls(corpus, *calls)) fmt::print("{}\n", request(calls->op(), call));
  } catch (const Fault& f) {
    return fmt::print(stderr, "boundary_calls: {}, {}: {}\n", name(f.outcome), f.rule, f.message), exit_code(f.outcome);
  }
}
