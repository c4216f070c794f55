#include "conformance/verdict/stated_defects.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "conformance/text/digest.h"
#include "reference/fault.h"

namespace assay::verdict {
namespace {

constexpr std::size_t few = 3;  // causes of one kind that are told apart

// "; the field is changed", or "; mostly, the field is changed".
std::string shared_fact(const std::vector<std::map<std::string, std::size_t>>& facts) {
  for (const double share : {1.0, likely})
    for (const auto& level : facts) {
      std::size_t all = 0;
      for (const auto& [fact, cases] : level) all += cases;
      for (const auto& [fact, cases] : level)
        if (static_cast<double>(cases) >= share * static_cast<double>(all))
          return concat("; ", share < 1 ? "mostly, " : "", fact);
    }
  return "";
}

std::string id_of(const Defect& d) {
  return fmt::format(
      "{:08x}", static_cast<std::uint32_t>(text::digest(concat(name(d.verdict), name(d.failure), d.does, d.when))));
}

}  // namespace

void StatedDefects::add(const Record& r, const StatedCause& cause) {
  Defect one;
  const Verdict verdict = cause.verdict.value_or(r.verdict);
  one.testee = r.testee, one.verdict = verdict, one.failure = cause.failure, one.does = cause.does;
  one.tier = tier_of(r), one.explained = true, one.smallest = r;
  one.cases = 1, one.promised_cases = r.promised, one.case_ids = {r.case_id}, one.distance = r.distance;
  one.operators = {r.operator_name};
  std::vector<std::map<std::string, std::size_t>> facts;
  for (const std::string& fact : cause.facts) facts.push_back({{fact, 1}});
  join(defects_, {verdict, cause.failure, cause.does, cause.when}, {std::move(one), std::move(facts)});
}

// Adds the cases of `one` to the defect with this key.
void StatedDefects::join(std::map<Key, Joined>& all, const Key& key, Joined joined) const {
  const auto [at, is_new] = all.try_emplace(key, joined);
  if (is_new) return;
  at->second.facts.resize(std::max(at->second.facts.size(), joined.facts.size()));
  for (std::size_t k = 0; k < joined.facts.size(); ++k)
    for (const auto& [fact, cases] : joined.facts[k]) at->second.facts[k][fact] += cases;
  Defect &d = at->second.defect, &one = joined.defect;
  d.cases += one.cases, d.promised_cases += one.promised_cases;
  d.tier = std::min(d.tier, one.tier), d.distance = std::max(d.distance, one.distance);
  std::ranges::move(one.case_ids, std::back_inserter(d.case_ids));
  for (std::string& name : one.operators)
    if (std::ranges::find(d.operators, name) == d.operators.end()) d.operators.push_back(std::move(name));
  if (is_simpler_(one.smallest, d.smallest)) d.smallest = std::move(one.smallest);
}

// Tells the causes of each kind as narrowly as they remain few.
std::map<StatedDefects::Key, StatedDefects::Joined> StatedDefects::joined() const {
  const auto told = [](const Key& key, std::size_t level) {
    auto [verdict, failure, does, when] = key;
    return Key{verdict, failure, does, {when.at(level)}};
  };
  std::map<Key, std::vector<std::set<std::string>>> kinds;  // by the broadest item: the items of each level
  for (const auto& [key, joined] : defects_) {
    const std::vector<std::string>& when = std::get<3>(key);
    std::vector<std::set<std::string>>& levels = kinds[told(key, when.size() - 1)];
    levels.resize(when.size());
    for (std::size_t k = 0; k < when.size(); ++k) levels[k].insert(when[k]);
  }
  std::map<Key, Joined> all;
  for (const auto& [key, joined] : defects_) {
    const std::vector<std::set<std::string>>& levels = kinds.at(told(key, std::get<3>(key).size() - 1));
    const auto at = std::ranges::find_if(levels, [](const std::set<std::string>& some) { return some.size() <= few; });
    const auto level = std::min(static_cast<std::size_t>(at - levels.begin()), levels.size() - 1);
    Joined one = joined;
    one.defect.when = std::get<3>(key)[level];
    join(all, told(key, level), std::move(one));
  }
  return all;
}

std::vector<Defect> StatedDefects::found() const {
  std::vector<Defect> all;
  for (auto [key, found] : joined()) {
    Defect& d = found.defect;
    std::ranges::sort(d.operators);
    d.when += shared_fact(found.facts);
    Defect told = d;
    told.operators = {who_};
    d.id = id_of(d), d.sentence = sentence(told);
    all.push_back(std::move(d));
  }
  std::ranges::sort(all, is_more_serious);
  return all;
}

}  // namespace assay::verdict
