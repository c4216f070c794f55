#include "conformance/verdict/compare.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <iostream>
#include <memory>

#include "command/command.h"
#include "command/runs.h"
#include "conformance/text/json.h"
#include "conformance/text/printable.h"
#include "reference/fault.h"

namespace assay::command {
namespace {

struct CompareCommand {
  std::string before, after;
  bool json = false;
};

text::Json ruling_json(const verdict::CaseVerdict& r) {
  return {{"verdict", verdict::name(r.verdict)}, {"class", verdict::name(r.failure)}, {"tier", verdict::name(r.tier)}};
}

text::Json to_json(const std::vector<verdict::Change>& changes) {
  text::Json list = text::Json::array();
  for (const verdict::Change& c : changes)
    list.push_back({{"case", c.case_id},
                    {"promised", c.promised},
                    {"before", c.before ? ruling_json(*c.before) : text::Json(nullptr)},
                    {"after", ruling_json(c.after)}});
  return list;
}

text::Json to_json(const std::vector<verdict::Defect>& defects) {
  text::Json list = text::Json::array();
  for (const verdict::Defect& d : defects) list.push_back(verdict::to_json(d));
  return list;
}

text::Json to_json(const verdict::Changes& c) {
  text::Json settings = text::Json::array();
  for (const verdict::Difference& d : c.settings)
    settings.push_back({{"name", d.name}, {"before", d.before}, {"after", d.after}});
  return {{"settings", std::move(settings)}, {"cut_off", c.cut_off},
          {"new", to_json(c.fresh)},         {"new_defects", to_json(c.fresh_defects)},
          {"mended", to_json(c.mended)},     {"mended_defects", to_json(c.mended_defects)},
          {"given_up", to_json(c.given_up)}, {"only_before", c.only_before},
          {"only_after", c.only_after}};
}

std::string change_line(const verdict::Change& c) {
  return fmt::format("{}: {}, was {}{}", c.case_id, verdict::text(c.after),
                     c.before ? verdict::text(*c.before) : "not judged", c.promised ? "" : ", outside of the contract");
}

void print(std::ostream& out, std::string_view title, const std::vector<verdict::Change>& changes,
           const std::vector<verdict::Defect>& defects = {}) {
  if (changes.empty()) return;
  fmt::print(out, "{}: {}\n", title, changes.size());
  for (const verdict::Defect& d : defects)
    fmt::print(out, "  {} {} {}\n", text::printable(d.id), verdict::name(d.tier), text::printable(d.sentence));
  for (const verdict::Change& c : changes) fmt::print(out, "  {}\n", text::printable(change_line(c)));
}

void print(std::ostream& out, const verdict::Changes& c) {
  for (const verdict::Difference& d : c.settings)
    fmt::print(out, "{}: {}, was {}\n", text::printable(d.name),
               d.after.empty() ? "not said" : text::printable(d.after),
               d.before.empty() ? "not said" : text::printable(d.before));
  for (const std::string& run : c.cut_off) fmt::print(out, "the run {} did not end\n", run);
  print(out, "mended", c.mended, c.mended_defects);
  print(out, "no longer supported", c.given_up);
  print(out, "new", c.fresh, c.fresh_defects);
  fmt::print(out, "{} new, {} mended, {} no longer supported; {} only before, {} only after\n", c.fresh.size(),
             c.mended.size(), c.given_up.size(), c.only_before.size(), c.only_after.size());
}

int compare_runs(const CompareCommand& request) {
  const verdict::Changes comparison = verdict::compare(open_run(request.before), open_run(request.after));
  if (request.json)
    std::cout << to_json(comparison).dump(2, ' ', true, text::Json::error_handler_t::replace) << '\n';
  else
    print(std::cout, comparison);
  if (comparison.is_worse()) return answers_differ;
  if (!comparison.compares())
    throw Fault(Outcome::invalid, "compare.cases",
                concat(request.before, " and ", request.after, " have no case in common"));
  return exit_code(Outcome::ok);
}

void define_compare(Options& options) {
  const auto r = std::make_shared<CompareCommand>();
  options.add("BEFORE", r->before, "The file that -o wrote in the earlier run").required();
  options.add("AFTER", r->after, "The file that -o wrote in a later run, or in a run of another testee").required();
  options.flag("--json", r->json, "Prints the comparison as JSON");
  options.details(
      R"(A failure in AFTER is new if one of these conditions holds:
  - BEFORE did not judge the case.
  - The case did not fail in BEFORE.
  - The case failed in BEFORE with a lower severity.
A failure that the option --known excused in AFTER is not new.

Exit codes:
  0  no failure of a promised case is new
  1  a failure of a promised case is new
  4  no case is in both runs)");
  options.action([r] { return compare_runs(*r); });
}

const Registered registered_compare(
    {"compare",
     Group::runs,
     "Compares two runs: lists the failures that are new, and the failures that are repaired",
     define_compare,
     {{"assay compare old.jsonl new.jsonl", "compares a run with an earlier one"}}});

}  // namespace
}  // namespace assay::command
