#include "conformance/scenarios/stage.h"

#include <algorithm>

#include "conformance/runner/blame.h"
#include "conformance/runner/parallel.h"
#include "conformance/scenarios/play.h"

namespace assay {
namespace {

constexpr std::size_t block = 48;  // scenarios per block

std::map<std::string_view, const Scenario*> by_id(const std::vector<Scenario>& scenarios) {
  std::map<std::string_view, const Scenario*> all;
  for (const Scenario& s : scenarios) all.emplace(s.id, &s);
  return all;
}

}  // namespace

Stage::Stage(std::vector<Scenario> scenarios, Runtime& runtime, const TimeLimit& time_limit, int processors)
    : scenarios_(std::move(scenarios)),
      by_id_(by_id(scenarios_)),
      runtime_(runtime),
      processors_(processors),
      children_(
          time_limit, [this](std::string_view id, RunMode mode) { return play(scenario(id), runtime_, mode.detail); },
          [this](std::string_view id, const TaskResult& death, Detail) {
            return lost(scenario(id), runtime_.name(), death);
          },
          processors) {}

const Scenario& Stage::scenario(std::string_view id) const { return *by_id_.at(id); }

std::vector<Ids> Stage::blocks() const {
  std::vector<Ids> all;
  for (const Scenario& s : scenarios_) {
    if (all.empty() || all.back().size() == block) all.emplace_back();
    all.back().push_back(s.id);
  }
  return all;
}

void Stage::judge(const std::vector<Ids>& blocks, const std::function<void(Record)>& done) {
  in_order(
      blocks.size(), std::min(2 * processors_, runtime_.most_at_once()),
      [&](std::size_t b) { return judge_in_turn(children_, blocks[b]); },
      [&](std::vector<Record> records) {
        for (Record& r : records) done(std::move(r));
      });
}

}  // namespace assay
