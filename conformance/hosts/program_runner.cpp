#include "conformance/hosts/program_runner.h"

#include "conformance/contract/contract.h"
#include "conformance/sandbox/death.h"
#include "reference/fault.h"

namespace assay {

ChargedText::ChargedText(const Budget& budget, std::span<const Value> values) : budget_(budget) {
  constexpr Int copies = 3;  // as JSON, as a line, and as the message to the worker
  Int bytes = 0;
  each_tensor(values,
              [&](const Tensor& t, std::size_t) { bytes += copies * 4 * (static_cast<Int>(t.bytes.size()) / 3 + 1); });
  budget.take(bytes, "a call of a testee");
  bytes_ = bytes;
}

Violation violation_of(const TaskResult& death) {
  return {verdict_on_death(death), class_of_death(death), words_of_death(death)};
}

std::string sentence(const Violation& m) {
  const std::string kind = m.failure == Class::none ? "" : text(" (", name(m.failure), ")");
  return text(name(m.verdict), kind, ": ", m.message);
}

}  // namespace assay
