// Mutants of the formulas of reference/operators and of the accuracies of entries, tested by recorded calls. Their
// kinds are "comparison", "operator", "assignment", "constant", "call", "logic" and "accuracy".
//
// A call notices a mutant where the judge's verdict of eager's answer is another than without it, where any number
// would do for a result only with it, or where the process ends. The score "bound" is that of mutants of places that
// are evaluated for bounds alone, for no result. These, and accuracies that are twice as wide, are noticed, too, where
// the judge refuses a number of a kernel that makes the formula in the dtype of the results, in any order
// (proof/precision), or takes a number of a kernel with fewer bits, which it refuses without the mutant.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>

#include "proof/mutation/driver.h"
#include "proof/mutation/eager.h"
#include "proof/mutation/formula_switches.h"
#include "proof/precision/evaluate.h"

namespace assay::mutation {
namespace {

constexpr int processor_seconds = 2;    // for a call
constexpr std::size_t rounds = 8;       // each with a part of the calls: most mutants are noticed in the first
constexpr std::size_t most_asked = 32;  // calls of a round for which answers of kernels are made
constexpr int most_lost = 6;            // the largest number of bits that a kernel loses

struct RecordedAt {
  const RecordedCalls* calls;
  std::size_t at;
};

bool agrees(const Operator& op, const RecordedCall& recorded, const Expectation& expected) {
  return is_right(op, recorded, expected, reaction_of(recorded));
}

// The tensor with f(number) for each number.
template <class F>
Tensor replaced(Tensor tensor, F f) {
  const DTypeInfo& d = info(info(tensor.dtype).part);
  Array<Bits> numbers = read_parts(tensor);
  for (Bits& b : numbers.data) b = d.bits_of_real(f(d.real_of(b)));
  write_parts(numbers, tensor);
  return tensor;
}

// For each number of a call's results whether any number would do for it: 0, and one beyond twice the number.
std::vector<bool> any_would_do(const Operator& op, const RecordedCall& recorded, const Expectation& expected) {
  std::vector<bool> all;
  for (std::size_t k = 0; k < expected.outs.size() && recorded.has_values; ++k) {
    const Tensor& eager = recorded.results[k];
    if (!is_floating(info(eager.dtype).part) || !like(eager, expected.outs[k])) continue;
    const auto right = [&](auto f) { return right_elements(op, expected, k, replaced(eager, f)); };
    const auto zero = right([](Real x) { return std::copysign(Real{0}, x); }),
               beyond = right([](Real x) { return std::isfinite(x) ? 2 * x + std::copysign(Real{1}, x) : -x; });
    for (std::size_t i = 0; i < zero.size(); ++i) all.push_back(zero[i] && beyond[i]);
  }
  return all;
}

// The answer of a kernel that makes the formula of a call in another order or with fewer bits.
struct OtherAnswer {
  bool has_all_bits;
  std::vector<Tensor> outs;
  std::vector<std::vector<bool>> right;  // for each out, whether the judge accepts each number
};
using OtherAnswers = std::vector<OtherAnswer>;

std::vector<std::vector<bool>> right_numbers(const Operator& op, const Expectation& expected,
                                             const std::vector<Tensor>& outs) {
  std::vector<std::vector<bool>> right(outs.size());
  for (std::size_t k = 0; k < outs.size() && k < expected.outs.size(); ++k)
    if (like(outs[k], expected.outs[k])) right[k] = right_elements(op, expected, k, outs[k]);
  return right;
}

// Whether a number of a kernel with all bits is wrong by the mutant, or a number of a kernel with fewer bits right by
// it.
bool tells(const Operator& op, const Expectation& by_mutant, const OtherAnswer& other) {
  const std::vector<std::vector<bool>> now = right_numbers(op, by_mutant, other.outs);
  const auto tells = [&](const std::vector<bool>& before, const std::vector<bool>& after) {
    return other.has_all_bits ? !std::ranges::equal(after, before, std::greater_equal<>())
                              : !std::ranges::equal(before, after, std::greater_equal<>());
  };
  return !std::ranges::equal(other.right, now, std::not_fn(tells));
}

OtherAnswers other_answers(const Operator& op, const RecordedCall& recorded) {
  using precision::Functions;
  using precision::Manner;
  using precision::Order;
  OtherAnswers answers;
  const Expectation expected = expect(op, recorded.arguments);
  const auto floating =
      std::ranges::find_if(expected.outs, [](const Tensor& t) { return is_floating(info(t.dtype).part); });
  if (floating == expected.outs.end()) return answers;
  const DType part = info(floating->dtype).part, computed = compute_dtype(part);
  const auto add = [&](Manner manner) {
    manner.precision = computed == DType::float64 ? precision::Precision::float64 : precision::Precision::float32;
    const precision::Evaluation made = precision::evaluate(op.name, recorded.arguments, manner);
    if (made.outcome != Outcome::ok) return;
    std::vector<Tensor> outs = out_tensors(op, made.arguments);
    std::vector<std::vector<bool>> right = right_numbers(op, expected, outs);
    answers.push_back({manner.lost_bits == 0, std::move(outs), std::move(right)});
  };
  for (const Order order : {Order::rising, Order::falling, Order::halves, Order::sixteen_lanes}) add({.order = order});
  for (const Functions f : {Functions::above, Functions::below, Functions::either}) add({.functions = f});
  const int stored = info(computed).precision - info(part).precision;
  for (int lost = 1; lost <= most_lost; ++lost) add({.lost_bits = lost});
  for (int lost = std::max(stored - 1, most_lost + 1); lost <= stored + 4; ++lost) add({.lost_bits = lost});
  return answers;
}

struct Trial {
  bool noticed = false, reached = false;
  bool makes_results = false;  // its place is evaluated where results are computed
  bool fits = true;
};

// The calls that reach each place, by the number of its first mutant, and whether the judge takes eager's answer.
struct Reach {
  struct Call {
    std::size_t call;
    bool agreed;
  };
  std::vector<std::vector<Call>> by_place;
  std::vector<bool> makes_results;
};

Reach reach(const std::vector<RecordedAt>& calls, std::size_t round) {
  const std::size_t places = generated_mutants().size();
  Reach r{std::vector<std::vector<Reach::Call>>(places), std::vector<bool>(places)};
  for (std::size_t i = round; i < calls.size(); i += rounds) {
    const RecordedCall recorded = calls[i].calls->at(calls[i].at);
    if (recorded.refused) continue;
    evaluated.reset();
    const Expectation expected = expect(calls[i].calls->op(), recorded.arguments);
    const auto for_results = evaluated;
    const bool agreed = agrees(calls[i].calls->op(), recorded, expected);
    for (std::size_t n = evaluated._Find_first(); n < evaluated.size(); n = evaluated._Find_next(n)) {
      r.by_place[n].push_back({i, agreed});
      if (for_results[n]) r.makes_results[n] = true;
    }
  }
  return r;
}

// The mutants of accuracies: of each row one, which is twice as wide.
class Accuracies {
 public:
  explicit Accuracies(const std::vector<RecordedAt>& calls) {
    for (const RecordedAt& c : calls) calls_[&c.calls->op()].push_back(c);
    for (const auto& [op, _] : calls_)
      for (std::size_t k = 0; k < op->accuracy.size(); ++k)
        if (op->accuracy[k].accuracy.measure == Accuracy::Measure::ulp ||
            op->accuracy[k].accuracy.measure == Accuracy::Measure::dot)
          rows_.push_back({op, k, text_of(op->accuracy[k])});
  }

