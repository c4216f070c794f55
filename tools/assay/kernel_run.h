#pragma once

#include <memory>
#include <string>
#include <vector>

#include "conformance/cases/case.h"
#include "conformance/contract/contract.h"
#include "conformance/defects/cause.h"
#include "conformance/runner/suite.h"
#include "conformance/testee/library.h"
#include "tools/assay/run_log.h"
#include "tools/assay/shards.h"

// A run of `assay kernels`, whole, in shards, or of shards.
namespace assay {

struct KernelRequest {
  RunRequest run;
  std::string contract, golden, cases, defect;
  Part part;
  SuiteOptions suite;
};

// The options that with the testee decide which records a run gives.
Deciding add_kernel_options(CLI::App& command, KernelRequest& request);

// What is planned, and what is known of it so far. The request outlives it.
class KernelRun {
 public:
  explicit KernelRun(KernelRequest& request);

  // Judges what an interrupted run has not, looks for causes, unless it is a shard, and leaves what was asked for.
  // The exit code.
  int judge();

  // The same, of cases that shards have judged.
  int merge(const std::vector<ShardFile>& shards);

 private:
  void plan();
  void take_shard();  // leaves its blocks alone
  int run(std::vector<Record> earlier, RunLog& log);
  void add(RunLog& log, Record record);
  void find_defects(RunLog& log, Laboratory* laboratory);
  void print_others() const;
  Facts settings(const std::string& machine) const;  // what decides which records a run gives

  KernelRequest& request_;
  const Contract contract_;
  const Corpus corpus_;
  const std::unique_ptr<KernelLibrary> library_;
  Laboratory laboratory_;
  std::set<std::string> mustpass_;
  std::vector<Block> blocks_;
  std::string digest_;       // of the whole suite
  std::size_t planned_ = 0;  // cases
  std::vector<JudgedCase> seen_;
};

}  // namespace assay
