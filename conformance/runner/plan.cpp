#include "conformance/runner/plan.h"

#include <algorithm>
#include <map>
#include <random>

#include "conformance/cases/generated.h"
#include "conformance/runner/parallel.h"

namespace assay {
namespace {

constexpr std::size_t most_cases = 128;  // the most cases of a block

// Blocks contain cases of one operator only.
std::vector<Block> cut(const std::map<std::string, CaseId>& cases) {
  std::vector<Block> blocks;
  for (const auto& [text, id] : cases) {
    const bool fits = !blocks.empty() && blocks.back().size() < most_cases;
    if (!fits || blocks.back()[0].operator_name != id.operator_name) blocks.emplace_back();
    blocks.back().push_back(id);
  }
  return blocks;
}

std::vector<Block> blocks_of(const Corpus& corpus, const RecordedCalls& calls, const SuiteOptions& options,
                             bool recorded_only) {
  std::map<std::string, CaseId> cases;
  const auto add = [&](const CaseId& id) { cases.emplace(to_text(id), id); };
  for (std::size_t i = 0; i < calls.size(); ++i) add({std::string(calls.op().name), calls.digest(i), {}});
  if (!recorded_only) {
    std::ranges::for_each(rule_breaking_cases(corpus, calls), add);
    std::ranges::for_each(generated_cases(calls, options.seed, options.mutations), add);
  }
  return cut(cases);
}

// Fisher and Yates' shuffle, the same with every standard library.
template <class T>
void shuffle(std::vector<T>& list, std::mt19937_64& random) {
  for (std::size_t left = list.size(); left > 1; --left) std::swap(list[left - 1], list[random() % left]);
}

}  // namespace

std::vector<Block> plan_blocks(const Corpus& corpus, const SuiteOptions& options, bool recorded_only) {
  const std::vector<const RecordedCalls*> operators = corpus.matching(options.operators);
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
  std::map<std::string, CaseId> cases;
  for (const std::string& id : ids) cases.emplace(id, case_id_from(id));
  return cut(cases);
}

}  // namespace assay
