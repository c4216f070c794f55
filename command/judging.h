#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "command/command.h"
#include "command/libraries.h"
#include "command/limits.h"
#include "command/run_log.h"
#include "command/shards.h"

// A run of `assay kernels` or `assay runtime`: whole, in shards, or merged from shards.
namespace assay::command {

struct JudgingRequest {
  RunRequest run;
  std::string golden;
  Part part;
  int workers = default_workers, timeout = case_seconds;
};

class JudgingRun {
 public:
  virtual ~JudgingRun() = default;

  // Judges the cases that an interrupted run has not judged, looks for the causes of failures unless this is a shard,
  // and writes the files that the request names. Returns the exit code.
  int judge();

  // Does the same with the records of shards, without judging. Returns the exit code.
  int merge(const std::vector<ShardFile>& shards);

 protected:
  explicit JudgingRun(JudgingRequest& request) : request_(request) {}  // `request` must outlive the run
  JudgingRun(const JudgingRun&) = delete;
  JudgingRun& operator=(const JudgingRun&) = delete;

  using Add = std::function<void(verdict::Record)>;

  // States the cases of the whole suite. The cases in `mustpass` must pass.
  void plan(std::vector<runner::Ids> blocks, std::set<std::string> mustpass = {});

  virtual bool is_remote() const = 0;
  virtual verdict::Facts own_settings() const = 0;  // testee and options that determine the records
  virtual void judge_blocks(const std::vector<runner::Ids>& blocks, const Add& add) = 0;  // throws Interrupted
  virtual std::string waits_for() const = 0;  // the case that has been waited for longest; empty: none for long
  virtual void keep(const verdict::Record& record) = 0;             // for the causes of failures
  virtual void add_findings(RunLog& log, bool is_interrupted) = 0;  // what follows from the records of all cases
  virtual void print_rest() const {}
  virtual std::string_view why_not_judged() const = 0;

 private:
  void take_shard();
  std::size_t planned() const;
  verdict::Facts settings(const std::string& machine) const;
  int run(std::vector<verdict::Record> earlier, RunLog& log);

  JudgingRequest& request_;
  std::vector<runner::Ids> blocks_;
  std::set<std::string> mustpass_;
  std::string digest_;  // the digest of the whole suite
};

// Adds the options that, together with the testee, determine the records of a run: those of `Run`, then the common
// ones.
template <class Run>
Deciding add_deciding(Options& options, typename Run::Request& r) {
  Deciding deciding = Run::add_options(options, r);
  deciding.push_back(
      options.add("--timeout", r.timeout, timeout_help).value("SECONDS").within(1, 3600).shows_default());
  deciding.push_back(options.add("--golden", r.golden, golden_help).value("FOLDER"));
  return deciding;
}

template <class Run>
void define_judging(Options& options) {
  const auto r = std::make_shared<typename Run::Request>();
  options.add("TESTEE", r->run.testee, Run::testee_help).required();
  const Deciding deciding = add_deciding<Run>(options, *r);
  add_workers(options, r->workers);
  const RunOptions of_run = add_run_options(options, r->run);
  const Option shard = add_part(options, r->part, of_run.lines);
  Run::add_rest(options, *r, of_run, shard);
  options.details(Run::details());
  options.action([r, deciding] {
    r->part.options = given(deciding);
    return Run(*r).judge();
  });
}

}  // namespace assay::command
