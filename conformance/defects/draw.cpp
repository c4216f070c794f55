#include "conformance/defects/draw.h"

namespace assay {
namespace {

constexpr std::size_t tries = 12;      // for each call that is asked for
constexpr std::size_t most_added = 2;  // mutations
constexpr Int numbers = 64;            // of a mutation, as generated cases have them

}  // namespace

Drawer::Drawer(const Corpus& corpus, const RecordedCalls& calls, std::uint64_t seed)
    : corpus_(corpus), calls_(calls), random_(seed) {}

std::vector<CaseId> Drawer::draw(std::size_t count, std::span<const CaseId> near,
                                 const std::function<bool(const Features&)>& wanted) {
  std::vector<CaseId> found;
  const auto take = [&](Made& made) {
    if (made.drawn || found.size() == count || !wanted(made.features)) return;
    made.drawn = true;
    found.push_back(made.id);
  };
  for (Made& made : made_) take(made);
  for (std::size_t k = 0; k < tries * count && found.size() < count; ++k) {
    CaseId id = changed(near);
    if (!known_.insert(to_text(id)).second) continue;
    Features features = features_of(corpus_, id);
    take(made_.emplace_back(Made{std::move(id), std::move(features)}));
  }
  return found;
}

CaseId Drawer::changed(std::span<const CaseId> near) {
  CaseId id{std::string(calls_.op().name), 0, {}};
  if (near.empty() || below(4) == 0)
    id.call = calls_.digest(static_cast<std::size_t>(below(calls_.size())));
  else
    id = near[static_cast<std::size_t>(below(near.size()))];
  for (Int left = 1 + below(most_added); left > 0; --left)
    id.mutations.push_back(
        {static_cast<Mutation::Kind>(below(mutation_kinds)), {below(numbers), below(numbers), below(numbers)}});
  return id;
}

Features features_of(const Corpus& corpus, const CaseId& id) {
  const Case c = corpus.make(id);
  return features_of(*c.op, host_call(c));
}

}  // namespace assay
