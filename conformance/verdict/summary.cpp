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

// Counts a call once, whichever cases make it.
void count_answer(TesteeSummary& testee, const Record& r) {
  if (!testee.answered.insert(std::hash<std::string>()(r.call.empty() ? r.case_id : r.call)).second) return;
  if (!r.dtypes.empty()) ++testee.answered_dtypes[r.dtypes.front()];
  if (r.features.empty()) return;
  const CallFeatures features = features_from(r.features);
  for (std::size_t k = 1; k < features.size(); ++k)
    if (features[k] != no_value) ++testee.answered_features[k][static_cast<std::size_t>(features[k])];
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
    if (r.valid) count_answer(testee, r);
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
  const std::size_t calls = testee.answered.size();
  return fmt::format("{} answers{} and {} right refusals pass", answers,
                     calls == answers ? "" : fmt::format(", to {} distinct calls,", calls), refusals);
}

std::vector<FeatureCounts> answers_by_feature(const TesteeSummary& testee) {
  std::vector<FeatureCounts> all;
  std::vector<std::pair<std::string, std::uint64_t>> dtypes(testee.answered_dtypes.begin(),
                                                            testee.answered_dtypes.end());
  std::ranges::stable_sort(dtypes, std::greater(), [](const auto& dtype) { return dtype.second; });
  if (!dtypes.empty()) all.push_back({std::string(call_features()[0].name), std::move(dtypes)});
  for (std::size_t k = 1; k < call_feature_count; ++k) {
    const auto& counts = testee.answered_features[k];
    if (std::ranges::count(counts, 0) == std::ssize(counts)) continue;
    const CallFeature& feature = call_features()[k];
    FeatureCounts row{std::string(feature.name), {}};
    for (std::size_t v = 0; v < feature.values.size(); ++v) row.values.emplace_back(feature.values[v], counts[v]);
    all.push_back(std::move(row));
  }
  return all;
}

std::string to_text(const FeatureCounts& counts) {
  std::vector<std::string> texts;
  for (const auto& [value, count] : counts.values) texts.push_back(fmt::format("{}: {}", value, count));
  return fmt::format("{}", fmt::join(texts, ", "));
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
