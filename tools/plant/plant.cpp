// Which of the faults planted in the entries of the spec the recorded calls notice.
//
//   plant FOLDER...   folders of recorded calls. Prints a line for each survivor, then how many of each kind were
//   noticed.
//
// A fault is noticed by a call that it makes the rules refuse or accept against eager, or whose results, where no outs
// are given, it promises with another dtype, sizes or layout than eager's; or by the end of the process.

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "conformance/cases/fresh.h"
#include "conformance/cases/recorded.h"
#include "tools/plant/planted.h"

namespace {

using namespace assay;

enum State : char { untried, begun, survived, noticed };

constexpr unsigned patience = 20;  // seconds for a fault

// Whether the reference, as it is now, agrees with what eager did.
bool agrees(const Operator& op, const RecordedCall& recorded) {
  std::vector<Value> arguments = recorded.arguments;
  const Answer answer = call(op, arguments, Budget({.bytes = Int{1} << 28, .work = Int{1} << 30}), Mode::rules);
  return (answer.outcome != Outcome::ok) == recorded.refused && fresh_mismatch(op, recorded).empty();
}

// Tries those that are untried, one after another; a fault may end the process.
void try_all(const Operator& op, std::span<const RecordedCall> calls, std::span<State> states, int first) {
  for (std::size_t k = 0; k < states.size(); ++k) {
    if (states[k] != untried) continue;
    states[k] = begun;
    alarm(patience);
    active_fault = first + static_cast<int>(k);
    const bool all_agree = std::ranges::all_of(calls, [&](const RecordedCall& c) { return agrees(op, c); });
    states[k] = all_agree ? survived : noticed;
  }
}

void try_in_children(const Operator& op, std::span<const RecordedCall> calls, std::span<State> states, int first) {
  while (std::ranges::find(states, untried) != states.end()) {
    const pid_t child = fork();
    if (child == 0) {
      try_all(op, calls, states, first);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    std::ranges::replace(states, begun, noticed);
  }
}

// The calls of an operator on which the reference without a fault agrees with eager: what it does not notice.
std::vector<RecordedCall> calls_of(const std::vector<std::map<std::string, RecordedCalls, std::less<>>>& folders,
                                   const Operator& op) {
  std::vector<RecordedCall> all;
  for (const auto& folder : folders)
    if (const auto at = folder.find(op.name); at != folder.end())
      for (std::size_t i = 0; i < at->second.size(); ++i)
        if (RecordedCall c = at->second.at(i); agrees(op, c)) all.push_back(std::move(c));
  return all;
}

std::span<State> shared_states(std::size_t count) {
  void* const memory = mmap(nullptr, count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return {static_cast<State*>(memory), count};
}

void print(std::span<const PlantedFault> faults, std::span<const State> states) {
  std::map<std::string_view, std::pair<int, int>> kinds;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const PlantedFault& f = faults[i];
    auto& [found, all] = kinds[f.kind];
    ++all, found += states[i] == noticed;
    if (states[i] != noticed) fmt::print("survivor | {} | {} | {} | {}\n", f.operator_name, f.kind, f.place, f.change);
  }
  for (const auto& [kind, score] : kinds)
    fmt::print("{:<10} {:>5} of {:>5} noticed, {:.1f} %\n", kind, score.first, score.second,
               100.0 * score.first / score.second);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::vector<std::map<std::string, RecordedCalls, std::less<>>> folders;
    for (const char* folder : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
      folders.emplace_back();
      for (RecordedCalls& calls : RecordedCalls::read_all(recorded_files(folder)))
        folders.back().insert_or_assign(std::string(calls.op().name), std::move(calls));
    }
    const std::span<const PlantedFault> faults = planted_faults();
    const std::span<State> states = shared_states(faults.size());
    for (std::size_t begin = 0, end = 0; begin < faults.size(); begin = end) {
      while (end < faults.size() && faults[end].operator_name == faults[begin].operator_name) ++end;
      const Operator& op = *find_operator(faults[begin].operator_name);
      const std::vector<RecordedCall> calls = calls_of(folders, op);
      try_in_children(op, calls, states.subspan(begin, end - begin), static_cast<int>(begin));
    }
    print(faults, states);
  } catch (const Fault& f) {
    return fmt::print(stderr, "plant: {}, {}: {}\n", name(f.outcome), f.rule, f.message), exit_code(f.outcome);
  }
}
