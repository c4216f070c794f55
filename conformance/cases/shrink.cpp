#include "conformance/cases/shrink.h"

#include <rapidcheck.h>

namespace assay {
namespace {

// The mutation with one of its numbers nearer to zero.
rc::Seq<Mutation> simpler(const Mutation& mutation) {
  const auto with = [mutation](std::size_t k) {
    return rc::seq::map(rc::shrink::integral(mutation.n[k]), [mutation, k](Int n) {
      Mutation m = mutation;
      m.n[k] = n;
      return m;
    });
  };
  return rc::seq::concat(with(0), with(1), with(2));
}

rc::Seq<CaseId> simpler_cases(const CaseId& id) {
  const auto with = [id](std::vector<Mutation> m) { return CaseId{id.operator_name, id.call, std::move(m)}; };
  return rc::seq::map(
      rc::seq::concat(rc::shrink::removeChunks(id.mutations), rc::shrink::eachElement(id.mutations, simpler)), with);
}

}  // namespace

struct Shrinker::State {
  static constexpr int most_tried = 60;  // candidates tried at most

  rc::Seq<rc::Shrinkable<CaseId>> candidates;
  rc::Maybe<rc::Shrinkable<CaseId>> last;
  int tried = 0;
};

Shrinker::Shrinker(const CaseId& failing) : state_(std::make_unique<State>()) {
  state_->candidates =
      rc::shrinkable::shrinkRecur(failing, [](const CaseId& id) { return simpler_cases(id); }).shrinks();
}
Shrinker::~Shrinker() = default;
Shrinker::Shrinker(Shrinker&&) noexcept = default;

std::optional<CaseId> Shrinker::next() {
  if (state_->tried++ == State::most_tried) return std::nullopt;
  state_->last = state_->candidates.next();
  return state_->last ? std::optional(state_->last->value()) : std::nullopt;
}

void Shrinker::answer(bool fails_as_well) {
  if (fails_as_well) state_->candidates = state_->last->shrinks();
}

}  // namespace assay
