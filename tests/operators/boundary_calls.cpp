// Writes calls at the boundaries of rules as lines of `assay call --jsonl`. The calls are made from recorded ones;
// record/record records the answers of eager PyTorch.
//
//   boundary_calls FOLDER [PATTERN]   an id names the rule and the side of its boundary: "add.R2 outside".

#include <fmt/format.h>

#include "conformance/cases/boundary.h"
#include "conformance/text/request.h"
#include "reference/fault.h"

namespace {

using namespace assay;

std::string request(const Operator& op, const cases::BoundaryCall& call) {
  return text::request_line(op, call.arguments,
                            fmt::format("{} {}", call.rule->id, call.outside ? "outside" : "inside"));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return fmt::print(stderr, "usage: boundary_calls FOLDER [PATTERN]\n"), 2;
  try {
    const cases::Corpus corpus(argv[1]);
    for (const cases::RecordedCalls* calls : corpus.matching(argc == 3 ? argv[2] : ""))
      for (const cases::BoundaryCall& call : cases::boundary_calls(corpus, *calls))
        fmt::print("{}\n", request(calls->op(), call));
  } catch (const Fault& f) {
    return fmt::print(stderr, "boundary_calls: {}, {}: {}\n", name(f.outcome), f.rule, f.message), exit_code(f.outcome);
  }
}
