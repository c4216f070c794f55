// Which of the faults planted in the entries of the spec the recorded calls notice.
//
//   plant [--sample N] SURVIVORS FOLDER...   folders of recorded calls; see scores.h. Prints a line for each fault that
//                                            they do not notice, then how many of each kind are.
//   plant calls SURVIVORS FOLDER...          prints calls that would notice what the recorded ones do not, as lines of
//                                            `assay call --jsonl`.
//
// A fault is noticed by a call on which it makes the rules agree with eager, or no longer agree: known disagreements
// are recorded, too. They agree where both refuse the call or neither does, without outs, too, and the results are
// promised then as eager makes them, by dtype, sizes and layout. It is noticed by the end of the process, as well. One
// that is not is tried on calls around the recorded ones. It is
//
//   missed  where one of them tells it from the entry,
//   equal   where some get past the rule by it, and another rule, which is named, refuses each of them all the same; of
//           a dtype or layout of results, where many valid calls are promised the same; of a dtype in a set, where many
//           calls have it in an argument of which the rule speaks, and the rule is never asked about it,
//   open    where it is none of these,
//
// and what the list says of it where it is on it. Exits with 1 where one goes unnoticed that is not listed, or one is
// noticed that is.

#include <fmt/format.h>
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
using namespace assay::plant;

enum State : char { unwanted, untried, begun, unnoticed, noticed };

struct Score {
  State state = unwanted;
  Sight sight;
};

constexpr unsigned time_limit = 20;  // seconds for a fault
constexpr int many = 32;             // calls that say that an answer is always the same
constexpr int some = 8;              // calls that say that a rule is never asked about a dtype

using Folder = std::map<std::string, RecordedCalls, std::less<>>;
using Calls = std::vector<std::vector<Value>>;

// Where the reference, as it is now, agrees with what eager did: on the call, and where it is given no outs.
using Agreement = std::pair<bool, bool>;
Agreement agreement(const Operator& op, const RecordedCall& recorded) {
  return {say(op, recorded.arguments).refused == recorded.refused, fresh_mismatch(op, recorded).empty()};
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
      close(STDERR_FILENO);  // an assertion that ends it is no news
      for (std::size_t k = 0; k < faults.scores.size(); ++k) {
        Score& score = faults.scores[k];
        if (!is_untried(score)) continue;
        score.state = begun;
        alarm(time_limit);
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
  const auto agree = [&](const RecordedCall& c) { return agreement(faults.op, c); };
  std::vector<Agreement> agreed;
  std::ranges::transform(calls, std::back_inserter(agreed), agree);
  in_children(
      faults, [&](Score& score) { score.state = std::ranges::equal(calls, agreed, {}, agree) ? unnoticed : noticed; },
      [](Score& score) { score.state = noticed; });
}

const Planted& fault_of(const Faults& faults, const Score& score) {
  return planted_faults()[static_cast<std::size_t>(faults.first + (&score - faults.scores.data()))];
}

// The rule that a fault is in; none where it is in a promise.
const Rule* rule_of(const Operator& op, const Planted& fault) {
  const std::string id = fmt::format("{}.{}", op.id, fault.place.substr(0, fault.place.find(':')));
  const auto at = std::ranges::find(op.rules, id, &Rule::id);
  return at == op.rules.end() ? nullptr : &*at;
}

// The dtype that a fault takes in or out of a set.
std::optional<DType> dtype_of(const Planted& fault) {
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
        const Planted& fault = fault_of(faults, score);
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
    const Planted& f = planted_faults()[static_cast<std::size_t>(faults.first) + k];
    for (const std::size_t i : std::span(sight.at).first(sight.told)) {
      const std::string_view says = say(faults.op, calls[i]).refused ? "refused" : "accepted";
      fmt::print("{}\n", request_line(faults.op, calls[i], fmt::format("{}: {}; {}", f.place, f.change, says)));
    }
  }
}

// Why a fault that is not told changes nothing; empty where that is not known.
std::string equal(const Planted& fault, const Sight& sight) {
  if (sight.masked > 0) return fmt::format("{} refuses {} calls all the same", sight.by.data(), sight.masked);
  const bool promised = fault.kind == "dtype" || fault.kind == "layout";
  if (promised && sight.valid >= many) return fmt::format("{} valid calls are promised the same", sight.valid);
  if (sight.before >= some && sight.before == sight.having)
    return fmt::format("{} refuses {} calls with that dtype before", sight.by.data(), sight.before);
  return sight.having >= many ? fmt::format("{} calls with that dtype are answered the same", sight.having) : "";
}

std::string described(const Planted& fault, const Sight& sight) {
  if (sight.told > 0) return "missed";
  const std::string why = equal(fault, sight);
  return why.empty() ? "open" : "equal: " + why;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const bool wants_calls = argc > 1 && std::string_view(argv[1]) == "calls";
    const Options options(argc - wants_calls, argv + wants_calls);
    std::vector<Folder> folders;
    for (const std::string& folder : options.folders) {
      folders.emplace_back();
      for (RecordedCalls& calls : RecordedCalls::read_all(recorded_files(folder)))
        folders.back().insert_or_assign(std::string(calls.op().name), std::move(calls));
    }
    const std::span<const Planted> faults = planted_faults();
    const std::span<Score> scores = shared<Score>(faults.size());
    for (const std::size_t i : options.chosen(faults)) scores[i].state = untried;
    for (std::size_t begin = 0, end = 0; begin < faults.size(); begin = end) {
      while (end < faults.size() && faults[end].of == faults[begin].of) ++end;
      const Operator& op = *find_operator(faults[begin].of);
      const Faults own{op, static_cast<int>(begin), scores.subspan(begin, end - begin)};
      if (std::ranges::all_of(own.scores, [](const Score& s) { return s.state == unwanted; })) continue;
      const std::vector<RecordedCall> recorded = calls_of(folders, op);
      try_recorded(own, recorded);
      if (options.sample > 0) continue;
      const Calls around = calls_around(op, recorded);
      try_around(own, around, wants_calls ? most_tellers : 1);
      if (wants_calls) print_calls(own, around);
    }
    if (wants_calls) return 0;
    Report report(options.listed);
    for (std::size_t i = 0; i < faults.size(); ++i)
      if (const Score& s = scores[i]; s.state != unwanted)
        report.add(faults[i], s.state == noticed, described(faults[i], s.sight), {faults[i].kind});
    return report.finish() ? 0 : 1;
  } catch (const Fault& f) {
    return fmt::print(stderr, "plant: {}, {}: {}\n", name(f.outcome), f.rule, f.message), exit_code(f.outcome);
  }
}
