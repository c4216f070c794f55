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

// The sum of trials of causes, each weighted by the number of its cases. A trial without drawn calls has no weight.
class Weighed {
 public:
  Weighed& operator+=(const Cause& c) {
    const verdict::Trial& t = c.trial;
    const auto add = [&](std::uint64_t part, std::uint64_t whole, double& some, double& all) {
      if (whole == 0) return;
      const auto cases = static_cast<double>(c.cases.size());
      some += cases * static_cast<double>(part) / static_cast<double>(whole), all += cases;
    };
    add(t.alike, t.drawn, alike_, drawn_), add(t.spared, t.differing, spared_, differing_);
    calls_ += t.drawn;
    return *this;
  }
  Weighed& operator+=(const Weighed& w) {
    calls_ += w.calls_, drawn_ += w.drawn_, alike_ += w.alike_, differing_ += w.differing_, spared_ += w.spared_;
    return *this;
  }
  bool convinces() const {
    return calls_ >= verdict::fewest_drawn && alike_ >= verdict::convincing * drawn_ &&
           spared_ >= verdict::convincing * differing_;
  }

 private:
  std::uint64_t calls_ = 0;
  double drawn_ = 0, alike_ = 0, differing_ = 0, spared_ = 0;
};

// The name without the overload and without the underscore of operators that change an argument in place.
std::string_view base_name(const Operator& op) {
  const std::string_view name = op.name.substr(0, op.name.find('.'));
  return name.ends_with('_') ? name.substr(0, name.size() - 1) : name;
}

std::string kind(const Symptom& s) { return concat(verdict::name(s.verdict), ' ', verdict::name(s.failure)); }

// The endings of flags that several operators can share, whatever tensor or argument the flags are about.
constexpr std::array telling_of_inputs =
    std::to_array<std::string_view>({"has NaN", "has infinity", "has a negative zero", "has extreme numbers",
                                     "has subnormal numbers", "has numbers above 2^53"});
constexpr std::array telling_of_tensors = std::to_array<std::string_view>(
    {"has a size of 0", "has no dimensions", "is of wide unsigned integers", "is of a half type"});
constexpr std::array telling_of_arguments = std::to_array<std::string_view>(
    {"is true", "is no float32", "is no number of the first input's dtype", "is a bool where numbers are"});

bool is_about_layouts(const Literal& l) {
  const std::string& name = l.name.text();
  if (l.test == Literal::Test::holds) return name.ends_with(" is channels last");
  return l.test == Literal::Test::lacks && (name.starts_with("every dim order") || name.starts_with("the dim orders") ||
                                            name.ends_with(" is contiguous"));
}

// The part of a literal that operators can share, whatever the names of their arguments. For a broken rule, the name of
// its word. Empty if the literal tells too little.
std::string gist(const Literal& l) {
  const std::string& name = l.name.text();
  if (features::says_broken(name)) return name.substr(0, name.find('('));
  if (is_about_layouts(l)) return "not every dim order is contiguous";
  if (l.test != Literal::Test::holds) return {};
  const auto ends = [&](std::string_view says) { return name.ends_with(says); };
  if (ends(" has numbers that float32 lacks") || ends(" has numbers above 2^24"))
    return "an input or a result has numbers that float32 lacks";
  if (name.starts_with("a result ")) return {};
  if (const std::size_t at = name.rfind(" is "); at != std::string::npos && dtype_named(name.substr(at + 4)))
    return ends(" is uint16") || ends(" is uint32") || ends(" is uint64") ? "a tensor is of wide unsigned integers"
                                                                          : "a tensor" + name.substr(at);
  if (const auto at = std::ranges::find_if(telling_of_inputs, ends); at != telling_of_inputs.end())
    return concat("an input ", *at);
  if (const auto at = std::ranges::find_if(telling_of_tensors, ends); at != telling_of_tensors.end())
    return concat("a tensor ", *at);
  return ends(" somewhere") || std::ranges::any_of(telling_of_arguments, ends) ? name : std::string();
}

// For an invalid call that is accepted, the broken rule tells more than any other literal.
bool is_telling(const Symptom& s, const Literal& l) {
  return s.failure == verdict::Class::accepted_though_invalid ? features::says_broken(l.name) : !gist(l).empty();
}

using Shares = std::map<std::string, std::size_t>;  // numbers of cases

