#include "bench/judged.h"

#include <algorithm>

#include "conformance/verdict/facts.h"
#include "conformance/verdict/summary.h"
#include "reference/fault.h"

namespace assay::bench {
namespace {

std::string first_not_in(const verdict::Facts& facts, const testee::Digests& binaries) {
  for (const auto& [name, digest] : binaries)
    if (std::ranges::find(facts, verdict::NamedText{name, digest}) == facts.end()) return name;
  return {};
}

Judged verdict(const verdict::TesteeSummary& testee, std::string verdicts) {
  const verdict::VerdictCounts promised = verdict::promised_counts(testee);
  const bool passes = verdict::judged_of(promised) > 0 && verdict::passed_of(promised) == verdict::judged_of(promised);
  std::string sentence =
      concat(passes ? "keeps" : "does not keep", " its contract: ", verdict::headline(testee), "; verdicts ", verdicts);
  return {passes, std::move(sentence), std::move(verdicts)};
}

}  // namespace

Judged judged(const Measurement& measured, const std::vector<verdict::RunFile>& runs) {
  std::string unknown;
  if (measured.binaries.empty()) return {false, "was never judged: it does not state what identifies its code"};
  for (const verdict::RunFile& run : runs) {
    unknown = first_not_in(verdict::facts_of_header(run.header), measured.binaries);
    const verdict::Summary summary = verdict::summarize(run);
    if (unknown.empty() && !summary.testees.empty())
      return verdict(summary.testees.begin()->second, verdict::verdicts_digest(run));
  }
  return {false, concat("was never judged", unknown.empty() ? "" : concat(", for one ", unknown))};
}

}  // namespace assay::bench
