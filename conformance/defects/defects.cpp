#include "conformance/defects/defects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
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

// Without its overload.
std::string_view base_name(const Operator& op) { return op.name.substr(0, op.name.find('.')); }

std::string kind(const Symptom& s) { return text(name(s.verdict), ' ', name(s.failure)); }

// What tells of a tensor or an argument, whichever it is.
constexpr std::array telling_of_inputs =
    std::to_array<std::string_view>({"has NaN", "has infinity", "has a negative zero", "has extreme numbers",
                                     "has subnormal numbers", "has numbers above 2^24", "has numbers above 2^53"});
constexpr std::array telling_of_tensors = std::to_array<std::string_view>(
    {"has a size of 0", "has no dimensions", "is of wide unsigned integers", "is of a half type"});
constexpr std::array telling_of_arguments = std::to_array<std::string_view>(
    {"is true", "is no float32", "is no number of the first input's dtype", "is a bool where numbers are"});

bool is_about_layouts(const Literal& l) {
  if (l.test == Literal::Test::holds) return l.name.ends_with(" is channels last");
  return l.test == Literal::Test::lacks && (l.name.starts_with("every dim order") ||
                                            l.name.starts_with("the dim orders") || l.name.ends_with(" is contiguous"));
}

// What operators can share of a literal, whatever their arguments are called: of a rule that is broken its word. Empty
// where it tells too little.
std::string gist(const Literal& l) {
  if (says_broken(l.name)) return l.name.substr(0, l.name.find('('));
  if (is_about_layouts(l)) return "not every dim order is contiguous";
  if (l.test != Literal::Test::holds) return {};
  const auto ends = [&](std::string_view says) { return l.name.ends_with(says); };
  if (ends(" has numbers that float32 lacks")) return "an input or a result has numbers that float32 lacks";
  if (l.name.starts_with("a result ")) return {};
  if (const std::size_t at = l.name.rfind(" is "); at != std::string::npos && dtype_named(l.name.substr(at + 4)))
    return ends(" is uint16") || ends(" is uint32") || ends(" is uint64") ? "a tensor is of wide unsigned integers"
                                                                          : "a tensor" + l.name.substr(at);
  if (const auto at = std::ranges::find_if(telling_of_inputs, ends); at != telling_of_inputs.end())
    return text("an input ", *at);
  if (const auto at = std::ranges::find_if(telling_of_tensors, ends); at != telling_of_tensors.end())
    return text("a tensor ", *at);
  return ends(" somewhere") || std::ranges::any_of(telling_of_arguments, ends) ? l.name : std::string();
}

// Of an invalid call that is accepted nothing else tells as much as the rule.
bool is_telling(const Symptom& s, const Literal& l) {
  return s.failure == Class::accepted_though_invalid ? says_broken(l.name) : !gist(l).empty();
}

// Calls that one line of source fails are failed for one reason, whatever the operator. So are those of which the same
// can be said. What is not understood of an operator's failures of a kind stays together, with that of its overloads.
std::string key_of(const Cause& c) {
  if (c.symptom.verdict == Verdict::quality) return kind(c.symptom);
  if (!c.symptom.place.empty()) return text(kind(c.symptom), ' ', c.symptom.place);
  const bool tells = std::ranges::any_of(c.predicate, [&](const Literal& l) { return is_telling(c.symptom, l); });
  const double share = tells ? loosely : convincing;
  if (!c.trial.convinces(share)) return text(kind(c.symptom), ' ', base_name(*c.op));
  return text(kind(c.symptom), ' ', c.predicate.empty() ? c.symptom.said : words(c.predicate));
}

using Shares = std::map<std::string, std::size_t>;  // of cases

// What holds for nearly all failing cases of a group.
std::vector<std::string> common(const Group& g, Shares (*shares)(const Cause&)) {
  Shares covered;
  std::size_t all = 0;
  for (const Cause& c : g.causes) {
    all += c.cases.size();
    for (const auto& [what, cases] : shares(c)) covered[what] += cases;
  }
  std::vector<std::string> found;
  for (const auto& [what, cases] : covered)
    if (static_cast<double>(cases) >= nearly_all * static_cast<double>(all)) found.push_back(what);
  return found;
}

Shares gists(const Cause& c) {
  Shares found;
  for (const Literal& l : c.predicate)
    if (is_telling(c.symptom, l)) found[gist(l)] = c.cases.size();
  return found;
}

Shares messages(const Cause& c) {
  Shares found;
  for (const JudgedCase& s : c.cases)
    for (const std::string& reason : s.reasons) ++found[reason];
  return found;
}

