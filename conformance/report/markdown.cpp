#include "conformance/report/markdown.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <string>

#include "conformance/text/printable.h"

namespace assay::report {
namespace {

constexpr std::size_t most_rows = 50;
constexpr std::size_t most_text = 400;  // characters of a cell: a comment holds 65,536 characters

// Replaces each character that could be markup or a mention by a character reference.
std::string plain(std::string_view text) {
  std::string all;
  for (const char c : text::printable(text, most_text))
    if (std::string_view("\\`*_{}[]<>#|~&@$!").find(c) == std::string_view::npos)
      all += c;
    else
      all += fmt::format("&#{};", static_cast<int>(c));
  return all;
}

// A code span ends only at as many backticks as it began with. A bar ends a cell even inside a code span.
std::string code(std::string_view text) {
  std::string inside = text::printable(text, most_text), fence = "`";
  while (inside.find(fence) != std::string::npos) fence += '`';
  for (std::size_t at = 0; (at = inside.find('|', at)) != std::string::npos; at += 2) inside.insert(at, "\\");
  return fmt::format("{0} {1} {0}", fence, inside);
}

void write_row(std::ostream& out, const verdict::Defect& d) {
  const std::string far = verdict::how_far(d);
  fmt::print(out, "| {} | {} | {} | {} | {} |\n", verdict::name(d.tier), plain(d.sentence), d.cases,
             far.empty() ? "–" : far, code(verdict::repro_line(d)));
}

void write_defects(std::ostream& out, const std::vector<const verdict::Defect*>& defects) {
  if (defects.empty()) return;
  out << "\n| tier | defect | cases | how far off | smallest call |\n|---|---|--:|---|---|\n";
  const std::size_t shown = std::min(defects.size(), most_rows);
  for (std::size_t i = 0; i < shown; ++i) write_row(out, *defects[i]);
  if (shown < defects.size()) fmt::print(out, "\n… and {} more.\n", defects.size() - shown);
}

void write_count(std::ostream& out, std::size_t count, std::string_view one, std::string_view many) {
  if (count > 0) fmt::print(out, "- {} {}\n", count, count == 1 ? one : many);
}

// Counts what is not in the table, with the reasons.
void write_rest(std::ostream& out, const verdict::TesteeSummary& testee) {
  std::map<std::string_view, std::size_t> left_out;
  for (const verdict::Defect& d : testee.defects)
    if (const std::string_view reason = verdict::excuse(d); !reason.empty()) ++left_out[reason];
  out << '\n';
  for (const auto& [reason, count] : left_out)
    fmt::print(out, "- {} {}: {}\n", count, count == 1 ? "defect" : "defects", reason);
  write_count(out, verdict::unexamined_operators(testee).size(), "operator fails; the run did not come to its defects",
              "operators fail; the run did not come to their defects");
  write_count(out, testee.passing_though_listed.size(), "case is listed as an expected failure, but passes",
              "cases are listed as expected failures, but pass");
}

void write_features(std::ostream& out, const std::vector<verdict::FeatureCounts>& features) {
  if (features.size() < 2) return;  // the dtype alone is beside the headline
  out << "\n<details><summary>Distinct calls answered, by feature</summary>\n\n| feature | calls |\n|---|---|\n";
  for (const verdict::FeatureCounts& f : features)
    fmt::print(out, "| {} | {} |\n", f.feature, plain(verdict::to_text(f)));
  out << "\n</details>\n";
}

void write_testee(std::ostream& out, const std::string& name, const verdict::TesteeSummary& testee) {
  fmt::print(out, "### {}: {}\n\n{}", plain(name), verdict::headline(testee), verdict::kinds_of_passes(testee));
  const std::vector<verdict::FeatureCounts> features = verdict::answers_by_feature(testee);
  if (!features.empty()) fmt::print(out, "; by {}: {}", features[0].feature, plain(verdict::to_text(features[0])));
  out << '\n';
  if (const std::string untried = verdict::untried_promises(testee); !untried.empty())
    fmt::print(out, "\n{}\n", plain(untried));
  std::vector<const verdict::Defect*> counting;
  for (const verdict::Defect& d : testee.defects)
    if (verdict::excuse(d).empty()) counting.push_back(&d);
  write_defects(out, counting);
  write_rest(out, testee);
  write_features(out, features);
  out << '\n';
}

}  // namespace

void write_markdown(std::ostream& out, const verdict::Summary& summary, const verdict::Facts& facts) {
  for (const auto& [name, testee] : summary.testees) write_testee(out, name, testee);
  if (facts.empty()) return;
  out << "<sub>";
  for (const verdict::NamedText& fact : facts)
    fmt::print(out, "{}{}: {}", &fact == &facts.front() ? "" : " · ", plain(fact.name), plain(fact.text));
  out << "</sub>\n";
}

}  // namespace assay::report
