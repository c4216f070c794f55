#pragma once

#include "conformance/sandbox/child.h"
#include "conformance/verdict/verdict.h"

namespace assay::sandbox {

// The verdict on a child that died: `timeout` or `crash`. The class of a crash follows from the signal and from the
// last output.
verdict::Verdict verdict_on_death(const TaskResult& result);
verdict::Class class_of_death(const TaskResult& result);

// While it lives, the calls of this child are made under a circumstance, as "with outs planned larger". The child tells
// its parent on stderr, so that the parent knows the circumstance if the child dies.
class Circumstance {
 public:
  explicit Circumstance(std::string_view words);
  ~Circumstance();
  Circumstance(const Circumstance&) = delete;
  Circumstance& operator=(const Circumstance&) = delete;
};

// The circumstance of a child that waits for a server: these words, and the name of the request.
inline constexpr std::string_view waiting_for = "waiting for the reply to ";

// How the child ended and its last output, as one text; first the circumstance, if there was one.
std::string words_of_death(const TaskResult& result);

}  // namespace assay::sandbox
