#pragma once

#include <span>
#include <string>
#include <vector>

#include "conformance/sandbox/child.h"
#include "conformance/verdict/verdict.h"
#include "reference/budget.h"
#include "reference/program/program.h"
#include "reference/value.h"

namespace assay {

// Whoever runs the methods of a program: the reference, a runtime under test, or the reference's machine with the
// kernels of a library.
class ProgramRunner {
 public:
  virtual ~ProgramRunner() = default;

  virtual const pte::ExecutionPlan& plan(std::string_view method) const = 0;  // faults: G3
  virtual std::string default_method() const = 0;                             // "forward", or the only one. Faults: G3

  // State stays from call to call. Throws Fault where the call is refused, Violation where something else came of it.
  virtual std::vector<Value> call(const std::string& method, std::vector<Value> inputs) = 0;
};

// What the text of values takes on its way to a child, charged as long as this lives. Throws Fault: exhausted,
// limits.memory.
class ChargedText {
 public:
  ChargedText(const Budget& budget, std::span<const Value> values);
  ~ChargedText() { budget_.give_back(bytes_); }
  ChargedText(const ChargedText&) = delete;
  ChargedText& operator=(const ChargedText&) = delete;

 private:
  Budget budget_;
  Int bytes_ = 0;
};

// What a testee did instead of answering or refusing: it crashed, hung, or damaged what is not its own.
struct Violation {
  Verdict verdict = Verdict::crash;
  Class failure = Class::none;
  std::string message;
};
Violation violation_of(const TaskResult& death);
std::string sentence(const Violation& violation);  // "crash (abort): ..."

}  // namespace assay
