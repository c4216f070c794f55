#include "conformance/defects/defects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "conformance/cases/shrink.h"
#include "conformance/runner/parallel.h"
#include "conformance/text/digest.h"

namespace assay::defects {
namespace {

constexpr double nearly_all = 0.8;
constexpr std::size_t few_defects = 3;  // of few cases each and of one kind, which are told apart

std::string failure_of(const Symptom& s) { return concat(verdict::name(s.verdict), ' ', verdict::name(s.failure)); }

// The rule's word of a literal that says that a call breaks a rule: operators share it, whatever the names of their
// arguments.
std::string broken_word(const Predicate& predicate) {
  for (const Literal& l : predicate)
    if (const std::string& name = l.name.text(); features::says_broken(name)) return name.substr(0, name.find('('));
  return {};
}

// What the library says in nearly all of the cases.
std::vector<std::string> messages(const std::vector<JudgedCase>& cases) {
  std::map<std::string, std::size_t> said;
  for (const JudgedCase& s : cases)
    for (const std::string& reason : s.reasons) ++said[reason];
  std::vector<std::string> common;
  for (const auto& [reason, number] : said)
    if (static_cast<double>(number) >= nearly_all * static_cast<double>(cases.size())) common.push_back(reason);
  return common;
}

// The literals that tell how the elements of two operands are related. Operators that share such a literal fail for the
// same reason, even if other literals differ.
std::vector<std::string> relations(const Cause& c) {
  std::vector<std::string> found;
  for (const Literal& l : std::span(c.predicate).subspan(c.premises))
    if (l.test == Literal::Test::holds && l.name.text().ends_with(" somewhere")) found.push_back(l.name.text());
  return found;
}

// The most serious tier of its cases.
verdict::Tier tier(const Cause& c) { return std::ranges::min_element(c.cases, {}, &JudgedCase::tier)->tier; }

// What causes share if they are one defect, the most telling last: a line of the library's source, its message, what
// the kernels do, and when. A cause that was not found shares nothing, unless its cases are few or of little weight.
std::vector<std::string> reasons(const Cause& c) {
  const std::string kind = failure_of(c.symptom);
  if (c.symptom.verdict == verdict::Verdict::quality) return {kind};
  const bool is_placed = !c.symptom.place.empty();
  if (!c.is_sought) return {concat(kind, ' ', verdict::name(tier(c)))};
  if (!c.is_found && !is_placed)
    return {c.cases.size() < few_cases ? concat(kind, " in few calls ", verdict::name(tier(c)))
                                       : concat(kind, " of ", c.op->name)};
  if (c.is_mistake) return {c.does, concat(c.does, ' ', words(c.predicate))};
  if (!c.does.empty()) return {concat(c.does, ' ', words(c.predicate))};
  if (c.symptom.failure == verdict::Class::accepted_though_invalid)
    return {concat(kind, ' ', broken_word(c.predicate))};
  std::vector<std::string> found;
  for (const std::string& relation : relations(c)) found.push_back(concat(kind, " where ", relation));
  if (is_placed) found.push_back(concat(kind, " at ", c.symptom.place));
  for (const std::string& said : messages(c.cases)) found.push_back(concat(kind, ' ', said));
  if (found.empty() || c.predicate.size() > c.premises) found.push_back(concat(kind, ' ', words(c.predicate)));
  return found;
}

// Causes that are one defect.
struct Group {
  std::string key;  // the reason that its causes share
  std::vector<Cause> causes;

