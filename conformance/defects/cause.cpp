#include "conformance/defects/cause.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <span>

#include "conformance/cases/special_numbers.h"
#include "conformance/cases/tensors.h"
#include "conformance/defects/draw.h"
#include "conformance/defects/explain.h"
#include "conformance/defects/hypothesis.h"
#include "conformance/sandbox/probe.h"
#include "conformance/text/digest.h"
#include "conformance/text/literal.h"

namespace assay::defects {
namespace {

constexpr std::size_t most_drawn = 20;      // calls that test a predicate, and as many that differ in one literal
constexpr std::size_t most_unexpected = 1;  // calls among them with another result than predicted, before a trial ends
constexpr int rounds = 8;                   // rounds of finding predicates and testing them
constexpr int most_tried = 4;               // predicates of a symptom that a round tests, those of most cases
constexpr int most_attempts = 3;            // trials of one predicate
constexpr int last_passes = 2;              // passes over the predicates that do not convince
constexpr std::size_t most_seeds = 2, most_neighbours = 24;  // failing calls that are changed in one argument
constexpr std::size_t most_answers = 48;                     // failing calls whose answers are compared with hypotheses
constexpr std::size_t most_answers_of_one = 256;             // that are compared with one hypothesis that is taken
constexpr std::size_t most_screened = 12;                    // those that a hypothesis must explain at least one of
constexpr std::size_t most_passing = 64;                     // passing calls that a hypothesis must not contradict
constexpr std::size_t most_candidates = 8;                   // hypotheses that are compared with passing calls at once
constexpr std::size_t most_against = 16;    // passing calls to a failing one, beyond which no condition is looked for
constexpr std::size_t fewest_elements = 6;  // wrong elements that a hypothesis explains
constexpr std::size_t sentence_conditions = 2;  // at most, in a sentence
constexpr std::size_t path_conditions = 4;      // at most, of a path that a kernel takes for few calls
constexpr std::size_t many_more = 10;           // a predicate of few cases beside many others is no cause
constexpr double least_gain = 0.1;              // by which a literal raises the share of failing calls, at least
constexpr Int most_of_small = 4;                // elements, below which few mistakes show
constexpr std::size_t most_changed_cases = 6;   // cases of a cause that are changed to test a literal of its predicate
constexpr std::size_t most_removed = 40;        // cases of a cause that are tried without a feature
constexpr Int most_bits_of_other = 4;           // of numbers that are drawn in place of others
constexpr Int most_kept = 1 << 19;              // elements of a call that is kept for hypotheses: eight long tensors

// A case of the operator with its features. In the list of all cases, drawn cases follow those of the run.
struct TriedCase {
  JudgedCase seen;
  features::Features features;
  std::shared_ptr<const cases::HostCall> call;  // null if it is large
  std::vector<Tensor> outs;                     // the testee's wrong results, if it was asked for them
  bool was_asked = false, is_asked = false;     // is_asked: it was asked and failed alike
  bool is_explained = false;                    // by a hypothesis: no evidence for other causes
  std::optional<std::size_t> neighbour = {};    // the case that this one differs from in one argument
  bool shows_reads = true;  // whether a read behind an input would be seen: all inputs may end at a guard page
};

const contract::Contract whole_contract;

// Whether all tensors can end at a guard page. Data are aligned, so that the others end before it.
bool may_end_at_pages(const cases::HostCall& call) {
  bool all = true;
  cases::each_tensor(call.arguments, [&](const Tensor& t, std::size_t) {
    all = all && t.bytes.size() % sandbox::promised_alignment == 0;
  });
  return all;
}

enum class Says : std::uint8_t { fails, passes, nothing };

// Whether a call is made under the circumstance of a symptom. Outs without dimensions have no other sizes, and empty
// ones do not come smaller.
bool is_made_under(const Symptom& symptom, const Operator& op, const cases::CaseId& id, const features::Features& f) {
  if (symptom.circumstance != with_other_outs) return true;
  const std::string_view outs = sandbox::sizes_of_outs(text::digest(cases::to_text(id)));
  const auto has_dimensions = [&](const SchemaArgument& a) {
    return a.out && !f.has(concat(a.name, " has no dimensions"));
  };
  return !outs.empty() && !(outs == sandbox::smaller_outs && f.has(features::results_are_empty)) &&
         std::ranges::any_of(op.arguments, has_dimensions);
}

// What a case is evidence for: that calls with the symptom fail, that they pass, or neither.
Says says(const TriedCase& row, const Symptom& symptom, const Operator& op) {
  const JudgedCase& s = row.seen;
  if (s.symptom == symptom) return Says::fails;
  if (!is_made_under(symptom, op, s.id, row.features)) return Says::nothing;
  const bool is_fine = verdict::is_right(s.verdict);
  if (is_fine && symptom.failure == verdict::Class::reads_out_of_bounds && !row.shows_reads) return Says::nothing;
  if (is_fine) return Says::passes;
  const bool came_further = hides_results(symptom) && verdict::is_failure(s.verdict) && !hides_results(s.symptom);
  return came_further ? Says::passes : Says::nothing;
}

// The rule of the wire protocol that the testee broke; empty if it broke none.
std::string broken_rule_of_protocol(const Symptom& symptom) {
  constexpr std::string_view mark = "breaks the rule ", rules = "protocol.";
  const std::size_t at = symptom.said.find(concat(mark, rules));
  if (at == std::string::npos) return {};
  const std::string rule = symptom.said.substr(at + mark.size());
  return rule.substr(0, rule.find(':'));
}

bool is_finding(const JudgedCase& s) {
  return verdict::is_failure(s.verdict) || s.verdict == verdict::Verdict::quality;
}

bool is_wrong_result(const Symptom& s) {
  return s.failure == verdict::Class::value || s.failure == verdict::Class::shape;
}
// A number of elements from which on calls fail, as few as that of the smallest tensors.
bool is_about_small_sizes(const Literal& l) {
  return l.is_about_sizes() && l.test == Literal::Test::at_least && l.amount <= most_of_small + 1;
}
// Whether a literal is about the shape of a call. Calls of other shapes differ in much else, so that such a fact often
// goes with a cause without being it.
bool is_about_shape(const Literal& l) {
  constexpr auto words = std::to_array<std::string_view>(
      {"size", "rank", "number of elements", "dimensions", "entries", "the length of ", "has one entry"});
  const std::string_view name = l.name;
  return std::ranges::any_of(words, [&](std::string_view w) { return name.find(w) != name.npos; });
}
bool is_unwritten(const Symptom& s) { return s.failure == verdict::Class::unwritten; }
// Whether some results are complex or opaque, so that their elements cannot be compared as numbers.
bool has_results_without_numbers(const cases::HostCall& call) {
  return call.valid() &&
         std::ranges::any_of(call.expected.outs, [](const Tensor& t) { return info(t.dtype).kind >= Kind::complex; });
}

bool is_about_validity(std::string_view flag) { return flag == features::call_is_valid || features::says_broken(flag); }

// A hypothesis with the cases that it explains, and those that contradict it.
struct Tested {
  const Hypothesis* hypothesis;
  std::vector<std::size_t> explained, contradicting, indifferent;  // positions of rows
  Predicate predicate = {};                                        // the calls in which the kernel does so
  Predicate told = {};                                             // the part of it that a sentence has; empty: all
  bool is_of_nearly_all = false;                                   // whether it explains nearly all failing cases
  std::size_t contradicting_anywhere = 0;                          // without the predicate
  verdict::Trial trial = {};                                       // of the predicate, with drawn calls
  // What elements look like is told of few calls only if no mistake in the computation is known.
  bool is_seen() const {
    return hypothesis->about == About::places || (hypothesis->about == About::results && explained.size() < few_cases);
  }
  // Drawn calls are evidence for a mistake that few calls of the run show. Other mistakes need no drawn calls, so that
  // what elements look like gains little by them.
  double score_of_drawn(std::uint64_t alike) const {
    return explained.size() < few_cases ? (is_seen() ? 0.02 : 0.1) * static_cast<double>(alike) : 0;
  }
  double possible_score() const { return most_score() + score_of_drawn(most_drawn); }
  double most_score() const {
    const double weight = is_seen() || hypothesis->may_pass ? 0.8 : hypothesis->is_general ? 0.95 : 1;
    return static_cast<double>(explained.size()) * weight;
  }
  double score() const {
    return most_score() + score_of_drawn(trial.alike) - 2 * static_cast<double>(contradicting.size()) -
           static_cast<double>(predicate.size()) * (1 + 0.03 * static_cast<double>(explained.size())) -
           0.01 * static_cast<double>(contradicting_anywhere);
  }
};

Int count_of_elements(const cases::HostCall& call) {
  Int all = 0;
  cases::each_tensor(call.arguments, [&](const Tensor& t, std::size_t) { all += t.count(); });
  return all;
}

// Whether results, or a refusal in place of results, can show which mistake the kernel makes.
bool can_be_compared(const JudgedCase& s) {
  using enum verdict::Class;
  return s.promised && s.verdict == verdict::Verdict::fail &&
         (s.symptom.failure == value || s.symptom.failure == shape || s.symptom.failure == dtype ||
          s.symptom.failure == layout || s.symptom.failure == unwritten || s.symptom.failure == refused_though_valid);
}

class Investigation {
 public:
  Investigation(runner::CaseRunner* case_runner, const cases::Corpus& corpus, const cases::RecordedCalls& calls,
                std::vector<JudgedCase> cases)
      : case_runner_(case_runner),
        corpus_(corpus),
        op_(calls.op()),
        drawer_(corpus, case_runner ? case_runner->contract() : whole_contract, calls),
        of_the_run_(cases.size()) {
    if (case_runner) trials_.emplace(case_runner->children(), runner::Detail::answer);
    // A kernel that answers one call in two ways has a state. The state also spoils later calls, so those failures have
    // the same cause.
    const Symptom in_two_ways{verdict::Verdict::fail, verdict::Class::not_repeatable, {}, {}, {}, {}};
    const bool has_state = std::ranges::find(cases, in_two_ways, &JudgedCase::symptom) != cases.end();
    // A failure that also occurs with outs of the result's sizes does not come from the sizes.
    std::set<Symptom> symptoms;
    for (const JudgedCase& s : cases) symptoms.insert(s.symptom);
    const auto comes_without = [&](Symptom symptom) {
      symptom.circumstance.clear();
      return symptoms.contains(symptom);
    };
    for (JudgedCase& s : cases) {
      if (has_state && s.symptom.failure == verdict::Class::spoils_state) s.symptom = in_two_ways;
      if (s.symptom.circumstance == with_other_outs && comes_without(s.symptom)) s.symptom.circumstance.clear();
      const cases::Case c = corpus.make(s.id);
      cases::HostCall call = cases::host_call(c);
      features::Features features = drawer_.know(c, call);
      const bool is_kept = count_of_elements(call) <= most_kept, shows_reads = may_end_at_pages(call);
      rows_.push_back({std::move(s),
                       std::move(features),
                       is_kept ? std::make_shared<const cases::HostCall>(std::move(call)) : nullptr,
                       {}});
      rows_.back().shows_reads = shows_reads;
    }
  }

