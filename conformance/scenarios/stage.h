#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "conformance/runner/judged.h"
#include "conformance/runner/shard.h"
#include "conformance/scenarios/scenario.h"

namespace assay::scenarios {

// Plays scenarios on a runtime in child processes.
class Stage {
 public:
  // The runtime must outlive the Stage. Construct it before any thread starts. Uses `processors` processors.
  Stage(std::vector<Scenario> scenarios, testee::Runtime& runtime, const sandbox::TimeLimit& time_limit,
        int processors = 1);

  // The ids of all scenarios. One child plays the scenarios of a block one after another, as long as it survives.
  std::vector<runner::Ids> blocks() const;

  // Judges these blocks in several children at a time. Passes every record to `done`, in the order of the blocks.
  // Throws Interrupted.
  void judge(const std::vector<runner::Ids>& blocks, const std::function<void(verdict::Record)>& done);

  // Plays one scenario in a fresh child. The record lists the steps.
  runner::Judged judge_alone(const std::string& id) { return children_.run_alone(id, runner::Detail::all); }

  const runner::Patience& patience() const { return children_.patience(); }

  const Scenario& scenario(std::string_view id) const;  // the id must be known

 private:
  std::vector<Scenario> scenarios_;
  std::map<std::string_view, const Scenario*> by_id_;
  testee::Runtime& runtime_;
  int processors_;
  runner::JudgingChildren children_;
};

}  // namespace assay::scenarios
