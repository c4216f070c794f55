#include "bench/judged.h"

#include <algorithm>

#include "conformance/verdict/facts.h"
#include "conformance/verdict/summary.h"
#include "reference/fault.h"

namespace assay::bench {
namespace {

std::string first_not_in(const Facts& facts, const Digests& binaries) {
  for (const auto& [name, digest] : binaries)
    if (std::ranges::find(facts, NamedText{name, digest}) == facts.end()) return name;
  return {};
}

Judged verdict(const TesteeSummary& testee, std::string verdicts) {
  const VerdictCounts promised = promised_counts(testee);
  const bool passes = judged_of(promised) > 0 && passed_of(promised) == judged_of(promised);
  std::string sentence =
      text(passes ? "keeps" : "does not keep", " its contract: ", headline(testee), "; verdicts ", verdicts);
  return {passes, std::move(sentence), std::move(verdicts)};
}

}  // namespace

Judged judged(const Measurement& measured, const std::vector<RunFile>& runs) {
  std::string unknown;
  for (const RunFile& run : runs) {
    unknown = first_not_in(facts_of_header(run.header), measured.binaries);
    const Summary summary = summarize(run);
    if (unknown.empty() && !summary.testees.empty())
      return verdict(summary.testees.begin()->second, verdicts_digest(run));
  }
  return {false, text("was never judged", unknown.empty() ? "" : text(", for one ", unknown))};
}

}  // namespace assay::bench
