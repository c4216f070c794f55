#include "conformance/defects/cause.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "conformance/defects/draw.h"
#include "conformance/defects/explain.h"

namespace assay::defects {
namespace {

constexpr std::size_t most_drawn = 20;      // calls that test a predicate, and as many that differ in one literal
constexpr std::size_t most_unexpected = 1;  // calls among them with another result than predicted, before a trial ends
constexpr int hurry = 100;                  // a divisor: a small call may take this fraction of a case's time limit
constexpr int rounds = 12;                  // rounds of finding predicates and testing them
constexpr int most_tried = 4;               // predicates of a symptom that a round tests, those of most cases
constexpr int most_attempts = 3;            // trials of one predicate
constexpr int last_passes = 2;              // passes over the predicates that do not convince

// A case of the operator with its features. In the list of all cases, drawn cases follow those of the run.
struct TriedCase {
  JudgedCase seen;
  features::Features features;
};

const contract::Contract whole_contract;

enum class Says : std::uint8_t { fails, passes, nothing };

// What a case is evidence for: that calls with the symptom fail, that they pass, or neither.
Says says(const JudgedCase& s, const Symptom& symptom) {
  if (s.symptom == symptom) return Says::fails;
  const bool is_fine = s.verdict == verdict::Verdict::pass || s.verdict == verdict::Verdict::quality;
  if (is_fine) return Says::passes;
  const bool came_further = hides_results(symptom) && verdict::is_failure(s.verdict) && !hides_results(s.symptom);
  return came_further ? Says::passes : Says::nothing;
}

bool is_finding(const JudgedCase& s) {
  return verdict::is_failure(s.verdict) || s.verdict == verdict::Verdict::quality;
}

bool is_about_validity(std::string_view flag) { return flag == features::call_is_valid || features::says_broken(flag); }

class Investigation {
 public:
  Investigation(runner::CaseRunner* case_runner, const cases::Corpus& corpus, const cases::RecordedCalls& calls,
                std::vector<JudgedCase> cases)
      : case_runner_(case_runner),
        op_(calls.op()),
        drawer_(corpus, case_runner ? case_runner->contract() : whole_contract, calls),
        of_the_run_(cases.size()) {
    if (case_runner) trials_.emplace(case_runner->children(), runner::Detail::outcome);
    // A kernel that answers one call in two ways has a state. The state also spoils later calls, so those failures have
    // the same cause.
    const Symptom in_two_ways{verdict::Verdict::fail, verdict::Class::not_repeatable, {}, {}};
    const bool has_state = std::ranges::find(cases, in_two_ways, &JudgedCase::symptom) != cases.end();
    for (JudgedCase& s : cases) {
      if (has_state && s.symptom.failure == verdict::Class::spoils_state) s.symptom = in_two_ways;
      features::Features features = drawer_.know(s.id);
      rows_.push_back({std::move(s), std::move(features)});
    }
  }

  std::vector<Cause> causes() && {
    for (const Symptom& symptom : symptoms()) find(symptom);
    return std::move(causes_);
  }

 private:
  std::vector<Symptom> symptoms() const {
    std::set<Symptom> found;
    for (const TriedCase& row : rows_)
      if (is_finding(row.seen)) found.insert(row.seen.symptom);
    return {found.begin(), found.end()};
  }

  void find(const Symptom& symptom) {
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
    std::ranges::move(found, std::back_inserter(causes_));
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
    const auto& some = std::ranges::find(rows_, symptom, [](const TriedCase& r) { return r.seen.symptom; })->features;
    for (const features::Phrase flag : some.flags)
      if (const Literal l{Literal::Test::holds, flag, 0}; is_about_validity(flag) && all(l)) common.push_back(l);
    if (const Literal l{Literal::Test::lacks, features::results_are_empty, 0}; !hides_results(symptom) && all(l))
      common.push_back(l);
    return common;
  }