// What holds for nearly all failing cases of the causes.
std::vector<std::string> common(std::span<const Cause> causes, Shares (*shares)(const Cause&)) {
  Shares covered;
  std::size_t all = 0;
  for (const Cause& c : causes) {
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

// What causes may share if they are one defect, the most telling last.
struct Reasons {
  std::vector<std::string> all;
  std::size_t places = 0;  // the first `places` reasons tell where in the library the defect is repaired
  bool has_words = false;  // the library gave a message
};

// The first reasons are places: the operator (what remains of an operator that fails in one way is repaired in one
// place), the line of source, its function and message. Then follow all words of the predicate together, and the part
// of each literal that operators can share. If an invalid call is accepted, a check is missing, so the rule is a place,
// too.
Reasons reasons(const Cause& c) {
  if (c.symptom.verdict == verdict::Verdict::quality) return {{kind(c.symptom)}, 1, false};
  std::vector<std::string> found{concat("of ", base_name(*c.op))};
  if (!c.symptom.place.empty()) found.push_back("at " + c.symptom.place);
  std::ranges::move(common({&c, 1}, messages), std::back_inserter(found));
  const std::size_t places = found.size();
  if (c.predicate.size() > c.premises && c.trial.convinces(verdict::convincing)) found.push_back(words(c.predicate));
  std::ranges::move(common({&c, 1}, gists), std::back_inserter(found));
  for (std::string& reason : found) reason = concat(kind(c.symptom), ' ', reason);
  const bool lacks_check = c.symptom.failure == verdict::Class::accepted_though_invalid;
  const std::size_t all = found.size();
  return {std::move(found), lacks_check ? all : places, places > 1};
}

// A cause and the reasons that it may share with other causes.
struct Reasoned {
  Cause cause;
  Reasons reasons;
};

using Words = std::set<std::string>;
bool meet(const Words& a, const Words& b) {
  return std::ranges::any_of(a, [&](const std::string& word) { return b.contains(word); });
}

// Causes that are one defect.
struct Group {
  std::string key;  // the reason that its causes share
  std::vector<Cause> causes;
  std::vector<Words> places_of;  // the places of each cause
  Words reasons, places;         // the reasons and places of all its causes
  bool has_words = false;        // the library gave a message for at least one cause
  std::size_t cases = 0;
  Weighed tried;

  void add(Reasoned c) {
    cases += c.cause.cases.size(), tried += c.cause;
    const auto& [all, n, words] = c.reasons;
    has_words = has_words || words;
    places_of.emplace_back(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
    places.insert(places_of.back().begin(), places_of.back().end());
    reasons.insert(all.begin(), all.end());
    causes.push_back(std::move(c.cause));
  }
  void add(Group g) {
    cases += g.cases, tried += g.tried, has_words = has_words || g.has_words;
    reasons.merge(g.reasons), places.merge(g.places);
    std::ranges::move(g.places_of, std::back_inserter(places_of));
    std::ranges::move(g.causes, std::back_inserter(causes));
  }

  // Whether repairing the places of the other group repairs nearly all cases of this one.
  bool is_mended_with(const Group& g) const {
    std::size_t there = 0;
    for (std::size_t i = 0; i < causes.size(); ++i)
      if (meet(places_of[i], g.places)) there += causes[i].cases.size();
    return static_cast<double>(there) >= nearly_all * static_cast<double>(cases);
  }
};

// Groups causes that share a reason. The reason that most causes share is taken first.
std::vector<Group> grouped(std::vector<Reasoned> causes) {
  std::vector<Group> groups;
  while (!causes.empty()) {
    // By reason: the number of causes that have it, and its last rank among their reasons.
    std::map<std::string, std::pair<std::size_t, std::size_t>> shared;
    for (const Reasoned& c : causes) {
      for (std::size_t k = 0; k < c.reasons.all.size(); ++k) {
        auto& [number, place] = shared[c.reasons.all[k]];
        ++number, place = std::max(place, k);
      }
    }
    const auto most = std::ranges::max_element(shared, {}, [](const auto& s) { return s.second; });
    const auto others = std::stable_partition(causes.begin(), causes.end(), [&](const Reasoned& c) {
      return std::ranges::count(c.reasons.all, most->first) > 0;
    });
    Group& g = groups.emplace_back();
    g.key = most->first;
    for (auto c = causes.begin(); c != others; ++c) g.add(std::move(*c));
    causes.erase(causes.begin(), others);
  }
  return groups;
}

verdict::Trial trial_of(const Group& g) {
  verdict::Trial all;
  for (const Cause& c : g.causes) all += c.trial;
  return all;
}

// Whether some drawn calls contradict the cause, however few.
bool is_doubtful(const Cause& c) {
  const auto some = [](std::uint64_t part, std::uint64_t whole) {
    return static_cast<double>(part) < verdict::convincing * static_cast<double>(whole);
  };
  return some(c.trial.alike, c.trial.drawn) || some(c.trial.spared, c.trial.differing);
}

// Joins a group to a larger one if both together convince and the repair of the larger one repairs nearly all of it.
// The groups that convince alone and join a larger group have in total at most as many cases as the larger group had
// alone. A group that does not convince alone and for which the library gave no message may also join a group that
// shares any reason.
std::vector<Group> joined(std::vector<Group> groups) {
  std::ranges::sort(groups, {}, [](const Group& g) { return std::tuple(-static_cast<Int>(g.cases), g.key); });
  std::vector<Group> kept;
  std::vector<std::size_t> room;  // by kept group: the number of cases that may still join it
  for (Group& g : groups) {
    const auto convince = [&](const Group& host) {
      Weighed both = host.tried;
      both += g.tried;
      return both.convinces();
    };
    const auto has_room = [&](const Group& host) {
      return !g.tried.convinces() || g.cases <= room[static_cast<std::size_t>(&host - kept.data())];
    };
    auto host =
        std::ranges::find_if(kept, [&](const Group& h) { return has_room(h) && g.is_mended_with(h) && convince(h); });
    if (host == kept.end() && !g.tried.convinces() && !g.has_words)
      host = std::ranges::find_if(kept, [&](const Group& h) { return meet(g.reasons, h.reasons) && convince(h); });
    if (host == kept.end()) {
      room.push_back(g.cases);
      kept.push_back(std::move(g));
    } else {
      std::size_t& left = room[static_cast<std::size_t>(host - kept.begin())];
      left -= std::min(left, g.cases);
      host->add(std::move(g));
    }
  }
  return kept;
}

// Groups doubtful causes apart, so that they do not make the other groups doubtful.
std::vector<Group> all_grouped(std::vector<Cause> causes) {
  std::vector<Reasoned> certain, doubtful;
  for (Cause& c : causes) {
    Reasons why = reasons(c);
    (is_doubtful(c) ? doubtful : certain).push_back({std::move(c), std::move(why)});
  }
  std::vector<Group> groups = grouped(std::move(certain));
  for (Group& g : grouped(std::move(doubtful))) {
    g.key += ", or nearly so";
    groups.push_back(std::move(g));
  }
  return joined(std::move(groups));
}

// The conditions under which its cases fail, the condition of most cases first.
std::vector<std::string> ways_of(const Group& g) {
  std::map<std::string, std::size_t> cases;
  for (const Cause& c : g.causes) cases[words(c.predicate)] += c.cases.size();
  std::vector<std::string> ways;
  for (const auto& [way, number] : cases) ways.push_back(way);
  std::ranges::stable_sort(ways, std::greater(), [&](const std::string& way) { return cases[way]; });
  return ways;
}

// The condition of a group with one way to fail. Else what its causes share, or the way of most cases and the number of
// the other ways.
std::string when(const Group& g, const std::vector<std::string>& ways) {
  if (g.causes[0].symptom.verdict == verdict::Verdict::quality) return "in some calls";
  if (ways.size() == 1) return ways[0];
  if (const auto shared = common(g.causes, gists); !shared.empty())
    return fmt::format("whenever {}, and more that depends on the call", fmt::join(shared, " and "));
  const std::string mostly =
      fmt::format("{}, or in {} other {}", ways[0], ways.size() - 1, ways.size() == 2 ? "way" : "ways");
  const auto said = common(g.causes, messages);
  return said.empty() ? mostly : fmt::format("{}, most often {}", fmt::join(said, ", "), mostly);
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
  verdict::Record found = case_runner.run_alone(failing.id, runner::Detail::all).record;
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
    trials.run_while({&id, 1}, case_runner.time_limit(),
                     [&](const runner::Judged& j) { return alike = is_alike(j.record), true; });
    if (alike) smallest = *candidate;
    search.answer(alike);
  }
  if (!smallest) return found;
  verdict::Record alone = case_runner.run_alone(*smallest, runner::Detail::all).record;
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
  d.ways = ways_of(group);
  d.when = when(group, d.ways);
  if (d.ways.size() == 1) d.ways.clear();
  d.trial = trial_of(group);
  d.explained = group.tried.convinces();
  d.verdict = group.causes[0].symptom.verdict, d.failure = group.causes[0].symptom.failure;
  d.smallest = case_runner ? is_serious(d) ? shrunk(*case_runner, smallest(failing))
                                           : case_runner->run_alone(smallest(failing).id, runner::Detail::all).record
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
  const std::vector<Group> groups = all_grouped(std::move(causes));
  std::vector<verdict::Defect> defects;
  runner::in_order(
      groups.size(), users, [&](std::size_t i) { return defect_of(case_runner, groups[i]); },
      [&](verdict::Defect d) { defects.push_back(std::move(d)); });
  std::ranges::sort(defects, verdict::is_more_serious);
  return defects;
}

}  // namespace assay::defects
