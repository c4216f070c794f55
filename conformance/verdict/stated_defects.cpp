#include "conformance/verdict/stated_defects.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "conformance/text/digest.h"
#include "reference/fault.h"

namespace assay::verdict {
namespace {

constexpr std::size_t few = 3;  // causes of one kind that are told apart

std::string id_of(const Defect& d) {
  return fmt::format(
      "{:08x}", static_cast<std::uint32_t>(text::digest(concat(name(d.verdict), name(d.failure), d.does, d.when))));
}

}  // namespace

void StatedDefects::add(const Record& r, const StatedCause& cause) {
  Defect one;
  one.testee = r.testee, one.verdict = r.verdict, one.failure = cause.failure, one.does = cause.does;
  one.tier = tier_of(r), one.explained = true, one.smallest = r;
  one.cases = 1, one.promised_cases = r.promised, one.case_ids = {r.case_id}, one.distance = r.distance;
  one.operators = {r.operator_name};
  join(defects_, {r.verdict, cause.failure, cause.does, cause.when}, std::move(one));
}

// Adds the cases of `one` to the defect with this key.
void StatedDefects::join(std::map<Key, Defect>& all, const Key& key, Defect one) const {
  const auto [at, is_new] = all.try_emplace(key, one);
  if (is_new) return;
  Defect& d = at->second;
  d.cases += one.cases, d.promised_cases += one.promised_cases;
  d.tier = std::min(d.tier, one.tier), d.distance = std::max(d.distance, one.distance);
  std::ranges::move(one.case_ids, std::back_inserter(d.case_ids));
  for (std::string& name : one.operators)
    if (std::ranges::find(d.operators, name) == d.operators.end()) d.operators.push_back(std::move(name));
  if (is_simpler_(one.smallest, d.smallest)) d.smallest = std::move(one.smallest);
}

// Tells the causes of each kind as narrowly as they remain few.
std::map<StatedDefects::Key, Defect> StatedDefects::joined() const {
  const auto told = [](const Key& key, std::size_t level) {
    auto [verdict, failure, does, when] = key;
    return Key{verdict, failure, does, {when.at(level)}};
  };
  std::map<Key, std::vector<std::set<std::string>>> kinds;  // by the broadest item: the items of each level
  for (const auto& [key, d] : defects_) {
    const std::vector<std::string>& when = std::get<3>(key);
    std::vector<std::set<std::string>>& levels = kinds[told(key, when.size() - 1)];
    levels.resize(when.size());
    for (std::size_t k = 0; k < when.size(); ++k) levels[k].insert(when[k]);
  }
  std::map<Key, Defect> all;
  for (const auto& [key, d] : defects_) {
    const std::vector<std::set<std::string>>& levels = kinds.at(told(key, std::get<3>(key).size() - 1));
    const auto at = std::ranges::find_if(levels, [](const std::set<std::string>& some) { return some.size() <= few; });
    const auto level = std::min(static_cast<std::size_t>(at - levels.begin()), levels.size() - 1);
    Defect one = d;
    one.when = std::get<3>(key)[level];
    join(all, told(key, level), std::move(one));
  }
  return all;
}

std::vector<Defect> StatedDefects::found() const {
  std::vector<Defect> all;
  for (auto [key, d] : joined()) {
    std::ranges::sort(d.operators);
    Defect told = d;
    told.operators = {who_};
    d.id = id_of(d), d.sentence = sentence(told);
    all.push_back(std::move(d));
  }
  std::ranges::sort(all, is_more_serious);
  return all;
}

}  // namespace assay::verdict
