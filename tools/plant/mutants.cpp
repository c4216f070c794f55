// Which of the faults planted in the formulas of reference/operators, and in the accuracies of entries, the recorded
// calls notice.
//
//   mutants [--sample N] SURVIVORS FOLDER...   folders of recorded calls; see scores.h. Prints a line for each fault
//                                              that they do not notice, then how many of each kind and file are.
//
// A fault is noticed by a call on which the judge says otherwise of eager's answer than without it, or takes any number
// for a result, which it does not without, or the process ends. Of a place that is evaluated for no result, but only
// where bounds are asked for, the faults are of kind "bound". These, and an accuracy that is twice as wide, are
// noticed, too, where the judge no longer takes a number of a kernel that makes the formula in the dtype of the
// results, in any order (tools/numbers), or takes one of a kernel that does so with bits fewer, which it does not
// without. Exits with 1 where a fault goes unnoticed that is not listed, or one is noticed that is.

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>

#include "tools/numbers/evaluate.h"
#include "tools/plant/eager.h"
#include "tools/plant/mutants.h"

namespace {

using namespace assay;
using namespace assay::plant;

constexpr time_t time_limit = 2;  // seconds of the processor for a call
constexpr rlim_t most_memory = rlim_t{4} << 30;
constexpr std::size_t rounds = 8;       // of calls: most faults are noticed in the first
constexpr std::size_t most_asked = 32;  // calls of a round that reach a place
constexpr int most_lost = 6;            // bits that a kernel has fewer

struct RecordedAt {
  const RecordedCalls* calls;
  std::size_t at;
};

bool agrees(const Operator& op, const RecordedCall& recorded, const Expectation& expected) {
  return is_right(op, recorded, expected, reaction_of(recorded));
}

// A tensor with another value for each of its numbers.
template <class F>
Tensor replaced(Tensor tensor, F f) {
  const DTypeInfo& d = info(info(tensor.dtype).part);
  Array<Bits> numbers = read_parts(tensor);
  for (Bits& b : numbers.data) b = d.bits_of_real(f(d.real_of(b)));
  write_parts(numbers, tensor);
  return tensor;
}

// For each number of a call's results whether any would do: 0, and one beyond twice the number.
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

// The answer of a kernel that makes the formula of a call in another order or with bits fewer.
struct OtherAnswer {
  bool has_all_bits;
  std::vector<Tensor> outs;
  std::vector<std::vector<bool>> right;  // which numbers of each out the judge takes
};
using OtherAnswers = std::vector<OtherAnswer>;

std::vector<std::vector<bool>> right_numbers(const Operator& op, const Expectation& expected,
                                             const std::vector<Tensor>& outs) {
  std::vector<std::vector<bool>> right(outs.size());
  for (std::size_t k = 0; k < outs.size() && k < expected.outs.size(); ++k)
    if (like(outs[k], expected.outs[k])) right[k] = right_elements(op, expected, k, outs[k]);
  return right;
}

// Whether a number is wrong now that a kernel with all bits gives, or one is right that it gives with bits fewer.
bool tells(const Operator& op, const Expectation& faulty, const OtherAnswer& other) {
  const std::vector<std::vector<bool>> now = right_numbers(op, faulty, other.outs);
  const auto tells = [&](const std::vector<bool>& before, const std::vector<bool>& after) {
    return other.has_all_bits ? !std::ranges::equal(after, before, std::greater_equal<>())
                              : !std::ranges::equal(before, after, std::greater_equal<>());
  };
  return !std::ranges::equal(other.right, now, std::not_fn(tells));
}

OtherAnswers other_answers(const Operator& op, const RecordedCall& recorded) {
  using numbers::Functions;
  using numbers::Manner;
  using numbers::Order;
  OtherAnswers answers;
  const Expectation expected = expect(op, recorded.arguments);
  const auto floating =
      std::ranges::find_if(expected.outs, [](const Tensor& t) { return is_floating(info(t.dtype).part); });
  if (floating == expected.outs.end()) return answers;
  const DType part = info(floating->dtype).part, computed = compute_dtype(part);
  const auto add = [&](Manner manner) {
    manner.precision = computed == DType::float64 ? numbers::Precision::float64 : numbers::Precision::float32;
    const numbers::Evaluation made = numbers::evaluate(op.name, recorded.arguments, manner);
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

enum State : char { untried, unreached, unnoticed, noticed };

struct Score {
  State state = untried;
  bool makes_results = false;  // whether its place is evaluated where results are computed
  bool fits = true;
  int calls = 0, differing = 0;  // that reach it, and those of them with other results
};

// The calls that reach each place, by the number of its first fault, and whether they agree.
struct Reach {
  struct Call {
    std::size_t call;
    bool agreed;
  };
  std::vector<std::vector<Call>> by_place;
  std::vector<char> makes_results;
};

Reach reach(const std::vector<RecordedAt>& calls, std::size_t round) {
  Reach r{std::vector<std::vector<Reach::Call>>(mutants::all().size()), std::vector<char>(mutants::all().size())};
  for (std::size_t i = round; i < calls.size(); i += rounds) {
    const RecordedCall recorded = calls[i].calls->at(calls[i].at);
    if (recorded.refused) continue;
    mutants::asked.reset();
    const Expectation expected = expect(calls[i].calls->op(), recorded.arguments);
    const auto for_results = mutants::asked;
    const bool agreed = agrees(calls[i].calls->op(), recorded, expected);
    const auto& asked = mutants::asked;
    for (std::size_t n = asked._Find_first(); n < asked.size(); n = asked._Find_next(n)) {
      r.by_place[n].push_back({i, agreed});
      r.makes_results[n] |= static_cast<char>(for_results[n]);
    }
  }
  return r;
}

bool same_results(const Expectation& a, const Expectation& b) {
  return a.answer.outcome == b.answer.outcome &&
         std::ranges::equal(a.outs, b.outs, [](const Tensor& x, const Tensor& y) { return x.bytes == y.bytes; });
}

// Those to the calls of a round, made when they are first asked for.
using Cache = std::map<std::size_t, OtherAnswers>;

// Asks all calls, or only until one notices.
void attempt(std::size_t mutant, const std::vector<RecordedAt>& calls, const std::vector<Reach::Call>& reaching,
             const Cache& others, Score& score) {
  for (const Reach::Call& c : reaching) {
    const Operator& op = calls[c.call].calls->op();
    const RecordedCall recorded = calls[c.call].calls->at(calls[c.call].at);
    const Expectation right = expect(op, recorded.arguments);
    const itimerval end{{}, {time_limit, 0}};
    setitimer(ITIMER_VIRTUAL, &end, nullptr);
    const std::vector<bool> before = any_would_do(op, recorded, right);
    mutants::active = static_cast<int>(mutant);
    const Expectation faulty = expect(op, recorded.arguments);
    const bool agree = agrees(op, recorded, faulty);
    const std::vector<bool> now = agree ? any_would_do(op, recorded, faulty) : before;
    const auto other = score.makes_results ? others.end() : others.find(c.call);
    const bool others_agree = other == others.end() || std::ranges::none_of(other->second, [&](const OtherAnswer& o) {
                                return tells(op, faulty, o);
                              });
    mutants::active = -1;
    ++score.calls, score.differing += !same_results(right, faulty);
    score.fits = mutants::fits;
    if (agree != c.agreed || !others_agree || !std::ranges::equal(before, now, std::greater_equal<>())) _exit(1);
  }
  _exit(0);
}

// In a child, since a fault may end it or write anywhere.
void attempt_in_child(std::size_t mutant, const std::vector<RecordedAt>& calls, const Reach& reach, Cache& others,
                      Score& score) {
  const std::size_t place = static_cast<std::size_t>(mutants::first_of_place(mutant));
  score.makes_results |= reach.makes_results[place] != 0;
  if (reach.by_place[place].empty()) {
    if (score.state == untried) score.state = unreached;
    return;
  }
  if (!score.makes_results)
    for (const Reach::Call& c :
         std::span(reach.by_place[place]).first(std::min(reach.by_place[place].size(), most_asked)))
      if (const auto [at, is_new] = others.try_emplace(c.call); is_new)
        at->second = other_answers(calls[c.call].calls->op(), calls[c.call].calls->at(calls[c.call].at));
  const pid_t child = fork();
  if (child == 0) {
    close(STDERR_FILENO);  // an assertion that ends it is no news
    const rlimit memory{most_memory, most_memory}, core{0, 0};
    setrlimit(RLIMIT_AS, &memory), setrlimit(RLIMIT_CORE, &core);
    attempt(mutant, calls, reach.by_place[place], others, score);
  }
  int status = 0;
  waitpid(child, &status, 0);
  score.state = WIFEXITED(status) && WEXITSTATUS(status) == 0 ? unnoticed : noticed;
}

// The rows of accuracies, and that each is twice as wide.
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

  std::vector<Planted> planted() const {
    std::vector<Planted> all;
    for (const RowOf& r : rows_) all.push_back({r.op->name, "accuracy", r.text, "twice"});
    return all;
  }

  // Asks some of the calls of each dtype.
  bool noticed(std::size_t row) {
    const auto& [op, at, _] = rows_[row];
    std::vector<AccuracyRow> wider(op->accuracy.begin(), op->accuracy.end());
    wider[at].accuracy.amount *= 2;
    Operator faulty = *op;
    faulty.accuracy = wider;
    std::map<DType, std::size_t> asked;
    const std::vector<RecordedAt>& calls = calls_[op];
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const RecordedCall recorded = calls[i].calls->at(calls[i].at);
      if (recorded.refused || recorded.results.empty() || ++asked[recorded.results[0].dtype] > most_asked) continue;
      const auto [other, is_new] = others_.try_emplace({op, i});
      if (is_new) other->second = other_answers(*op, recorded);
      if (other->second.empty()) continue;
      const Expectation expected = expect(*op, recorded.arguments);
      if (std::ranges::any_of(other->second, [&](const OtherAnswer& o) { return tells(faulty, expected, o); }))
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

std::string described(const Score& s) {
  if (s.state == unreached) return "open, no call reaches it";
  const std::string of = s.makes_results ? "" : "of bounds, ";
  return fmt::format("open, {}{} of {} calls have other results", of, s.differing, s.calls);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Options options(argc, argv);
    const std::vector<RecordedCalls> files = recorded_in(options.folders);
    std::vector<RecordedAt> calls;
    for (const RecordedCalls& file : files)
      for (std::size_t i = 0; i < file.size(); ++i) calls.push_back({&file, i});
    Accuracies accuracies(calls);
    std::vector<Planted> planted(mutants::all().begin(), mutants::all().end());
    std::ranges::copy(accuracies.planted(), std::back_inserter(planted));
    const std::vector<std::size_t> chosen = options.chosen(planted);
    const auto formulas = std::ranges::lower_bound(chosen, mutants::all().size()) - chosen.begin();
    const std::span<const std::size_t> tried = std::span(chosen).first(static_cast<std::size_t>(formulas));
    const std::span<Score> scores = shared<Score>(mutants::all().size());
    for (std::size_t round = 0; round < rounds; ++round) {
      const auto is_left = [&](std::size_t i) { return scores[i].state != noticed; };
      if (std::ranges::none_of(tried, is_left)) break;
      const Reach reached = reach(calls, round);
      Cache others;
      for (const std::size_t i : tried)
        if (is_left(i)) attempt_in_child(i, calls, reached, others, scores[i]);
    }
    Report report(options.listed);
    for (const std::size_t i : tried) {
      const Planted& m = mutants::all()[i];
      const Score& s = scores[i];
      const std::string_view kind = s.state == unreached || s.makes_results ? m.kind : "bound";
      if (s.fits) report.add(m, s.state == noticed, described(s), {kind, m.of});
    }
    for (const std::size_t i : std::span(chosen).subspan(tried.size()))
      report.add(planted[i], accuracies.noticed(i - mutants::all().size()),
                 "open, no answer of a kernel with bits fewer is taken", {"accuracy"});
    return report.finish() ? 0 : 1;
  } catch (const Fault& f) {
    return fmt::print(stderr, "mutants: {}, {}: {}\n", name(f.outcome), f.rule, f.message), exit_code(f.outcome);
  }
}