  std::vector<Cause> causes() && {
    if (case_runner_) compare_with_hypotheses();
    for (const Symptom& symptom : symptoms()) find(symptom);
    if (case_runner_) find_state(), join_alike(), join_small(), find_counterfactuals(), describe_results();
    join_rest();
    fails_with_nan_ = true;
    for (Cause& c : causes_) {
      c.named = named(c);
      c.common = shared_by(c);
      if (!c.shows) c.shows = shows_predicate(c);
    }
    return std::move(causes_);
  }

 private:
  // -- hypotheses ----------------------------------------------------------------------------------------------------

  void compare_with_hypotheses() {
    std::vector<std::size_t> failing;
    for (std::size_t i = 0; i < of_the_run_; ++i)
      if (can_be_compared(rows_[i].seen) && rows_[i].call) failing.push_back(i);
    if (std::ranges::all_of(failing, [&](std::size_t i) { return hides_results(rows_[i].seen.symptom); })) return;
    std::ranges::stable_sort(failing, {}, [&](std::size_t i) { return rows_[i].seen.elements; });
    mistakes_ = known_mistakes(op_);
    do ask_for_some_answers(failing);
    while (take_best());
    for (const std::size_t i : failing) join_known(rows_[i]);
    if (known_.empty()) return;
    // A mistake that makes a small difference in a call makes its results less accurate.
    std::vector<std::size_t> inaccurate;
    for (std::size_t i = 0; i < of_the_run_; ++i)
      if (rows_[i].seen.verdict == verdict::Verdict::quality && rows_[i].call) inaccurate.push_back(i);
    ask_for_answers(evenly_chosen(inaccurate, most_answers));
    for (const std::size_t i : inaccurate) join_known(rows_[i]);
  }

  // An answer that shows several of the known mistakes at once belongs to the one that explains most of it.
  void join_known(TriedCase& row) {
    if (!row.is_asked || row.is_explained) return;
    for (std::size_t k = 0; k < known_.size(); ++k)
      if (holds(known_[k].second, row.features) && known_[k].first->explains(answer_of(row))) {
        row.is_explained = true;
        return causes_[k].cases.push_back(row.seen);
      }
    std::vector<bool> covered;
    std::optional<std::pair<std::ptrdiff_t, std::size_t>> most;  // the number of elements, and the place of the cause
    for (std::size_t k = 0; k < known_.size(); ++k) {
      if (!known_[k].first->covers || !holds(known_[k].second, row.features)) continue;
      const std::vector<bool> own = known_[k].first->covers(answer_of(row));
      if (own.empty()) continue;
      if (!covered.empty() && own.size() != covered.size()) return;
      const auto number = std::ranges::count(own, true);
      covered.resize(own.size());
      for (std::size_t e = 0; e < own.size(); ++e) covered[e] = covered[e] || own[e];
      if (!most || number > most->first) most.emplace(number, k);
    }
    if (covered.empty() || std::ranges::find(covered, false) != covered.end()) return;
    row.is_explained = true;
    causes_[most->second].cases.push_back(row.seen);
  }

  // Asks for answers of the given cases until as many are known as are compared.
  void ask_for_some_answers(const std::vector<std::size_t>& failing) {
    std::vector<std::size_t> unknown;
    std::size_t known = 0;
    for (const std::size_t i : failing) {
      const TriedCase& row = rows_[i];
      if (row.is_explained) continue;
      if (row.was_asked)
        known += row.is_asked;
      else
        unknown.push_back(i);
    }
    ask_for_answers(evenly_chosen(unknown, most_answers - std::min(known, most_answers)));
  }

  bool take_best() {
    const Best best = best_of(mistakes_);
    if (best.everywhere) {
      take(*best.everywhere);
    } else if (best.somewhere) {
      Tested t = *best.somewhere;
      Hypothesis& h = in_some_calls_.emplace_back(*t.hypothesis);
      h.may_pass = true, t.hypothesis = &h;
      take(t);
    }
    return best.everywhere || best.somewhere;
  }

  // An invalid call that a taken mistake makes a valid one is accepted for the same reason. A valid call whose answer
  // is not known under a taken mistake, as where the kernel reads outside of its inputs, fails for the same reason.
  static bool is_consequence(const TriedCase& row, const Hypothesis& h) {
    if (row.is_explained || !row.call || !verdict::is_failure(row.seen.verdict)) return false;
    const bool is_accepted = row.seen.symptom.failure == verdict::Class::accepted_though_invalid;
    const auto& follows = is_accepted ? h.admits : h.is_open;
    return follows && follows(*row.call);
  }

  void ask_for_answers(const std::vector<std::size_t>& failing) {
    std::vector<std::string> ids;
    for (const std::size_t i : failing) ids.push_back(cases::to_text(rows_[i].seen.id));
    std::size_t asked = 0;
    trials_->run_while(ids, case_runner_->children().patience().short_limit(), [&](runner::Judged j) {
      TriedCase& row = rows_[failing[asked++]];
      row.was_asked = true, row.is_asked = symptom_of(j.record) == row.seen.symptom;
      row.outs = std::move(j.outs);
      return true;
    });
  }

  // A call in which the mistake may show or not tells nothing without its answer.
  void ask_for_all_answers(const Hypothesis& h) {
    std::vector<std::size_t> some;
    for (std::size_t i = 0; i < of_the_run_; ++i) {
      const TriedCase& row = rows_[i];
      if (!row.was_asked && !row.is_explained && can_be_compared(row.seen) && row.call && h.differs(*row.call))
        some.push_back(i);
    }
    ask_for_answers(evenly_chosen(some, most_answers_of_one));
  }

  Answered answer_of(const TriedCase& row) const { return {*row.call, row.seen.symptom.failure, row.outs}; }

  // The hypotheses that explain most failing cases that are not explained yet, if they explain enough: one that holds
  // whenever its predicate does, and one that foretells the results of most of these cases, though of others it does
  // not, and no condition tells the two.
  struct Best {
    std::optional<Tested> everywhere, somewhere;
  };
  Best best_of(const std::vector<Hypothesis>& mistakes) {
    std::vector<std::size_t> failing, passing;
    std::vector<Answered> wrong;
    std::set<DType> dtypes;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const TriedCase& row = rows_[i];
      if (i < of_the_run_ && can_be_compared(row.seen) && row.seen.symptom.failure == verdict::Class::value &&
          row.call && row.call->valid() && !row.call->expected.outs.empty())
        dtypes.insert(row.call->expected.outs[0].dtype);
      if (row.is_asked && !row.is_explained) failing.push_back(i);
      if (row.seen.verdict == verdict::Verdict::pass && row.seen.promised && row.call && row.call->valid())
        passing.push_back(i);
    }
    if (failing.empty()) return {};
    for (const std::size_t i : failing) wrong.push_back(answer_of(rows_[i]));
    in_elements_.push_back(mistakes_in_elements(op_, wrong, dtypes));
    std::vector<Tested> tested;
    const std::vector<std::size_t> screened = evenly_chosen(failing, most_screened);
    for (const std::vector<Hypothesis>* some :
         std::initializer_list<const std::vector<Hypothesis>*>{&mistakes, &in_elements_.back()})
      for (const Hypothesis& h : *some) {
        const auto explains = [&](std::size_t i) { return explains_row(h, i); };
        if (std::ranges::none_of(screened, explains)) continue;
        Tested& t = tested.emplace_back(Tested{&h, {}, {}, {}});
        std::ranges::copy_if(failing, std::back_inserter(t.explained), explains);
        t.is_of_nearly_all = 10 * t.explained.size() >= 9 * failing.size();
        if (h.is_everywhere && 2 * t.explained.size() < failing.size()) tested.pop_back();
      }
    std::ranges::stable_sort(tested, std::greater(), &Tested::most_score);
    const Tested* best = nullptr;  // the first of equal ones: the list is in the order of preference
    const auto rank = [](const Tested& t) {
      return std::pair(std::round(10 * t.score()), -static_cast<int>(t.hypothesis->about));
    };
    for (std::span<Tested> left(tested); !left.empty() && !(best && best->score() >= left.front().possible_score());) {
      const std::span<Tested> some = left.first(std::min(left.size(), most_candidates));
      left = left.subspan(some.size());
      for (Tested& t : some) compare_with_passing(t, passing);
      // Drawn calls cost most. A hypothesis that cannot be the best needs none.
      for (const bool is_doubted : {false, true})
        for (Tested& t : some) {
          if (t.contradicting.empty() == is_doubted) continue;
          if (best && rank(*best) > std::pair(std::round(10 * t.possible_score()), 0)) continue;
          if (is_doubted) add_condition(t, passing);
          if (t.contradicting.empty() && is_small(t) && !t.hypothesis->may_pass) try_out(t, passing);
          if (t.hypothesis->is_general && !t.predicate.empty() && t.explained.size() < 4 * few_cases) continue;
          if (is_enough(t) && (!best || rank(t) > rank(*best) || (rank(t) == rank(*best) && &t < best))) best = &t;
        }
    }
    // Small integers may be what a mistake foretells by chance.
    const auto has_fractions = [&](std::size_t i) {
      const std::vector<Tensor>& outs = rows_[i].call->expected.outs;
      return !outs.empty() && is_floating(outs[0].dtype) &&
             std::ranges::any_of(read<Real>(outs[0]).data, [](Real x) { return x != std::trunc(x); });
    };
    const auto foretells_most = [&](const Tested& t) {
      const Hypothesis& h = *t.hypothesis;
      return t.predicate.empty() && !h.is_everywhere && !h.states_condition &&
             std::ranges::all_of(t.explained, has_fractions) &&
             (h.about == About::arguments || h.about == About::computation) && !h.may_pass &&
             t.explained.size() >= (t.is_of_nearly_all ? 1 : 2) * few_cases &&
             2 * t.explained.size() >= failing.size() && !is_small(t);
    };
    const auto most = std::ranges::find_if(tested, foretells_most);  // the list is sorted
    // A mistake of few cases may be a consequence of one that shows in far more.
    if (best && (most == tested.end() || 2 * best->explained.size() >= most->explained.size()))
      return {*best, std::nullopt};
    return {std::nullopt, most == tested.end() ? std::nullopt : std::optional(*most)};
  }

