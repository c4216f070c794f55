#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "conformance/runner/run_case.h"
#include "conformance/testees/nursery.h"

namespace assay {

// Where cases are run on a library, in children. May be used by many threads.
class Laboratory {
 public:
  // The corpus, the library and its contract outlive it. Made before there are threads, for so many processors.
  Laboratory(const Corpus& corpus, KernelLibrary& library, const Contract& contract, const Patience& patience,
             int processors = 1);

  const Contract& contract() const { return contract_; }
  const Patience& patience() const { return patience_; }

  // How many should use it on so many processors: one waits while its child works, so that two keep a processor busy,
  // as long as the library may be called by so many.
  int users(int processors) const;

  // Runs the cases one after the other in a fresh child. What is judged ends behind the first that leaves no child to
  // go on with: one that took it down, or damaged it. Of one that took it down and was not its first the record has the
  // outcome alone. Throws Interrupted.
  std::vector<Judged> run(std::span<const CaseId> cases);

  // The outcomes of promised calls, in as many children as it takes, as long as `goes_on` says so of what was judged.
  void run_while(std::span<const CaseId> cases, const Patience& patience, const std::function<bool(Judged)>& goes_on);

  // Runs one case in a fresh child.
  Judged run_alone(const CaseId& id, Detail detail = Detail::failures);

 private:
  Work work(std::string_view task);
  Judged judged(const CaseId& id, const TaskResult& result, Detail detail) const;
  // How many were judged.
  std::size_t run(std::span<const CaseId> cases, Detail detail, const Patience& patience,
                  const std::function<bool(Judged)>& goes_on);

  const Corpus& corpus_;
  KernelLibrary& library_;
  const Contract& contract_;
  Patience patience_;
  std::optional<Probe> probe_;  // of a child
  Nursery nursery_;
};

}  // namespace assay
