#include "conformance/inspect/coverage.h"
#include "format_reasons.gen.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace assay::inspect {
namespace {

using Checked = FormatRule::Checked;

struct Count {
  std::string_view area;
  std::size_t asked = 0, rules = 0;
};

std::vector<Count> counts_by_area(const Coverage& coverage) {
  std::vector<Count> all;
  for (const format::FileKind* kind : format::file_kinds())
    for (const format::Area& area : kind->areas) {
      Count count{area.name};
      for (const FormatRule& rule : format_rules)
        if (rule.id[0] == area.letter && coverage.concerns(rule)) ++count.rules, count.asked += coverage.asked(rule);
      if (count.rules > 0) all.push_back(count);
    }
  return all;
}

std::vector<std::string_view> ids(const Coverage& coverage, Checked checked) {
  std::vector<std::string_view> all;
  for (const FormatRule& rule : format_rules)
    if (rule.checked == checked && coverage.concerns(rule)) all.push_back(rule.id);
  return all;
}

}  // namespace

void write_text(const Coverage& coverage, text::Output& out) {
  std::vector<std::string> parts;
  std::size_t asked = 0, rules = 0;
  for (const Count& c : counts_by_area(coverage)) {
    asked += c.asked, rules += c.rules;
    parts.push_back(fmt::format("{} {} of {}", c.area, c.asked, c.rules));
  }
  out.print("  asked {}{} of {} rules: {}\n", coverage.opened ? "" : "at most ", asked, rules, fmt::join(parts, ", "));
  const auto left = [&](std::string_view why, Checked checked) {
    if (const auto found = ids(coverage, checked); !found.empty())
      out.print("    {}: {}\n", why, fmt::join(found, " "));
  };
  if (!coverage.opened) left("not asked, as the file cannot be read so far", Checked::validate);
  left("left to a run", Checked::runtime);
  left("cannot be broken here", Checked::construction);
  left("not checked yet", Checked::later);
}

text::Json to_json(const Coverage& coverage) {
  text::Json by_area = text::Json::array(), left = text::Json::array();
  for (const Count& c : counts_by_area(coverage))
    by_area.push_back({{"area", c.area}, {"asked", c.asked}, {"rules", c.rules}});
  for (std::size_t i = 0; i < std::size(format_rules); ++i) {
    const FormatRule& rule = format_rules[i];
    if (coverage.concerns(rule) && !coverage.asked(rule))
      left.push_back({{"rule", rule.id}, {"checked", name(rule.checked)}, {"why", format_reasons[i]}});
  }
  return {{"areas", std::move(by_area)}, {"not_asked", std::move(left)}};
}

}  // namespace assay::inspect
