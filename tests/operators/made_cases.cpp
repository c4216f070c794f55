// Writes the file of MadeCases, which is golden/operators/made_cases.txt:
//
//   made_cases FOLDER [PATTERN]   the cases of the recorded calls in FOLDER, for the operators that match
//
// A comment line states what the cases of an operator cover.

#include <fmt/format.h>

#include "conformance/cases/covering.h"
#include "conformance/cases/size_cases.h"
#include "reference/fault.h"

namespace {

using namespace assay;

void write_cases(const Corpus& corpus, const RecordedCalls& calls) {
  const Covering covering = covering_of(corpus, calls);
  const Coverage& c = covering.coverage;
  fmt::print("# {}: {} {} of values, {} of them in recorded calls; {} calls were tried for {} others\n",
             calls.op().name, c.covered, c.at_once == 2 ? "pairs" : "triples", c.recorded, c.tried,
             c.possible - c.covered);
  for (const std::string& line : size_cases(corpus, calls)) fmt::print("{}\n", line);
  for (const CaseId& id : covering.cases) fmt::print("{}\n", to_text(id));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return fmt::print(stderr, "usage: made_cases FOLDER [PATTERN]\n"), 2;
  try {
    const Corpus corpus(argv[1]);
    for (const RecordedCalls* calls : corpus.matching(argc == 3 ? argv[2] : "")) write_cases(corpus, *calls);
  } catch (const Fault& f) {
    return fmt::print(stderr, "made_cases: {}, {}: {}\n", name(f.outcome), f.rule, f.message), exit_code(f.outcome);
  }
}