  // Whether a hypothesis explains the answer of a row. The known mistakes are compared with the same rows again.
  bool explains_row(const Hypothesis& h, std::size_t row) {
    const auto [at, is_new] = explained_by_.try_emplace({&h, row}, false);
    if (is_new) at->second = h.explains(answer_of(rows_[row]));
    return at->second;
  }

  // Compares a hypothesis with passing calls that satisfy its predicate and that were not compared before.
  void compare_with_passing(Tested& t, const std::vector<std::size_t>& passing) const {
    std::set<std::size_t> known(t.contradicting.begin(), t.contradicting.end());
    known.insert(t.indifferent.begin(), t.indifferent.end());
    std::vector<std::size_t> unknown;
    for (const std::size_t i : passing)
      if (!known.contains(i) && holds(t.predicate, rows_[i].features)) unknown.push_back(i);
    for (const std::size_t i : evenly_chosen(unknown, most_passing))
      (t.hypothesis->differs(*rows_[i].call) && !t.hypothesis->may_pass ? t.contradicting : t.indifferent).push_back(i);
  }

  // That of the first result; none if the results are an empty list.
  static std::optional<DType> first_dtype(const TriedCase& row) {
    const std::vector<Tensor>& outs = row.call->expected.outs;
    return outs.empty() ? std::nullopt : std::optional(outs[0].dtype);
  }

  // Whether too many passing calls satisfy the predicate of a hypothesis.
  bool is_refuted(const Tested& t) const {
    const auto inside = [&](const std::vector<std::size_t>& some) {
      return static_cast<double>(
          std::ranges::count_if(some, [&](std::size_t i) { return holds(t.predicate, rows_[i].features); }));
    };
    const double right = inside(t.explained) + static_cast<double>(t.trial.alike);
    return right <
           verdict::likely * (inside(t.explained) + inside(t.contradicting) + static_cast<double>(t.trial.drawn));
  }

  // Where the kernel does so in some calls only: the condition that tells them from the others. Drawn calls and passing
  // calls of the run test it, and are examples for the next round.
  void add_condition(Tested& t, const std::vector<std::size_t>& passing) {
    // Many kernels have a path of their own for one dtype. Calls of other dtypes say nothing of it.
    std::set<std::optional<DType>> dtypes;
    for (const std::size_t i : t.explained) dtypes.insert(first_dtype(rows_[i]));
    const auto against = static_cast<std::size_t>(
        std::ranges::count_if(t.contradicting, [&](std::size_t i) { return dtypes.contains(first_dtype(rows_[i])); }));
    if (t.explained.size() < against / most_against || (t.hypothesis->is_everywhere && !t.is_of_nearly_all)) return;
    t.contradicting_anywhere = t.contradicting.size();
    std::vector<Example> examples;
    for (const std::size_t i : t.explained) examples.push_back({&rows_[i].features, true});
    for (const std::size_t i : t.contradicting) examples.push_back({&rows_[i].features, false});
    for (std::size_t i = 0; i < of_the_run_; ++i)
      if (is_consequence(rows_[i], *t.hypothesis)) examples.push_back({&rows_[i].features, true});
    std::deque<Foretold> drawn;
    const auto learn = [&](std::deque<Foretold> more, auto count) {
      for (Foretold& f : more) {
        count(f);
        if (!f.passes && !f.is_right) continue;
        drawn.push_back(std::move(f));
        examples.push_back({&drawn.back().features, drawn.back().is_right});
      }
    };
    Tested everywhere = t;
    const auto in_all = [&](const Foretold& f) { ++everywhere.trial.drawn, everywhere.trial.alike += f.is_right; };
    learn(drawn_for(t, [](const features::Features&) { return true; }), in_all);
    const std::size_t stated = t.hypothesis->states_condition ? 1 : 0;
    // Few literals are tried first. A kernel may have a path for calls that meet more of them.
    for (int round = 0; round < rounds && (is_refuted(t) || !t.trial.convinces(verdict::convincing)); ++round) {
      const std::size_t most_literals = 2 * round < rounds ? sentence_conditions : path_conditions;
      t.predicate = explain(examples, most_literals - stated).front();
      t.trial = {};
      const std::size_t compared = t.contradicting.size();
      compare_with_passing(t, passing);
      for (const std::size_t i : std::span(t.contradicting).subspan(compared))
        examples.push_back({&rows_[i].features, false});
      const auto inside = [&](const features::Features& f) { return holds(t.predicate, f); };
      learn(drawn_for(t, inside), [&](const Foretold& f) { ++t.trial.drawn, t.trial.alike += f.is_right; });
      learn(drawn_for(t, std::not_fn(inside)),
            [&](const Foretold& f) { ++t.trial.differing, t.trial.spared += !f.is_right; });
    }
    drop_chance(t);
    const auto is_outside = [&](std::size_t i) { return !holds(t.predicate, rows_[i].features); };
    t.trial.spared += static_cast<std::uint64_t>(std::ranges::count_if(t.contradicting, is_outside));
    t.trial.differing += static_cast<std::uint64_t>(std::ranges::count_if(t.contradicting, is_outside) +
                                                    std::ranges::count_if(t.explained, is_outside));
    if (is_refuted(t) || !t.trial.convinces(verdict::likely)) return void(t = std::move(everywhere));
    std::erase_if(t.explained, is_outside), std::erase_if(t.contradicting, is_outside);
    if (t.predicate.size() > sentence_conditions - stated) tell_most(t, examples, sentence_conditions - stated);
  }

  // Chooses the literals of a predicate that a sentence has: those without which most calls are wrongly meant.
  static void tell_most(Tested& t, std::span<const Example> examples, std::size_t number) {
    t.told = t.predicate;
    const auto meant = [&](const Predicate& p) {
      return std::ranges::count_if(examples, [&](const Example& e) { return !e.fails && holds(p, *e.features); });
    };
    while (t.told.size() > number) {
      std::optional<Predicate> best;
      for (std::size_t k = 0; k < t.told.size(); ++k) {
        Predicate without = t.told;
        without.erase(without.begin() + static_cast<std::ptrdiff_t>(k));
        if (!best || meant(without) < meant(*best)) best = std::move(without);
      }
      t.told = std::move(*best);
    }
  }

  // Removes a fact about numbers from a predicate of several literals if hardly any passing call shows that it is
  // needed.
  void drop_chance(Tested& t) const {
    if (t.predicate.size() < 2) return;
    for (std::size_t k = 0; k < t.predicate.size(); ++k) {
      if (!is_often_by_chance(t.predicate[k])) continue;
      Tested without = t;
      without.predicate.erase(without.predicate.begin() + static_cast<std::ptrdiff_t>(k));
      if (!is_refuted(without)) return void(t.predicate = std::move(without.predicate));
    }
  }

  // Tests a hypothesis that explains few elements with drawn calls.
  void try_out(Tested& t, const std::vector<std::size_t>& passing) {
    if (t.trial.drawn >= verdict::fewest_drawn) return;
    const auto inside = [&](const features::Features& f) { return holds(t.predicate, f); };
    verdict::Trial trial;
    for (const Foretold& f : drawn_for(t, inside)) ++trial.drawn, trial.alike += f.is_right;
    const bool does_so = static_cast<double>(trial.alike) >= verdict::likely * static_cast<double>(trial.drawn);
    if (does_so || !t.predicate.empty())
      t.trial += trial;
    else
      add_condition(t, passing);
  }

  // A drawn call in which a hypothesis makes a difference, and whether the testee answers as it foretells.
  struct Foretold {
    features::Features features;
    bool passes, is_right;
  };
  std::deque<Foretold> drawn_for(const Tested& t, const std::function<bool(const features::Features&)>& wanted) {
    std::vector<cases::CaseId> near;
    for (const auto* some : {&t.explained, &t.contradicting})
      for (const std::size_t i : *some) near.push_back(rows_[i].seen.id);
    const std::vector<DescribedCase> drawn = drawer_.draw(
        most_drawn, near, [&](const DescribedCase& c) { return wanted(c.features) && t.hypothesis->differs(*c.call); });
    std::vector<std::string> ids;
    for (const DescribedCase& c : drawn) ids.push_back(cases::to_text(c.id));
    std::deque<Foretold> seen;
    std::size_t judged = 0;
    trials_->run_while(ids, case_runner_->children().patience().short_limit(), [&](const runner::Judged& j) {
      const DescribedCase& c = drawn[judged++];
      if (j.record.verdict == verdict::Verdict::unsupported) return true;  // tells nothing of values
      const bool passes = verdict::is_right(j.record.verdict);
      const bool is_right = !passes && t.hypothesis->explains({*c.call, symptom_of(j.record).failure, j.outs});
      seen.push_back({c.features, passes, is_right});
      return true;
    });
    return seen;
  }

