#include "conformance/cases/half_cases.h"

#include <array>
#include <map>

#include "conformance/cases/fingerprint.h"
#include "conformance/judge/judge.h"
#include "reference/call.h"

namespace assay::cases {
namespace {

constexpr std::array<Int, 3> zero_points{1, 2, -3};
constexpr std::array<Int, 2> exponents{0, -3};  // of the scale
constexpr Int most_numbers = 4096;

// Stores the results in `arguments`.
bool is_answered(const Operator& op, std::vector<Value>& arguments) {
  return call(op, arguments, Budget({.bytes = Int{1} << 24, .work = Int{1} << 24})).outcome == Outcome::ok;
}

}  // namespace

std::vector<CaseId> half_cases(const Corpus& corpus, const RecordedCalls& calls) {
  const Operator& op = calls.op();
  std::map<DType, std::pair<Int, CaseId>> bases;  // for each dtype of codes, the call with the most numbers
  for (std::size_t i = 0; i < calls.size(); ++i) {
    Case c = corpus.make({std::string(op.name), calls.digest(i), {}});
    if (c.recorded.refused) continue;
    forget_outs(op, c.arguments);
    std::vector<Value> changed = mutated(op, c.arguments, {Mutation::Kind::halves, {1, 0, 0}});
    const Tensor* input = changed.empty() ? nullptr : std::get_if<Tensor>(&changed[0]);
    if (!input || input->dtype != DType::float32 || input->count() > most_numbers ||
        fingerprint(op, changed) == fingerprint(op, c.arguments) || !is_answered(op, changed))
      continue;
    auto& [count, id] = bases[judge::out_tensors(op, changed)[0].dtype];
    if (input->count() > count) count = input->count(), id = c.id;
  }
  std::vector<CaseId> all;
  for (const auto& [dtype, base] : bases)
    for (const Int zero_point : zero_points)
      for (const Int exponent : exponents)
        all.emplace_back(base.second).mutations.push_back({Mutation::Kind::halves, {zero_point, exponent, 0}});
  return all;
}

}  // namespace assay::cases
