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

Laboratory::Laboratory(const Corpus& corpus, KernelLibrary& library, const Contract& contract, const Patience& patience)
    : corpus_(corpus),
      library_(library),
      contract_(contract),
      children_(
          patience,
          [this](std::string_view id, bool always_described) { return judge(case_id_from(id), always_described); },
          [this](std::string_view id, const TaskResult& death) {
            return lost_case(corpus_, library_.name(), contract_, case_id_from(id), death);
          }) {}

int Laboratory::users(int processors) const { return std::min(2 * processors, library_.most_at_once()); }

Judged Laboratory::judge(const CaseId& id, bool always_described) {
  if (!probe_) probe_.emplace(library_).explain_faults();
  return run_case(corpus_, *probe_, contract_, id, always_described);
}

void Laboratory::run_while(std::span<const CaseId> cases, const Patience& patience,
                           const std::function<bool(const Judged&)>& goes_on) {
  children_.run_while(ids_of(cases), patience, goes_on);
}

Judged Laboratory::run_alone(const CaseId& id, bool always_described) {
  return children_.run_alone(assay::to_text(id), always_described);
}

std::vector<Record> Laboratory::judge_block(const Block& block) { return judge_in_turn(children_, ids_of(block)); }

}  // namespace assay
