#include "conformance/defects/defects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "conformance/cases/fingerprint.h"
#include "conformance/cases/generated.h"
#include "conformance/runner/parallel.h"

namespace assay {
namespace {

constexpr double loosely = 0.75, nearly_all = 0.8;

// Causes that are one defect.
struct Group {
  std::string key;  // what makes it one
  std::vector<Cause> causes;
};

std::string kind(const Symptom& s) { return text(name(s.verdict), ' ', name(s.failure)); }

// What operators can share: of a rule that is broken its word, whatever it is asked of.
std::string gist(const Literal& l) {
  const std::string all = words(l);
  return says_broken(l.name) ? all.substr(0, all.find('(')) : all;
}

bool is_telling(const Literal& l) {
  const auto about = [&](auto... starts) { return (l.name.starts_with(starts) || ...); };
  if (l.test == Literal::Test::lacks) return about("every dim order", "the dim orders");
  if (l.test != Literal::Test::holds) return false;
  if (says_broken(l.name)) return true;
  for (const std::string_view who : {"a tensor is ", "an input is "})
    if (about(who)) return dtype_named(l.name.substr(who.size())).has_value();
  constexpr std::array special{
      "has NaN",         "has infinity",     "has a negative zero", "has extreme numbers", "has subnormal numbers",
      "has a size of 0", "has no dimensions"};
  return std::ranges::any_of(special,
                             [&](std::string_view s) { return about("a tensor", "an input") && l.name.ends_with(s); });
}

// Calls that one line of source fails are failed for one reason, whatever the operator. So are those of which the same
// can be said. What is not understood of an operator's failures of a kind stays together.
std::string key_of(const Cause& c) {
  if (c.symptom.verdict == Verdict::quality) return kind(c.symptom);
  if (!c.symptom.place.empty()) return text(kind(c.symptom), ' ', c.symptom.place);
  const double share = std::ranges::any_of(c.predicate, is_telling) ? loosely : convincing;
  if (!c.trial.convinces(share)) return text(kind(c.symptom), ' ', c.op->name);
  return text(kind(c.symptom), ' ', c.predicate.empty() ? c.symptom.said : words(c.predicate));
}

// What holds for nearly all failing cases of a group.
std::vector<std::string> common(const Group& g) {
  std::map<std::string, std::size_t> covered;
  std::size_t all = 0;
  for (const Cause& c : g.causes) {
    all += c.cases.size();
    std::set<std::string> gists;
    for (const Literal& l : c.predicate)
      if (is_telling(l)) gists.insert(gist(l));
    for (const std::string& gist : gists) covered[gist] += c.cases.size();
  }
  std::vector<std::string> found;
  for (const auto& [gist, cases] : covered)
    if (static_cast<double>(cases) >= nearly_all * static_cast<double>(all)) found.push_back(gist);
  return found;
}

// Groups that fail alike and share something telling become one, those first that share it with most.
void merge(std::vector<Group>& groups) {
  for (;;) {
    std::map<std::string, std::vector<std::size_t>> sharing;
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (const std::string& gist : common(groups[i]))
        sharing[text(kind(groups[i].causes[0].symptom), ' ', gist)].push_back(i);
    const auto most = std::ranges::max_element(sharing, {}, [](const auto& s) { return s.second.size(); });
    if (most == sharing.end() || most->second.size() < 2) return;
    Group merged{most->first, {}};
    for (const std::size_t i : most->second) std::ranges::move(groups[i].causes, std::back_inserter(merged.causes));
    for (const std::size_t i : most->second) groups[i].causes.clear();
    std::erase_if(groups, [](const Group& g) { return g.causes.empty(); });
    groups.push_back(std::move(merged));
  }
}

std::vector<Group> grouped(std::vector<Cause> causes) {
  std::map<std::string, Group> by_key;
  for (Cause& c : causes) {
    Group& group = by_key[key_of(c)];
    group.key = key_of(c);
    group.causes.push_back(std::move(c));
  }
  std::vector<Group> groups;
  for (auto& [key, group] : by_key) groups.push_back(std::move(group));
  merge(groups);
  return groups;
}

// The words of its one cause; else what its causes share, or when most of the cases fail and in how many other ways.
std::string when(const Group& g) {
  if (g.causes[0].symptom.verdict == Verdict::quality) return "in some calls";
  std::map<std::string, std::size_t> ways;
  for (const Cause& c : g.causes) ways[words(c.predicate)] += c.cases.size();
  if (ways.size() == 1) return ways.begin()->first;
  if (const auto shared = common(g); !shared.empty())
    return fmt::format("whenever {}, and more that depends on the call", fmt::join(shared, " and "));
  const auto most = std::ranges::max_element(ways, {}, [](const auto& way) { return way.second; });
  return fmt::format("{}, or in {} other {}", most->first, ways.size() - 1, ways.size() == 2 ? "way" : "ways");
}

// The one with the fewest elements, then the shortest text.
const JudgedCase& smallest(const std::vector<JudgedCase>& cases) {
  const auto size = [](const JudgedCase& s) {
    const std::string id = to_text(s.id);
    return std::tuple(!s.promised, s.elements, id.size(), id);
  };
  return *std::ranges::min_element(cases, {}, size);
}

Record named(const JudgedCase& s) {
  Record r;
  r.operator_name = s.id.operator_name, r.case_id = to_text(s.id);
  r.verdict = s.verdict, r.failure = s.symptom.failure;
  return r;
}

// A simpler call that fails alike, or the same.
Record shrunk(Laboratory& laboratory, const JudgedCase& failing) {
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
std::vector<std::vector<JudgedCase>> by_operator(std::vector<JudgedCase> cases) {
  std::map<std::pair<std::string, std::string>, JudgedCase> ordered;
  for (JudgedCase& s : cases) ordered.emplace(std::pair(s.id.operator_name, to_text(s.id)), std::move(s));
  std::vector<std::vector<JudgedCase>> all;
  for (auto& [key, s] : ordered) {
    if (all.empty() || all.back()[0].id.operator_name != s.id.operator_name) all.emplace_back();
    all.back().push_back(std::move(s));
  }
  return all;
}

// Worth the search for its smallest call.
bool is_serious(const Defect& d) { return d.promised() && d.tier < Tier::not_promised; }

Defect defect_of(Laboratory* laboratory, const Group& group) {
  Defect d;
  std::set<std::string> operators;
  std::vector<JudgedCase> failing;
  for (const Cause& c : group.causes) {
    d.trial += c.trial;
    operators.emplace(c.op->name);
    std::ranges::copy(c.cases, std::back_inserter(failing));
  }
  d.operators.assign(operators.begin(), operators.end());
  d.known = true;
  for (const JudgedCase& s : failing) {
    d.tier = std::min(d.tier, s.tier), d.known = d.known && s.known, d.promised_cases += s.promised;
    if (s.distance) d.distance = std::max(d.distance.value_or(0), *s.distance);
    d.case_ids.push_back(to_text(s.id));
  }
  d.cases = failing.size();
  d.when = when(group);
  d.explained = d.trial.convinces(convincing);
  d.verdict = group.causes[0].symptom.verdict, d.failure = group.causes[0].symptom.failure;
  d.smallest = laboratory ? is_serious(d) ? shrunk(*laboratory, smallest(failing))
                                          : laboratory->run_alone(smallest(failing).id, true).record
                          : named(smallest(failing));
  d.sentence = sentence(d);
  d.id = fmt::format("{:08x}", digest(group.key) >> 32);
  return d;
}

}  // namespace

std::vector<Defect> defects_of(Laboratory* laboratory, const Corpus& corpus, std::vector<JudgedCase> cases, int workers,
                               const std::function<void(std::string_view op)>& begun) {
  std::vector<std::vector<JudgedCase>> operators = by_operator(std::move(cases));
  std::vector<Cause> causes;
  in_order(
      operators.size(), workers,
      [&](std::size_t i) {
        const std::string name = operators[i][0].id.operator_name;
        return std::pair(name, causes_of(laboratory, corpus, *corpus.calls(name), std::move(operators[i])));
      },
      [&](std::pair<std::string, std::vector<Cause>> found) {
        std::ranges::move(found.second, std::back_inserter(causes));
        begun(found.first);
      });
  const std::vector<Group> groups = grouped(std::move(causes));
  std::vector<Defect> defects;
  in_order(
      groups.size(), workers, [&](std::size_t i) { return defect_of(laboratory, groups[i]); },
      [&](Defect d) { defects.push_back(std::move(d)); });
  std::ranges::sort(defects, is_more_serious);
  return defects;
}

}  // namespace assay
