// Which of the faults planted in the entries of the spec the recorded calls notice.
//
//   plant FOLDER...        folders of recorded calls. Prints a line for each fault that they do not notice, then how
//                          many of each kind are.
//   plant calls FOLDER...  prints calls that would notice what the recorded ones do not, as lines of
//                          `assay call --jsonl`.
//
// A fault is noticed by a call on which it makes the rules agree with eager, or no longer agree: known disagreements
// are listed, too. They agree where both refuse the call or neither does, without outs, too, and the results are
// promised then as eager makes them, by dtype, sizes and layout. It is noticed by the end of the process, as well. One
// that is not is tried on calls around the recorded ones. It is
//
//   missed  where one of them tells it from the entry,
//   equal   where some get past the rule by it, and another rule, which is named, refuses each of them all the same; of
//           a dtype or layout of results, where many valid calls are promised the same; of a dtype in a set, where many
//           calls have it in an argument of which the rule speaks, and the rule is never asked about it,
//   open    where it is none of these.

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iterator>
#include <map>
#include <optional>

#include "conformance/cases/case.h"
#include "conformance/cases/fresh.h"
#include "conformance/text/request.h"
#include "tools/plant/planted.h"
#include "tools/plant/search.h"

namespace {

using namespace assay;

enum State : char { untried, begun, unnoticed, noticed };

struct Score {
  State state = untried;
  Sight sight;
};

constexpr unsigned patience = 20;  // seconds for a fault
constexpr int many = 32;           // calls that say that an answer is always the same

using Folder = std::map<std::string, RecordedCalls, std::less<>>;
using Calls = std::vector<std::vector<Value>>;

// Whether the reference, as it is now, agrees with what eager did.
bool agrees(const Operator& op, const RecordedCall& recorded) {
  return say(op, recorded.arguments).refused == recorded.refused && fresh_mismatch(op, recorded).empty();
}

std::vector<RecordedCall> calls_of(const std::vector<Folder>& folders, const Operator& op) {
  std::vector<RecordedCall> all;
  for (const Folder& folder : folders)
    if (const auto at = folder.find(op.name); at != folder.end())
      for (std::size_t i = 0; i < at->second.size(); ++i) all.push_back(at->second.at(i));
  return all;
}

// The faults of one operator, of which the first has this number, with what is found of each.
struct Faults {
  const Operator& op;
  int first;
  std::span<Score> scores;
};

// Does `attempt(score)` for each score that is untried, with its fault in place, which may end the process: then
// `ended(score)` is done. A child does one after another.
template <class Attempt, class Ended>
void in_children(const Faults& faults, Attempt attempt, Ended ended) {
  const auto is_untried = [](const Score& s) { return s.state == untried; };
  while (std::ranges::any_of(faults.scores, is_untried)) {
    const pid_t child = fork();
    if (child == 0) {
      for (std::size_t k = 0; k < faults.scores.size(); ++k) {
        Score& score = faults.scores[k];
        if (!is_untried(score)) continue;
        score.state = begun;
        alarm(patience);
        active_fault = faults.first + static_cast<int>(k);
        attempt(score);
      }
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    for (Score& score : faults.scores)
      if (score.state == begun) ended(score);
  }
}

void try_recorded(const Faults& faults, const std::vector<RecordedCall>& calls) {
  const auto agree = [&](const RecordedCall& c) { return agrees(faults.op, c); };
  std::vector<char> agreed;
  std::ranges::transform(calls, std::back_inserter(agreed), agree);
  in_children(
      faults, [&](Score& score) { score.state = std::ranges::equal(calls, agreed, {}, agree) ? unnoticed : noticed; },
      [](Score& score) { score.state = noticed; });
}

const PlantedFault& fault_of(const Faults& faults, const Score& score) {
  return planted_faults()[static_cast<std::size_t>(faults.first + (&score - faults.scores.data()))];
}

// The rule that a fault is in; none where it is in a promise.
const Rule* rule_of(const Operator& op, const PlantedFault& fault) {
  const std::string id = fmt::format("{}.{}", op.id, fault.place.substr(0, fault.place.find(':')));
  const auto at = std::ranges::find(op.rules, id, &Rule::id);
  return at == op.rules.end() ? nullptr : &*at;
}

// The dtype that a fault takes in or out of a set.
std::optional<DType> dtype_of(const PlantedFault& fault) {
  return fault.kind == "dtypes" ? dtype_named(fault.change.substr(0, fault.change.find(' '))) : std::nullopt;
}

// What is unnoticed becomes untried, and then looked at, until as many calls as are wanted tell.
void try_around(const Faults& faults, const Calls& calls, std::size_t wanted) {
  std::vector<Saying> said;
  for (const auto& arguments : calls) said.push_back(say(faults.op, arguments));
  std::vector<std::size_t> tellers;
  for (Score& score : faults.scores)
    if (score.state == unnoticed) score.state = untried;
  in_children(
      faults,
      [&](Score& score) {
        const PlantedFault& fault = fault_of(faults, score);
        look(faults.op, rule_of(faults.op, fault), dtype_of(fault), calls, said, tellers, wanted, score.sight);
        if (score.sight.told > 0) tellers.push_back(score.sight.at[0]);
        score.state = unnoticed;
      },
      [](Score& score) { score.state = unnoticed, ++score.sight.told; });
}

// The id of a request is the fault, and what the entry without it says.
void print_calls(const Faults& faults, const Calls& calls) {
  for (std::size_t k = 0; k < faults.scores.size(); ++k) {
    const Sight& sight = faults.scores[k].sight;
    const PlantedFault& f = planted_faults()[static_cast<std::size_t>(faults.first) + k];
    for (const std::size_t i : std::span(sight.at).first(sight.told)) {
      const std::string_view says = say(faults.op, calls[i]).refused ? "refused" : "accepted";
      fmt::print("{}\n", request_line(faults.op, calls[i], fmt::format("{}: {}; {}", f.place, f.change, says)));
    }
  }
}

// Why a fault that is not told changes nothing; empty where that is not known.
std::string equal(const PlantedFault& fault, const Sight& sight) {
  if (sight.masked > 0) return fmt::format("{} refuses {} calls all the same", sight.by.data(), sight.masked);
  const bool promised = fault.kind == "dtype" || fault.kind == "layout";
  if (promised && sight.valid >= many) return fmt::format("{} valid calls are promised the same", sight.valid);
  return sight.having >= many ? fmt::format("{} calls with that dtype are answered the same", sight.having) : "";
}

void print_scores(std::span<const PlantedFault> faults, std::span<const Score> scores) {
  struct Count {
    int all = 0, noticed = 0, equal = 0;
  };
  std::map<std::string_view, Count> kinds;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const PlantedFault& f = faults[i];
    const Score& s = scores[i];
    Count& count = kinds[f.kind];
    ++count.all;
    if (s.state == noticed) {
      ++count.noticed;
      continue;
    }
    const std::string why = s.sight.told > 0 ? "" : equal(f, s.sight);
    count.equal += !why.empty();
    fmt::print("{} | {} | {} | {} | {}\n", f.operator_name, f.kind, f.place, f.change,
               s.sight.told > 0 ? "missed"
               : why.empty()    ? "open"
                                : "equal: " + why);
  }
  for (const auto& [kind, c] : kinds)
    fmt::print("{:<10} {:>5} of {:>5} noticed, {:>4} equal: {:.1f} % of the others\n", kind, c.noticed, c.all, c.equal,
               100.0 * c.noticed / std::max(c.all - c.equal, 1));
}

std::span<Score> shared_scores(std::size_t count) {
  void* const memory = mmap(nullptr, count * sizeof(Score), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return {new (memory) Score[count], count};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::span<const char* const> arguments(argv + 1, static_cast<std::size_t>(argc - 1));
    const bool wants_calls = !arguments.empty() && std::string_view(arguments[0]) == "calls";
    std::vector<Folder> folders;
    for (const char* folder : arguments.subspan(wants_calls)) {
      folders.emplace_back();
      for (RecordedCalls& calls : RecordedCalls::read_all(recorded_files(folder)))
        folders.back().insert_or_assign(std::string(calls.op().name), std::move(calls));
    }
    const std::span<const PlantedFault> faults = planted_faults();
    const std::span<Score> scores = shared_scores(faults.size());
    for (std::size_t begin = 0, end = 0; begin < faults.size(); begin = end) {
      while (end < faults.size() && faults[end].operator_name == faults[begin].operator_name) ++end;
      const Operator& op = *find_operator(faults[begin].operator_name);
      const Faults own{op, static_cast<int>(begin), scores.subspan(begin, end - begin)};
      const std::vector<RecordedCall> recorded = calls_of(folders, op);
      try_recorded(own, recorded);
      const Calls around = calls_around(op, recorded);
      try_around(own, around, wants_calls ? most_tellers : 1);
      if (wants_calls) print_calls(own, around);
    }
    if (!wants_calls) print_scores(faults, scores);
  } catch (const Fault& f) {
    return fmt::print(stderr, "plant: {}, {}: {}\n", name(f.outcome), f.rule, f.message), exit_code(f.outcome);
  }
}
