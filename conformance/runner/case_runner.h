#pragma once

#include <optional>
#include <vector>

#include "conformance/runner/run_case.h"

namespace assay {

// Cases that are run one after the other in a child of their own: the history of a case is those before it.
using Block = std::vector<CaseId>;

// Where cases are run on a library, in children. May be used by many threads.
class CaseRunner {
 public:
  // The corpus, the library and its contract outlive it. Made before there are threads, for so many processors.
  CaseRunner(const Corpus& corpus, KernelLibrary& library, const Contract& contract, const TimeLimit& time_limit,
             int processors = 1, bool thorough = false);

  const Contract& contract() const { return contract_; }
  const TimeLimit& time_limit() const { return children_.time_limit(); }

  // How many should use it on so many processors: one waits while its child works, so that two keep a processor busy,
  // as long as the library may be called by so many.
  int users(int processors) const;

  // Which judge its cases, for trials.
  JudgingChildren& children() { return children_; }

  // Runs one case in a fresh child.
  Judged run_alone(const CaseId& id, Detail detail = Detail::failures);

  // As judge_in_turn has them.
  std::vector<Record> judge_block(const Block& block);

 private:
  Judged judge(const CaseId& id, RunMode mode);

  const Corpus& corpus_;
  KernelLibrary& library_;
  const Contract& contract_;
  const bool is_thorough_;
  std::optional<Probe> probe_;  // of a child
  JudgingChildren children_;
};

}  // namespace assay
