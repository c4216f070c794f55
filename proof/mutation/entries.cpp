// Mutants of the entries of spec/operators, tested by recorded calls. Their kinds are "rule", "condition", "limit",
// "dtypes", "dtype" and "layout".
//
// A call notices a mutant where the rules agree with eager by the mutant or by the entry alone: known disagreements are
// recorded, too. The rules agree where both refuse the call or neither does, with its outs and without, and the
// promised results are laid out as eager makes them. Of all mutants, a survivor that is not listed is tried on calls
// around the recorded ones. It is
//
//   missed  where one of them tells it from the entry,
//   equal   where another rule refuses all calls that get past the mutated rule; of a dtype or layout of results, where
//           many valid calls are promised the same; of a dtype in a set, where many calls have it in an argument of
//           the rule, and the rule is never asked about it,
//   open    else.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "conformance/cases/case.h"
#include "conformance/cases/fresh.h"
#include "conformance/text/request.h"
#include "proof/mutation/driver.h"
#include "proof/mutation/eager.h"
#include "proof/mutation/entry_switches.h"
#include "proof/mutation/search.h"

namespace assay::mutation {
namespace {

constexpr int processor_seconds = 20;  // for a mutant
constexpr int many = 32;               // calls that show that an answer is always the same
constexpr int some = 8;                // the number of calls that show that a rule is never checked with a dtype

// Whether the rules agree with what eager did on the call, and where it is given no outs.
using Agreement = std::pair<bool, bool>;
Agreement agreement(const Operator& op, const RecordedCall& recorded) {
  return {ask_rules(op, recorded.arguments).refused == recorded.refused, fresh_mismatch(op, recorded).empty()};
}

// The rule that a mutant is in; nullptr where it is in a promise.
const Rule* rule_of(const Operator& op, const Mutant& mutant) {
  const std::string id = fmt::format("{}.{}", op.id, mutant.place.substr(0, mutant.place.find(':')));
  const auto at = std::ranges::find(op.rules, id, &Rule::id);
  return at == op.rules.end() ? nullptr : &*at;
}

// The dtype that a mutant adds to a set or removes.
std::optional<DType> dtype_of(const Mutant& mutant) {
  return mutant.kind == "dtypes" ? dtype_named(mutant.change.substr(0, mutant.change.find(' '))) : std::nullopt;
}

std::string reason(const Mutant& mutant, const Evidence& e) {
  const bool is_promise = mutant.kind == "dtype" || mutant.kind == "layout";
  const std::string_view by = e.by.data(), rule = by.substr(by.rfind('.') + 1);
  if (e.telling > 0) return "missed";
  if (e.masked > 0) return fmt::format("equal: {} refuses the same calls", rule);
  if (is_promise && e.valid >= many) return "equal: valid calls are promised the same";
  if (e.refused_before >= some && e.refused_before == e.with_dtype)
    return fmt::format("equal: {} refuses calls with that dtype before", rule);
  return e.with_dtype >= many ? "equal: calls with that dtype are answered the same" : "open";
}

class Entries : public Subject {
 public:
  explicit Entries(const Options& options)
      : searches_(options.sample == 0), trials_(shared<Trial>(generated_mutants().size())) {
    for (RecordedCalls& calls : recorded_in(options.folders)) recorded_[&calls.op()].push_back(std::move(calls));
  }

  std::string_view name() const override { return "entries"; }
  std::span<const Mutant> mutants() const override { return generated_mutants(); }

  void try_mutants(std::span<const std::size_t> chosen, Survivors& survivors) override {
    of_each_operator(chosen, [&](const Operator& op, std::span<const std::size_t> own) {
      const std::vector<RecordedCall> recorded = calls_of(op);
      try_recorded(op, own, recorded);
      std::vector<std::size_t> unexplained;
      std::ranges::copy_if(own, std::back_inserter(unexplained),
                           [&](std::size_t i) { return !trials_[i].noticed && !survivors.line_of(i); });
      if (searches_ && !unexplained.empty()) try_around(op, unexplained, calls_around(op, recorded), 1);
    });
  }

  std::optional<Result> result(std::size_t i) const override {
    return Result{trials_[i].noticed, reason(mutants()[i], trials_[i].evidence), {mutants()[i].kind}};
  }

