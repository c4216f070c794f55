// Which of the faults planted in the formulas of reference/operators the recorded calls notice.
//
//   mutants [--sample N] SURVIVORS FOLDER...   folders of recorded calls; see scores.h. Prints a line for each fault
//                                              that they do not notice, then how many of each kind and file are.
//
// A fault is noticed by a call on which the judge says otherwise of eager's answer than without it, or the process
// ends. Of a place that is evaluated for no result, but only where bounds are asked for, the faults are of kind
// "bound". Exits with 1 where a fault goes unnoticed that is not listed, or one is noticed that is.

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "conformance/cases/recorded.h"
#include "conformance/judge/judge.h"
#include "tools/plant/mutants.h"

namespace {

using namespace assay;
using namespace assay::plant;

constexpr unsigned patience = 2;  // seconds for a call
constexpr rlim_t most_memory = rlim_t{4} << 30;
constexpr std::size_t rounds = 8;  // of calls: most faults are noticed in the first

struct RecordedAt {
  const RecordedCalls* calls;
  std::size_t at;
};

Reaction reaction_of(const RecordedCall& recorded) {
  Reaction eager;
  eager.outcome = recorded.refused ? Outcome::invalid : Outcome::ok;
  eager.outs = recorded.results, eager.has_values = recorded.has_values;
  return eager;
}

bool agrees(const Operator& op, const RecordedCall& recorded, const Expectation& expected) {
  return judge(op, recorded.arguments, expected, reaction_of(recorded)).verdict != Verdict::fail;
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

// Asks all calls, or only until one notices.
void attempt(std::size_t mutant, const std::vector<RecordedAt>& calls, const std::vector<Reach::Call>& reaching,
             Score& score) {
  for (const Reach::Call& c : reaching) {
    const Operator& op = calls[c.call].calls->op();
    const RecordedCall recorded = calls[c.call].calls->at(calls[c.call].at);
    const Expectation right = expect(op, recorded.arguments);
    alarm(patience);
    mutants::active = static_cast<int>(mutant);
    const Expectation faulty = expect(op, recorded.arguments);
    const bool agree = agrees(op, recorded, faulty);
    mutants::active = -1;
    ++score.calls, score.differing += !same_results(right, faulty);
    score.fits = mutants::fits;
    if (agree != c.agreed) _exit(1);
  }
  _exit(0);
}

// In a child, since a fault may end it or write anywhere.
void attempt_in_child(std::size_t mutant, const std::vector<RecordedAt>& calls, const Reach& reach, Score& score) {
  const std::size_t place = static_cast<std::size_t>(mutants::first_of_place(mutant));
  score.makes_results |= reach.makes_results[place] != 0;
  if (reach.by_place[place].empty()) {
    if (score.state == untried) score.state = unreached;
    return;
  }
  const pid_t child = fork();
  if (child == 0) {
    close(STDERR_FILENO);  // an assertion that ends it is no news
    const rlimit memory{most_memory, most_memory}, core{0, 0};
    setrlimit(RLIMIT_AS, &memory), setrlimit(RLIMIT_CORE, &core);
    attempt(mutant, calls, reach.by_place[place], score);
  }
  int status = 0;
  waitpid(child, &status, 0);
  score.state = WIFEXITED(status) && WEXITSTATUS(status) == 0 ? unnoticed : noticed;
}

std::string described(const Score& s) {
  if (s.state == unreached) return "open, no call reaches it";
  const std::string of = s.makes_results ? "" : "of bounds, ";
  return fmt::format("open, {}{} of {} calls have other results", of, s.differing, s.calls);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Options options(argc, argv);
    std::vector<RecordedCalls> files;
    for (const std::string& folder : options.folders)
      for (RecordedCalls& calls : RecordedCalls::read_all(recorded_files(folder))) files.push_back(std::move(calls));
    std::vector<RecordedAt> calls;
    for (const RecordedCalls& file : files)
      for (std::size_t i = 0; i < file.size(); ++i) calls.push_back({&file, i});
    const std::vector<std::size_t> tried = options.chosen(mutants::all());
    const std::span<Score> scores = shared<Score>(mutants::all().size());
    for (std::size_t round = 0; round < rounds; ++round) {
      const auto is_left = [&](std::size_t i) { return scores[i].state != noticed; };
      if (std::ranges::none_of(tried, is_left)) break;
      const Reach reached = reach(calls, round);
      for (const std::size_t i : tried)
        if (is_left(i)) attempt_in_child(i, calls, reached, scores[i]);
    }
    Report report(options.listed);
    for (const std::size_t i : tried) {
      const Planted& m = mutants::all()[i];
      const Score& s = scores[i];
      const std::string_view kind = s.state == unreached || s.makes_results ? m.kind : "bound";
      if (s.fits) report.add(m, s.state == noticed, described(s), {kind, m.of});
    }
    return report.finish() ? 0 : 1;
  } catch (const Fault& f) {
    return fmt::print(stderr, "mutants: {}, {}: {}\n", name(f.outcome), f.rule, f.message), exit_code(f.outcome);
  }
}
