#include "conformance/runner/case_runner.h"

#include <algorithm>

#include "conformance/runner/blame.h"

namespace assay::runner {

CaseRunner::CaseRunner(const cases::Corpus& corpus, testee::KernelLibrary& library, const contract::Contract& contract,
                       const sandbox::TimeLimit& time_limit, int processors, bool thorough)
    : corpus_(corpus),
      library_(library),
      contract_(contract),
      is_thorough_(thorough),
      children_(
          time_limit, [this](std::string_view id, RunMode mode) { return judge(cases::case_id_from(id), mode); },
          [this](std::string_view id, const sandbox::TaskResult& death, Detail detail) {
            return lost_case(corpus_, library_.name(), contract_, cases::case_id_from(id), death, detail);
          },
          processors) {}

int CaseRunner::users(int processors) const { return std::min(2 * processors, library_.most_at_once()); }

Judged CaseRunner::judge(const cases::CaseId& id, RunMode mode) {
  if (!probe_) probe_.emplace(library_).handle_faults();
  probe_->recover_from_aborts(mode.recovers_from_aborts);
  probe_->be_thorough(is_thorough_);
  return run_case(corpus_, *probe_, contract_, id, mode.detail);
}

Judged CaseRunner::run_alone(const cases::CaseId& id, Detail detail, bool hangs) {
  return children_.run_alone(cases::to_text(id), detail, hangs);
}

std::vector<verdict::Record> CaseRunner::judge_block(const Block& block) {
  std::vector<std::string> ids;
  for (const cases::CaseId& id : block) ids.push_back(cases::to_text(id));
  return judge_in_turn(children_, ids);
}

}  // namespace assay::runner