  verdict::Trial trial() const {
    verdict::Trial all;
    for (const Cause& c : causes) all += c.trial;
    return all;
  }
  bool is_found() const { return std::ranges::all_of(causes, &Cause::is_found); }
  std::size_t cases() const {
    std::size_t all = 0;
    for (const Cause& c : causes) all += c.cases.size();
    return all;
  }
};

// Groups causes that share a reason. The reason that most causes share is taken first.
std::vector<Group> grouped(std::vector<Cause> causes) {
  std::vector<Group> groups;
  while (!causes.empty()) {
    // By reason: the number of causes that have it, and its last rank among their reasons.
    std::map<std::string, std::pair<std::size_t, std::size_t>> shared;
    for (const Cause& c : causes) {
      const std::vector<std::string> all = reasons(c);
      for (std::size_t k = 0; k < all.size(); ++k) {
        auto& [number, place] = shared[all[k]];
        ++number, place = std::max(place, k);
      }
    }
    const auto most = std::ranges::max_element(shared, {}, [](const auto& s) { return s.second; });
    const auto others = std::stable_partition(
        causes.begin(), causes.end(), [&](const Cause& c) { return std::ranges::count(reasons(c), most->first) > 0; });
    groups.push_back({most->first, {std::make_move_iterator(causes.begin()), std::make_move_iterator(others)}});
    causes.erase(causes.begin(), others);
  }
  return groups;
}

// Joins the groups of one kind that have few cases each, if there are more than a few such groups.
std::vector<Group> without_many_small(std::vector<Group> groups) {
  const auto kind = [](const Group& g) {
    const Cause& c = *std::ranges::min_element(g.causes, {}, tier);
    const bool is_small = g.cases() < few_cases && c.symptom.failure != verdict::Class::accepted_though_invalid;
    return is_small ? concat(failure_of(c.symptom), " in few calls ", verdict::name(tier(c))) : "";
  };
  std::map<std::string, std::vector<Cause>> small;
  std::map<std::string, std::size_t> numbers;
  for (const Group& g : groups) ++numbers[kind(g)];
  numbers[""] = 0;
  std::erase_if(groups, [&](Group& g) {
    const std::string k = kind(g);
    if (numbers[k] > few_defects) std::ranges::move(g.causes, std::back_inserter(small[k]));
    return numbers[k] > few_defects;
  });
  for (auto& [key, causes] : small) {
    for (Cause& c : causes) c.is_found = false, c.does.clear(), c.symptom.place.clear();
    groups.push_back({key, std::move(causes)});
  }
  return groups;
}

// When the calls fail: the one condition that the causes share, or else what the library says, or its source line.
std::string when(const Group& g, std::size_t cases) {
  const Cause& first = g.causes[0];
  if (first.symptom.verdict == verdict::Verdict::quality) return "in some calls";
  const bool is_placed = !first.symptom.place.empty();
  if (!g.is_found() && !is_placed)
    return cases == 1 ? "in one call"
                      : fmt::format("in {} calls; no {}", cases,
                                    first.is_sought ? "common cause was found" : "cause was looked for");
  if (g.causes[0].symptom.failure == verdict::Class::accepted_though_invalid && g.causes.size() > 1)
    return "whenever " + broken_word(first.predicate);
  const auto differs = [&](const Cause& c) { return words(c.predicate) != words(first.predicate); };
  if (g.is_found() && std::ranges::none_of(g.causes, differs)) {
    const std::string condition = words(first.predicate);
    return condition == "always" && !first.does.empty() ? "" : condition;
  }
  if (!first.does.empty()) return "in some calls";
  for (const std::string& relation : relations(first))
    if (g.key.ends_with(" where " + relation)) return "in some calls where " + relation;
  std::vector<JudgedCase> all;
  for (const Cause& c : g.causes) std::ranges::copy(c.cases, std::back_inserter(all));
  const std::vector<std::string> said = messages(all);
  return said.empty() ? "at " + first.symptom.place : fmt::format("{}", fmt::join(said, ", "));
}

// The promised case with the fewest elements, then with the shortest id.
const JudgedCase& smallest(const std::vector<JudgedCase>& cases) {
  const auto size = [](const JudgedCase& s) {
    const std::string id = cases::to_text(s.id);
    return std::tuple(!s.promised, s.elements, id.size(), id);
  };
  return *std::ranges::min_element(cases, {}, size);
}

verdict::Record named(const JudgedCase& s) {
  verdict::Record r;
  r.operator_name = s.id.operator_name, r.case_id = cases::to_text(s.id);
  r.verdict = s.verdict, r.failure = s.symptom.failure;
  return r;
}

// A simpler call that fails alike; if none is found, the given call.
verdict::Record shrunk(runner::CaseRunner& case_runner, const JudgedCase& failing) {
  const bool hangs = failing.verdict == verdict::Verdict::timeout;
  verdict::Record found = case_runner.run_alone(failing.id, runner::Detail::all, hangs).record;
  if (failing.id.mutations.empty()) return found;
  const auto is_alike = [&](const verdict::Record& r) {
    return r.verdict == found.verdict && symptom_of(r) == failing.symptom;
  };
  std::optional<cases::CaseId> smallest;
  runner::Trials trials(case_runner.children(), runner::Detail::failures);
  cases::Shrinker search(failing.id);
  while (const auto candidate = search.next()) {
    const std::string id = cases::to_text(*candidate);
    bool alike = false;
    trials.run_while({&id, 1}, case_runner.children().patience().short_limit(),
                     [&](const runner::Judged& j) { return alike = is_alike(j.record), true; });
    if (alike) smallest = *candidate;
    search.answer(alike);
  }
  if (!smallest) return found;
  verdict::Record alone = case_runner.run_alone(*smallest, runner::Detail::all, hangs).record;
  return is_alike(alone) ? alone : found;
}

// The cases of each operator in the order of their ids, which does not depend on the order of the run.
std::vector<std::vector<JudgedCase>> by_operator(std::vector<JudgedCase> cases) {
  std::map<std::pair<std::string, std::string>, JudgedCase> ordered;
  for (JudgedCase& s : cases) ordered.emplace(std::pair(s.id.operator_name, cases::to_text(s.id)), std::move(s));
  std::vector<std::vector<JudgedCase>> all;
  for (auto& [key, s] : ordered) {
    if (all.empty() || all.back()[0].id.operator_name != s.id.operator_name) all.emplace_back();
    all.back().push_back(std::move(s));
  }
  return all;
}

std::size_t failures(const std::vector<JudgedCase>& cases) {
  return static_cast<std::size_t>(std::ranges::count_if(cases, verdict::is_failure, &JudgedCase::verdict));
}

// Whether the search for its smallest call is worth the time.
bool is_serious(const verdict::Defect& d) { return d.promised() && d.tier < verdict::Tier::not_promised; }

verdict::Defect defect_of(runner::CaseRunner* case_runner, const Group& group) {
  verdict::Defect d;
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
    d.case_ids.push_back(cases::to_text(s.id));
  }
  d.cases = failing.size();
  d.does = group.causes[0].does;
  d.when = when(group, d.cases);
  d.trial = group.trial();
  d.explained = group.is_found() && d.trial.convinces(verdict::convincing);
  const bool tells_share = d.when.starts_with("in some calls");
  if (group.is_found() && !tells_share && !d.explained && d.trial.convinces(verdict::likely))
    d.when += d.when.empty() ? "in most calls" : ", in most such calls";
  d.verdict = group.causes[0].symptom.verdict, d.failure = group.causes[0].symptom.failure;
  d.smallest = case_runner ? is_serious(d) ? shrunk(*case_runner, smallest(failing))
                                           : case_runner
                                                 ->run_alone(smallest(failing).id, runner::Detail::all,
                                                             d.verdict == verdict::Verdict::timeout)
                                                 .record
                           : named(smallest(failing));
  d.sentence = verdict::sentence(d);
  d.id = fmt::format("{:08x}", text::digest(group.key) >> 32);
  return d;
}

}  // namespace

