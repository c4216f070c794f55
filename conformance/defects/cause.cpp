#include "conformance/defects/cause.h"

#include <algorithm>
#include <deque>

#include "conformance/cases/fingerprint.h"
#include "conformance/defects/draw.h"
#include "conformance/defects/explain.h"

namespace assay {
namespace {

constexpr std::size_t most_drawn = 20;  // to try a predicate, and as many that differ
constexpr int rounds = 3;               // of finding predicates and trying them

// A case of the operator with its features; those that were drawn stand behind those of the run.
struct Row {
  JudgedCase seen;
  Features features;
};

enum class Says : std::uint8_t { fails, passes, nothing };

// What a case says about a symptom.
Says says(const JudgedCase& s, const Symptom& symptom) {
  if (s.symptom == symptom) return Says::fails;
  const bool is_fine = s.verdict == Verdict::pass || s.verdict == Verdict::quality;
  if (is_fine) return Says::passes;
  const bool came_further = hides_results(symptom) && is_failure(s.verdict) && !hides_results(s.symptom);
  return came_further ? Says::passes : Says::nothing;
}

bool is_finding(const JudgedCase& s) { return is_failure(s.verdict) || s.verdict == Verdict::quality; }

bool is_about_validity(std::string_view flag) { return flag == call_is_valid || says_broken(flag); }

class Investigation {
 public:
  Investigation(Laboratory* laboratory, const Corpus& corpus, const RecordedCalls& calls, std::vector<JudgedCase> cases)
      : laboratory_(laboratory),
        corpus_(corpus),
        op_(calls.op()),
        drawer_(corpus, calls, digest(op_.name)),
        of_the_run_(cases.size()) {
    for (JudgedCase& s : cases) {
      drawer_.know(s.id);
      add(std::move(s));
    }
  }

  std::vector<Cause> causes() && {
    for (const Symptom& symptom : symptoms()) find(symptom);
    return std::move(causes_);
  }

 private:
  void add(JudgedCase s) {
    Features features = features_of(corpus_, s.id);
    rows_.push_back({std::move(s), std::move(features)});
  }

  std::vector<Symptom> symptoms() const {
    std::set<Symptom> found;
    for (const Row& row : rows_)
      if (is_finding(row.seen)) found.insert(row.seen.symptom);
    return {found.begin(), found.end()};
  }

  void find(const Symptom& symptom) {
    std::vector<Cause> found = explained(symptom);
    for (int round = 0; round < rounds && is_tried(symptom); ++round) {
      if (round > 0) found = explained(symptom);
      bool all_convince = true;
      for (Cause& cause : found) {
        if (cause.cases.empty()) continue;
        attempt(cause, found);
        all_convince &= cause.trial.convinces(convincing);
      }
      if (all_convince) break;
    }
    std::erase_if(found,
                  [](const Cause& c) { return c.cases.empty(); });  // of calls that may be refused, or were drawn
    std::ranges::move(found, std::back_inserter(causes_));
  }

  // What all calls with a symptom have in common because of what it is: they are valid, or break one rule, and where
  // results are wrong there are some.
  Predicate premise(const Symptom& symptom) const {
    Predicate common;
    const auto all = [&](const Literal& l) {
      return std::ranges::all_of(rows_, [&](const Row& r) { return r.seen.symptom != symptom || l.of(r.features); });
    };
    const auto& some = std::ranges::find(rows_, symptom, [](const Row& r) { return r.seen.symptom; })->features;
    for (const std::string& flag : some.flags)
      if (const Literal l{Literal::Test::holds, flag, 0}; is_about_validity(flag) && all(l)) common.push_back(l);
    if (const Literal l{Literal::Test::lacks, results_are_empty, 0}; !hides_results(symptom) && all(l))
      common.push_back(l);
    return common;
  }

