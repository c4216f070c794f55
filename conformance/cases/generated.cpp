#include "conformance/cases/generated.h"

#include <rapidcheck.h>

namespace assay {
namespace {

constexpr std::size_t most_mutations = 4;

rc::Gen<Mutation> any_mutation() {
  const auto number = rc::gen::resize(rc::kNominalSize, rc::gen::inRange<Int>(0, 64));
  const auto kind = rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, special_mutation_kinds));
  return rc::gen::apply(
      [](int k, Int a, Int b, Int c) {
        return Mutation{static_cast<Mutation::Kind>(k), {a, b, c}};
      },
      kind, number, number, number);
}

rc::Gen<CaseId> any_case(const RecordedCalls& calls) {
  const auto call = rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::size_t>(0, calls.size()));
  const auto length = rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::size_t>(1, most_mutations + 1));
  const auto mutations = rc::gen::mapcat(
      length, [](std::size_t n) { return rc::gen::container<std::vector<Mutation>>(n, any_mutation()); });
  return rc::gen::apply(
      [&calls](std::size_t i, std::vector<Mutation> m) {
        return CaseId{std::string(calls.op().name), calls.digest(i), std::move(m)};
      },
      call, mutations);
}

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

// An operator's own seed, so that choosing operators changes no case.
std::uint64_t mixed(std::uint64_t seed, std::string_view name) {
  for (const char c : name) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return seed;
}

}  // namespace

std::vector<CaseId> generated_cases(const RecordedCalls& calls, std::uint64_t seed, std::size_t count) {
  std::vector<CaseId> cases;
  if (calls.size() == 0) return cases;
  const rc::Gen<CaseId> gen = any_case(calls);
  rc::Random random(mixed(seed, calls.op().name));
  for (std::size_t i = 0; i < count; ++i) cases.push_back(gen(random.split(), rc::kNominalSize).value());
  return cases;
}

struct Shrinking::State {
  static constexpr int most_tried = 60;  // candidates tried at most

  rc::Seq<rc::Shrinkable<CaseId>> candidates;
  rc::Maybe<rc::Shrinkable<CaseId>> last;
  int tried = 0;
};

Shrinking::Shrinking(const CaseId& failing) : state_(std::make_unique<State>()) {
  state_->candidates =
      rc::shrinkable::shrinkRecur(failing, [](const CaseId& id) { return simpler_cases(id); }).shrinks();
}
Shrinking::~Shrinking() = default;
Shrinking::Shrinking(Shrinking&&) noexcept = default;

std::optional<CaseId> Shrinking::next() {
  if (state_->tried++ == State::most_tried) return std::nullopt;
  state_->last = state_->candidates.next();
  return state_->last ? std::optional(state_->last->value()) : std::nullopt;
}

void Shrinking::answer(bool fails_as_well) {
  if (fails_as_well) state_->candidates = state_->last->shrinks();
}

}  // namespace assay
