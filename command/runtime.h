#pragma once

#include <memory>
#include <string>
#include <vector>

#include "command/judging.h"
#include "conformance/cases/case.h"
#include "conformance/contract/contract.h"
#include "conformance/scenarios/defects.h"
#include "conformance/scenarios/stage.h"
#include "conformance/testee/runtime.h"

namespace assay::command {

struct RuntimeRequest : JudgingRequest {
  std::string programs;
};

// A run of `assay runtime`.
class RuntimeRun : public JudgingRun {
 public:
  using Request = RuntimeRequest;
  static constexpr const char* testee_help = runtime_help;
  static std::string details() {
    return concat("spec/runtime_suite.md defines the cases.\n\n", runtime_kinds, "\n\n", run_exit_codes);
  }
  static Deciding add_options(Options& options, RuntimeRequest& request);
  static void add_rest(Options&, RuntimeRequest&, const RunOptions&, const Option&) {}

  explicit RuntimeRun(RuntimeRequest& request);

 private:
  bool is_remote() const override { return runtime_->is_remote(); }
  verdict::Facts own_settings() const override;
  void judge_blocks(const std::vector<runner::Ids>& blocks, const Add& add) override { stage_.judge(blocks, add); }
  std::string waits_for() const override { return stage_.patience().waits_for(); }
  void keep(const verdict::Record& record) override { defects_.add(record); }
  void add_findings(RunLog& log, bool is_interrupted) override;
  std::string_view why_not_judged() const override {
    return "each program that it was to run it refused as unsupported";
  }

  RuntimeRequest& request_;
  const std::unique_ptr<testee::Runtime> runtime_;
  const contract::Contract contract_;
  const cases::Corpus corpus_;
  scenarios::Stage stage_;
  scenarios::ScenarioDefects defects_{[this](std::string_view id) -> const auto& {return stage_.scenario(id);
}
};  // namespace assay::command
}
;

}  // namespace assay::command
