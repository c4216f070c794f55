#include "conformance/runner/laboratory.h"

#include <algorithm>

#include "conformance/runner/blame.h"
#include "reference/fault.h"

namespace assay {
namespace {

std::vector<std::string> ids_of(std::span<const CaseId> cases) {
  std::vector<std::string> ids;
  for (const CaseId& id : cases) ids.push_back(assay::to_text(id));
  return ids;
}

}  // namespace

Laboratory::Laboratory(const Corpus& corpus, KernelLibrary& library, const Contract& contract, const Patience& patience,
                       int processors)
    : corpus_(corpus),
      library_(library),
      contract_(contract),
      children_(
          patience, [this](std::string_view id, Detail detail) { return judge(case_id_from(id), detail); },
          [this](std::string_view id, const TaskResult& death, Detail detail) {
            return lost_case(corpus_, library_.name(), contract_, case_id_from(id), death, detail);
          },
          processors) {}

int Laboratory::users(int processors) const { return std::min(2 * processors, library_.most_at_once()); }

Judged Laboratory::judge(const CaseId& id, Detail detail) {
  if (!probe_) probe_.emplace(library_).explain_faults();
  probe_->outlive_aborts(detail == Detail::trial);
  return run_case(corpus_, *probe_, contract_, id, detail);
}

bool Laboratory::is_fatal(const std::string& operator_name) {
  const std::lock_guard lock(mutex_);
  return fatal_.contains(operator_name);
}

void Laboratory::run_while(std::span<const CaseId> cases, const Patience& patience,
                           const std::function<bool(Judged)>& goes_on) {
  if (cases.empty()) return;
  const std::string& op = cases.front().operator_name;
  const Detail detail = is_fatal(op) ? Detail::outcome : Detail::trial;
  if (children_.run_while(ids_of(cases), detail, patience, goes_on)) return;
  const std::lock_guard lock(mutex_);
  fatal_.insert(op);
}

Judged Laboratory::run_alone(const CaseId& id, Detail detail) {
  return children_.run_alone(assay::to_text(id), detail);
}

std::vector<Record> Laboratory::judge_block(const Block& block) { return judge_in_turn(children_, ids_of(block)); }

}  // namespace assay
