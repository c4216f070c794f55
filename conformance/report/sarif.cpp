#include "conformance/report/sarif.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "conformance/text/json.h"
#include "conformance/verdict/fields.h"
#include "operator_lines.gen.h"
#include "reference/operator.h"

namespace assay::report {
namespace {

using verdict::fields::Json;

std::string_view level(const verdict::Defect& d) {
  if (!d.promised() || d.tier == verdict::Tier::quality) return "note";
  return d.tier <= verdict::Tier::invalid_damage ? "error" : "warning";
}

std::string_view meaning(const verdict::Defect& d) {
  return d.failure == verdict::Class::none ? verdict::row(d.verdict).sentence : verdict::row(d.failure).sentence;
}

Json rules_of(const std::vector<verdict::Defect>& defects) {
  std::map<std::string_view, std::string_view> rules;
  for (const verdict::Defect& d : defects) rules.emplace(verdict::kind(d), meaning(d));
  Json list = Json::array();
  for (const auto& [id, text] : rules) list.push_back({{"id", id}, {"shortDescription", {{"text", text}}}});
  return list;
}

// The place in the specification that defines the operator, relative to its root. An old run may name an operator that
// no longer exists.
Json location_of(const std::string& name) {
  Json location = {{"logicalLocations", Json::array({{{"fullyQualifiedName", name}, {"kind", "function"}}})}};
  if (const Operator* op = find_operator(name)) {
    const int line = std::ranges::find(entry_lines, name, &EntryLine::operator_name)->line;
    location["physicalLocation"] = {{"artifactLocation", {{"uri", fmt::format("spec/operators/{}.yaml", op->file)}}},
                                    {"region", {{"startLine", line}}}};
  }
  return location;
}

Json locations_of(const verdict::Defect& d) {
  Json locations = Json::array();
  for (const std::string& name : d.operators) locations.push_back(location_of(name));
  return locations;
}

Json result_of(const verdict::Defect& d) {
  const std::string command = verdict::repro_line(d);
  Json result = {{"ruleId", verdict::kind(d)},
                 {"level", level(d)},
                 {"message", {{"text", fmt::format("{}. To repeat it: {}", d.sentence, command)}}},
                 {"locations", locations_of(d)},
                 {"occurrenceCount", d.cases},
                 {"partialFingerprints", {{"defect/v1", d.id}}},
                 {"properties",
                  {{"tier", verdict::name(d.tier)},
                   {"promised", d.promised()},
                   {"explained", d.explained},
                   {"distance", verdict::fields::encode(d.distance)},
                   {"command", command},
                   {"smallest", verdict::to_json(d.smallest)}}}};
  if (d.known) result["suppressions"] = Json::array({{{"kind", "external"}, {"justification", verdict::excuse(d)}}});
  return result;
}

Json invocation_of(const verdict::TesteeSummary& testee) {
  Json notes = Json::array();
  const auto note = [&](const std::string& text) {
    notes.push_back({{"level", "error"}, {"message", {{"text", text}}}});
  };
  for (const std::string& op : verdict::unexamined_operators(testee))
    note(fmt::format("{} fails; the run did not come to its defects.", op));
  for (const std::string& id : testee.passing_though_listed)
    note(fmt::format("{} is listed as an expected failure, but passes.", id));
  const bool successful = notes.empty();
  return {{"executionSuccessful", successful}, {"toolExecutionNotifications", std::move(notes)}};
}

Json run_of(const std::string& name, const verdict::TesteeSummary& testee, const verdict::Facts& facts) {
  Json results = Json::array();
  for (const verdict::Defect& d : testee.defects) results.push_back(result_of(d));
  Json properties = {{"headline", verdict::headline(testee)}};
  for (const verdict::NamedText& fact : facts) properties[fact.name] = fact.text;
  return {{"tool", {{"driver", {{"name", "assay"}, {"rules", rules_of(testee.defects)}}}}},
          {"automationDetails", {{"id", name + "/"}}},
          {"invocations", Json::array({invocation_of(testee)})},
          {"properties", std::move(properties)},
          {"results", std::move(results)}};
}

}  // namespace

void write_sarif(std::ostream& out, const verdict::Summary& summary, const verdict::Facts& facts) {
  Json runs = Json::array();
  for (const auto& [name, testee] : summary.testees) runs.push_back(run_of(name, testee, facts));
  const Json log = {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", std::move(runs)}};
  out << text::line_of(log) << '\n';
}

}  // namespace assay::report
