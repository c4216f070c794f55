#include "conformance/report/summary.h"

#include <fmt/format.h>

#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>
#include <tuple>

namespace assay {
namespace {

std::size_t index(Verdict verdict) { return static_cast<std::size_t>(verdict); }

bool passes_though_listed(const FindingKind& kind) { return kind.known && kind.verdict == Verdict::pass; }

bool is_smaller(const Record& a, const Record& b) {
  const auto size = [](const Record& record) {
    return std::tuple(record.elements.value_or(std::numeric_limits<std::uint64_t>::max()), record.case_id.size(),
                      std::string_view(record.case_id));
  };
  return size(a) < size(b);
}

void add_to(std::map<std::string, VerdictCounts>& tally, const std::vector<std::string>& names, Verdict verdict) {
  for (const std::string& name : std::set<std::string>(names.begin(), names.end())) ++tally[name][index(verdict)];
}

void add_to(Finding& finding, const Record& record) {
  if (finding.cases == 0 || is_smaller(record, finding.smallest)) finding.smallest = record;
  ++finding.cases;
}

}  // namespace

std::string name(const FindingKind& kind) {
  if (passes_though_listed(kind)) return "passes-though-listed";
  if (kind.verdict == Verdict::fail) return std::string(name(kind.failure));
  if (kind.failure == Class::none) return std::string(name(kind.verdict));
  return fmt::format("{} ({})", name(kind.verdict), name(kind.failure));
}

FindingKind kind_of(const Record& r) {
  const bool passes_though_listed = r.known && r.verdict == Verdict::pass;
  return {r.verdict, r.failure, passes_though_listed ? Tier::quality : tier_of(r), r.known};
}

bool is_expected(const FindingKind& kind) { return kind.known && !passes_though_listed(kind); }

bool is_news(const FindingKind& kind) { return kind.tier != Tier::none && !is_expected(kind); }

bool MoreSerious::operator()(const FindingKind& a, const FindingKind& b) const {
  return std::tuple(is_expected(a), a.tier, a.verdict, a.failure, a.known) <
         std::tuple(is_expected(b), b.tier, b.verdict, b.failure, b.known);
}

std::uint64_t total(const VerdictCounts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

VerdictCounts& operator+=(VerdictCounts& sum, const VerdictCounts& counts) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += counts[i];
  return sum;
}

void Summary::add(const Record& record) {
  OperatorSummary& entry = testees[record.testee][record.operator_name];
  ++entry.verdicts[index(record.verdict)];
  entry.seconds += record.seconds;
  add_to(entry.dtypes, record.dtypes, record.verdict);
  add_to(entry.layouts, record.layouts, record.verdict);
  const FindingKind kind = kind_of(record);
  if (kind != FindingKind{}) add_to(entry.findings[kind], record);
}

void Summary::add(const Defect& defect) {
  const Record& r = defect.smallest;
  auto& findings = testees.at(r.testee).at(r.operator_name).findings;
  if (const auto found = findings.find(kind_of(r)); found != findings.end()) found->second.smallest = r;
}

VerdictCounts verdict_counts(const TesteeSummary& testee) {
  VerdictCounts sum{};
  for (const auto& [name, entry] : testee) sum += entry.verdicts;
  return sum;
}

Summary summarize(std::istream& lines) {
  Summary summary;
  std::string line;
  for (std::uint64_t number = 1; std::getline(lines, line); ++number) {
    try {
      if (line.starts_with(R"({"defect":)"))
        summary.add(defect_from_json_line(line));
      else if (!line.starts_with(R"({"header":)") && !line.starts_with(R"({"footer":)"))
        summary.add(from_json_line(line));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("line {}: {}", number, error.what()));
    }
  }
  return summary;
}

}  // namespace assay
