#pragma once

#include <exception>
#include <sstream>
#include <string>

#include "outcome.gen.h"
#include "reference/value.h"

namespace assay {

// Why a call has no result. `rule` is the id of the broken rule ("add.R2"); `message` is one sentence.
struct Fault : std::exception {
  Outcome outcome = Outcome::invalid;
  std::string rule;
  std::string message;

  Fault(Outcome o, std::string id, std::string sentence) : outcome(o), rule(std::move(id)), message(std::move(sentence)) {}
  const char* what() const noexcept override { return message.c_str(); }
};

template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

// What a rule says when it does not hold; the place that states the rule adds its id and outcome.
struct Broken {
  std::string sentence;
};

template <class... Parts>
void require(bool holds, const Parts&... sentence) {
  if (!holds) throw Broken{text(sentence...)};
}

}  // namespace assay
