#include "conformance/programs/runner.h"

#include "conformance/testees/death.h"
#include "reference/fault.h"

namespace assay {

Misdeed misdeed_of(const TaskResult& death) {
  return {verdict_on_death(death), class_of_death(death), words_of_death(death)};
}

std::string sentence(const Misdeed& m) {
  const std::string kind = m.failure == Class::none ? "" : text(" (", name(m.failure), ")");
  return text(name(m.verdict), kind, ": ", m.message);
}

}  // namespace assay
