#pragma once

#include <memory>
#include <string>
#include <vector>

#include "conformance/cases/case.h"
#include "conformance/contract/contract.h"
#include "conformance/scenarios/defects.h"
#include "conformance/scenarios/stage.h"
#include "conformance/testee/runtime.h"
#include "tools/assay/run_log.h"
#include "tools/assay/shards.h"

// A run of `assay runtime`, whole, in shards, or of shards.
namespace assay {

struct RuntimeRequest {
  RunRequest run;
  std::string programs, golden;
  int workers = 2, timeout = 20;
  Part part;
};

// The options that with the testee decide which records a run gives.
Deciding add_runtime_options(CLI::App& command, RuntimeRequest& request);

// What is planned, and what is known of it so far. The request outlives it.
class RuntimeRun {
 public:
  explicit RuntimeRun(RuntimeRequest& request);

  // Judges what an interrupted run has not, and leaves what was asked for. The exit code.
  int judge();

  // The same, of cases that shards have judged.
  int merge(const std::vector<ShardFile>& shards);

 private:
  std::size_t planned() const;
  int run(std::vector<Record> earlier, RunLog& log);
  Facts settings(const std::string& machine) const;

  RuntimeRequest& request_;
  const std::unique_ptr<Runtime> runtime_;
  const Contract contract_;
  const Corpus corpus_;
  Stage stage_;
  std::vector<Ids> blocks_;
  std::string digest_;  // of the whole suite
};

}  // namespace assay
