#pragma once

#include <exception>
#include <sstream>
#include <string>

#include "outcome.gen.h"
#include "reference/value.h"

namespace assay {

// The reason why a request has no result. `rule` is the id of the broken rule, such as "add.R2" or "T5". `message` is
// one sentence. `place` is a position in a program, such as "plan 0, instruction 17, argument 2"; it is empty for a
// single call.
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
  out.exceptions(std::ios::badbit);  // A failed allocation throws, so that no text is cut silently.
  (out << ... << parts);
  return out.str();
}

// An exception with the message of a rule that a call breaks. The function `call` catches it and adds the rule's id and
// outcome.
struct Broken {
  std::string sentence;
};

template <class... Parts>
void require(bool holds, const Parts&... sentence) {
  if (!holds) throw Broken{text(sentence...)};
}

}  // namespace assay
