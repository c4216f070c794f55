#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/runner/patience.h"
#include "conformance/sandbox/child.h"
#include "conformance/sandbox/fork_server.h"
#include "conformance/verdict/record.h"
#include "reference/tensor.h"

namespace assay::runner {

// A record, with the facts that are needed to compare two answers to the same case.
struct Judged {
  verdict::Record record;
  std::uint64_t answer = 0;  // a digest of all that the testee did, except free values, texts of refusals, and times
  bool spoilt = false;       // the process must not run another case
  std::vector<Tensor> outs = {};  // with Detail::answer, the testee's results; none if it refused, or if they are large
};

// How many details a record has.
enum class Detail : std::uint8_t {
  outcome,  // verdict, class, rule and message; for cases that the caller knows to be promised
  answer,   // also the testee's results
  facts,  // also the facts of the case; and inputs, outs, expected and got of a case that is neither passed nor failed
          // (such as unsupported)
  failures,  // also inputs, outs, expected and got of a failing case
  all,       // also inputs, outs, expected and got of every case
};

// How a case is judged.
struct RunMode {
  Detail detail = Detail::failures;
  bool recovers_from_aborts = false;  // the child continues after an abort, with the memory and locks left as they were
};

// Judges cases, given by their ids, in children that the cases may crash. Thread-safe.
class JudgingChildren {
 public:
  using Judge = std::function<Judged(std::string_view id, RunMode mode)>;
  using Lose = std::function<Judged(std::string_view id, const sandbox::TaskResult& death, Detail detail)>;

  // `judge` is called in a child; if the child dies, `lose` is called here. Construct it before the process has
  // threads. `processors` is the number of processors that cases run on.
  JudgingChildren(const sandbox::TimeLimit& time_limit, Judge judge, Lose lose, int processors = 1);

  const sandbox::TimeLimit& time_limit() const { return patience_.full(); }
  const Patience& patience() const { return patience_; }
  Patience& patience() { return patience_; }

  // The judgements of some cases. The list ends at the first case that crashed or damaged the child. After a case that
  // the child recovered from, the child's death tells nothing about the case that it dies with.
  struct Run {
    std::vector<Judged> judged;
    bool is_lost = false;  // the child died in this way, with a case that is not judged
  };

  // Judges the cases one after another in a fresh child, with facts. The record of a case that crashed the child has
  // the outcome alone. A case is not judged if `judge` threw a Fault with the outcome `exhausted`. Throws Interrupted,
  // and other Faults that `judge` threw.
  Run run(std::span<const std::string> ids, bool recovers_from_aborts = false);

  // Judges one case in a fresh child; with the short limit of time if it is known to hang.
  Judged run_alone(const std::string& id, Detail detail = Detail::failures, bool hangs = false);

  // The record of a case that is not judged because too many cases of its kind hang.
  Judged left_out(const std::string& id) const;

 private:
  friend class Trials;

  struct RunPart {
    std::size_t judged = 0;
    bool is_lost = false;
    bool is_over = false;  // the child must not judge another case
  };
  // Continues while `goes_on` returns true and the child lives.
  RunPart run(sandbox::Child& child, std::span<const std::string> ids, RunMode mode,
              const std::function<bool(Judged)>& goes_on);
  Judged judged(const std::string& id, const sandbox::TaskResult& result, Detail detail) const;
  Judged not_judged(const std::string& id, std::string rule, std::string_view why, Detail detail) const;

  Patience patience_;
  Lose lose_;
  sandbox::ForkServer fork_server_;
};

// Judges lists of cases of one operator in one child as long as it lives. The child recovers from aborts, until a later
// death shows that a recovery damaged it.
class Trials {
 public:
  // `children` must outlive it
  Trials(JudgingChildren& children, Detail detail) : children_(children), detail_(detail) {}

  // Judges the list while `goes_on` returns true. Throws as JudgingChildren does.
  void run_while(std::span<const std::string> ids, const sandbox::TimeLimit& time_limit,
                 const std::function<bool(Judged)>& goes_on);
  bool recovers_from_aborts() const { return recovers_from_aborts_; }

 private:
  JudgingChildren& children_;
  Detail detail_;
  std::optional<sandbox::Child> child_;
  bool recovers_from_aborts_ = true;
};

}  // namespace assay::runner
