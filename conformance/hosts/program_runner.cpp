#include "conformance/hosts/program_runner.h"

#include "conformance/contract/contract.h"
#include "conformance/sandbox/death.h"
#include "reference/fault.h"

namespace assay::hosts {

ChargedText::ChargedText(const Budget& budget, std::span<const Value> values) : budget_(budget) {
  constexpr Int copies = 3;  // as JSON, as a line, and as the message to the worker
  Int bytes = 0;
  cases::each_tensor(
      values, [&](const Tensor& t, std::size_t) { bytes += copies * 4 * (static_cast<Int>(t.bytes.size()) / 3 + 1); });
  budget.take(bytes, "a call of a testee");
  bytes_ = bytes;
}

Violation violation_of(const sandbox::TaskResult& death) {
  return {sandbox::verdict_on_death(death), sandbox::class_of_death(death), sandbox::words_of_death(death)};
}

std::string sentence(const Violation& m) {
  const std::string kind = m.failure == verdict::Class::none ? "" : concat(" (", verdict::name(m.failure), ")");
  return concat(verdict::name(m.verdict), kind, ": ", m.message);
}

}  // namespace assay::hosts
