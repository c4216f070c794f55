#include "conformance/defects/defects.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "conformance/cases/fingerprint.h"
#include "conformance/cases/generated.h"
#include "conformance/runner/parallel.h"

namespace assay {
namespace {

// Causes with equal keys are one defect. What is not understood is nobody else's, and what an operator does always
// is another defect where it says something else about it.
using Key = std::tuple<Verdict, Class, std::string, std::string>;

Key key_of(const Cause& c) {
  const std::string own = !c.trial.convinces()  ? text(c.op->name, c.symptom.sign)
                          : c.predicate.empty() ? c.symptom.sign
                                                : std::string();
  return {c.symptom.verdict, c.symptom.failure, words(c.predicate), own};
}

// The one with the fewest elements, then the shortest text.
const Seen& smallest(const std::vector<Seen>& cases) {
  const auto size = [](const Seen& s) {
    const std::string id = to_text(s.id);
    return std::tuple(!s.promised, s.elements, id.size(), id);
  };
  return *std::ranges::min_element(cases, {}, size);
}

// A simpler call that fails alike, or the same.
Record shrunk(Laboratory& laboratory, const Seen& failing) {
  Record found = laboratory.run_alone(failing.id, true).record;
  if (failing.id.mutations.empty()) return found;
  Shrinking search(failing.id);
  while (const auto candidate = search.next()) {
    Record r = laboratory.run_alone(*candidate).record;
    const bool alike = r.verdict == found.verdict && symptom_of(r) == failing.symptom;
    if (alike) found = std::move(r);
    search.answer(alike);
  }
  return found;
}

// Each operator's cases in the order of their ids, whatever that of the run was.
std::vector<std::vector<Seen>> by_operator(std::vector<Seen> cases) {
  std::map<std::pair<std::string, std::string>, Seen> ordered;
  for (Seen& s : cases) ordered.emplace(std::pair(s.id.operator_name, to_text(s.id)), std::move(s));
  std::vector<std::vector<Seen>> all;
  for (auto& [key, s] : ordered) {
    if (all.empty() || all.back()[0].id.operator_name != s.id.operator_name) all.emplace_back();
    all.back().push_back(std::move(s));
  }
  return all;
}

Defect defect_of(Laboratory& laboratory, const Key& key, const std::vector<Cause>& causes) {
  Defect d;
  std::vector<Seen> failing;
  for (const Cause& c : causes) {
    d.trial += c.trial;
    if (d.operators.empty() || d.operators.back() != c.op->name) d.operators.emplace_back(c.op->name);
    std::ranges::copy(c.cases, std::back_inserter(failing));
  }
  d.known = true;
  for (const Seen& s : failing) {
    d.tier = std::min(d.tier, s.tier), d.known = d.known && s.known, d.promised_cases += s.promised;
    if (s.distance) d.distance = std::max(d.distance.value_or(0), *s.distance);
    d.case_ids.push_back(to_text(s.id));
  }
  d.cases = failing.size();
  d.when = words(causes[0].predicate);
  d.explained = d.trial.convinces();
  d.smallest = shrunk(laboratory, smallest(failing));
  d.testee = d.smallest.testee, d.verdict = causes[0].symptom.verdict, d.failure = causes[0].symptom.failure;
  d.sentence = sentence(d);
  d.id = std::apply(
      [](Verdict v, Class c, const auto&... words) {
        return fmt::format("{:08x}", digest(text(name(v), ' ', name(c), words...)) >> 32);
      },
      key);
  return d;
}

}  // namespace

std::vector<Defect> defects_of(Laboratory& laboratory, const Corpus& corpus, std::vector<Seen> cases, int workers,
                               const std::function<void(std::string_view op)>& done) {
  std::vector<std::vector<Seen>> operators = by_operator(std::move(cases));
  std::map<Key, std::vector<Cause>> groups;
  in_order(
      operators.size(), workers,
      [&](std::size_t i) {
        const std::string name = operators[i][0].id.operator_name;
        return std::pair(name, causes_of(laboratory, corpus, *corpus.calls(name), std::move(operators[i])));
      },
      [&](std::pair<std::string, std::vector<Cause>> found) {
        for (Cause& cause : found.second) groups[key_of(cause)].push_back(std::move(cause));
        done(found.first);
      });
  const std::vector<std::pair<Key, std::vector<Cause>>> list(groups.begin(), groups.end());
  std::vector<Defect> defects;
  in_order(
      list.size(), workers, [&](std::size_t i) { return defect_of(laboratory, list[i].first, list[i].second); },
      [&](Defect d) { defects.push_back(std::move(d)); });
  std::ranges::sort(defects, is_more_serious);
  return defects;
}

}  // namespace assay
