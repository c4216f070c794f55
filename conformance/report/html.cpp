#include "conformance/report/html.h"

#include <string>
#include <string_view>

#include "conformance/report/page.h"
#include "conformance/text/json.h"
#include "look.css.h"
#include "report.html.h"

namespace assay {
namespace {

Json tally_json(const std::map<std::string, VerdictCounts>& tally) {
  Json list = Json::array();
  for (const auto& [name, counts] : tally) list.push_back({{"name", name}, {"verdicts", counts_json(counts)}});
  return list;
}

Json defect_json(const Defect& d) {
  Json json = to_json(d);
  json.erase("case_ids");
  json["kind"] = kind(d), json["promised"] = d.promised(), json["excuse"] = excuse(d), json["how_far"] = how_far(d);
  json["repro"] = repro_line(d);
  return json;
}

Json operator_json(const std::string& name, const OperatorSummary& entry) {
  return {{"name", name},
          {"verdicts", counts_json(entry.verdicts)},
          {"seconds", entry.seconds},
          {"dtypes", tally_json(entry.dtypes)},
          {"layouts", tally_json(entry.layouts)}};
}

Json testee_json(const std::string& name, const TesteeSummary& testee) {
  Json operators = Json::array();
  for (const auto& [operator_name, entry] : testee.operators) operators.push_back(operator_json(operator_name, entry));
  Json defects = Json::array();
  for (const Defect& d : testee.defects) defects.push_back(defect_json(d));
  const VerdictCounts promised = promised_counts(testee);
  return {{"name", name},
          {"passed", passed_of(promised)},
          {"judged", judged_of(promised)},
          {"promised", counts_json(promised)},
          {"unexamined", unexamined_operators(testee)},
          {"passing_though_listed", testee.passing_though_listed},
          {"operators", std::move(operators)},
          {"defects", std::move(defects)}};
}

// The names in a table with their sentences.
template <typename Table>
Json words(const Table& table) {
  Json list = Json::array();
  for (const auto& row : table)
    if (!row.name.empty()) list.push_back({{"name", row.name}, {"sentence", row.sentence}});
  return list;
}

Json report_json(const Summary& summary, const Facts& facts) {
  Json kinds = words(classes);
  for (Json& verdict : words(verdicts)) kinds.push_back(std::move(verdict));
  Json fact_list = Json::array();
  for (const NamedText& fact : facts) fact_list.push_back({{"name", fact.name}, {"text", fact.text}});
  Json testees = Json::array();
  for (const auto& [name, testee] : summary.testees) testees.push_back(testee_json(name, testee));
  return {{"verdicts", words(verdicts)},
          {"tiers", words(tiers)},
          {"kinds", std::move(kinds)},
          {"facts", std::move(fact_list)},
          {"testees", std::move(testees)}};
}

}  // namespace

void write_html(std::ostream& out, const Summary& summary, const Facts& facts) {
  write_page(out, embedded::report_html,
             {{"{{data}}", page_data(report_json(summary, facts))}, {"{{look}}", embedded::look_css}});
}

}  // namespace assay