  void add_mutants(std::vector<Mutant>& all) const {
    for (const RowOf& r : rows_) all.push_back({r.op->name, "accuracy", r.text, "twice"});
  }

  std::size_t size() const { return rows_.size(); }

  // Asks some of the calls of each dtype.
  bool noticed(std::size_t row) {
    const auto& [op, at, _] = rows_[row];
    std::vector<AccuracyRow> wider(op->accuracy.begin(), op->accuracy.end());
    wider[at].accuracy.amount *= 2;
    Operator mutant = *op;
    mutant.accuracy = wider;
    std::map<DType, std::size_t> asked;
    const std::vector<RecordedAt>& calls = calls_[op];
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const RecordedCall recorded = calls[i].calls->at(calls[i].at);
      if (recorded.refused || recorded.results.empty() || ++asked[recorded.results[0].dtype] > most_asked) continue;
      const auto [other, is_new] = others_.try_emplace({op, i});
      if (is_new) other->second = other_answers(*op, recorded);
      if (other->second.empty()) continue;
      const Expectation expected = expect(*op, recorded.arguments);
      if (std::ranges::any_of(other->second, [&](const OtherAnswer& o) { return tells(mutant, expected, o); }))
        return true;
    }
    return false;
  }

 private:
  struct RowOf {
    const Operator* op;
    std::size_t at;
    std::string text;
  };

  static std::string text_of(const AccuracyRow& row) {
    const std::string of = row.dtype ? std::string(info(*row.dtype).name) : "all";
    const bool is_dot = row.accuracy.measure == Accuracy::Measure::dot;
    return fmt::format("{}{}: {} {}", row.output < 0 ? "" : fmt::format("out {}, ", row.output), of,
                       row.accuracy.amount, is_dot ? "dot" : "ulp");
  }

