#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "conformance/runner/run_case.h"

namespace assay {

// Cases that are run one after the other in a child of their own: the history of a case is those before it.
using Block = std::vector<CaseId>;

// Where cases are run on a library, in children. May be used by many threads.
class Laboratory {
 public:
  // The corpus, the library and its contract outlive it. Made before there are threads, for so many processors.
  Laboratory(const Corpus& corpus, KernelLibrary& library, const Contract& contract, const Patience& patience,
             int processors = 1);

  const Contract& contract() const { return contract_; }
  const Patience& patience() const { return children_.patience(); }

  // How many should use it on so many processors: one waits while its child works, so that two keep a processor busy,
  // as long as the library may be called by so many.
  int users(int processors) const;

  // The outcomes of promised calls, in as many children as it takes, as long as `goes_on` says so of what was judged.
  void run_while(std::span<const CaseId> cases, const Patience& patience, const std::function<bool(Judged)>& goes_on);

  // Runs one case in a fresh child.
  Judged run_alone(const CaseId& id, Detail detail = Detail::failures);

  // As judge_in_turn has them.
  std::vector<Record> judge_block(const Block& block);

 private:
  Judged judge(const CaseId& id, Detail detail);
  bool is_fatal(const std::string& operator_name);

  const Corpus& corpus_;
  KernelLibrary& library_;
  const Contract& contract_;
  std::optional<Probe> probe_;  // of a child
  JudgingChildren children_;
  std::mutex mutex_;
  std::unordered_set<std::string> fatal_;  // operators which no child should outlive: one that did ended by it later
};

}  // namespace assay
