#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cases/generated.h"
#include "conformance/report/record.h"
#include "conformance/testees/library.h"

namespace assay {

struct SuiteOptions {
  std::string operators;        // a pattern, see matches(); empty: all
  std::uint64_t seed = 1;       // of the mutations
  std::size_t mutations = 100;  // mutated calls for each operator
  int workers = 2;              // children that run cases; 0: run them in this process
  int timeout_seconds = 20;     // for one case
};

// The cases of a run in the order in which they are given out: every recorded call, a case that breaks each rule,
// mutated calls; then, for each kind of failure of each operator, the search for a simpler case that fails alike.
class Suite {
 public:
  Suite(const Corpus& corpus, const SuiteOptions& options, bool recorded_only);

  std::optional<CaseId> next();
  void judged(const CaseId& id, const Record& record);

  std::size_t given() const { return given_; }
  std::size_t planned() const { return planned_; }  // without the searches

 private:
  struct Search {
    std::string failure;  // operator and class
    Shrinking shrinking;
    std::optional<CaseId> asked;  // the candidate whose answer is awaited
    bool over = false;
  };
  void open(const RecordedCalls& calls);
  std::optional<CaseId> next_candidate();

  const Corpus& corpus_;
  SuiteOptions options_;
  bool recorded_only_;
  std::deque<const RecordedCalls*> operators_;  // not opened yet
  std::deque<CaseId> queue_;
  std::set<std::string> failures_seen_;
  std::vector<Search> searches_;
  std::size_t given_ = 0, planned_ = 0;
};

// Runs a suite on a library: in children unless the options say otherwise. `done` gets every record as it comes.
void run_suite(const Corpus& corpus, KernelLibrary& library, const SuiteOptions& options, Suite& suite,
               const std::function<void(const Record&)>& done);

// Runs one case, in a child where the library may crash; its record describes the call whatever the verdict.
Record run_alone(const Corpus& corpus, KernelLibrary& library, const CaseId& id, int timeout_seconds = 60);

}  // namespace assay
