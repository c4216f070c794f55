#include "conformance/report/html.h"

#include <string>
#include <string_view>

#include "conformance/report/page.h"
#include "conformance/text/json.h"
#include "look.css.h"
#include "report.html.h"

namespace assay::report {
namespace {

text::Json tally_json(const std::map<std::string, verdict::VerdictCounts>& tally) {
  text::Json list = text::Json::array();
  for (const auto& [name, counts] : tally) list.push_back({{"name", name}, {"verdicts", verdict::counts_json(counts)}});
  return list;
}

text::Json defect_json(const verdict::Defect& d) {
  text::Json json = verdict::to_json(d);
  json.erase("case_ids");
  json["kind"] = verdict::kind(d), json["promised"] = d.promised(), json["excuse"] = verdict::excuse(d),
  json["how_far"] = verdict::how_far(d);
  json["repro"] = verdict::repro_line(d);
  return json;
}

text::Json operator_json(const std::string& name, const verdict::OperatorSummary& entry) {
  return {{"name", name},
          {"verdicts", verdict::counts_json(entry.verdicts)},
          {"seconds", entry.seconds},
          {"dtypes", tally_json(entry.dtypes)},
          {"layouts", tally_json(entry.layouts)}};
}

text::Json features_json(const verdict::TesteeSummary& testee) {
  text::Json list = text::Json::array();
  for (const verdict::FeatureCounts& f : verdict::answers_by_feature(testee))
    list.push_back({{"name", f.feature}, {"text", verdict::to_text(f)}});
  return list;
}

text::Json testee_json(const std::string& name, const verdict::TesteeSummary& testee) {
  text::Json operators = text::Json::array();
  for (const auto& [operator_name, entry] : testee.operators) operators.push_back(operator_json(operator_name, entry));
  text::Json defects = text::Json::array();
  for (const verdict::Defect& d : testee.defects) defects.push_back(defect_json(d));
  const verdict::VerdictCounts promised = verdict::promised_counts(testee);
  return {{"name", name},
          {"passed", verdict::passed_of(promised)},
          {"judged", verdict::judged_of(promised)},
          {"promised", verdict::counts_json(promised)},
          {"passes", verdict::kinds_of_passes(testee)},
          {"features", features_json(testee)},
          {"untried", verdict::untried_promises(testee)},
          {"unexamined", verdict::unexamined_operators(testee)},
          {"passing_though_listed", testee.passing_though_listed},
          {"operators", std::move(operators)},
          {"defects", std::move(defects)}};
}

// The names in a table with their sentences.
template <typename Table>
text::Json words(const Table& table) {
  text::Json list = text::Json::array();
  for (const auto& row : table)
    if (!row.name.empty()) list.push_back({{"name", row.name}, {"sentence", row.sentence}});
  return list;
}

text::Json report_json(const verdict::Summary& summary, const verdict::Facts& facts) {
  text::Json kinds = words(verdict::classes);
  for (text::Json& verdict : words(verdict::verdicts)) kinds.push_back(std::move(verdict));
  text::Json fact_list = text::Json::array();
  for (const verdict::NamedText& fact : facts) fact_list.push_back({{"name", fact.name}, {"text", fact.text}});
  text::Json testees = text::Json::array();
  for (const auto& [name, testee] : summary.testees) testees.push_back(testee_json(name, testee));
  return {{"verdicts", words(verdict::verdicts)},
          {"tiers", words(verdict::tiers)},
          {"kinds", std::move(kinds)},
          {"facts", std::move(fact_list)},
          {"testees", std::move(testees)}};
}

}  // namespace

void write_html(std::ostream& out, const verdict::Summary& summary, const verdict::Facts& facts) {
  write_page(out, embedded::report_html,
             {{"{{data}}", page_data(report_json(summary, facts))}, {"{{look}}", embedded::look_css}});
}

}  // namespace assay::report