  std::map<const Operator*, std::vector<RecordedAt>> calls_;
  std::map<std::pair<const Operator*, std::size_t>, OtherAnswers> others_;
  std::vector<RowOf> rows_;
};

class Formulas : public Subject {
 public:
  explicit Formulas(const Options& options)
      : files_(recorded_in(options.folders)),
        calls_(calls_of(files_)),
        accuracies_(calls_),
        mutants_(generated_mutants().begin(), generated_mutants().end()),
        trials_(shared<Trial>(mutants_.size() + accuracies_.size())) {
    accuracies_.add_mutants(mutants_);
  }

  std::string_view name() const override { return "formulas"; }
  std::span<const Mutant> mutants() const override { return mutants_; }

  void try_mutants(std::span<const std::size_t> chosen, Survivors&) override {
    const std::size_t formulas = generated_mutants().size();
    for (std::size_t round = 0; round < rounds; ++round) {
      std::vector<std::size_t> left;
      for (const std::size_t i : chosen)
        if (i < formulas && !trials_[i].noticed) left.push_back(i);
      if (left.empty()) break;
      const Reach reached = reach(calls_, round);
      Cache others;
      for (const std::size_t i : left) try_mutant(i, reached, others);
    }
    for (const std::size_t i : chosen)
      if (i >= formulas) trials_[i].noticed = accuracies_.noticed(i - formulas);
  }

  std::optional<Result> result(std::size_t i) const override {
    const Mutant& m = mutants_[i];
    const Trial& t = trials_[i];
    if (i >= generated_mutants().size())
      return Result{t.noticed, "open: no answer of a kernel with fewer bits is taken", {m.kind}};
    if (!t.fits) return {};
    const bool for_bounds = t.reached && !t.makes_results;
    return Result{t.noticed, t.reached ? "open" : "open: no call reaches it", {for_bounds ? "bound" : m.kind, m.of}};
  }

 private:
  // The answers of kernels to the calls of a round, made when they are first needed.
  using Cache = std::map<std::size_t, OtherAnswers>;

  static std::vector<RecordedAt> calls_of(const std::vector<RecordedCalls>& files) {
    std::vector<RecordedAt> calls;
    for (const RecordedCalls& file : files)
      for (std::size_t i = 0; i < file.size(); ++i) calls.push_back({&file, i});
    return calls;
  }

  // In a child process of its own, as the mutant may write anywhere.
  void try_mutant(std::size_t mutant, const Reach& reach, Cache& others) {
    const auto place = static_cast<std::size_t>(mutants_[mutant].first);
    const std::vector<Reach::Call>& reaching = reach.by_place[place];
    Trial& trial = trials_[mutant];
    if (reaching.empty()) return;
    trial.reached = true;
    trial.makes_results |= reach.makes_results[place];
    if (!trial.makes_results)
      for (const Reach::Call& c : std::span(reaching).first(std::min(reaching.size(), most_asked)))
        if (const auto [at, is_new] = others.try_emplace(c.call); is_new)
          at->second = other_answers(calls_[c.call].calls->op(), calls_[c.call].calls->at(calls_[c.call].at));
    const auto is_noticed_by = [&](const Reach::Call& c) { return notices(c, mutant, others, trial); };
    const auto deadly = in_children(std::span(&mutant, 1), 1,
                                    [&](std::size_t) { trial.noticed = std::ranges::any_of(reaching, is_noticed_by); });
    trial.noticed |= !deadly.empty();
  }

  bool notices(const Reach::Call& c, std::size_t mutant, const Cache& others, Trial& trial) const {
    const Operator& op = calls_[c.call].calls->op();
    const RecordedCall recorded = calls_[c.call].calls->at(calls_[c.call].at);
    const Expectation right = expect(op, recorded.arguments);
    limit_processor_seconds(processor_seconds);
    const std::vector<bool> before = any_would_do(op, recorded, right);
    active = static_cast<int>(mutant);
    const Expectation by_mutant = expect(op, recorded.arguments);
    const bool agree = agrees(op, recorded, by_mutant);
    const std::vector<bool> now = agree ? any_would_do(op, recorded, by_mutant) : before;
    const auto other = trial.makes_results ? others.end() : others.find(c.call);
    const bool others_tell = other != others.end() && std::ranges::any_of(other->second, [&](const OtherAnswer& o) {
                               return tells(op, by_mutant, o);
                             });
    active = -1;
    trial.fits = fits;
    return agree != c.agreed || others_tell || !std::ranges::equal(before, now, std::greater_equal<>());
  }

  std::vector<RecordedCalls> files_;
  std::vector<RecordedAt> calls_;
  Accuracies accuracies_;
  std::vector<Mutant> mutants_;
  std::span<Trial> trials_;
};

}  // namespace

std::unique_ptr<Subject> make_subject(const Options& options) { return std::make_unique<Formulas>(options); }

}  // namespace assay::mutation
