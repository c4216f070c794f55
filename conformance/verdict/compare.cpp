#include "conformance/verdict/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "conformance/verdict/facts.h"

namespace assay::verdict {
namespace {

CaseVerdict ruling_of(const Record& r) { return {r.verdict, r.failure, tier_of(r)}; }

std::string fact(const Facts& facts, const std::string& name) {
  const auto found = std::ranges::find(facts, name, &NamedText::name);
  return found == facts.end() ? "" : found->text;
}

std::vector<Difference> differences(const Facts& before, const Facts& after) {
  Facts all = before;
  std::ranges::copy_if(after, std::back_inserter(all),
                       [&](const NamedText& f) { return fact(before, f.name).empty(); });
  std::vector<Difference> list;
  for (const NamedText& f : all)
    if (Difference d{f.name, fact(before, f.name), fact(after, f.name)}; d.before != d.after) list.push_back(d);
  return list;
}

// The defects in `defects` that are not in `others` and that explain one of these changes.
std::vector<Defect> only_in(const std::vector<Defect>& defects, const std::vector<Defect>& others,
                            const std::vector<Change>& changes) {
  std::set<std::string_view> ids, changed;
  for (const Defect& d : others) ids.insert(d.id);
  for (const Change& c : changes) changed.insert(c.case_id);
  const auto is_changed = [&](const std::string& id) { return changed.contains(id); };
  std::vector<Defect> list;
  for (const Defect& d : defects)
    if (!ids.contains(d.id) && std::ranges::any_of(d.case_ids, is_changed)) list.push_back(d);
  return list;
}

}  // namespace

std::string text(const CaseVerdict& r) {
  return r.failure == Class::none ? std::string(name(r.verdict))
                                  : fmt::format("{} ({})", name(r.verdict), name(r.failure));
}

Baseline::Baseline(const RunFile& run) {
  for (const Record& r : run.records) rulings_.insert_or_assign(r.case_id, ruling_of(r));
}

Baseline::Baseline(std::istream& lines) : Baseline(read_run(lines)) {}

const CaseVerdict* Baseline::find(const std::string& case_id) const {
  const auto found = rulings_.find(case_id);
  return found == rulings_.end() ? nullptr : &found->second;
}

bool Baseline::is_new(const Record& r) const {
  if (!is_failure(r.verdict) || r.known) return false;
  const CaseVerdict* before = find(r.case_id);
  return !before || !is_failure(before->verdict) || tier_of(r) < before->tier;
}

bool Changes::is_worse() const { return std::ranges::any_of(fresh, &Change::promised); }

Changes compare(const RunFile& before, const RunFile& after) {
  const Baseline old(before), young(after);
  Changes c;
  c.settings = differences(facts_of_header(before.header), facts_of_header(after.header));
  if (!before.complete) c.cut_off.emplace_back("before");
  if (!after.complete) c.cut_off.emplace_back("after");
  for (const Record& r : after.records) {
    const CaseVerdict* was = old.find(r.case_id);
    const Change change{r.case_id, was ? std::optional(*was) : std::nullopt, ruling_of(r), r.promised};
    was ? void(++c.in_both) : c.only_after.push_back(r.case_id);
    if (old.is_new(r)) c.fresh.push_back(change);
    if (!was || was->verdict == Verdict::unsupported) continue;
    if (is_failure(was->verdict) && is_right(r.verdict)) c.mended.push_back(change);
    if (r.verdict == Verdict::unsupported) c.given_up.push_back(change);
  }
  for (const Record& r : before.records)
    if (!young.find(r.case_id)) c.only_before.push_back(r.case_id);
  c.fresh_defects = only_in(after.defects, before.defects, c.fresh);
  c.mended_defects = only_in(before.defects, after.defects, c.mended);
  return c;
}

}  // namespace assay::verdict
