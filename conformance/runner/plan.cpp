#include "conformance/runner/plan.h"

#include <algorithm>
#include <map>
#include <random>

#include "conformance/cases/generated.h"
#include "conformance/runner/parallel.h"

namespace assay::runner {
namespace {

constexpr std::size_t most_cases = 128;  // the most cases of a block

// Blocks contain cases of one operator only.
std::vector<Block> cut(const std::map<std::string, cases::CaseId>& cases) {
  std::vector<Block> blocks;
  for (const auto& [text, id] : cases) {
    const bool fits = !blocks.empty() && blocks.back().size() < most_cases;
    if (!fits || blocks.back()[0].operator_name != id.operator_name) blocks.emplace_back();
    blocks.back().push_back(id);
  }
  return blocks;
}

std::vector<Block> blocks_of(const cases::Corpus& corpus, const cases::RecordedCalls& calls,
                             const SuiteOptions& options, bool recorded_only) {
  std::map<std::string, cases::CaseId> cases;
  const auto add = [&](const cases::CaseId& id) { cases.emplace(cases::to_text(id), id); };
  for (std::size_t i = 0; i < calls.size(); ++i) add({std::string(calls.op().name), calls.digest(i), {}});
  if (!recorded_only) {
    std::ranges::for_each(cases::rule_breaking_cases(corpus, calls), add);
    std::ranges::for_each(cases::generated_cases(calls, options.seed, options.mutations), add);
    if (options.mutations > 0) std::ranges::for_each(corpus.made_cases(calls.op().name), add);
  }
  return cut(cases);
}

// Fisher and Yates' shuffle, the same with every standard library.
template <class T>
void shuffle(std::vector<T>& list, std::mt19937_64& random) {
  for (std::size_t left = list.size(); left > 1; --left) std::swap(list[left - 1], list[random() % left]);
}

}  // namespace

std::vector<Block> plan_blocks(const cases::Corpus& corpus, const SuiteOptions& options, bool recorded_only,
                               const std::function<bool(const Operator&)>& has) {
  std::vector<const cases::RecordedCalls*> operators = corpus.matching(options.operators);
  if (has && options.operators.empty())
    std::erase_if(operators, [&](const cases::RecordedCalls* calls) { return !has(calls->op()); });
  std::vector<Block> all;
  in_order(
      operators.size(), options.workers,
      [&](std::size_t i) { return blocks_of(corpus, *operators[i], options, recorded_only); },
      [&](std::vector<Block> blocks) { std::ranges::move(blocks, std::back_inserter(all)); });
  if (options.shuffle) {
    std::mt19937_64 random(*options.shuffle);
    shuffle(all, random);
    for (Block& block : all) shuffle(block, random);
  }
  return all;
}

std::vector<Block> blocks_of(const std::set<std::string>& ids) {
  std::map<std::string, cases::CaseId> cases;
  for (const std::string& id : ids) cases.emplace(id, cases::case_id_from(id));
  return cut(cases);
}

}  // namespace assay::runner