// Besides these all the words of a predicate that convinces, the line of source, and the operator: what is left of one
// that fails in one way is mended in one place.
Shares reasons(const Cause& c) {
  Shares found = messages(c);
  found[text("of ", base_name(*c.op))] = c.cases.size();
  found.merge(gists(c));
  if (c.predicate.size() > c.premises && c.trial.convinces(convincing)) found[words(c.predicate)] = c.cases.size();
  if (!c.symptom.place.empty()) found["at " + c.symptom.place] = c.cases.size();
  return found;
}

// Groups that fail alike and share something telling become one, those first that share it with most.
void merge(std::vector<Group>& groups) {
  for (;;) {
    std::map<std::string, std::vector<std::size_t>> sharing;
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (const std::string& reason : common(groups[i], reasons))
        sharing[text(kind(groups[i].causes[0].symptom), ' ', reason)].push_back(i);
    const auto most = std::ranges::max_element(sharing, {}, [](const auto& s) { return s.second.size(); });
    if (most == sharing.end() || most->second.size() < 2) return;
    Group merged{most->first, {}};
    for (const std::size_t i : most->second) std::ranges::move(groups[i].causes, std::back_inserter(merged.causes));
    for (const std::size_t i : most->second) groups[i].causes.clear();
    std::erase_if(groups, [](const Group& g) { return g.causes.empty(); });
    groups.push_back(std::move(merged));
  }
}

std::vector<Group> grouped(std::span<Cause> causes) {
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

Trial trial_of(const Group& g) {
  Trial all;
  for (const Cause& c : g.causes) all += c.trial;
  return all;
}

bool are_alike(const Group& a, const Group& b) {
  if (kind(a.causes[0].symptom) != kind(b.causes[0].symptom)) return false;
  std::vector<std::string> shared;
  std::ranges::set_intersection(common(a, reasons), common(b, reasons), std::back_inserter(shared));
  return !shared.empty();
}

// Whether calls that were drawn did otherwise than a cause says, however few they were.
bool is_doubtful(const Cause& c) {
  const auto some = [](std::uint64_t part, std::uint64_t whole) {
    return static_cast<double>(part) < convincing * static_cast<double>(whole);
  };
  return some(c.trial.alike, c.trial.drawn) || some(c.trial.spared, c.trial.differing);
}

// Causes that are not doubtful first; one that is joins them where all together convince, or else its like.
std::vector<Group> all_grouped(std::vector<Cause> causes) {
  const auto doubtful = std::stable_partition(causes.begin(), causes.end(), std::not_fn(is_doubtful));
  std::vector<Group> groups = grouped({causes.begin(), doubtful});
  std::vector<Cause> left;
  for (Cause& c : std::span(doubtful, causes.end())) {
    const Group alone{key_of(c), {c}};
    const auto at = std::ranges::find_if(groups, [&](const Group& g) {
      Trial both = trial_of(g);
      return are_alike(alone, g) && (both += c.trial).convinces(convincing);
    });
    (at != groups.end() ? at->causes : left).push_back(std::move(c));
  }
  for (Group& g : grouped(left)) {
    g.key += ", or nearly so";
    groups.push_back(std::move(g));
  }
  return groups;
}

// The words of its one cause; else what its causes share, or when most of the cases fail and in how many other ways.
std::string when(const Group& g) {
  if (g.causes[0].symptom.verdict == Verdict::quality) return "in some calls";
  std::map<std::string, std::size_t> ways;
  for (const Cause& c : g.causes) ways[words(c.predicate)] += c.cases.size();
  if (ways.size() == 1) return ways.begin()->first;
  if (const auto shared = common(g, gists); !shared.empty())
    return fmt::format("whenever {}, and more that depends on the call", fmt::join(shared, " and "));
  const auto most = std::ranges::max_element(ways, {}, [](const auto& way) { return way.second; });
  const std::string mostly =
      fmt::format("{}, or in {} other {}", most->first, ways.size() - 1, ways.size() == 2 ? "way" : "ways");
  const auto said = common(g, messages);
  return said.empty() ? mostly : fmt::format("{}, most often {}", fmt::join(said, ", "), mostly);
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
  d.trial = trial_of(group);
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
  const std::vector<Group> groups = all_grouped(std::move(causes));
  std::vector<Defect> defects;
  in_order(
      groups.size(), workers, [&](std::size_t i) { return defect_of(laboratory, groups[i]); },
      [&](Defect d) { defects.push_back(std::move(d)); });
  std::ranges::sort(defects, is_more_serious);
  return defects;
}

}  // namespace assay
