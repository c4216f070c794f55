#pragma once

#include <optional>
#include <vector>

#include "conformance/runner/run_case.h"

namespace assay::runner {

// Cases that run one after another in one child. The history of a case is the cases before it in its block.
using Block = std::vector<cases::CaseId>;

// Runs and judges the cases of a library, in children. Thread-safe.
class CaseRunner {
 public:
  // The corpus, the library and the contract must outlive it. Construct it before the process has threads. `processors`
  // is the number of processors that cases run on.
  CaseRunner(const cases::Corpus& corpus, testee::KernelLibrary& library, const contract::Contract& contract,
             const sandbox::TimeLimit& time_limit, int processors = 1, bool thorough = false);

  const contract::Contract& contract() const { return contract_; }
  const sandbox::TimeLimit& time_limit() const { return children_.time_limit(); }

  // The number of threads that should use it with `processors` processors. A thread waits while its child works, so two
  // threads keep one processor busy, as far as the library allows concurrent calls.
  int users(int processors) const;

  // The children that judge its cases, for trials.
  JudgingChildren& children() { return children_; }
  const JudgingChildren& children() const { return children_; }

  // Runs one case in a fresh child; with the short limit of time if it is known to hang.
  Judged run_alone(const cases::CaseId& id, Detail detail = Detail::failures, bool hangs = false);

  // The records of judge_in_turn.
  std::vector<verdict::Record> judge_block(const Block& block);

 private:
  Judged judge(const cases::CaseId& id, RunMode mode);

  const cases::Corpus& corpus_;
  testee::KernelLibrary& library_;
  const contract::Contract& contract_;
  const bool is_thorough_;
  std::optional<sandbox::Probe> probe_;  // exists only in a child
  JudgingChildren children_;
};

}  // namespace assay::runner
