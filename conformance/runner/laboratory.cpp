#include "conformance/runner/laboratory.h"

#include <algorithm>

#include "conformance/runner/blame.h"

namespace assay {

Laboratory::Laboratory(const Corpus& corpus, KernelLibrary& library, const Contract& contract, const Patience& patience,
                       int processors, bool thorough)
    : corpus_(corpus),
      library_(library),
      contract_(contract),
      is_thorough_(thorough),
      children_(
          patience, [this](std::string_view id, Manner manner) { return judge(case_id_from(id), manner); },
          [this](std::string_view id, const TaskResult& death, Detail detail) {
            return lost_case(corpus_, library_.name(), contract_, case_id_from(id), death, detail);
          },
          processors) {}

int Laboratory::users(int processors) const { return std::min(2 * processors, library_.most_at_once()); }

Judged Laboratory::judge(const CaseId& id, Manner manner) {
  if (!probe_) probe_.emplace(library_).explain_faults();
  probe_->outlive_aborts(manner.outlives_aborts);
  probe_->be_thorough(is_thorough_);
  return run_case(corpus_, *probe_, contract_, id, manner.detail);
}

Judged Laboratory::run_alone(const CaseId& id, Detail detail) {
  return children_.run_alone(assay::to_text(id), detail);
}

std::vector<Record> Laboratory::judge_block(const Block& block) {
  std::vector<std::string> ids;
  for (const CaseId& id : block) ids.push_back(assay::to_text(id));
  return judge_in_turn(children_, ids);
}

}  // namespace assay