  // Whether a hypothesis explains so few elements that it may be by chance.
  bool is_small(const Tested& t) const {
    std::uint64_t elements = 0;
    for (const std::size_t i : t.explained) elements += std::clamp<std::uint64_t>(rows_[i].seen.elements, 1, 4);
    return elements < fewest_elements;
  }

  // Whether a wrong result of a case is a finite number. Many mistakes give NaN or infinity where numbers degenerate.
  bool has_finite_error(const TriedCase& row) const {
    const std::vector<Tensor>& right = row.call->expected.outs;
    for (std::size_t k = 0; k < std::min(right.size(), row.outs.size()); ++k) {
      const Tensor& got = row.outs[k];
      if (!is_floating(got.dtype) || got.dtype != right[k].dtype || got.sizes != right[k].sizes) {
        if (got.bytes != right[k].bytes) return true;
        continue;
      }
      const Array<Real> x = read<Real>(got), y = read<Real>(right[k]);
      for (Int i = 0; i < x.count(); ++i)
        if (std::isfinite(x[i]) && x[i] != y[i]) return true;
    }
    return false;
  }

  bool is_enough(const Tested& t) const {
    const bool has_results = std::ranges::any_of(t.explained, [&](std::size_t i) { return !rows_[i].outs.empty(); });
    const auto explained = static_cast<double>(t.explained.size() + t.trial.alike);
    const auto all = static_cast<double>(t.explained.size() + t.contradicting.size() + t.trial.drawn);
    if (!has_results || explained < verdict::likely * all) return false;
    const auto is_finite = [&](std::size_t i) { return has_finite_error(rows_[i]); };
    const bool is_of_few = t.explained.size() < few_cases && !t.is_of_nearly_all;
    if (t.hypothesis->is_everywhere && is_of_few) return false;  // other operators agree in many numbers by chance
    if (t.hypothesis->is_general && (is_of_few || std::ranges::none_of(t.explained, is_finite))) return false;
    if (t.hypothesis->about == About::places && t.hypothesis->may_pass) return true;  // it tells what is seen
    if (t.hypothesis->may_pass && t.explained.size() < few_cases) return false;
    // A named mistake that shows in few calls: in all that fail, and in the few others that can be drawn.
    const bool is_of_all = t.is_of_nearly_all && !t.hypothesis->is_general &&
                           (t.hypothesis->about == About::arguments || t.hypothesis->about == About::computation) &&
                           t.trial.drawn == t.trial.alike && t.explained.size() + t.trial.alike > 1;
    return !is_small(t) || t.trial.drawn >= verdict::fewest_drawn || is_of_all;
  }

  // Records the cause, and marks the cases that it explains.
  void take(const Tested& t) {
    const Hypothesis& h = *t.hypothesis;
    if (h.may_pass) ask_for_all_answers(h);
    Cause cause{&op_,
                rows_[t.explained.front()].seen.symptom,
                t.told.empty() ? t.predicate : t.told,
                0,
                {},
                h.does,
                h.about == About::arguments || h.about == About::computation,
                true,
                true,
                {},
                {}};
    for (std::size_t i = 0; i < of_the_run_; ++i) {
      TriedCase& row = rows_[i];
      if (row.is_explained || !can_be_compared(row.seen) || !row.call || !holds(t.predicate, row.features)) continue;
      // Elements of complex results cannot be looked at. A condition that tells the calls, that results are not
      // written, or a mistake in all real results explains them, too.
      const bool is_of_complex = has_results_without_numbers(*row.call) &&
                                 (h.about == About::places ? is_unwritten(cause.symptom) : !h.knows_complex);
      const bool is_told = row.seen.symptom == cause.symptom &&
                           (is_of_complex || (h.about == About::places && !t.predicate.empty() &&
                                              (has_results_without_numbers(*row.call) || h.differs(*row.call))));
      const bool is = row.is_asked ? h.explains(answer_of(row)) : !h.may_pass && h.differs(*row.call);
      if (!is && !is_told) continue;
      row.is_explained = true;
      cause.cases.push_back(row.seen);
    }
    for (std::size_t i = 0; i < of_the_run_; ++i)
      if (TriedCase& row = rows_[i]; holds(t.predicate, row.features) && is_consequence(row, h)) {
        row.is_explained = true;
        cause.cases.push_back(row.seen);
      }
    const auto shows_results = [](const JudgedCase& s) { return !hides_results(s.symptom); };
    if (const auto at = std::ranges::find_if(cause.cases, shows_results); at != cause.cases.end())
      cause.symptom = at->symptom;
    cause.trial = {t.explained.size() + t.contradicting.size(), t.explained.size(), t.indifferent.size(),
                   t.indifferent.size()};
    cause.trial += t.trial;
    cause.is_partly_told = !t.told.empty();
    cause.shows = [op = &op_, h, predicate = t.predicate](const cases::HostCall& call, const runner::Judged& answer) {
      return h.explains(answered(call, answer)) && holds(predicate, features::features_of(*op, call));
    };
    cause.is_foretold = h.about != About::places;
    known_.push_back({&h, t.predicate});
    causes_.push_back(std::move(cause));
  }

  // Whether a call meets the predicate of a cause, and no hypothesis that is taken explains why it fails.
  std::function<bool(const cases::HostCall&, const runner::Judged&)> shows_predicate(const Cause& c) const {
    std::vector<std::pair<Hypothesis, Predicate>> others;
    for (const auto& [hypothesis, predicate] : known_) others.emplace_back(*hypothesis, predicate);
    return [op = &op_, predicate = c.predicate, others](const cases::HostCall& call, const runner::Judged& answer) {
      const features::Features f = features::features_of(*op, call);
      const auto is_other = [&](const auto& k) {
        return holds(k.second, f) && k.first.explains(answered(call, answer));
      };
      return holds(predicate, f) && std::ranges::none_of(others, is_other);
    };
  }

  static Answered answered(const cases::HostCall& call, const runner::Judged& answer) {
    return {call, symptom_of(answer.record).failure, answer.outs};
  }

  // Whether a hypothesis that is taken explains why a drawn call fails.
  bool is_explained(const cases::HostCall& call, const features::Features& f) const {
    return std::ranges::any_of(known_, [&](const auto& k) { return holds(k.second, f) && k.first->differs(call); });
  }

  // -- predicates ----------------------------------------------------------------------------------------------------

  std::vector<Symptom> symptoms() const {
    std::set<Symptom> found;
    for (const TriedCase& row : rows_)
      if (is_finding(row.seen) && !row.is_explained) found.insert(row.seen.symptom);
    return {found.begin(), found.end()};
  }

  // What a case is evidence for. A wrong number that is computed from NaN stays NaN: a pass with NaN is no evidence,
  // unless calls with NaN fail.
  Says said_by(const TriedCase& row, const Symptom& symptom) const {
    const bool hides = symptom.failure == verdict::Class::value && !fails_with_nan_ && has_nan(row);
    return hides && row.seen.symptom != symptom ? Says::nothing : says(row, symptom, op_);
  }
  static bool has_nan(const TriedCase& row) { return row.features.has("a result has NaN"); }

  void find(const Symptom& symptom) {
    fails_with_nan_ =
        std::ranges::any_of(rows_, [&](const TriedCase& r) { return r.seen.symptom == symptom && has_nan(r); });
    if (const std::string rule = broken_rule_of_protocol(symptom); !rule.empty())
      return tell(symptom, {}, concat("break the rule ", rule, " of the wire protocol"));
    if (!symptom.rule.empty()) return tell(symptom, premise(symptom), "");
    if (is_tried(symptom)) look_around(symptom);
    std::map<Predicate, Attempts> known;
    std::vector<Predicate> kept;  // the predicates that convinced
    std::vector<Cause> found = explained(symptom, kept);
    for (int round = 0; round < rounds && is_tried(symptom); ++round) {
      if (round > 0) found = explained(symptom, kept);
      int tried = 0;
      for (Cause& cause : found) {
        if (cause.cases.empty()) continue;
        Attempts& before = known[cause.predicate];
        if (!before.trial.convinces(verdict::convincing) && before.number < most_attempts && tried < most_tried) {
          before.trial += attempt(cause, found);
          ++before.number, ++tried;
          if (before.trial.convinces(verdict::convincing)) kept.push_back(cause.predicate);
        }
        cause.trial = before.trial;
      }
      if (tried == 0) break;
    }
    if (is_tried(symptom)) found = tried_to_the_end(symptom, std::move(found), kept);
    // A cause without cases explains calls that may be refused, or drawn calls only.
    std::erase_if(found, [](const Cause& c) { return c.cases.empty(); });
    if (found.empty()) return;
    if (case_runner_ && symptom.place.empty()) join_untried(found, symptom);
    if (is_tried(symptom)) {
      for (Cause& c : found) keep_supported(c, found);
      join_unlikely(found);
    }
    for (Cause& c : found)
      if (c.is_found && c.does.empty() && c.predicate.size() == c.premises) count_all(c);
    std::ranges::move(found, std::back_inserter(causes_));
  }

  // A cause that the symptom itself states: the protocol or the rule that is broken.
  void tell(const Symptom& symptom, const Predicate& predicate, std::string does) {
    std::vector<Cause> found{
        {&op_, symptom, predicate, predicate.size(), {}, std::move(does), false, true, true, {}, {}}};
    assign(found, symptom);
    if (!found[0].cases.empty()) causes_.push_back(std::move(found[0]));
  }

