#include "conformance/verdict/compare.h"

#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "command/command.h"
#include "command/runs.h"
#include "conformance/text/json.h"
#include "conformance/text/printable.h"

namespace assay {
namespace {

struct CompareCommand {
  std::string before, after;
  bool json = false;
};

Json ruling_json(const CaseVerdict& r) {
  return {{"verdict", name(r.verdict)}, {"class", name(r.failure)}, {"tier", name(r.tier)}};
}

Json to_json(const std::vector<Change>& changes) {
  Json list = Json::array();
  for (const Change& c : changes)
    list.push_back({{"case", c.case_id},
                    {"promised", c.promised},
                    {"before", c.before ? ruling_json(*c.before) : Json(nullptr)},
                    {"after", ruling_json(c.after)}});
  return list;
}

Json to_json(const std::vector<Defect>& defects) {
  Json list = Json::array();
  for (const Defect& d : defects) list.push_back(to_json(d));
  return list;
}

Json to_json(const Changes& c) {
  Json settings = Json::array();
  for (const Difference& d : c.settings)
    settings.push_back({{"name", d.name}, {"before", d.before}, {"after", d.after}});
  return {{"settings", std::move(settings)}, {"cut_off", c.cut_off},
          {"new", to_json(c.fresh)},         {"new_defects", to_json(c.fresh_defects)},
          {"mended", to_json(c.mended)},     {"mended_defects", to_json(c.mended_defects)},
          {"given_up", to_json(c.given_up)}, {"only_before", c.only_before},
          {"only_after", c.only_after}};
}

std::string change_line(const Change& c) {
  return fmt::format("{}: {}, was {}{}", c.case_id, text(c.after), c.before ? text(*c.before) : "not judged",
                     c.promised ? "" : ", outside of the contract");
}

void print(std::string_view title, const std::vector<Change>& changes, const std::vector<Defect>& defects = {}) {
  if (changes.empty()) return;
  fmt::print("{}: {}\n", title, changes.size());
  for (const Defect& d : defects) fmt::print("  {} {} {}\n", d.id, name(d.tier), printable(d.sentence));
  for (const Change& c : changes) fmt::print("  {}\n", printable(change_line(c)));
}

void print(const Changes& c) {
  for (const Difference& d : c.settings)
    fmt::print("{}: {}, was {}\n", printable(d.name), d.after.empty() ? "not said" : printable(d.after),
               d.before.empty() ? "not said" : printable(d.before));
  for (const std::string& run : c.cut_off) fmt::print("the run {} did not end\n", run);
  print("mended", c.mended, c.mended_defects);
  print("no longer supported", c.given_up);
  print("new", c.fresh, c.fresh_defects);
  fmt::print("{} new, {} mended, {} no longer supported; {} only before, {} only after\n", c.fresh.size(),
             c.mended.size(), c.given_up.size(), c.only_before.size(), c.only_after.size());
}

int compare_runs(const CompareCommand& request) {
  const Changes comparison = compare(open_run(request.before), open_run(request.after));
  if (request.json)
    std::cout << to_json(comparison).dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  else
    print(comparison);
  return comparison.is_worse() ? answers_differ : exit_code(Outcome::ok);
}

void define_compare(Options& options) {
  const auto r = std::make_shared<CompareCommand>();
  options.add("BEFORE", r->before, "The earlier run, as -o wrote it").required();
  options.add("AFTER", r->after, "A later run, or a run of another testee, as -o wrote it").required();
  options.flag("--json", r->json, "Prints the comparison as JSON");
  options.details(
      R"(A failure in AFTER that --known did not list is new if its case was not judged in BEFORE, did not fail there,
or failed there with a lower severity.

Exit codes:
  0  no failure of a promised case is new
  1  a failure of a promised case is new)");
  options.action([r] { return compare_runs(*r); });
}

const Registered registered_compare(
    {"compare",
     Group::runs,
     "Compares two runs: lists the failures that are new, and the failures that are repaired",
     define_compare,
     {{"assay compare old.jsonl new.jsonl", "compares a run with an earlier one"}}});

}  // namespace
}  // namespace assay
