#include "conformance/verdict/stated_defects.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/text/digest.h"
#include "reference/fault.h"

namespace assay::verdict {

void StatedDefects::add(const Record& r, Class failure, const std::string& when) {
  const auto [at, is_new] = defects_.try_emplace({r.verdict, failure, when});
  Defect& d = at->second;
  if (is_new) {
    d.testee = r.testee, d.verdict = r.verdict, d.failure = failure, d.when = when;
    d.id =
        fmt::format("{:08x}", static_cast<std::uint32_t>(text::digest(concat(name(d.verdict), name(d.failure), when))));
    d.tier = tier_of(r), d.explained = true, d.smallest = r;
  }
  ++d.cases;
  d.promised_cases += r.promised;
  d.tier = std::min(d.tier, tier_of(r));
  d.case_ids.push_back(r.case_id);
  d.distance = std::max(d.distance, r.distance);
  if (std::ranges::find(d.operators, r.operator_name) == d.operators.end()) d.operators.push_back(r.operator_name);
  if (is_simpler_(r, d.smallest)) d.smallest = r;
}

std::vector<Defect> StatedDefects::found() const {
  std::vector<Defect> all;
  for (auto [key, d] : defects_) {
    std::ranges::sort(d.operators);
    Defect told = d;
    told.operators = {who_};
    d.sentence = sentence(told);
    if (d.sentence.ends_with(' ')) d.sentence.pop_back();
    all.push_back(std::move(d));
  }
  std::ranges::sort(all, is_more_serious);
  return all;
}

}  // namespace assay::verdict