  // Removes the literals of a predicate that nothing shows to be the cause. If the rest does not tell failing calls
  // from passing ones, no cause is found.
  void keep_supported(Cause& c, const std::vector<Cause>& all) {
    if (!c.is_sought || !c.is_found) return;
    const std::size_t before = c.predicate.size();
    for (std::size_t k = c.premises; k < c.predicate.size();)
      if (is_supported(c, k, all))
        ++k;
      else
        c.predicate.erase(c.predicate.begin() + static_cast<std::ptrdiff_t>(k));
    if (c.predicate.size() < before) {
      c.trial = trial_of(c);
      c.is_found = c.predicate.size() > c.premises && c.trial.convinces(verdict::likely);
    }
    const auto own = std::span(c.predicate).subspan(c.premises);
    if (is_wrong_result(c.symptom) && std::ranges::any_of(own, is_about_shape) &&
        !c.trial.convinces(verdict::convincing))
      c.is_found = false;
  }

  // Whether calls that fail pass without the fact that a literal states: calls that differ in one argument are made for
  // this. If no change of one argument removes the fact, many calls on both sides must show it.
  bool is_supported(const Cause& c, std::size_t k, const std::vector<Cause>& all) {
    const Literal literal = c.predicate[k];
    Predicate others = c.predicate;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
    const auto has_other_cause = [&](const features::Features& f) {
      return std::ranges::any_of(all, [&](const Cause& other) {
        return &other != &c && other.predicate.size() > other.premises && holds(other.predicate, f);
      });
    };
    // Failures without a fact about the shape speak against it, though another fact explains them.
    const bool counts_all = is_wrong_result(c.symptom) && is_about_shape(literal);
    const auto lacks = [&](const features::Features& f) {
      return holds(others, f) && !literal.of(f) && (counts_all || !has_other_cause(f));
    };
    std::vector<cases::CaseId> own;
    for (const JudgedCase& s : c.cases)
      if (s.promised) own.push_back(s.id);
    std::uint64_t changed = 0, passing = 0;
    const auto count_pairs = [&] {
      for (const TriedCase& r : rows_) {
        if (!r.neighbour || r.is_explained || said_by(r, c.symptom) == Says::nothing || !lacks(r.features)) continue;
        const TriedCase& from = rows_[*r.neighbour];
        if (said_by(from, c.symptom) == Says::fails && holds(c.predicate, from.features))
          ++changed, passing += said_by(r, c.symptom) == Says::passes;
      }
    };
    count_pairs();
    if (changed < few_cases)
      for (const cases::CaseId& id : evenly_chosen(own, most_changed_cases))
        judge(drawer_.changed_in_one(id, 2, lacks), c.symptom, Says::passes, Until::drawn, changed, passing);
    std::uint64_t failing_with = 0, passing_with = 0, all_without = 0, passing_without = 0;
    for (const TriedCase& r : rows_) {
      const Says said = said_by(r, c.symptom);
      if (said == Says::nothing || r.is_explained || !r.seen.promised) continue;
      if (holds(c.predicate, r.features)) (said == Says::fails ? failing_with : passing_with) += 1;
      if (lacks(r.features)) ++all_without, passing_without += said == Says::passes;
    }
    const auto is_most = [](std::uint64_t part, std::uint64_t whole) {
      return static_cast<double>(part) >= verdict::likely * static_cast<double>(whole);
    };
    if (failing_with == 0) return false;
    if (is_wrong_result(c.symptom)) {
      // A fact that nearly all calls share anyway tells nothing. Wrong numbers do not show in the smallest tensors,
      // whatever the mistake is.
      const auto share = [&](std::uint64_t others_pass) {
        return static_cast<double>(failing_with) / static_cast<double>(failing_with + passing_with + others_pass);
      };
      if (share(0) - share(passing_without) < least_gain || is_about_small_sizes(literal)) return false;
    }
    const std::uint64_t enough = changed > 0 ? few_cases : verdict::fewest_drawn;
    return is_most(passing, changed) && is_most(passing_without, all_without) && failing_with >= enough &&
           passing_without >= enough;
  }

  // Facts that all cases of a cause without an explanation share.
  Predicate shared_by(const Cause& c) const {
    if (c.is_found || c.cases.size() < 2) return {};
    const std::set<std::string> own = ids_of(c.cases);
    std::vector<Example> examples;
    for (const TriedCase& r : rows_) {
      const bool is_own = own.contains(cases::to_text(r.seen.id));
      if (is_own || (said_by(r, c.symptom) == Says::passes && r.seen.promised))
        examples.push_back({&r.features, is_own});
    }
    return shared(examples, c.cases.size() <= few_cases ? 1 : sentence_conditions);
  }

  // Cases whose predicate foretells too few failures have no known cause. A predicate of few cases must foretell all.
  static void join_unlikely(std::vector<Cause>& found) {
    const auto unlikely = std::stable_partition(found.begin(), found.end(), [&](const Cause& c) {
      if (!c.is_sought || !c.is_found) return !c.is_sought;
      return c.trial.convinces(c.cases.size() < few_cases ? verdict::convincing : verdict::likely) ||
             (c.trial.drawn < verdict::fewest_drawn && c.trial.alike == c.trial.drawn &&
              c.predicate.size() > c.premises);
    });
    join(found, unlikely);
  }

  // Where no calls could be drawn, because the contract promises none, no cause is claimed.
  void join_untried(std::vector<Cause>& found, const Symptom& symptom) const {
    const auto is_promised = [](const JudgedCase& s) { return s.tier < verdict::Tier::not_promised; };
    const auto untried =
        std::stable_partition(found.begin(), found.end(), [&, any = is_tried(symptom)](const Cause& c) {
          return any && (c.trial.drawn > 0 || std::ranges::any_of(c.cases, is_promised));
        });
    join(found, untried);
    if (untried != found.end()) untried->is_sought = false;
  }

  // Whether a kernel that answers calls in two ways keeps state: alone, a call is always answered alike, but behind an
  // equal call it is not.
  void find_state() {
    const auto keeps_state = [&](const JudgedCase& s) {
      const std::string id = cases::to_text(s.id);
      runner::JudgingChildren& children = case_runner_->children();
      const std::vector<std::string> twice{id, id};
      const std::vector<runner::Judged> seen = children.run(twice).judged, again = children.run({&id, 1}).judged;
      return seen.size() == 2 && !again.empty() && again[0].answer == seen[0].answer &&
             seen[1].answer != seen[0].answer;
    };
    for (Cause& c : causes_) {
      const bool is_in_two_ways = c.symptom.failure == verdict::Class::not_repeatable;
      if ((!is_in_two_ways && c.symptom.failure != verdict::Class::spoils_state) || !c.is_sought) continue;
      const std::vector<JudgedCase> some = evenly_chosen(c.cases, few_cases);
      if (const std::string kept = kept_in_all(some); !kept.empty()) {
        c.does = concat("use ", kept, " of an earlier call");
        c.predicate.erase(c.predicate.begin() + static_cast<std::ptrdiff_t>(c.premises), c.predicate.end());
        c.is_found = false;
      } else if (is_in_two_ways && std::ranges::all_of(some, keeps_state)) {
        c.does = "keep state, so that the second of two equal calls is answered otherwise than the first";
      } else {
        continue;
      }
      c.is_mistake = true;
      if (c.is_found) continue;
      c.is_found = true, c.trial = {some.size(), some.size(), 0, 0};
    }
  }

