#include "conformance/verdict/stated_defects.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/text/digest.h"
#include "reference/fault.h"

namespace assay {
namespace {

constexpr std::size_t few = 3;  // causes of one kind that are told apart

std::string id_of(const Defect& d) {
  return fmt::format("{:08x}",
                     static_cast<std::uint32_t>(digest(text(name(d.verdict), name(d.failure), d.does, d.when))));
}

}  // namespace

void StatedDefects::add(const Record& r, const StatedCause& cause) {
  Defect one;
  one.testee = r.testee, one.verdict = r.verdict, one.failure = cause.failure, one.does = cause.does;
  one.when = cause.when;
  one.tier = tier_of(r), one.explained = true, one.smallest = r;
  one.cases = 1, one.promised_cases = r.promised, one.case_ids = {r.case_id}, one.distance = r.distance;
  one.operators = {r.operator_name};
  const auto [at, is_new] = defects_.try_emplace({r.verdict, cause.failure, cause.does, cause.when});
  if (is_new)
    at->second = {std::move(one), cause.broadly};
  else
    join(at->second.defect, std::move(one));
}

// Adds the cases of `one`.
void StatedDefects::join(Defect& all, Defect one) const {
  all.cases += one.cases, all.promised_cases += one.promised_cases;
  all.tier = std::min(all.tier, one.tier), all.distance = std::max(all.distance, one.distance);
  std::ranges::move(one.case_ids, std::back_inserter(all.case_ids));
  for (std::string& name : one.operators)
    if (std::ranges::find(all.operators, name) == all.operators.end()) all.operators.push_back(std::move(name));
  if (is_simpler_(one.smallest, all.smallest)) all.smallest = std::move(one.smallest);
}

// Joins the causes of a kind, where there are more than a few of them.
std::map<StatedDefects::Key, Defect> StatedDefects::joined(const std::map<Key, Stated>& fine) const {
  const auto kind = [](const Key& key, const Stated& s) {
    return Key{std::get<Verdict>(key), std::get<Class>(key), std::get<2>(key), s.broadly};
  };
  std::map<Key, std::size_t> numbers;
  for (const auto& [key, s] : fine) ++numbers[kind(key, s)];
  std::map<Key, Defect> all;
  for (const auto& [key, s] : fine) {
    const Key broad = kind(key, s);
    const bool is_joined = !s.broadly.empty() && numbers[broad] > few;
    const auto [at, is_new] = all.try_emplace(is_joined ? broad : key, s.defect);
    if (is_joined) at->second.when = s.broadly;
    if (!is_new) join(at->second, s.defect);
  }
  return all;
}

std::vector<Defect> StatedDefects::found() const {
  std::vector<Defect> all;
  for (auto [key, d] : joined(defects_)) {
    std::ranges::sort(d.operators);
    Defect told = d;
    told.operators = {who_};
    d.id = id_of(d), d.sentence = sentence(told);
    all.push_back(std::move(d));
  }
  std::ranges::sort(all, is_more_serious);
  return all;
}

}  // namespace assay
