#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "conformance/runner/judged.h"
#include "conformance/runner/shard.h"
#include "conformance/scenarios/scenario.h"

namespace assay {

// Where scenarios are played on a runtime, in children.
class Stage {
 public:
  // The runtime outlives it. Made before there are threads, for so many processors.
  Stage(std::vector<Scenario> scenarios, Runtime& runtime, const TimeLimit& time_limit, int processors = 1);

  // The ids of all of them, those together that are played after one another in a child, if it survives them.
  std::vector<Ids> blocks() const;

  // Judges these blocks, several children at a time. `done` gets every record, in their order. Throws Interrupted.
  void judge(const std::vector<Ids>& blocks, const std::function<void(Record)>& done);

  // One of them in a fresh child; the record says its steps.
  Judged judge_alone(const std::string& id) { return children_.run_alone(id, Detail::all); }

 private:
  const Scenario& scenario(std::string_view id) const;  // one of those

  std::vector<Scenario> scenarios_;
  std::map<std::string_view, const Scenario*> by_id_;
  Runtime& runtime_;
  int processors_;
  JudgingChildren children_;
};

}  // namespace assay
