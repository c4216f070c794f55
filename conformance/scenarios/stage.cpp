#include "conformance/scenarios/stage.h"

#include <algorithm>

#include "conformance/runner/blame.h"
#include "conformance/runner/parallel.h"
#include "conformance/scenarios/play.h"

namespace assay {
namespace {

constexpr std::size_t block = 48;  // scenarios that are played in one child, if it survives them

std::map<std::string_view, const Scenario*> by_id(const std::vector<Scenario>& scenarios) {
  std::map<std::string_view, const Scenario*> all;
  for (const Scenario& s : scenarios) all.emplace(s.id, &s);
  return all;
}

}  // namespace

Stage::Stage(std::vector<Scenario> scenarios, Runtime& runtime, const Patience& patience, int processors)
    : scenarios_(std::move(scenarios)),
      by_id_(by_id(scenarios_)),
      runtime_(runtime),
      processors_(processors),
      children_(
          patience, [this](std::string_view id, Detail detail) { return play(scenario(id), runtime_, detail); },
          [this](std::string_view id, const TaskResult& death, Detail) {
            return lost(scenario(id), runtime_.name(), death);
          },
          processors) {}

const Scenario& Stage::scenario(std::string_view id) const { return *by_id_.at(id); }

void Stage::judge(const std::function<void(Record)>& done) {
  const auto judged_block = [&](std::size_t b) {
    std::vector<std::string> ids;
    for (std::size_t i = b * block; i < std::min((b + 1) * block, scenarios_.size()); ++i)
      ids.push_back(scenarios_[i].id);
    return judge_in_turn(children_, ids);
  };
  const auto take = [&](std::vector<Record> records) {
    for (Record& r : records) done(std::move(r));
  };
  in_order((scenarios_.size() + block - 1) / block, std::min(2 * processors_, runtime_.most_at_once()), judged_block,
           take);
}

}  // namespace assay
