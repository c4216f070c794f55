#include "conformance/defects/defects.h"

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

void add(Trial& sum, const Trial& t) {
  sum.drawn += t.drawn, sum.alike += t.alike, sum.differing += t.differing, sum.spared += t.spared;
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

}  // namespace

std::vector<Defect> defects_of(Laboratory& laboratory, const Corpus& corpus, std::vector<Seen> cases, int workers,
                               const std::function<void(std::string_view op)>& done) {
  std::map<std::string, std::vector<Seen>> by_operator;
  for (Seen& s : cases) by_operator[s.id.operator_name].push_back(std::move(s));
  std::vector<std::vector<Seen>> all;
  for (auto& [name, seen] : by_operator) {
    std::ranges::sort(seen, {}, [](const Seen& s) { return to_text(s.id); });
    all.push_back(std::move(seen));
  }
  std::map<Key, std::vector<Cause>> groups;
  in_order(
      all.size(), workers,
      [&](std::size_t i) {
        const std::string name = all[i][0].id.operator_name;
        return std::pair(name, causes_of(laboratory, corpus, *corpus.calls(name), std::move(all[i])));
      },
      [&](std::pair<std::string, std::vector<Cause>> found) {
        for (Cause& cause : found.second) groups[key_of(cause)].push_back(std::move(cause));
        done(found.first);
      });
  std::vector<Defect> defects;
  for (auto& [key, causes] : groups) {
    Defect d;
    Trial trial;
    std::vector<Seen> failing;
    for (Cause& c : causes) {
      add(trial, c.trial);
      d.operators.emplace_back(c.op->name);
      std::ranges::move(c.cases, std::back_inserter(failing));
    }
    std::ranges::sort(d.operators);
    const auto [first, last] = std::ranges::unique(d.operators);
    d.operators.erase(first, last);
    d.verdict = causes[0].symptom.verdict, d.failure = causes[0].symptom.failure;
    d.when = words(causes[0].predicate);
    d.drawn = trial.drawn, d.alike = trial.alike, d.differing = trial.differing, d.spared = trial.spared;
    d.explained = trial.convinces();
    for (const Seen& s : failing) {
      d.cases.push_back(to_text(s.id));
      if (s.distance) d.distance = std::max(d.distance.value_or(0), *s.distance);
    }
    d.smallest.case_id = to_text(smallest(failing).id);
    defects.push_back(std::move(d));
  }
  return defects;
}

}  // namespace assay
