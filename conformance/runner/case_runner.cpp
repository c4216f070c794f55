#include "conformance/runner/case_runner.h"

#include <algorithm>

#include "conformance/runner/blame.h"

namespace assay {

CaseRunner::CaseRunner(const Corpus& corpus, KernelLibrary& library, const Contract& contract,
                       const TimeLimit& time_limit, int processors, bool thorough)
    : corpus_(corpus),
      library_(library),
      contract_(contract),
      is_thorough_(thorough),
      children_(
          time_limit, [this](std::string_view id, RunMode mode) { return judge(case_id_from(id), mode); },
          [this](std::string_view id, const TaskResult& death, Detail detail) {
            return lost_case(corpus_, library_.name(), contract_, case_id_from(id), death, detail);
          },
          processors) {}

int CaseRunner::users(int processors) const { return std::min(2 * processors, library_.most_at_once()); }

Judged CaseRunner::judge(const CaseId& id, RunMode mode) {
  if (!probe_) probe_.emplace(library_).explain_faults();
  probe_->recover_from_aborts(mode.recovers_from_aborts);
  probe_->be_thorough(is_thorough_);
  return run_case(corpus_, *probe_, contract_, id, mode.detail);
}

Judged CaseRunner::run_alone(const CaseId& id, Detail detail, bool hangs) {
  return children_.run_alone(assay::to_text(id), detail, hangs);
}

std::vector<Record> CaseRunner::judge_block(const Block& block) {
  std::vector<std::string> ids;
  for (const CaseId& id : block) ids.push_back(assay::to_text(id));
  return judge_in_turn(children_, ids);
}

}  // namespace assay
