#include "conformance/verdict/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

namespace assay::verdict {
namespace {

std::size_t index(Verdict verdict) { return static_cast<std::size_t>(verdict); }

void add_to(std::map<std::string, VerdictCounts>& tally, const std::vector<std::string>& names, Verdict verdict) {
  for (const std::string& name : std::set<std::string>(names.begin(), names.end())) ++tally[name][index(verdict)];
}

VerdictCounts sum(const TesteeSummary& testee, VerdictCounts OperatorSummary::*counts) {
  VerdictCounts all{};
  for (const auto& [name, entry] : testee.operators) add(all, entry.*counts);
  return all;
}

}  // namespace

std::uint64_t total(const VerdictCounts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

void add(VerdictCounts& sum, const VerdictCounts& counts) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += counts[i];
}

bool is_told(Verdict verdict, const VerdictCounts& counts) {
  return verdict != Verdict::undecided || counts[index(verdict)] > 0;
}

nlohmann::ordered_json counts_json(const VerdictCounts& counts) {
  nlohmann::ordered_json json;
  for (const VerdictRow& v : verdicts)
    if (is_told(v.verdict, counts)) json[std::string(v.name)] = counts[index(v.verdict)];
  return json;
}

void Summary::add(const Record& r) {
  TesteeSummary& testee = testees[r.testee];
  OperatorSummary& entry = testee.operators[r.operator_name];
  ++entry.verdicts[index(r.verdict)];
  if (r.promised) ++entry.promised[index(r.verdict)];
  if (r.promised && (r.verdict == Verdict::pass || r.verdict == Verdict::quality)) {
    ++(r.valid ? entry.answers : entry.refusals);
    if (r.valid && !r.dtypes.empty()) ++entry.answers_by_dtype[r.dtypes.front()];
  }
  entry.seconds += r.seconds;
  add_to(entry.dtypes, r.dtypes, r.verdict);
  add_to(entry.layouts, r.layouts, r.verdict);
  if (!r.known)
    entry.worst = std::min(entry.worst, tier_of(r));
  else if (is_failure(r.verdict))
    ++entry.listed;
  else
    testee.passing_though_listed.push_back(r.case_id);
}

void Summary::add(const Defect& defect) {
  std::vector<Defect>& all = testees[defect.testee].defects;
  all.insert(std::ranges::upper_bound(all, defect, is_more_serious), defect);
}

VerdictCounts verdict_counts(const TesteeSummary& testee) { return sum(testee, &OperatorSummary::verdicts); }
VerdictCounts promised_counts(const TesteeSummary& testee) { return sum(testee, &OperatorSummary::promised); }

std::uint64_t judged_of(const VerdictCounts& counts) {
  return total(counts) - counts[index(Verdict::unsupported)] - counts[index(Verdict::undecided)];
}

std::uint64_t passed_of(const VerdictCounts& counts) {
  return counts[index(Verdict::pass)] + counts[index(Verdict::quality)];
}

std::set<std::string> unexamined_operators(const TesteeSummary& testee) {
  std::set<std::string> operators;
  for (const auto& [name, entry] : testee.operators)
    if (judged_of(entry.verdicts) - passed_of(entry.verdicts) > entry.listed) operators.insert(name);
  for (const Defect& d : testee.defects)
    for (const std::string& name : d.operators) operators.erase(name);
  return operators;
}

std::string headline(const TesteeSummary& testee) {
  const VerdictCounts counts = promised_counts(testee);
  const std::uint64_t judged = judged_of(counts), passed = passed_of(counts);
  const auto defects = std::ranges::count_if(testee.defects, [](const Defect& d) { return d.promised() && !d.known; });
  const double share = judged == 0 ? 0 : 100 * static_cast<double>(passed) / static_cast<double>(judged);
  return fmt::format("{} of {} promised calls pass ({:.2f} %); {} {}", passed, judged, share, defects,
                     defects == 1 ? "defect" : "defects");
}

std::string kinds_of_passes(const TesteeSummary& testee) {
  std::uint64_t answers = 0, refusals = 0;
  for (const auto& [name, entry] : testee.operators) answers += entry.answers, refusals += entry.refusals;
  return fmt::format("{} answers and {} right refusals pass", answers, refusals);
}

std::vector<std::string> answers_by_dtype(const TesteeSummary& testee) {
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [name, entry] : testee.operators)
    for (const auto& [dtype, count] : entry.answers_by_dtype) counts[dtype] += count;
  std::vector<std::pair<std::uint64_t, std::string>> sorted;
  for (const auto& [dtype, count] : counts) sorted.emplace_back(count, dtype);
  std::ranges::stable_sort(sorted, std::greater(), [](const auto& one) { return one.first; });
  std::vector<std::string> texts;
  for (const auto& [count, dtype] : sorted) texts.push_back(fmt::format("{} {}", dtype, count));
  return texts;
}

std::string untried_promises(const TesteeSummary& testee, std::size_t most) {
  const std::size_t all = testee.untried.size(), named = std::min(all, most);
  if (all == 0) return {};
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < named; ++i)
    texts.push_back(fmt::format("{} ({})", testee.untried[i].name, testee.untried[i].text));
  if (named < all)
    texts.push_back(fmt::format("and {} more {}", all - named, all - named == 1 ? "operator" : "operators"));
  return fmt::format("promised, but not answered in any call: {}", fmt::join(texts, ", "));
}

Summary summarize(const RunFile& run) {
  Summary summary;
  for (const Record& r : run.records) summary.add(r);
  for (const Defect& d : run.defects) summary.add(d);
  for (auto& [name, testee] : summary.testees) testee.untried = run.untried;
  return summary;
}

Summary summarize(std::istream& lines) { return summarize(read_run(lines)); }

}  // namespace assay::verdict