  // The id of a request names the mutant and whether the entry refuses the call.
  void print_calls() override {
    std::vector<std::size_t> all(mutants().size());
    std::ranges::generate(all, [i = std::size_t{0}]() mutable { return i++; });
    of_each_operator(all, [&](const Operator& op, std::span<const std::size_t> own) {
      const std::vector<RecordedCall> recorded = calls_of(op);
      const std::vector<Arguments> around = calls_around(op, recorded);
      try_recorded(op, own, recorded);
      std::vector<std::size_t> survivors;
      std::ranges::copy_if(own, std::back_inserter(survivors), [&](std::size_t i) { return !trials_[i].noticed; });
      try_around(op, survivors, around, most_telling);
      for (const std::size_t i : survivors)
        for (const std::size_t at : std::span(trials_[i].evidence.at).first(trials_[i].evidence.telling)) {
          const std::string_view answer = ask_rules(op, around[at]).refused ? "refused" : "accepted";
          const std::string id = fmt::format("{}: {}; {}", mutants()[i].place, mutants()[i].change, answer);
          fmt::print("{}\n", request_line(op, around[at], id));
        }
    });
  }

 private:
  struct Trial {
    bool noticed = false;
    Evidence evidence;
  };

  // f(operator, its mutants) for each operator: mutants of an operator follow one another.
  template <class F>
  void of_each_operator(std::span<const std::size_t> chosen, F f) {
    const auto of = [&](std::size_t i) { return mutants()[i].of; };
    while (!chosen.empty()) {
      const auto end = std::ranges::find_if(chosen, [&](std::size_t i) { return of(i) != of(chosen[0]); });
      const auto count = static_cast<std::size_t>(end - chosen.begin());
      f(*find_operator(of(chosen[0])), chosen.first(count));
      chosen = chosen.subspan(count);
    }
  }

  std::vector<RecordedCall> calls_of(const Operator& op) const {
    std::vector<RecordedCall> all;
    if (const auto at = recorded_.find(&op); at != recorded_.end())
      for (const RecordedCalls& calls : at->second)
        for (std::size_t i = 0; i < calls.size(); ++i) all.push_back(calls.at(i));
    return all;
  }

  // attempt(mutant, its trial) in a child process, with the mutant switched on. ended(its trial) where that ends it.
  void in_child(std::span<const std::size_t> own, const std::function<void(std::size_t, Trial&)>& attempt,
                const std::function<void(Trial&)>& ended) {
    const auto deadly = in_children(own, own.size(), [&](std::size_t i) {
      limit_processor_seconds(processor_seconds);
      active = static_cast<int>(i);
      attempt(i, trials_[i]);
    });
    for (const std::size_t i : deadly) ended(trials_[i]);
  }

  void try_recorded(const Operator& op, std::span<const std::size_t> own, const std::vector<RecordedCall>& calls) {
    const auto agree = [&](const RecordedCall& c) { return agreement(op, c); };
    std::vector<Agreement> by_entry;
    std::ranges::transform(calls, std::back_inserter(by_entry), agree);
    in_child(
        own, [&](std::size_t, Trial& t) { t.noticed = !std::ranges::equal(calls, by_entry, {}, agree); },
        [](Trial& t) { t.noticed = true; });
  }

  void try_around(const Operator& op, std::span<const std::size_t> own, const std::vector<Arguments>& calls,
                  std::size_t wanted) {
    std::vector<RulesAnswer> answers;
    for (const Arguments& arguments : calls) answers.push_back(ask_rules(op, arguments));
    std::vector<std::size_t> told;  // calls that distinguished a mutant
    in_child(
        own,
        [&](std::size_t i, Trial& t) {
          const Mutant& m = mutants()[i];
          search(op, rule_of(op, m), dtype_of(m), calls, answers, told, wanted, t.evidence);
          if (t.evidence.telling > 0) told.push_back(t.evidence.at[0]);
        },
        [](Trial& t) { ++t.evidence.telling; });
  }

  bool searches_;
  std::span<Trial> trials_;
  std::map<const Operator*, std::vector<RecordedCalls>> recorded_;
};

}  // namespace

std::unique_ptr<Subject> make_subject(const Options& options) { return std::make_unique<Entries>(options); }

}  // namespace assay::mutation
