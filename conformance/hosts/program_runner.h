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

// Runs the methods of a program. Implemented by the reference, by a runtime under test, and by the reference's runtime
// with the kernels of a library.
class ProgramRunner {
 public:
  virtual ~ProgramRunner() = default;

  virtual const pte::ExecutionPlan& plan(std::string_view method) const = 0;  // faults: G3
  virtual std::string default_method() const = 0;                             // "forward", or the only one. Faults: G3

  // Calls a method; state persists from call to call. Throws Fault if the call is refused, and Violation if something
  // else happens.
  virtual std::vector<Value> call(const std::string& method, std::vector<Value> inputs) = 0;
};

// Charges the memory that the text of values takes on its way to a worker, for the lifetime of this object. Throws
// Fault: exhausted, limits.memory.
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

// What a testee did instead of answering or refusing: it crashed, hung, or damaged something that it does not own.
struct Violation {
  Verdict verdict = Verdict::crash;
  Class failure = Class::none;
  std::string message;
};
Violation violation_of(const TaskResult& death);
std::string sentence(const Violation& violation);  // "crash (abort): ..."

}  // namespace assay
