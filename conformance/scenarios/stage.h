#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "conformance/runner/judged.h"
#include "conformance/runner/shard.h"
#include "conformance/scenarios/scenario.h"

namespace assay {

// Plays scenarios on a runtime in child processes.
class Stage {
 public:
  // The runtime must outlive the Stage. Construct it before any thread starts. Uses `processors` processors.
  Stage(std::vector<Scenario> scenarios, Runtime& runtime, const TimeLimit& time_limit, int processors = 1);

  // The ids of all scenarios. One child plays the scenarios of a block one after another, as long as it survives.
  std::vector<Ids> blocks() const;

  // Judges these blocks in several children at a time. Passes every record to `done`, in the order of the blocks.
  // Throws Interrupted.
  void judge(const std::vector<Ids>& blocks, const std::function<void(Record)>& done);

  // Plays one scenario in a fresh child. The record lists the steps.
  Judged judge_alone(const std::string& id) { return children_.run_alone(id, Detail::all); }

  const Patience& patience() const { return children_.patience(); }

 private:
  const Scenario& scenario(std::string_view id) const;  // the id must be known

  std::vector<Scenario> scenarios_;
  std::map<std::string_view, const Scenario*> by_id_;
  Runtime& runtime_;
  int processors_;
  JudgingChildren children_;
};

}  // namespace assay
