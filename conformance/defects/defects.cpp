#include "conformance/defects/defects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "conformance/cases/shrink.h"
#include "conformance/cases/special_numbers.h"
#include "conformance/cases/tensors.h"
#include "conformance/defects/neighbours.h"
#include "conformance/runner/parallel.h"
#include "conformance/text/digest.h"
#include "conformance/text/printable.h"

namespace assay::defects {
namespace {

constexpr double nearly_all = 0.8;
constexpr std::size_t most_operators = 16;    // of a defect, whose messages are compared with that of the smallest call
constexpr std::size_t most_of_one_check = 8;  // operators at a source line that checks one thing
constexpr std::size_t most_messages = 6;      // of other operators that are told beside it
constexpr Int most_sizes = 4;                 // distinct sizes of the smallest call that are made smaller
constexpr std::size_t most_simplifications = 16;
constexpr std::size_t most_text_of_call = 160;  // characters of the inputs of a call, and of its results, in a sentence

std::string failure_of(const Symptom& s) {
  return concat(verdict::name(s.verdict), ' ', verdict::name(s.failure), s.circumstance.empty() ? "" : " ",
                s.circumstance);
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
bool is_text(std::string_view reason) { return reason.starts_with("saying "); }

// The literals that tell how the elements of two operands are related. Operators that share such a literal fail for the
// same reason, even if other literals differ, or if one operator alone has too few cases to tell.
std::vector<Literal> relations(const Cause& c) {
  std::vector<Literal> found;
  const std::span<const Literal> told = c.is_found ? std::span(c.predicate).subspan(c.premises) : std::span(c.common);
  for (const Literal& l : told)
    if (l.test == Literal::Test::holds && l.name.text().ends_with(" somewhere")) found.push_back(l);
  return found;
}

// The most serious tier of its cases.
verdict::Tier tier(const Cause& c) { return std::ranges::min_element(c.cases, {}, &JudgedCase::tier)->tier; }

// Mistakes that are one defect, though the kernels make them in different manners.
struct Family {
  std::string_view does;  // what its causes do together
  bool (*has)(const Cause&);
};
constexpr auto families = std::to_array<Family>({
    {"compute float64 results in float32",
     [](const Cause& c) {
       return c.does.starts_with("compute float64 results") || c.does == "hold float64 numbers as float32";
     }},
});

// Whether the predicate has a literal that is told, beside the premises.
bool tells_more(const Cause& c) {
  return !std::ranges::all_of(std::span(c.predicate).subspan(c.premises), goes_without_saying);
}

// What a condition is about: "layouts", "dtypes", "ranks", "sizes", or the argument that it names.
std::string topic_of(const Literal& l) {
  const std::string_view name = l.name;
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (has("dim order") || has("contiguous") || has("channels last")) return "layouts";
  if (has("dimensions") || has("rank")) return "ranks";
  if (has("size") || has("number of elements")) return "sizes";
  if (has("dtype") || has("integers") || has("floating") || has("complex") || has("half type")) return "dtypes";
  if (has(" is ") && dtype_named(name.substr(name.rfind(' ') + 1))) return "dtypes";
  const std::string_view subject = name.substr(0, name.find(' '));
  return std::string(subject == "the" ? name.substr(name.rfind(' ') + 1) : subject);
}

// Whether the promised calls of a cause are invalid ones.
bool is_of_invalid_calls(const Cause& c) {
  const verdict::Tier most = tier(c);
  return most >= verdict::Tier::invalid_damage && most <= verdict::Tier::invalid_aborted;
}

// Source lines that many operators share. Calls fail there for several reasons.
using SharedPlaces = std::set<std::string>;
SharedPlaces shared_places(const std::vector<Cause>& causes) {
  std::map<std::string, std::set<const Operator*>> operators;
  for (const Cause& c : causes) operators[c.symptom.place].insert(c.op);
  SharedPlaces found;
  for (const auto& [place, all] : operators)
    if (all.size() > most_of_one_check) found.insert(place);
  return found;
}

// What the conditions of a cause are about, if this tells why its calls fail at a source line; otherwise one that is
// empty.
std::set<std::string> topics(const Cause& c, const SharedPlaces& shared) {
  std::set<std::string> found;
  if (c.is_found && shared.contains(c.symptom.place) && !is_of_invalid_calls(c))
    for (const Literal& l : std::span(c.predicate).subspan(c.premises))
      if (!goes_without_saying(l)) found.insert(topic_of(l));
  return found.empty() ? std::set<std::string>{""} : found;
}

// The function in which calls abort that are to be refused: it has to return an error, whatever it looks at. Empty if
// some of the calls are valid, or if no function is known.
std::string aborts_in(const Cause& c) {
  const auto is_invalid = [](const JudgedCase& s) { return s.tier == verdict::Tier::invalid_aborted; };
  if (c.symptom.place.empty() || !std::ranges::all_of(c.cases, is_invalid)) return "";
  const std::vector<std::string> said = messages(c.cases);
  const auto function = std::ranges::find_if(said, [](const std::string& s) { return s.starts_with("in "); });
  return function == said.end() ? "" : *function;
}

// Whether the rule that invalid calls break asks that a number fits a dtype: one check is missing in all operators.
bool is_about_range(const Cause& c) {
  constexpr auto words = std::to_array<std::string_view>(
      {"scalar_fits", "negated_scalar_fits", "scalar_computes", "scales_within", "limit_fits", "has_integer"});
  const auto rule = std::ranges::find(c.op->rules, c.symptom.rule, &Rule::id);
  return rule != c.op->rules.end() && std::ranges::find(words, rule->word) != words.end();
}

// What causes share if they are one defect, the most telling last: a line of the library's source, its message, what
// the kernels do, and when. A cause that was not found shares nothing.
std::vector<std::string> reasons(const Cause& c, const SharedPlaces& shared) {
  const std::string kind = failure_of(c.symptom);
  if (c.symptom.verdict == verdict::Verdict::quality) return {kind};
  if (!c.is_sought) return {concat(kind, ' ', verdict::name(tier(c)))};
  if (!c.symptom.rule.empty()) {  // one check is missing for all rules on an argument, and for one word of an entry
    const auto rule = std::ranges::find(c.op->rules, c.symptom.rule, &Rule::id);
    const std::string_view word = rule == c.op->rules.end() ? c.symptom.rule : rule->word;
    if (is_about_range(c)) return {concat(kind, " of numbers out of range")};
    return {concat(kind, " by ", word, " of ", c.op->name),
            concat(kind, ' ', features::subject_of(*c.op, c.symptom.rule).text())};
  }
  if (const std::string function = aborts_in(c); !function.empty())
    return {concat(kind, " of invalid calls ", function)};
  std::vector<std::string> found;
  for (const Family& f : families)
    if (f.has(c)) found.emplace_back(f.does);
  if (!c.does.empty()) {
    if (c.is_mistake) found.push_back(c.does);
    found.push_back(concat(c.does, ' ', words(c.predicate)));
    return found;
  }
  for (const Literal& relation : relations(c)) found.push_back(concat(kind, " where ", words(relation)));
  if (!c.symptom.place.empty()) found.push_back(concat(kind, " at ", c.symptom.place, " of ", c.op->name));
  const std::string when = c.is_found && tells_more(c) ? words(c.predicate) : "";
  if (!when.empty()) found.push_back(concat(kind, ' ', when));
  // Many operators have one check. Calls that do not meet it for another reason have another cause.
  const std::vector<std::string> said = messages(c.cases);
  const bool has_text = std::ranges::any_of(said, is_text);
  for (const std::string& reason : said)
    if (!has_text || is_text(reason))
      for (const std::string& topic : topics(c, shared)) found.push_back(concat(kind, ' ', reason, " on ", topic));
  if (found.empty()) found.push_back(concat(kind, " of ", c.op->name));
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
  bool is_of_relation() const { return key.find(" where ") != std::string::npos; }
  std::size_t cases() const {
    std::size_t all = 0;
    for (const Cause& c : causes) all += c.cases.size();
    return all;
  }
};

// Groups causes that share a reason. The reason that most causes share is taken first.
std::vector<Group> grouped(std::vector<Cause> causes) {
  const SharedPlaces places = shared_places(causes);
  std::vector<Group> groups;
  while (!causes.empty()) {
    // By reason: the number of causes that have it, and its last rank among their reasons.
    std::map<std::string, std::pair<std::size_t, std::size_t>> shared;
    for (const Cause& c : causes) {
      const std::vector<std::string> all = reasons(c, places);
      for (std::size_t k = 0; k < all.size(); ++k) {
        auto& [number, place] = shared[all[k]];
        ++number, place = std::max(place, k);
      }
    }
    const auto most = std::ranges::max_element(shared, {}, [](const auto& s) { return s.second; });
    const auto others = std::stable_partition(causes.begin(), causes.end(), [&](const Cause& c) {
      return std::ranges::count(reasons(c, places), most->first) > 0;
    });
    groups.push_back({most->first, {std::make_move_iterator(causes.begin()), std::make_move_iterator(others)}});
    causes.erase(causes.begin(), others);
  }
  return groups;
}

// The promised case with the fewest elements, then with the shortest id.
const JudgedCase& smallest(const std::vector<JudgedCase>& cases) {
  const auto size = [](const JudgedCase& s) {
    const std::string id = cases::to_text(s.id);
    return std::tuple(!s.promised, s.tier, s.elements, id.size(), id);
  };
  return *std::ranges::min_element(cases, {}, size);
}

verdict::Record named(const JudgedCase& s) {
  verdict::Record r;
  r.operator_name = s.id.operator_name, r.case_id = cases::to_text(s.id);
  r.verdict = s.verdict, r.failure = s.symptom.failure;
  return r;
}

// Mutations that make a call plainer: sizes of 1, 2 and 3, and plain numbers in place of rare ones.
std::vector<cases::Mutation> simplifications(const cases::Case& c) {
  std::vector<cases::Mutation> all;
  std::set<Int> sizes;
  cases::each_tensor(std::span(c.arguments).first(c.arguments.size() - c.op->outs()),
                     [&](const Tensor& t, std::size_t) { sizes.insert(t.sizes.begin(), t.sizes.end()); });
  for (Int k = 0; k < std::min<Int>(std::ssize(sizes), most_sizes); ++k)
    for (const Int n : {1, 2, 3}) all.push_back({cases::Mutation::Kind::extents, {k, n, 1}});
  for (std::size_t i = 0; i + c.op->outs() < c.arguments.size(); ++i)
    std::ranges::copy_if(
        cases::plain_numbers_of(*c.op, c.arguments, i), std::back_inserter(all),
        [](const cases::Mutation& m) { return cases::special_numbers[static_cast<std::size_t>(m.n[1])].is_rare; });
  if (all.size() > most_simplifications) all.resize(most_simplifications);
  return all;
}

// A simpler call that fails alike for the same cause; if none is found, the given call.
verdict::Record shrunk(runner::CaseRunner& case_runner, const cases::Corpus& corpus, const Cause& cause,
                       const JudgedCase& failing) {
  const bool hangs = failing.verdict == verdict::Verdict::timeout;
  verdict::Record found = case_runner.run_alone(failing.id, runner::Detail::all, hangs).record;
  const bool has_wrong_results = found.valid && !hides_results(failing.symptom);
  if (!has_wrong_results && failing.id.mutations.empty()) return found;
  const auto is_alike = [&](const verdict::Record& r) {
    return r.verdict == found.verdict && symptom_of(r) == failing.symptom;
  };
  const auto shows_cause = [&](const cases::CaseId& id, runner::Judged& j) {
    if (!verdict::is_failure(j.record.verdict)) return false;
    const cases::HostCall call = cases::host_call(corpus.make(id));
    j.record.valid = call.valid();
    return is_alike(j.record) && cause.shows(call, j);
  };
  std::optional<cases::CaseId> smallest;
  runner::Trials trials(case_runner.children(), runner::Detail::answer);
  cases::Shrinker search(failing.id);
  while (const auto candidate = search.next()) {
    const std::string id = cases::to_text(*candidate);
    bool alike = false;
    trials.run_while({&id, 1}, case_runner.children().patience().short_limit(),
                     [&](runner::Judged j) { return alike = shows_cause(*candidate, j), true; });
    if (alike) smallest = *candidate;
    search.answer(alike);
  }
  // What results are computed from is seen in few plain numbers.
  const auto elements = [&](const cases::CaseId& id) {
    Int all = 0;
    cases::each_tensor(corpus.make(id).arguments, [&](const Tensor& t, std::size_t) { all += t.count(); });
    return all;
  };
  if (has_wrong_results)
    for (const cases::Mutation& m : simplifications(corpus.make(smallest.value_or(failing.id)))) {
      cases::CaseId simpler = smallest.value_or(failing.id);
      const Int before = elements(simpler);
      simpler.mutations.push_back(m);
      const bool shrinks = m.kind == cases::Mutation::Kind::extents;
      if (const Int now = elements(simpler); now == 0 || (shrinks ? now >= before : now != before)) continue;
      const std::string id = cases::to_text(simpler);
      bool alike = false;
      trials.run_while({&id, 1}, case_runner.children().patience().short_limit(),
                       [&](runner::Judged j) { return alike = shows_cause(simpler, j), true; });
      if (alike) smallest = std::move(simpler);
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

// "accept forbidden values of stride and padding": what the rules are about that a group of causes does not keep.
std::string accepts(const Group& g) {
  std::set<std::string> arguments;
  const std::string aspect = features::subject_of(*g.causes[0].op, g.causes[0].symptom.rule).aspect;
  for (const Cause& c : g.causes) {
    const features::RuleSubject s = features::subject_of(*c.op, c.symptom.rule);
    if (s.aspect != aspect) return "accept invalid calls";
    arguments.insert(s.arguments.begin(), s.arguments.end());
  }
  const std::vector<std::string> names(arguments.begin(), arguments.end());
  if (std::ranges::all_of(g.causes, is_about_range))
    return concat("accept values of ", features::listed(names), " that do not fit the dtype");
  return concat("accept forbidden ", aspect, names.empty() ? "" : " of ", features::listed(names));
}

// What all causes of a group do; empty if they do no more than their symptom says. Of a family in one operator, what it
// does in most cases.
std::string does(const Group& g) {
  const Cause& first = g.causes[0];
  if (first.symptom.failure == verdict::Class::accepted_though_invalid && !first.symptom.rule.empty())
    return accepts(g);
  if (std::ranges::all_of(g.causes, [&](const Cause& c) { return c.does == first.does; })) return first.does;
  const Cause& most = *std::ranges::max_element(g.causes, {}, [](const Cause& c) { return c.cases.size(); });
  const bool is_one = std::ranges::all_of(g.causes, [&](const Cause& c) { return c.op == first.op; });
  return is_one && !most.does.empty() ? most.does : g.key;
}

// The condition that the causes share, as "whenever self has NaN"; empty if they share none.
std::string condition(const Group& g, const std::string& does) {
  const Cause& first = g.causes[0];
  for (Predicate Cause::*told : {&Cause::named, &Cause::predicate}) {
    if (!g.is_found()) break;
    const auto differs = [&](const Cause& c) { return words(c.*told) != words(first.*told); };
    if (std::ranges::any_of(g.causes, differs)) continue;
    const std::string shared = words(first.*told);
    const verdict::Trial all = g.trial();
    if (shared != "always") return shared;
    return !does.empty() || !first.symptom.place.empty() ? "" : all.alike < all.drawn ? "in most calls" : shared;
  }
  if (!does.empty()) return does == first.does ? "in some calls" : "";
  for (const Literal& relation : relations(first))
    if (g.key.ends_with(" where " + words(relation))) return "in some calls where " + words(relation);
  std::map<std::string, std::size_t> conditions;  // with their cases
  for (const Cause& c : g.causes)
    if (c.is_found && tells_more(c)) conditions[words(c.named)] += c.cases.size();
  if (conditions.empty()) return "";
  const auto& [most, cases] = *std::ranges::max_element(conditions, {}, [](const auto& m) { return m.second; });
  return 2 * cases >= g.cases() ? concat("mostly when ", std::string_view(most).substr(most.find(' ') + 1)) : "";
}

// What the library says in nearly all of the cases, in the words of the smallest: "saying '…'", or the source line.
std::string said(const Group& g, const std::vector<JudgedCase>& failing, const verdict::Record& smallest,
                 bool has_condition) {
  const std::string& place = g.causes[0].symptom.place;
  if (place.empty()) return "";
  std::vector<std::string> said = messages(failing);
  const auto text = std::ranges::find_if(said, is_text);
  const std::vector<std::string> own = reasons_in(smallest);
  if (text == said.end() && std::ranges::any_of(own, is_text))
    return fmt::format("{}saying for example '{}'", has_condition || said.empty() ? "" : said[0] + ", ",
                       quoted(smallest));
  if (text == said.end()) return has_condition ? "" : said.empty() ? "at " + place : said[0];
  if (std::ranges::find(own, *text) != own.end()) *text = fmt::format("saying '{}'", quoted(smallest));
  return *text;
}

// The condition behind `unless` of the rule that an invalid call breaks, as ", unless empty(self)": a kernel that
// always keeps the rule refuses valid calls. Empty if the rule has none.
std::string exception_of(const verdict::Record& invalid) {
  const Operator* op = find_operator(invalid.operator_name);
  if (!op) return "";
  const auto rule = std::ranges::find(op->rules, invalid.rule, &Rule::id);
  const std::size_t at = rule == op->rules.end() ? std::string_view::npos : rule->sentence.find(" unless ");
  return at == std::string_view::npos ? "" : concat(",", rule->sentence.substr(at));
}

// "such as: exponent is 300, …", with the operator of the smallest call where there are several.
std::string such_as(const verdict::Defect& d) {
  const std::string which = d.operators.size() > 1 ? concat(", in ", d.smallest.operator_name) : "";
  return concat("such as", which, ": ", demand(d.smallest), exception_of(d.smallest));
}

// The condition of each operator, where those of a group differ. Where an operator refuses calls at one line under
// several conditions, its message tells more.
std::string own_condition(const Group& group, const Cause& c) {
  const auto differs = [&](const Cause& other) { return words(other.named) != words(c.named); };
  const bool has_several = std::ranges::count(group.causes, c.op, &Cause::op) > 1;
  if (c.symptom.place.empty() || !c.is_found || has_several || !tells_more(c) ||
      std::ranges::none_of(group.causes, differs))
    return "";
  return words(c.named);
}

// What operators of a group say, which demands their invalid calls do not meet, and when their calls fail, where it
// differs from what is told of the group and its smallest call.
std::vector<std::string> told_of_others(runner::CaseRunner& case_runner, const Group& group,
                                        const verdict::Record& of_smallest) {
  const bool by_demand = !group.causes[0].symptom.rule.empty() || !aborts_in(group.causes[0]).empty();
  if (!by_demand && !hides_results(symptom_of(of_smallest))) return {};
  const auto told_by = [&](const verdict::Record& r) {
    if (by_demand) return demand(r).empty() ? "" : concat(": ", demand(r), exception_of(r));
    return quoted(r).empty() ? "" : concat(", the message is '", text::printable(quoted(r)), '\'');
  };
  const std::string known = without_numbers(told_by(of_smallest));
  struct Told {
    std::string first;  // with the numbers of the first operator
    std::vector<std::string_view> operators;
  };
  std::map<std::string, Told> all;  // by the condition and the message without numbers
  std::size_t asked = 0;
  for (const Cause& c : group.causes) {
    const std::string condition = by_demand ? "" : own_condition(group, c);
    std::string told;
    const bool is_other = c.op->name != of_smallest.operator_name ||
                          (!c.symptom.rule.empty() && c.symptom.rule != symptom_of(of_smallest).rule);
    if (is_other && asked++ < most_operators) {
      const JudgedCase& some = smallest(c.cases);
      const bool hangs = some.verdict == verdict::Verdict::timeout;
      told = told_by(case_runner.run_alone(some.id, runner::Detail::all, hangs).record);
      if (without_numbers(told) == known) told.clear();
    }
    const std::string kind = concat(condition, without_numbers(told));
    if (!condition.empty()) told = concat(told.empty() ? ": " : ", ", condition, told);
    if (!told.empty()) all.try_emplace(kind, Told{told, {}}).first->second.operators.push_back(c.op->name);
  }
  std::vector<std::string> sentences;
  for (const auto& [kind, told] : all)
    if (sentences.size() < most_messages)
      sentences.push_back(fmt::format("In {}{}", fmt::join(told.operators, ", "), told.first));
  return sentences;
}

// The inputs of a small call whose value is not their default, as "self [1,2]:f32, dim 0"; empty if they are many.
std::string short_inputs(const Operator& op, std::span<const Value> arguments) {
  std::string all;
  for (std::size_t i = 0; i + op.outs() < op.arguments.size(); ++i) {
    const SchemaArgument& a = op.arguments[i];
    const std::string text = text::literal(arguments[i], a.type);
    if (text != a.default_text) all += fmt::format("{}{} {}", all.empty() ? "" : ", ", a.name, text);
    if (all.size() > most_text_of_call) return "";
  }
  return all;
}

// What is wrong in the smallest call whose cause is not known: "for self [1,2]:f32, out is [2,1]:f32, but must be
// [1,2]:f32" if the call is small, else "out at (1, 3) is 2, but must be 3".
std::string example(runner::CaseRunner* case_runner, const cases::Corpus& corpus, const verdict::Record& r) {
  if (r.verdict != verdict::Verdict::fail || hides_results(symptom_of(r))) return "";
  const std::string of_element = r.message.substr(0, r.message.find(" (exactly "));
  if (!case_runner || r.failure != verdict::Class::value) return of_element;
  const cases::Case c = corpus.make(cases::case_id_from(r.case_id));
  const cases::HostCall call = cases::host_call(c);
  const std::string inputs = short_inputs(*c.op, call.arguments);
  const std::vector<Tensor>& right = call.expected.outs;
  if (inputs.empty() || !call.valid()) return of_element;
  const runner::Judged answer = case_runner->run_alone(cases::case_id_from(r.case_id), runner::Detail::answer);
  if (answer.outs.size() != right.size()) return of_element;
  for (std::size_t k = 0; k < right.size(); ++k) {
    if (answer.outs[k].bytes == right[k].bytes) continue;
    const std::string_view name =
        c.op->outs() == right.size() ? c.op->arguments[c.op->arguments.size() - c.op->outs() + k].name : "the result";
    const std::string got = text::literal(answer.outs[k]), wanted = text::literal(right[k]);
    if (got.size() + wanted.size() > most_text_of_call) return of_element;
    return fmt::format("with {}, {} is {}, but must be {}", inputs, name, got, wanted);
  }
  return of_element;
}

std::string without_cause(const verdict::Defect& d, const Group& g, const std::string& shown) {
  const bool is_sought = g.causes[0].is_sought;
  if (d.tier == verdict::Tier::near)
    return fmt::format("in {} call{}, with errors of {}", d.cases, d.cases == 1 ? "" : "s", how_far(d));
  if (d.cases == 1) return shown.empty() ? "in one call" : "in one call: " + shown;
  std::string facts;  // that are certain, but need not be the cause
  if (g.causes.size() == 1)
    for (const Literal& l : g.causes[0].common) facts += (facts.empty() ? ", but in all of them " : " and ") + words(l);
  return fmt::format("in {} calls; no {}{}{}", d.cases, is_sought ? "common cause was found" : "cause was looked for",
                     facts, shown.empty() ? "" : "; in the smallest, " + shown);
}

// Whether the promised calls of a group had to be refused with an error.
bool aborts_on_invalid(const Group& g) {
  verdict::Tier most = verdict::Tier::none;
  for (const Cause& c : g.causes) most = std::min(most, tier(c));
  return g.causes[0].symptom.verdict == verdict::Verdict::crash && most >= verdict::Tier::invalid_damage &&
         most <= verdict::Tier::invalid_aborted;
}

// When the calls of a defect fail, from its other fields.
std::string when(const Group& g, const verdict::Defect& d, const std::vector<JudgedCase>& failing,
                 const std::function<std::string()>& shown) {
  const Cause& first = g.causes[0];
  if (d.verdict == verdict::Verdict::quality) return "in some calls";
  if (!demand(d.smallest).empty()) {
    if (d.failure == verdict::Class::accepted_though_invalid) return such_as(d);
    if (const std::string function = aborts_in(first); !first.symptom.rule.empty() || !function.empty())
      return concat(function, function.empty() ? "" : " ", "in invalid calls, ", such_as(d));
  }
  if (!g.is_found() && first.symptom.place.empty() && !g.is_of_relation()) return without_cause(d, g, shown());
  std::string when = condition(g, d.does);
  if (aborts_on_invalid(g)) when = concat("in invalid calls", when.empty() ? "" : " ", when);
  const bool is_whole = when.starts_with("in ") || (when.empty() && !first.symptom.place.empty());
  constexpr std::string_view whenever = "whenever ";
  const bool has_condition = when.starts_with(whenever);
  if (std::ranges::any_of(g.causes, &Cause::is_partly_told)) {  // a condition in what the cause does says so itself
    if (has_condition) when = concat("in some calls where ", std::string_view(when).substr(whenever.size()));
  } else if (!d.explained && !is_whole && g.is_found() && d.trial.convinces(verdict::likely)) {
    when = has_condition ? concat("in most calls where ", std::string_view(when).substr(whenever.size()))
                         : concat(when, when.empty() ? "" : " ", "in most calls");
  }
  const bool is_of_few = static_cast<double>(d.trial.alike) < verdict::likely * static_cast<double>(d.trial.drawn);
  if (when.empty() && first.is_foretold && is_of_few) when = "in some calls";
  if (const std::string words = said(g, failing, d.smallest, !when.empty()); !words.empty())
    when += (when.empty() ? "" : ", ") + words;
  return when;
}

// The circumstance of a group, with its numbers if all cases share it.
std::string circumstance(const Symptom& symptom, const std::vector<JudgedCase>& failing) {
  const auto differs = [&](const JudgedCase& s) { return s.circumstance != failing[0].circumstance; };
  return std::ranges::any_of(failing, differs) ? symptom.circumstance : failing[0].circumstance;
}

// "it refuses valid calls (18 cases), reads outside of the memory it was given (3 cases)": how the calls of a defect
// fail, the most frequent way first.
std::string ways_of(const std::vector<JudgedCase>& failing) {
  std::map<std::string_view, std::size_t> numbers;
  for (const JudgedCase& s : failing) ++numbers[verdict::effect(s.verdict, s.symptom.failure)];
  std::vector<std::pair<std::size_t, std::string_view>> ways;
  for (const auto& [way, number] : numbers) ways.emplace_back(number, way);
  std::ranges::stable_sort(ways, std::greater(), &std::pair<std::size_t, std::string_view>::first);
  std::string all;
  for (const auto& [number, way] : ways)
    all += fmt::format("{}{} ({} case{})", all.empty() ? "it " : ", ", way, number, number == 1 ? "" : "s");
  return all;
}

// What is told of cases with wrong results that the mistake beside them does not explain.
std::string told_of_unexplained(const std::vector<JudgedCase>& some) {
  if (some.empty()) return "";
  const std::string id = cases::to_text(smallest(some).id);
  if (some.size() == 1) return fmt::format("; it does not explain the failure of {}", id);
  return fmt::format("; it does not explain {} of the failures, such as that of {}", some.size(), id);
}

verdict::Defect defect_of(runner::CaseRunner* case_runner, const cases::Corpus& corpus, const Group& group) {
  verdict::Defect d;
  std::set<std::string> operators;
  std::vector<JudgedCase> failing, unexplained;
  for (const Cause& c : group.causes) {
    operators.emplace(c.op->name);
    std::ranges::copy(c.cases, std::back_inserter(failing));
    std::ranges::copy(c.unexplained, std::back_inserter(unexplained));
  }
  d.operators.assign(operators.begin(), operators.end());
  d.known = true;
  for (const auto* some : {&failing, &unexplained})
    for (const JudgedCase& s : *some) {
      d.tier = std::min(d.tier, s.tier), d.known = d.known && s.known, d.promised_cases += s.promised;
      if (s.distance) d.distance = std::max(d.distance.value_or(0), *s.distance);
      d.case_ids.push_back(cases::to_text(s.id));
    }
  d.cases = d.case_ids.size();
  d.verdict = group.causes[0].symptom.verdict, d.failure = group.causes[0].symptom.failure;
  d.does = does(group);
  d.trial = group.trial();
  d.explained = group.is_found() && d.trial.convinces(verdict::convincing);
  // Calls in which a mistake has other consequences do not show it.
  std::vector<JudgedCase> alike;
  std::ranges::copy_if(failing, std::back_inserter(alike),
                       [&](const JudgedCase& s) { return s.symptom.failure == d.failure && s.verdict == d.verdict; });
  const JudgedCase& simplest = smallest(alike.empty() ? failing : alike);
  const auto has_simplest = [&](const Cause& c) {
    return std::ranges::find(c.cases, simplest.id, &JudgedCase::id) != c.cases.end();
  };
  if (!case_runner)
    d.smallest = named(simplest);
  else if (is_serious(d))
    d.smallest = shrunk(*case_runner, corpus, *std::ranges::find_if(group.causes, has_simplest), simplest);
  else
    d.smallest =
        case_runner->run_alone(simplest.id, runner::Detail::all, d.verdict == verdict::Verdict::timeout).record;
  if (case_runner && is_serious(d)) {
    d.neighbours = told_of_others(*case_runner, group, d.smallest);
    std::ranges::move(neighbours_of(*case_runner, corpus, d.smallest), std::back_inserter(d.neighbours));
  }
  const Symptom& symptom = group.causes[0].symptom;
  d.when = when(group, d, failing, [&] { return example(case_runner, corpus, d.smallest); });
  if (!symptom.circumstance.empty())
    d.when = concat(circumstance(symptom, failing), d.when.empty() || d.when == "always" ? "" : " ",
                    d.when == "always" ? "" : d.when);
  if (d.does == "fail") d.when = concat(d.when, ": ", ways_of(failing));
  d.when += told_of_unexplained(unexplained);
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
  const std::vector<Group> groups = grouped(std::move(causes));
  std::vector<verdict::Defect> defects;
  runner::in_order(
      groups.size(), users, [&](std::size_t i) { return defect_of(case_runner, corpus, groups[i]); },
      [&](verdict::Defect d) { defects.push_back(std::move(d)); });
  std::ranges::sort(defects, verdict::is_more_serious);
  return defects;
}

}  // namespace assay::defects
