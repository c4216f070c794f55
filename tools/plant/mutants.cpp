// Which of the faults planted in the formulas of reference/operators the recorded calls notice.
//
//   mutants [--sample N] KNOWN FOLDER...   folders of recorded calls. Prints a line for each fault that they do not
//                                          notice, then how many of each kind and file are. KNOWN lists those that are
//                                          expected to go unnoticed, each with its reason. With a sample N of each kind
//                                          are tried, none of them listed.
//
// A fault is noticed by a call on which the judge says otherwise of eager's answer than without it, or the process
// ends. Of a place that is evaluated for no result, but only where bounds are asked for, the faults are of kind
// "bound". Exits with 1 where a fault goes unnoticed that is not listed, or one is noticed that is.

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>

#include "conformance/cases/recorded.h"
#include "conformance/judge/judge.h"
#include "tools/plant/mutants.h"

namespace {

using namespace assay;
using mutants::Mutant;

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

std::size_t first_of_place(std::size_t mutant) {
  const auto all = mutants::all();
  while (mutant > 0 && all[mutant - 1].place == all[mutant].place) --mutant;
  return mutant;
}

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
  const std::size_t place = first_of_place(mutant);
  score.makes_results |= reach.makes_results[place] != 0;
  if (reach.by_place[place].empty()) {
    if (score.state == untried) score.state = unreached;
    return;
  }
  const pid_t child = fork();
  if (child == 0) {
    const rlimit memory{most_memory, most_memory}, core{0, 0};
    setrlimit(RLIMIT_AS, &memory), setrlimit(RLIMIT_CORE, &core);
    attempt(mutant, calls, reach.by_place[place], score);
  }
  int status = 0;
  waitpid(child, &status, 0);
  score.state = WIFEXITED(status) && WEXITSTATUS(status) == 0 ? unnoticed : noticed;
}

std::string key(const Mutant& m) {
  return fmt::format("{} | {} | {}", m.place.substr(0, m.place.find(':')), m.line, m.change);
}

// The faults that are known to go unnoticed, and why; a line: "file | line | change | reason".
std::map<std::string, std::string> read_known(const char* file) {
  std::map<std::string, std::string> known;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t bar = line.rfind(" | ");
    if (!line.starts_with('#') && bar != std::string::npos) known[line.substr(0, bar)] = line.substr(bar + 3);
  }
  return known;
}

// The positions of those to try: all, or so many of each kind, evenly spread over those that are not known.
std::vector<std::size_t> chosen(std::size_t sample, const std::map<std::string, std::string>& known) {
  std::map<std::string_view, std::vector<std::size_t>> kinds;
  const auto all = mutants::all();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (sample == 0 || !known.contains(key(all[i]))) kinds[all[i].kind].push_back(i);
  std::vector<std::size_t> some;
  for (const auto& [kind, of_kind] : kinds) {
    const std::size_t count = sample == 0 ? of_kind.size() : std::min(sample, of_kind.size());
    for (std::size_t k = 0; k < count; ++k) some.push_back(of_kind[k * of_kind.size() / count]);
  }
  std::ranges::sort(some);
  return some;
}

std::string_view kind_of(const Mutant& m, const Score& s) {
  return s.state == unreached || s.makes_results ? m.kind : "bound";
}

std::string described(const Score& s) {
  if (s.state == unreached) return "no call reaches it";
  return fmt::format("{} of {} calls have other results", s.differing, s.calls);
}

// Whether all is as the list says.
bool print_scores(std::span<const std::size_t> tried, std::span<const Score> scores,
                  const std::map<std::string, std::string>& known) {
  struct Count {
    int all = 0, noticed = 0, equal = 0;
  };
  std::map<std::string, Count> counts;
  bool as_listed = true;
  for (const std::size_t i : tried) {
    const Mutant& m = mutants::all()[i];
    const Score& s = scores[i];
    if (!s.fits) continue;
    const auto listed = known.find(key(m));
    const bool equal = listed != known.end() && listed->second.starts_with("equal");
    for (const std::string_view group : {kind_of(m, s), m.place.substr(0, m.place.find(':'))}) {
      Count& count = counts[std::string(group)];
      ++count.all, count.noticed += s.state == noticed, count.equal += s.state != noticed && equal;
    }
    if (s.state == noticed && listed != known.end()) fmt::print("noticed, though listed: {}\n", key(m));
    if (s.state != noticed)
      fmt::print("{} | {} | {} | {}\n", kind_of(m, s), m.place, key(m),
                 listed == known.end() ? described(s) : listed->second);
    as_listed &= (s.state == noticed) == (listed == known.end());
  }
  for (const auto& [group, c] : counts)
    fmt::print("{:<18} {:>5} of {:>5} noticed, {:>4} equal: {:.1f} % of the others\n", group, c.noticed, c.all, c.equal,
               100.0 * c.noticed / std::max(c.all - c.equal, 1));
  return as_listed;
}

std::span<Score> shared_scores(std::size_t count) {
  void* const memory = mmap(nullptr, count * sizeof(Score), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return {new (memory) Score[count], count};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::span<char* const> arguments(argv + 1, static_cast<std::size_t>(argc - 1));
    std::size_t sample = 0;
    if (arguments.size() > 1 && std::string_view(arguments[0]) == "--sample")
      sample = std::strtoul(arguments[1], nullptr, 10), arguments = arguments.subspan(2);
    if (arguments.size() < 2) return fmt::print(stderr, "usage: mutants [--sample N] KNOWN FOLDER...\n"), 2;
    const auto known = read_known(arguments[0]);
    std::vector<RecordedCalls> files;
    for (const char* folder : arguments.subspan(1))
      for (RecordedCalls& calls : RecordedCalls::read_all(recorded_files(folder))) files.push_back(std::move(calls));
    std::vector<RecordedAt> calls;
    for (const RecordedCalls& file : files)
      for (std::size_t i = 0; i < file.size(); ++i) calls.push_back({&file, i});
    const std::vector<std::size_t> tried = chosen(sample, known);
    const std::span<Score> scores = shared_scores(mutants::all().size());
    for (std::size_t round = 0; round < rounds; ++round) {
      const auto is_left = [&](std::size_t i) { return scores[i].state != noticed; };
      if (std::ranges::none_of(tried, is_left)) break;
      const Reach reached = reach(calls, round);
      for (const std::size_t i : tried)
        if (is_left(i)) attempt_in_child(i, calls, reached, scores[i]);
    }
    return print_scores(tried, scores, known) ? 0 : 1;
  } catch (const Fault& f) {
    return fmt::print(stderr, "mutants: {}, {}: {}\n", name(f.outcome), f.rule, f.message), exit_code(f.outcome);
  }
}