  // More calls are drawn only for symptoms of promised calls that are worse than a small loss of accuracy.
  bool is_tried(const Symptom& symptom) const {
    return case_runner_ && std::ranges::any_of(rows_, [&](const TriedCase& r) {
             return r.seen.symptom == symptom && r.seen.tier < verdict::Tier::not_promised;
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
    for (const TriedCase& row : rows_) {
      const Says said = says(row.seen, symptom);
      if (said == Says::nothing || !holds(premise, row.features) || is_kept(row.features)) continue;
      if (said == Says::passes && within_contract && !row.seen.promised) continue;
      examples.push_back({&row.features, said == Says::fails});
    }
    std::vector<Cause> found;
    for (const Predicate& p : kept) found.push_back({&op_, symptom, p, premise.size(), {}, {}});
    for (Predicate& p : explain(examples)) {
      p.insert(p.begin(), premise.begin(), premise.end());
      found.push_back({&op_, symptom, std::move(p), premise.size(), {}, {}});
    }
    assign(found, symptom);
    return found;
  }

  // Assigns each failing case of the run to the first cause that covers it. At least one cause covers it.
  void assign(std::vector<Cause>& found, const Symptom& symptom) const {
    for (std::size_t i = 0; i < of_the_run_; ++i) {
      const TriedCase& row = rows_[i];
      if (row.seen.symptom != symptom || row.seen.verdict == verdict::Verdict::unsupported) continue;
      const auto at = std::ranges::find_if(found, [&](const Cause& c) { return holds(c.predicate, row.features); });
      at->cases.push_back(row.seen);
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
      if (r.seen.symptom == cause.symptom && holds(cause.predicate, r.features)) near.push_back(r.seen.id);
    const Predicate& p = cause.predicate;
    verdict::Trial trial;
    const auto fails = [&](const features::Features& f) { return holds(p, f); };
    judge(drawer_.draw(most_drawn, near, fails), cause.symptom, Says::fails, until, trial.drawn, trial.alike);
    const auto goes_on = [&] { return until == Until::drawn || trial.convinces(verdict::convincing); };
    if (!goes_on()) return trial;
    const auto is_explained = [&](const features::Features& f) {
      return std::ranges::any_of(
          all, [&](const Cause& c) { return c.predicate.size() > c.premises && holds(c.predicate, f); });
    };
    const std::size_t first = cause.premises, own = p.size() - first;
    for (std::size_t k = first; k < p.size() && goes_on(); ++k) {
      const auto differs = [&](const features::Features& f) {
        for (std::size_t l = 0; l < p.size(); ++l)
          if (p[l].of(f) == (l == k)) return false;
        return !is_explained(f);
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
    sandbox::TimeLimit time_limit = case_runner_->time_limit();
    if (symptom.verdict != verdict::Verdict::timeout) time_limit.processor /= hurry, time_limit.wall /= hurry;
    std::size_t judged = 0;
    trials_->run_while(ids, time_limit, [&](runner::Judged j) {
      DescribedCase& c = drawn[judged++];
      j.record.valid = c.features.has(features::call_is_valid), j.record.slices = std::move(c.promise.slices);
      JudgedCase s = seen(j.record);
      const Says said = says(s, symptom);
      if (said != Says::nothing) ++telling, expectedly += said == expected;
      rows_.push_back({std::move(s), std::move(c.features)});
      return until == Until::drawn || telling - expectedly <= most_unexpected;
    });
    drawn.erase(drawn.begin(), drawn.begin() + static_cast<std::ptrdiff_t>(judged));
    drawer_.put_back(std::move(drawn));
  }

  runner::CaseRunner* case_runner_;  // null: no more calls can be made
  std::optional<runner::Trials> trials_;
  const Operator& op_;
  Drawer drawer_;
  std::deque<TriedCase> rows_;
  std::size_t of_the_run_;
  std::vector<Cause> causes_;
};

}  // namespace

JudgedCase seen(const verdict::Record& r) {
  return {cases::case_id_from(r.case_id),
          symptom_of(r),
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