std::vector<verdict::Defect> defects_of(runner::CaseRunner* case_runner, const cases::Corpus& corpus,
                                        std::vector<JudgedCase> cases, int workers,
                                        const std::function<void(std::string_view op)>& begun) {
  // Operators with most failures take longest, so they come first.
  std::vector<std::vector<JudgedCase>> operators = by_operator(std::move(cases));
  std::ranges::stable_sort(operators, std::greater(), failures);
  std::vector<Cause> causes;
  const int users = case_runner ? case_runner->users(workers) : workers;
  runner::in_order(
      operators.size(), users,
      [&](std::size_t i) {
        const std::string name = operators[i][0].id.operator_name;
        return std::pair(name, causes_of(case_runner, corpus, *corpus.calls(name), std::move(operators[i])));
      },
      [&](std::pair<std::string, std::vector<Cause>> found) {
        std::ranges::move(found.second, std::back_inserter(causes));
        begun(found.first);
      });
  std::ranges::stable_sort(causes, {}, [](const Cause& c) { return c.op->name; });
  const std::vector<Group> groups = without_many_small(grouped(std::move(causes)));
  std::vector<verdict::Defect> defects;
  runner::in_order(
      groups.size(), users, [&](std::size_t i) { return defect_of(case_runner, groups[i]); },
      [&](verdict::Defect d) { defects.push_back(std::move(d)); });
  std::ranges::sort(defects, verdict::is_more_serious);
  return defects;
}

}  // namespace assay::defects
