#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "command/judging.h"
#include "conformance/cases/case.h"
#include "conformance/contract/untried_promises.h"
#include "conformance/defects/cause.h"
#include "conformance/runner/suite.h"
#include "conformance/testee/library.h"

namespace assay::command {

struct KernelRequest : JudgingRequest {
  std::string contract, cases, defect;
  runner::SuiteOptions suite;
};

// A run of `assay kernels`.
class KernelRun : public JudgingRun {
 public:
  using Request = KernelRequest;
  static constexpr const char* testee_help = command::testee_help;
  static std::string details();
  static Deciding add_options(Options& options, KernelRequest& request);
  static void add_rest(Options& options, KernelRequest& request, const RunOptions& of_run, const Option& shard);

  explicit KernelRun(KernelRequest& request);

 private:
  // The blocks that a defect of the baseline, a list, or the options of the suite select.
  std::vector<runner::Block> chosen();
  std::set<std::string> listed_cases() const;
  bool is_remote() const override { return library_->is_remote(); }
  verdict::Facts own_settings() const override;
  void judge_blocks(const std::vector<runner::Ids>& blocks, const Add& add) override;
  std::string waits_for() const override { return case_runner_.children().patience().waits_for(); }
  void keep(const verdict::Record& record) override;
  void add_findings(RunLog& log, bool is_interrupted) override;
  bool is_of_listed_cases() const { return !request_.cases.empty() || !request_.defect.empty(); }
  void print_rest() const override;
  std::string_view why_not_judged() const override;

  KernelRequest& request_;
  const contract::Contract contract_;
  const cases::Corpus corpus_;
  const std::unique_ptr<testee::KernelLibrary> library_;
  runner::CaseRunner case_runner_;
  std::vector<defects::JudgedCase> seen_;
  contract::UntriedPromises untried_{contract_};
};

}  // namespace assay::command
