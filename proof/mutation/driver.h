#pragma once

#include <sys/mman.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "proof/mutation/mutant.h"

// Mutation testing: the mutants that are tried, the child processes that run them, the list of survivors, the scores.
// Each program of this folder has one Subject and this driver's main.
//
//   PROGRAM [--sample N] [--only TEXT] [FOLDER...]   tries all mutants on the recorded calls of the folders
//     --sample N   of each kind N mutants that are listed as survivors and N others, the same in each run
//     --only TEXT  only the mutants whose lines have this text
//     --calls      instead prints calls that would notice what the recorded calls do not, as lines of
//                  `assay call --jsonl`; only of entries
//
// A mutant is noticed where what tests it sees a difference, or where its process ends. Prints a line for each mutant
// that survives, then the score of each kind. Exits with 1 where
//   - a mutant survives that is not listed,
//   - a listed mutant is noticed, or
//   - a line of the list matches no mutant, or, of all mutants, none that survives.
namespace assay::mutation {

// A line of a list of survivors, for a class of mutants: `of | kind | place | change | reason`. Backquotes enclose
// alternatives that are separated by bars. The reason is "equal: " and why no test can notice the mutants, or "open: "
// and what is known.
struct SurvivorLine {
  std::string pattern, reason;
  int matched = 0, survived = 0;
};

class Survivors {
 public:
  Survivors(const std::filesystem::path& file, std::span<const Mutant> mutants);  // throws Fault (malformed)
  SurvivorLine* line_of(std::size_t mutant) { return line_of_[mutant]; }          // nullptr: the mutant is not listed
  std::span<const SurvivorLine> lines() const { return lines_; }

 private:
  std::vector<SurvivorLine> lines_;
  std::vector<SurvivorLine*> line_of_;
};
inline bool is_equal(std::string_view reason) { return reason.starts_with("equal"); }

struct Options {
  std::size_t sample = 0;  // 0 means all
  std::string only;
  bool calls = false;
  std::vector<std::string> folders;

  explicit Options(std::span<const char* const> words);  // throws Fault (invalid)
  bool whole() const { return sample == 0 && only.empty(); }
};

struct Result {
  bool noticed;
  std::string reason;                    // what is known about a survivor that is not listed
  std::vector<std::string_view> groups;  // the scores that the mutant counts for
};

// A set of mutants, how one is switched on, and what tests it.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual std::string_view name() const = 0;  // the list of survivors is NAME.txt
  virtual std::span<const Mutant> mutants() const = 0;
  virtual void try_mutants(std::span<const std::size_t> chosen, Survivors& survivors) = 0;
  virtual std::optional<Result> result(std::size_t mutant) const = 0;  // empty if the mutant changes nothing
  virtual bool is_enough() const { return true; }  // Whether the scores of all mutants are high enough.
  virtual void print_calls();                      // throws Fault (unsupported)
};
std::unique_ptr<Subject> make_subject(const Options& options);  // defined by each program

// Calls attempt(mutant) for each mutant in child processes, `each` in one child. Returns the mutants that ended their
// process.
std::vector<std::size_t> in_children(std::span<const std::size_t> mutants, std::size_t each,
                                     const std::function<void(std::size_t)>& attempt);

// Ends the process when it has used the processor for that long from now on.
void limit_processor_seconds(int seconds);

// Memory that child processes share with their parent. Never freed.
template <class T>
std::span<T> shared(std::size_t count) {
  void* const memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return {new (memory) T[count], count};
}

}  // namespace assay::mutation
