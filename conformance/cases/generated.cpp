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

}  // namespace assay
