#include "conformance/report/sarif.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "conformance/text/json.h"
#include "conformance/verdict/fields.h"
#include "operator_lines.gen.h"
#include "reference/operator.h"

namespace assay {
namespace {

using fields::Json;

std::string_view level(const Defect& d) {
  if (!d.promised() || d.tier == Tier::quality) return "note";
  return d.tier <= Tier::invalid_damage ? "error" : "warning";
}

std::string_view meaning(const Defect& d) {
  return d.failure == Class::none ? row(d.verdict).sentence : row(d.failure).sentence;
}

Json rules_of(const std::vector<Defect>& defects) {
  std::map<std::string_view, std::string_view> rules;
  for (const Defect& d : defects) rules.emplace(kind(d), meaning(d));
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

Json locations_of(const Defect& d) {
  Json locations = Json::array();
  for (const std::string& name : d.operators) locations.push_back(location_of(name));
  return locations;
}

Json result_of(const Defect& d) {
  const std::string command = repro_line(d);
  Json result = {{"ruleId", kind(d)},
                 {"level", level(d)},
                 {"message", {{"text", fmt::format("{}. To repeat it: {}", d.sentence, command)}}},
                 {"locations", locations_of(d)},
                 {"occurrenceCount", d.cases},
                 {"partialFingerprints", {{"defect/v1", d.id}}},
                 {"properties",
                  {{"tier", name(d.tier)},
                   {"promised", d.promised()},
                   {"explained", d.explained},
                   {"distance", fields::encode(d.distance)},
                   {"command", command},
                   {"smallest", to_json(d.smallest)}}}};
  if (d.known) result["suppressions"] = Json::array({{{"kind", "external"}, {"justification", excuse(d)}}});
  return result;
}

Json invocation_of(const TesteeSummary& testee) {
  Json notes = Json::array();
  const auto note = [&](const std::string& text) {
    notes.push_back({{"level", "error"}, {"message", {{"text", text}}}});
  };
  for (const std::string& op : unexamined_operators(testee))
    note(fmt::format("{} fails; the run did not come to its defects.", op));
  for (const std::string& id : testee.passing_though_listed)
    note(fmt::format("{} is listed as an expected failure, but passes.", id));
  const bool successful = notes.empty();
  return {{"executionSuccessful", successful}, {"toolExecutionNotifications", std::move(notes)}};
}

Json run_of(const std::string& name, const TesteeSummary& testee, const Facts& facts) {
  Json results = Json::array();
  for (const Defect& d : testee.defects) results.push_back(result_of(d));
  Json properties = {{"headline", headline(testee)}};
  for (const NamedText& fact : facts) properties[fact.name] = fact.text;
  return {{"tool", {{"driver", {{"name", "assay"}, {"rules", rules_of(testee.defects)}}}}},
          {"automationDetails", {{"id", name + "/"}}},
          {"invocations", Json::array({invocation_of(testee)})},
          {"properties", std::move(properties)},
          {"results", std::move(results)}};
}

}  // namespace

void write_sarif(std::ostream& out, const Summary& summary, const Facts& facts) {
  Json runs = Json::array();
  for (const auto& [name, testee] : summary.testees) runs.push_back(run_of(name, testee, facts));
  const Json log = {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"}, {"version", "2.1.0"}, {"runs", std::move(runs)}};
  out << line_of(log) << '\n';
}

}  // namespace assay
