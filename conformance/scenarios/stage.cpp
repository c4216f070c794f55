#include "conformance/scenarios/stage.h"

#include <algorithm>

#include "conformance/runner/blame.h"
#include "conformance/runner/parallel.h"
#include "conformance/scenarios/play.h"

namespace assay::scenarios {
namespace {

constexpr std::size_t block = 48;  // scenarios per block

std::map<std::string_view, const Scenario*> by_id(const std::vector<Scenario>& scenarios) {
  std::map<std::string_view, const Scenario*> all;
  for (const Scenario& s : scenarios) all.emplace(s.id, &s);
  return all;
}

}  // namespace

Stage::Stage(std::vector<Scenario> scenarios, testee::Runtime& runtime, const sandbox::TimeLimit& time_limit,
             int processors)
    : scenarios_(std::move(scenarios)),
      by_id_(by_id(scenarios_)),
      runtime_(runtime),
      processors_(processors),
      children_(
          time_limit,
          [this](std::string_view id, runner::RunMode mode) { return play(scenario(id), runtime_, mode.detail); },
          [this](std::string_view id, const sandbox::TaskResult& death, runner::Detail) {
            return lost(scenario(id), runtime_.name(), death);
          },
          processors) {}

const Scenario& Stage::scenario(std::string_view id) const { return *by_id_.at(id); }

std::vector<runner::Ids> Stage::blocks() const {
  std::vector<runner::Ids> all;
  for (const Scenario& s : scenarios_) {
    if (all.empty() || all.back().size() == block) all.emplace_back();
    all.back().push_back(s.id);
  }
  return all;
}

void Stage::judge(const std::vector<runner::Ids>& blocks, const std::function<void(verdict::Record)>& done) {
  runner::in_order(
      blocks.size(), std::min(2 * processors_, runtime_.most_at_once()),
      [&](std::size_t b) { return runner::judge_in_turn(children_, blocks[b], runner::Confirm::some); },
      [&](std::vector<verdict::Record> records) {
        for (verdict::Record& r : records) done(std::move(r));
      });
}

}  // namespace assay::scenarios
