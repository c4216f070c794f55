#pragma once

#include <exception>
#include <sstream>
#include <string>

#include "outcome.gen.h"
#include "reference/value.h"

namespace assay {

// Why there is no result. `rule` is the id of the broken rule ("add.R2", "T5"). `message` is one sentence. `place` is a
// position in a program ("plan 0, instruction 17, argument 2"), empty for a single call.
struct Fault : std::exception {
  Outcome outcome = Outcome::invalid;
  std::string rule;
  std::string message;
  std::string place;

  Fault(Outcome o, std::string id, std::string sentence, std::string where = {})
      : outcome(o), rule(std::move(id)), message(std::move(sentence)), place(std::move(where)) {}
  const char* what() const noexcept override { return message.c_str(); }
};

template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  out.exceptions(std::ios::badbit);  // a failed allocation throws, so that no text is cut short silently
  (out << ... << parts);
  return out.str();
}

// The message of a rule that does not hold. The code that checks the rule adds its id and outcome.
struct Broken {
  std::string sentence;
};

template <class... Parts>
void require(bool holds, const Parts&... sentence) {
  if (!holds) throw Broken{text(sentence...)};
}

}  // namespace assay
