// Writes lines of golden/operators/made_cases.txt, in the format of MadeCases:
//
//   made_cases FOLDER [PATTERN]   the cases of the recorded calls in FOLDER, for the operators that match

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "conformance/cases/aimed_cases.h"
#include "conformance/cases/covering.h"
#include "conformance/cases/half_cases.h"
#include "conformance/cases/size_cases.h"
#include "reference/fault.h"

namespace {

using namespace assay;

void write_cases(const cases::Corpus& corpus, const cases::RecordedCalls& calls) {
  const cases::Covering covering = cases::covering_of(corpus, calls);
  const cases::Coverage& c = covering.coverage;
  fmt::print(
      "# {}: {} {} of values are covered, {} of them in recorded calls; {} are excluded, {} missing; {} calls tried\n",
      calls.op().name, c.covered, c.at_once == 2 ? "pairs" : "triples", c.recorded, c.excluded, c.missing, c.tried);
  std::map<std::string, std::set<std::string>> mutations;  // of the cases, by recorded call
  const std::vector<cases::CaseId> of_sizes = cases::size_cases(corpus, calls);
  const auto add = [&](const cases::CaseId& id) {
    const std::string text = cases::to_text(id);
    mutations[text.substr(0, text.find('~'))].insert(text.substr(text.find('~') + 1));
  };
  std::ranges::for_each(of_sizes, add);
  std::ranges::for_each(cases::long_cases(corpus, calls), add);
  std::ranges::for_each(cases::half_cases(corpus, calls), add);
  std::ranges::for_each(cases::aimed_cases(corpus, calls), add);
  std::ranges::for_each(cases::thinned(corpus, calls, covering.cases, of_sizes), add);
  for (const auto& [recorded, of_cases] : mutations) fmt::print("{} {}\n", recorded, fmt::join(of_cases, " "));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return fmt::print(stderr, "usage: made_cases FOLDER [PATTERN]\n"), 2;
  try {
    const cases::Corpus corpus(argv[1]);
    for (const cases::RecordedCalls* calls : corpus.matching(argc == 3 ? argv[2] : "")) write_cases(corpus, *calls);
  } catch (const Fault& f) {
    return fmt::print(stderr, "made_cases: {}, {}: {}\n", name(f.outcome), f.rule, f.message), exit_code(f.outcome);
  }
}