  // What nobody promised, or is nearly right, is not worth more calls.
  bool is_tried(const Symptom& symptom) const {
    return laboratory_ && std::ranges::any_of(rows_, [&](const Row& r) {
             return r.seen.symptom == symptom && r.seen.tier < Tier::not_promised;
           });
  }

  std::vector<Cause> explained(const Symptom& symptom) const {
    const Predicate premise = this->premise(symptom);
    std::vector<Example> examples;
    for (const Row& row : rows_)
      if (const Says said = says(row.seen, symptom); said != Says::nothing && holds(premise, row.features))
        examples.push_back({&row.features, said == Says::fails});
    std::vector<Cause> found;
    for (Predicate& p : explain(examples)) {
      p.insert(p.begin(), premise.begin(), premise.end());
      found.push_back({&op_, symptom, std::move(p), premise.size(), {}, {}});
    }
    assign(found, symptom);
    return found;
  }

  // Each failing case of the run to the first cause that covers it, which one does.
  void assign(std::vector<Cause>& found, const Symptom& symptom) const {
    for (std::size_t i = 0; i < of_the_run_; ++i) {
      const Row& row = rows_[i];
      if (row.seen.symptom != symptom || row.seen.verdict == Verdict::unsupported) continue;
      const auto at = std::ranges::find_if(found, [&](const Cause& c) { return holds(c.predicate, row.features); });
      at->cases.push_back(row.seen);
    }
  }

  // Tries a cause with calls that satisfy its predicate, and with some that differ in one literal of it and that no
  // other cause of the symptom explains.
  void attempt(Cause& cause, const std::vector<Cause>& all) {
    std::vector<CaseId> near;
    for (const JudgedCase& s : cause.cases) near.push_back(s.id);
    const Predicate& p = cause.predicate;
    const auto same = count(cause, drawer_.draw(most_drawn, near, [&](const Features& f) { return holds(p, f); }));
    cause.trial.alike += same.fail, cause.trial.drawn += same.fail + same.pass;
    const std::size_t first = cause.premises, own = p.size() - first;
    const auto is_explained = [&](const Features& f) {
      return std::ranges::any_of(
          all, [&](const Cause& c) { return c.predicate.size() > c.premises && holds(c.predicate, f); });
    };
    for (std::size_t k = first; k < p.size(); ++k) {
      const auto differs = [&](const Features& f) {
        for (std::size_t l = 0; l < p.size(); ++l)
          if (p[l].of(f) == (l == k)) return false;
        return !is_explained(f);
      };
      const auto other = count(cause, drawer_.draw((most_drawn + own - 1) / own, near, differs));
      cause.trial.spared += other.pass, cause.trial.differing += other.fail + other.pass;
    }
  }

  struct Count {
    std::uint64_t fail = 0, pass = 0;
  };

  // Judges calls: how many say that they fail for the cause's symptom, how many that they do not.
  Count count(const Cause& cause, const std::vector<CaseId>& ids) {
    Count n;
    for (const Judged& j : laboratory_->run_all(ids)) {
      const JudgedCase s = seen(j.record);
      n.fail += says(s, cause.symptom) == Says::fails, n.pass += says(s, cause.symptom) == Says::passes;
      add(s);
    }
    return n;
  }

  Laboratory* laboratory_;  // null where nothing can be tried
  const Corpus& corpus_;
  const Operator& op_;
  Drawer drawer_;
  std::deque<Row> rows_;
  std::size_t of_the_run_;
  std::vector<Cause> causes_;
};

}  // namespace

JudgedCase seen(const Record& r) {
  return {case_id_from(r.case_id), symptom_of(r), r.verdict, tier_of(r), r.promised, r.known, r.distance,
          r.elements.value_or(0)};
}

std::vector<Cause> causes_of(Laboratory* laboratory, const Corpus& corpus, const RecordedCalls& calls,
                             std::vector<JudgedCase> cases) {
  if (std::ranges::none_of(cases, is_finding)) return {};
  return Investigation(laboratory, corpus, calls, std::move(cases)).causes();
}

}  // namespace assay