  // The tensor arguments that a kernel takes from an earlier call, as "mat2"; empty if none, or not in all cases.
  std::string kept_in_all(const std::vector<JudgedCase>& some) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i + op_.outs() < op_.arguments.size(); ++i)
      if (op_.arguments[i].type.starts_with("Tensor") && !some.empty() &&
          std::ranges::all_of(some, [&](const JudgedCase& s) { return keeps_argument(s.id, i); }))
        names.emplace_back(op_.arguments[i].name);
    return features::listed(names);
  }

  // Whether a call that differs from the given one in the tensors of one argument, and follows it, is answered like it.
  bool keeps_argument(const cases::CaseId& first, std::size_t argument) {
    const cases::Case c = corpus_.make(first);
    const cases::HostCall call = cases::host_call(c, small_call);
    const auto second = call.valid() ? differing_in(c, call, argument) : std::nullopt;
    if (!second) return false;
    runner::Trials fresh(case_runner_->children(), runner::Detail::answer);
    const std::vector<std::string> ids{cases::to_text(first), cases::to_text(*second)};
    std::vector<Tensor> outs;
    fresh.run_while(ids, hurried(case_runner_->time_limit()), [&](runner::Judged j) {
      outs = std::move(j.outs);
      return true;
    });
    return is_right(call, outs);
  }

  bool is_right(const cases::HostCall& call, const std::vector<Tensor>& outs) const {
    const judge::Reaction reaction{Outcome::ok, {}, {}, outs};
    return !outs.empty() && verdict::is_right(judge::judge(op_, call.arguments, call.expected, reaction).verdict);
  }

  // A valid call with other numbers in the tensors of one argument, for which the given call's results are not right.
  std::optional<cases::CaseId> differing_in(const cases::Case& c, const cases::HostCall& call,
                                            std::size_t argument) const {
    const auto tensors_in = [&](std::size_t begin, std::size_t end) {
      Int all = 0;
      cases::each_tensor(std::span(c.arguments).subspan(begin, end - begin),
                         [&](const Tensor&, std::size_t) { ++all; });
      return all;
    };
    const Int first = tensors_in(0, argument), number = tensors_in(argument, argument + 1);
    for (const auto kind : {cases::Mutation::Kind::elements, cases::Mutation::Kind::numbers})
      for (const Int draw : {1, 2, 3}) {
        cases::CaseId id = c.id;
        for (Int k = first; k < first + number; ++k) id.mutations.push_back({kind, {k, most_bits_of_other, draw}});
        const cases::HostCall other = cases::host_call(corpus_.make(id), small_call);
        if (other.valid() && !is_right(other, call.expected.outs)) return id;
      }
    return std::nullopt;
  }

  // Cases that fail in different ways, all under the condition that one cause has, have this cause. The condition is
  // that of most cases.
  void join_alike() {
    const auto can_be_joined = [](const Cause& c) {
      return c.is_sought && c.does.empty() && c.symptom.rule.empty() && c.symptom.circumstance.empty() &&
             c.symptom.verdict != verdict::Verdict::quality;
    };
    const auto meets = [&](const Cause& c, const Predicate& own) {
      const std::set<std::string> ids = ids_of(c.cases);
      return std::ranges::all_of(rows_, [&](const TriedCase& r) {
        return !ids.contains(cases::to_text(r.seen.id)) || holds(own, r.features);
      });
    };
    std::size_t most = 0;
    std::optional<std::size_t> first;
    std::vector<bool> joins;
    for (std::size_t k = 0; k < causes_.size(); ++k) {
      const Cause& c = causes_[k];
      const Predicate own(c.predicate.begin() + static_cast<std::ptrdiff_t>(c.premises), c.predicate.end());
      if (!can_be_joined(c) || !c.is_found || own.empty() || !c.trial.convinces(verdict::convincing)) continue;
      std::vector<bool> alike(causes_.size(), false);
      std::size_t number = 0;
      for (std::size_t other = 0; other < causes_.size(); ++other)
        if (other != k && can_be_joined(causes_[other]) && meets(causes_[other], own))
          alike[other] = true, number += causes_[other].cases.size();
      if (number > most) most = number, first = k, joins = std::move(alike);
    }
    if (!first) return;
    for (std::size_t k = 0; k < causes_.size(); ++k)
      if (joins[k]) {
        std::ranges::move(causes_[k].cases, std::back_inserter(causes_[*first].cases));
        causes_[k].cases.clear();
      }
    causes_[*first].does = "fail";
    std::erase_if(causes_, [](const Cause& c) { return c.cases.empty(); });
  }

  // Few wrong results that no cause explains, beside many that a known mistake explains, are told with it.
  void join_rest() {
    const auto is_rest = [](const Cause& c) { return !c.is_found && is_wrong_result(c.symptom); };
    const auto number = [](const Cause& c) { return c.is_foretold ? c.cases.size() : 0; };
    const auto most = std::ranges::max_element(causes_, {}, number);
    if (most == causes_.end() || number(*most) == 0) return;
    std::vector<JudgedCase> rest;
    for (const Cause& c : causes_)
      if (is_rest(c)) std::ranges::copy(c.cases, std::back_inserter(rest));
    if (rest.size() > std::max<std::size_t>(1, number(*most) / many_more)) return;
    most->unexplained = std::move(rest);
    std::erase_if(causes_, is_rest);
  }

  // A cause of few cases beside many cases of the same class is one that is not found.
  void join_small() {
    std::map<verdict::Class, std::size_t> all;
    for (const Cause& c : causes_) all[c.symptom.failure] += c.cases.size();
    all.erase(verdict::Class::accepted_though_invalid);  // the broken rule is the cause
    for (const auto& [failure, number] : all) {
      const auto is_told = [&, failure = failure, number = number](const Cause& c) {
        const bool is_small = c.cases.size() < few_cases && many_more * c.cases.size() < number;
        const bool is_stated = !c.symptom.place.empty() || !c.symptom.rule.empty();
        return c.symptom.failure != failure || is_stated || c.is_foretold || (c.is_found && !is_small) || !c.is_sought;
      };
      const auto rest = std::stable_partition(causes_.begin(), causes_.end(), is_told);
      join(causes_, rest);
    }
  }

  // Makes one cause that is not found of the causes from `first` on.
  static void join(std::vector<Cause>& found, std::vector<Cause>::iterator first) {
    if (first == found.end()) return;
    for (auto c = first + 1; c != found.end(); ++c) std::ranges::move(c->cases, std::back_inserter(first->cases));
    first->predicate.erase(first->predicate.begin() + static_cast<std::ptrdiff_t>(first->premises),
                           first->predicate.end());
    first->is_found = false, first->does.clear(), first->trial = {};
    found.erase(first + 1, found.end());
  }

  // The promised calls that meet the predicate of a cause, and those among them that fail with its symptom.
  verdict::Trial trial_of(const Cause& c) const {
    verdict::Trial all;
    for (const TriedCase& r : rows_) {
      const Says said = said_by(r, c.symptom);
      if (said == Says::nothing || r.is_explained || !r.seen.promised || !holds(c.predicate, r.features)) continue;
      ++all.drawn, all.alike += said == Says::fails;
    }
    return all;
  }

  // A cause without a condition holds for all calls that are promised. If too few of these fail, it is none.
  void count_all(Cause& c) const {
    c.trial = trial_of(c);
    c.is_found = !is_tried(c.symptom) || c.trial.alike == c.trial.drawn || c.trial.convinces(verdict::likely);
  }

  // -- counterfactuals ------------------------------------------------------------------------------------------------

  // A change of a call that removes one feature and nothing else: rare numbers of an argument, the value of an argument
  // that is not its default, a dtype that the usual dtype holds, or all layouts.
  struct Removal {
    enum class Of : std::uint8_t { numbers, value, dtype, layouts };
    Of of;
    std::size_t argument = 0, removed = 0;  // a position in cases::special_numbers, or a dtype
    auto operator<=>(const Removal&) const = default;
  };

  std::map<Removal, std::vector<cases::Mutation>> removals_from(const cases::Case& c) const {
    std::map<Removal, std::vector<cases::Mutation>> all;
    for (std::size_t i = 0; i + op_.outs() < c.arguments.size(); ++i) {
      for (const cases::Mutation& m : cases::plain_numbers_of(op_, c.arguments, i))
        if (const auto k = static_cast<std::size_t>(m.n[1]); cases::special_numbers[k].is_rare)
          all[{Removal::Of::numbers, i, k}] = {m};
      if (auto mutations = made_default(c.arguments, i); !mutations.empty())
        all[{Removal::Of::value, i}] = std::move(mutations);
      if (const Tensor* t = std::get_if<Tensor>(&c.arguments[i]))
        if (const auto m = of_usual_dtype(c.arguments, i))
          all[{Removal::Of::dtype, i, static_cast<std::size_t>(t->dtype)}] = {*m};
      if (const auto m = cases::made_contiguous(op_, c.arguments, i)) all[{Removal::Of::layouts}].push_back(*m);
    }
    return all;
  }

  // The mutation that gives a tensor the dtype for which every kernel is written, if that dtype holds all its numbers.
  std::optional<cases::Mutation> of_usual_dtype(std::span<const Value> arguments, std::size_t i) const {
    const DType dtype = std::get<Tensor>(arguments[i]).dtype;
    const DType usual = is_half(dtype) ? DType::float32 : DType::int64;
    if (!is_half(dtype) && dtype != DType::int32) return std::nullopt;
    for (const cases::Mutation& m : cases::changes_of(op_, arguments, i)) {
      if (m.kind != cases::Mutation::Kind::dtype) continue;
      const std::vector<Value> changed = cases::mutated(op_, {arguments.begin(), arguments.end()}, m);
      if (std::get<Tensor>(changed[i]).dtype == usual) return m;
    }
    return std::nullopt;
  }

  // The mutations that give an argument its default; empty if it has its default, or if no mutations give it.
  std::vector<cases::Mutation> made_default(std::span<const Value> arguments, std::size_t i) const {
    const auto value = default_of(op_.arguments[i]);
    if (!value || has_default(op_.arguments[i], arguments[i])) return {};
    std::vector<Value> now(arguments.begin(), arguments.end());
    std::vector<cases::Mutation> made;
    const auto distance = [&](const Value& v) -> std::size_t {  // the number of entries that differ
      if (const Ints* list = std::get_if<Ints>(&v); list && std::holds_alternative<Int>(*value))
        return list->size() - static_cast<std::size_t>(std::ranges::count(*list, std::get<Int>(*value)));
      return has_default(op_.arguments[i], v) ? 0 : 1;
    };
    for (const cases::Mutation& m : cases::changes_of(op_, now, i)) {
      std::vector<Value> changed = cases::mutated(op_, now, m);
      if (distance(changed[i]) >= distance(now[i])) continue;
      now = std::move(changed), made.push_back(m);
      if (distance(now[i]) == 0) return made;
    }
    return {};
  }
  static bool has_default(const SchemaArgument& a, const Value& v) {
    const auto value = default_of(a);
    if (const Ints* list = std::get_if<Ints>(&v); list && value && std::holds_alternative<Int>(*value))
      return std::ranges::all_of(*list, [&](Int n) { return n == std::get<Int>(*value); });
    return !value || is_same(v, *value);
  }

  std::string words(const Removal& r, verdict::Class failure, std::string_view extent = "") const {
    const std::string what =
        concat(failure == verdict::Class::shape ? "give results of wrong sizes" : "give wrong values", extent);
    const std::string_view name = op_.arguments[r.argument].name;
    if (r.of == Removal::Of::layouts) return concat(what, " where inputs are not contiguous");
    if (r.of == Removal::Of::numbers)
      return concat(what, " for ", cases::special_numbers[r.removed].name, " in ", name);
    if (r.of == Removal::Of::dtype)
      return concat(what, " where ", name, " is ", info(static_cast<DType>(r.removed)).name);
    const Value value = *default_of(op_.arguments[r.argument]);
    if (std::holds_alternative<std::monostate>(value)) return concat(what, " where ", name, " is given");
    if (const bool* b = std::get_if<bool>(&value)) return concat(what, " where ", name, " is ", *b ? "false" : "true");
    return concat(what, " where ", name, " is not ", text::literal(value, 20));
  }

  static bool has(const Operator& op, const Removal& r, const cases::HostCall& call) {
    if (r.of == Removal::Of::value) return !has_default(op.arguments[r.argument], call.arguments[r.argument]);
    if (r.of == Removal::Of::layouts)
      return std::ranges::any_of(call.arguments, [](const Value& v) {
        const Tensor* t = std::get_if<Tensor>(&v);
        return t && !cases::is_contiguous(*t);
      });
    const Tensor* t = std::get_if<Tensor>(&call.arguments[r.argument]);
    if (r.of == Removal::Of::dtype) return t && t->dtype == static_cast<DType>(r.removed);
    return !t || info(t->dtype).kind >= Kind::complex ||
           std::ranges::any_of(read<Real>(*t).data, cases::special_numbers[r.removed].has);
  }

  // Where no predicate was found: whether the calls pass without one feature. That feature is then the cause.
  void find_counterfactuals() {
    std::vector<Cause> found;
    for (Cause& c : causes_)
      while (!c.is_found && c.is_sought && is_wrong_result(c.symptom) && !c.cases.empty()) {
        std::optional<Cause> part = told_by_removal(c);
        if (!part) break;
        found.push_back(std::move(*part));
      }
    std::erase_if(causes_, [](const Cause& c) { return c.cases.empty(); });
    std::ranges::move(found, std::back_inserter(causes_));
  }

  // The cases of a cause that pass without one feature, as a cause of their own: the feature of most cases. A cause of
  // many cases is told whole, if a part of its cases shows it, or not at all.
  std::optional<Cause> told_by_removal(Cause& c) {
    std::vector<std::size_t> all(c.cases.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const std::vector<std::size_t> some = evenly_chosen(all, most_removed);
    std::map<Removal, std::vector<std::size_t>> passing;
    for (const std::size_t k : some)
      for (const Removal& r : passes_without(c.cases[k].id)) passing[r].push_back(k);
    if (passing.empty()) return std::nullopt;
    const auto& [removal, shown] =
        *std::ranges::max_element(passing, {}, [](const auto& p) { return p.second.size(); });
    const bool is_whole = static_cast<double>(shown.size()) >= verdict::convincing * static_cast<double>(some.size());
    // One call says little: only if nothing else in it can be the cause.
    if (shown.size() < 2 && (all.size() > 1 || passing.size() > 1)) return std::nullopt;
    if (!is_whole && (some.size() < all.size() || shown.size() < few_cases)) return std::nullopt;
    Cause part = c;
    part.does = words(removal, c.symptom.failure), part.is_found = true;
    part.trial = {some.size(), shown.size(), 0, 0};
    for (const TriedCase& r : rows_)  // passing calls with the feature: it is not the whole condition
      part.trial.drawn += r.call && r.seen.promised && said_by(r, c.symptom) == Says::passes && r.call->valid() &&
                          has(op_, removal, *r.call);
    part.is_partly_told = !part.trial.convinces(verdict::likely);
    if (part.is_partly_told) part.does = words(removal, c.symptom.failure, " in some calls");
    part.shows = [this_op = &op_, r = removal](const cases::HostCall& call, const runner::Judged&) {
      return has(*this_op, r, call);
    };
    if (!is_whole) {
      part.cases.clear(), part.trial.drawn = shown.size();
      for (const std::size_t k : shown) part.cases.push_back(c.cases[k]);
    }
    const auto is_told = [&](const JudgedCase& s) {
      return std::ranges::find(part.cases, s.id, &JudgedCase::id) != part.cases.end();
    };
    std::erase_if(c.cases, is_told);
    return part;
  }

  // The features without which a call passes.
  std::vector<Removal> passes_without(const cases::CaseId& id) {
    const cases::Case c = corpus_.make(id);
    std::vector<Removal> removals;
    std::vector<std::string> ids;
    for (const auto& [removal, mutations] : removals_from(c)) {
      cases::CaseId without = id;
      std::ranges::copy(mutations, std::back_inserter(without.mutations));
      const cases::HostCall call = cases::host_call(corpus_.make(without), small_call);
      if (!call.valid() || std::ranges::all_of(call.expected.outs, [](const Tensor& t) { return t.count() == 0; }))
        continue;
      removals.push_back(removal), ids.push_back(cases::to_text(without));
    }
    std::vector<Removal> found;
    std::size_t judged = 0;
    trials_->run_while(ids, hurried(case_runner_->time_limit()), [&](const runner::Judged& j) {
      const Removal& r = removals[judged++];
      if (verdict::is_right(j.record.verdict)) found.push_back(r);
      return true;
    });
    return found;
  }

  // Tells what the wrong results look like where it is not known what the kernel does.
  void describe_results() {
    const std::vector<Hypothesis> appearances = appearances_of(op_);
    for (Cause& c : causes_) {
      if (!c.does.empty() || c.symptom.failure != verdict::Class::value) continue;
      std::vector<std::size_t> own;
      const std::set<std::string> ids = ids_of(c.cases);
      for (std::size_t i = 0; i < of_the_run_; ++i)
        if (rows_[i].call && ids.contains(cases::to_text(rows_[i].seen.id))) own.push_back(i);
      own = evenly_chosen(own, most_screened);
      std::vector<std::size_t> unknown;
      std::ranges::copy_if(own, std::back_inserter(unknown), [&](std::size_t i) { return !rows_[i].was_asked; });
      ask_for_answers(unknown);
      std::erase_if(own, [&](std::size_t i) { return !rows_[i].is_asked; });
      const auto is_of_all = [&](const Hypothesis& h) {
        return std::ranges::all_of(own, [&](std::size_t i) { return h.explains(answer_of(rows_[i])); });
      };
      const auto at = std::ranges::find_if(appearances, is_of_all);
      if (own.size() < few_cases) continue;
      if (at != appearances.end())
        c.does = at->does;
      else if (const auto output = only_wrong_output(own))
        c.does = concat("give wrong values as ", *output);
    }
  }

  // The name of the result that is wrong in all of these answers, where the others are right.
  std::optional<std::string_view> only_wrong_output(const std::vector<std::size_t>& rows) const {
    std::optional<std::size_t> only;
    for (const std::size_t i : rows) {
      const std::vector<Tensor>& right = rows_[i].call->expected.outs;
      if (op_.outs() < 2 || right.size() != op_.outs() || rows_[i].outs.size() != right.size()) return std::nullopt;
      for (std::size_t k = 0; k < right.size(); ++k) {
        const std::vector<bool> are_right = judge::right_elements(op_, rows_[i].call->expected, k, rows_[i].outs[k]);
        if (std::ranges::find(are_right, false) == are_right.end()) continue;
        if (only.value_or(k) != k) return std::nullopt;
        only = k;
      }
    }
    return only ? std::optional(op_.arguments[op_.arguments.size() - op_.outs() + *only].name) : std::nullopt;
  }

  // The predicate of a cause with the name of an argument where it speaks of some tensor or number.
  Predicate named(const Cause& c) const {
    Predicate told = c.predicate;
    for (std::size_t k = c.premises; k < told.size(); ++k)
      if (auto l = named(c, told, k)) told[k] = std::move(*l);
    return told;
  }

  // The literal about one argument that separates the cases of the run as well as literal k; none if there is none.
  std::optional<Literal> named(const Cause& c, const Predicate& p, std::size_t k) const {
    const std::string_view flag = p[k].name;
    constexpr auto subjects = std::to_array<std::string_view>({"a tensor ", "an input ", "an argument ", "a list "});
    const auto subject = std::ranges::find_if(subjects, [&](std::string_view s) { return flag.starts_with(s); });
    if (subject == subjects.end() || p[k].test > Literal::Test::lacks) return std::nullopt;
    Predicate others = p;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
    std::vector<const features::Features*> failing, passing;
    const std::set<std::string> own = ids_of(c.cases);
    for (const TriedCase& r : rows_)
      if (own.contains(cases::to_text(r.seen.id)))
        failing.push_back(&r.features);
      else if (said_by(r, c.symptom) == Says::passes && r.seen.promised && holds(others, r.features))
        passing.push_back(&r.features);
    const auto among_passing = [&](const Literal& l) {
      return std::ranges::count_if(passing, [&](const features::Features* f) { return l.of(*f); });
    };
    std::optional<Literal> best;
    for (const SchemaArgument& a : op_.arguments) {
      if (a.type.starts_with("Tensor[") || a.type.starts_with("Tensor?[")) continue;
      Literal l{p[k].test, concat(a.name, ' ', flag.substr(subject->size())), 0};
      if (flag == "a list is empty" && p[k].test == Literal::Test::holds)
        l = {Literal::Test::is, concat("the length of ", a.name), 0};
      const bool is_right = std::ranges::all_of(failing, [&](const features::Features* f) { return l.of(*f); }) &&
                            among_passing(l) <= among_passing(best ? *best : p[k]);
      if (is_right && (!best || among_passing(l) < among_passing(*best))) best = l;
    }
    return best;
  }

  static std::set<std::string> ids_of(const std::vector<JudgedCase>& cases) {
    std::set<std::string> ids;
    for (const JudgedCase& s : cases) ids.insert(cases::to_text(s.id));
    return ids;
  }

  // Judges calls that differ from the smallest failing ones in one argument.
  void look_around(const Symptom& symptom) {
    std::vector<std::size_t> seeds;
    for (std::size_t i = 0; i < of_the_run_; ++i)
      if (rows_[i].seen.symptom == symptom && !rows_[i].is_explained && rows_[i].seen.promised) seeds.push_back(i);
    std::ranges::stable_sort(seeds, {}, [&](std::size_t i) { return rows_[i].seen.elements; });
    for (const std::size_t seed : evenly_chosen(seeds, most_seeds)) {
      const std::size_t first = rows_.size();
      std::uint64_t telling = 0, expectedly = 0;
      judge(drawer_.neighbours(rows_[seed].seen.id, most_neighbours), symptom, Says::passes, Until::drawn, telling,
            expectedly);
      for (std::size_t i = first; i < rows_.size(); ++i) rows_[i].neighbour = seed;
    }
  }

  // Tests each predicate that does not convince, once, with all calls that can be drawn. These calls may show that
  // another predicate is right, which then gets its own trial.
  std::vector<Cause> tried_to_the_end(const Symptom& symptom, std::vector<Cause> found, std::vector<Predicate> kept) {
    std::map<Predicate, verdict::Trial> known;
    for (const Cause& c : found)
      if (c.trial.convinces(verdict::convincing)) known.emplace(c.predicate, c.trial);
    for (int pass = 0; pass < last_passes; ++pass) {
      if (pass > 0) found = explained(symptom, kept);
      bool all_convince = true;
      for (Cause& cause : found) {
        if (cause.cases.empty()) continue;
        const auto [at, is_new] = known.try_emplace(cause.predicate);
        if (is_new) {
          at->second = attempt(cause, found, Until::drawn);
          if (at->second.convinces(verdict::convincing)) kept.push_back(cause.predicate);
        }
        cause.trial = at->second;
        all_convince = all_convince && cause.trial.convinces(verdict::convincing);
      }
      if (all_convince) break;
    }
    return found;
  }

  // What all calls with a symptom have in common by its definition: they are valid or break one rule, and if results
  // are wrong, there are results.
  Predicate premise(const Symptom& symptom) const {
    Predicate common;
    const auto all = [&](const Literal& l) {
      return std::ranges::all_of(rows_,
                                 [&](const TriedCase& r) { return r.seen.symptom != symptom || l.of(r.features); });
    };
    const auto& some = std::ranges::find_if(rows_, [&](const TriedCase& r) {
                         return r.seen.symptom == symptom && !r.is_explained;
                       })->features;
    for (const features::Phrase flag : some.flags)
      if (const Literal l{Literal::Test::holds, flag, 0}; is_about_validity(flag) && all(l)) common.push_back(l);
    if (const Literal l{Literal::Test::lacks, features::results_are_empty, 0}; !hides_results(symptom) && all(l))
      common.push_back(l);
    return common;
  }

  // More calls are drawn only for symptoms of promised calls that are worse than a small loss of accuracy.
  bool is_tried(const Symptom& symptom) const {
    return case_runner_ && std::ranges::any_of(rows_, [&](const TriedCase& r) {
             return r.seen.symptom == symptom && r.seen.tier < verdict::Tier::not_promised && !r.is_explained;
           });
  }

  // The causes that are kept, and new causes for the failures that these do not cover.
  std::vector<Cause> explained(const Symptom& symptom, const std::vector<Predicate>& kept) const {
    const Predicate premise = this->premise(symptom);
    const auto is_kept = [&](const features::Features& f) {
      return std::ranges::any_of(kept, [&](const Predicate& p) { return holds(p, f); });
    };
    const bool within_contract = is_tried(symptom);  // a pass outside the contract is no evidence
    std::vector<Example> examples;
    std::vector<std::optional<std::size_t>> places(rows_.size());  // of rows among the examples
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const TriedCase& row = rows_[i];
      const Says said = said_by(row, symptom);
      if (row.is_explained || said == Says::nothing || !holds(premise, row.features) || is_kept(row.features)) continue;
      if (said == Says::passes && within_contract && !row.seen.promised) continue;
      places[i] = examples.size();
      examples.push_back({&row.features, said == Says::fails, row.neighbour ? places[*row.neighbour] : std::nullopt});
    }
    std::vector<Cause> found;
    for (const Predicate& p : kept)
      found.push_back({&op_, symptom, p, premise.size(), {}, {}, false, true, true, {}, {}});
    const auto told = static_cast<std::size_t>(std::ranges::count_if(premise, std::not_fn(goes_without_saying)));
    for (Predicate& p : explain(examples, sentence_conditions - std::min(told, sentence_conditions - 1))) {
      p.insert(p.begin(), premise.begin(), premise.end());
      found.push_back({&op_, symptom, std::move(p), premise.size(), {}, {}, false, true, true, {}, {}});
    }
    assign(found, symptom);
    return found;
  }

  // Assigns each failing case of the run to the first cause that covers it.
  void assign(std::vector<Cause>& found, const Symptom& symptom) const {
    for (std::size_t i = 0; i < of_the_run_; ++i) {
      const TriedCase& row = rows_[i];
      if (row.seen.symptom != symptom || row.is_explained || row.seen.verdict == verdict::Verdict::unsupported)
        continue;
      const auto at = std::ranges::find_if(found, [&](const Cause& c) { return holds(c.predicate, row.features); });
      if (at != found.end()) at->cases.push_back(row.seen);
    }
  }

  struct Attempts {
    verdict::Trial trial;
    int number = 0;
  };

  // When a trial ends: as soon as it can no longer convince, or when all its calls are drawn, so that the share of
  // calls that fail alike is known.
  enum class Until : std::uint8_t { unconvincing, drawn };

  // Tests a cause with calls that satisfy its predicate. If these fail alike, also tests it with calls that differ in
  // one literal of the predicate and that no other cause of the symptom explains.
  verdict::Trial attempt(const Cause& cause, const std::vector<Cause>& all, Until until = Until::unconvincing) {
    std::vector<cases::CaseId> near;
    for (const TriedCase& r : rows_)
      if (r.seen.symptom == cause.symptom && !r.is_explained && holds(cause.predicate, r.features))
        near.push_back(r.seen.id);
    const Predicate& p = cause.predicate;
    verdict::Trial trial;
    const auto fails = [&](const DescribedCase& c) {
      return holds(p, c.features) && is_made_under(cause.symptom, op_, c.id, c.features);
    };
    judge(drawer_.draw(most_drawn, near, fails), cause.symptom, Says::fails, until, trial.drawn, trial.alike);
    const auto goes_on = [&] { return until == Until::drawn || trial.convinces(verdict::convincing); };
    if (!goes_on()) return trial;
    const auto has_other_cause = [&](const features::Features& f) {
      return std::ranges::any_of(
          all, [&](const Cause& c) { return c.predicate.size() > c.premises && holds(c.predicate, f); });
    };
    const std::size_t first = cause.premises, own = p.size() - first;
    for (std::size_t k = first; k < p.size() && goes_on(); ++k) {
      const auto differs = [&](const DescribedCase& c) {
        for (std::size_t l = 0; l < p.size(); ++l)
          if (p[l].of(c.features) == (l == k)) return false;
        return !has_other_cause(c.features) && is_made_under(cause.symptom, op_, c.id, c.features);
      };
      judge(drawer_.draw((most_drawn + own - 1) / own, near, differs), cause.symptom, Says::passes, until,
            trial.differing, trial.spared);
    }
    return trial;
  }

  // Judges the drawn calls until too many contradict the expectation. Counts the calls that are evidence, and those
  // among them that are as expected.
  void judge(std::vector<DescribedCase> drawn, const Symptom& symptom, Says expected, Until until,
             std::uint64_t& telling, std::uint64_t& expectedly) {
    std::vector<std::string> ids;
    for (const DescribedCase& c : drawn) ids.push_back(cases::to_text(c.id));
    const bool hangs = symptom.verdict == verdict::Verdict::timeout;
    const sandbox::TimeLimit time_limit =
        hangs ? case_runner_->children().patience().short_limit() : hurried(case_runner_->time_limit());
    std::size_t judged = 0;
    trials_->run_while(ids, time_limit, [&](runner::Judged j) {
      DescribedCase& c = drawn[judged++];
      j.record.valid = c.features.has(features::call_is_valid), j.record.slices = std::move(c.promise.slices);
      const bool is_known = verdict::is_failure(j.record.verdict) && is_explained(*c.call, c.features);
      rows_.push_back({seen(j.record), std::move(c.features), nullptr, {}, false, false, is_known});
      if (symptom.failure == verdict::Class::reads_out_of_bounds) rows_.back().shows_reads = may_end_at_pages(*c.call);
      const Says said = said_by(rows_.back(), symptom);
      if (said != Says::nothing && !is_known) ++telling, expectedly += said == expected;
      return until == Until::drawn || telling - expectedly <= most_unexpected;
    });
    drawn.erase(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(judged));
    drawer_.put_back(std::move(drawn));
  }

  runner::CaseRunner* case_runner_;  // null: no more calls can be made
  const cases::Corpus& corpus_;
  std::optional<runner::Trials> trials_;
  const Operator& op_;
  Drawer drawer_;
  std::deque<TriedCase> rows_;
  std::size_t of_the_run_;
  std::vector<Hypothesis> mistakes_;
  std::deque<std::vector<Hypothesis>> in_elements_;
  std::deque<Hypothesis> in_some_calls_;
  std::map<std::pair<const Hypothesis*, std::size_t>, bool> explained_by_;
  std::vector<std::pair<const Hypothesis*, Predicate>> known_;  // hypotheses that are taken
  std::vector<Cause> causes_;
  bool fails_with_nan_ = true;  // whether calls with the symptom that is looked at have NaN among their results
};

}  // namespace

JudgedCase seen(const verdict::Record& r) {
  return {cases::case_id_from(r.case_id),
          symptom_of(r),
          circumstance_of(r),
          reasons_in(r),
          r.verdict,
          verdict::tier_of(r),
          r.promised,
          r.known,
          r.distance,
          r.elements.value_or(0)};
}

std::vector<Cause> causes_of(runner::CaseRunner* case_runner, const cases::Corpus& corpus,
                             const cases::RecordedCalls& calls, std::vector<JudgedCase> cases) {
  if (std::ranges::none_of(cases, is_finding)) return {};
  return Investigation(case_runner, corpus, calls, std::move(cases)).causes();
}

}  // namespace assay::defects
