#pragma once

#include <span>
#include <vector>

#include "reference/call.h"
#include "reference/program/program.h"

// Checks the calls of a program by the rules of their operators.
namespace assay {

// Returns for each item of `op.arguments` the index of its value in the plan. `args` are the args of a KernelCall. An
// out <name>_out has the index of the argument <name>, because its new value replaces the old one. Requires a call that
// meets rule I9.
std::vector<std::size_t> operands(const Operator& op, std::span<const std::int32_t> args);

// Turns an operator's refusal into a fault. The id is I10 if an argument is a number of a wrong type, and the
// operator's own id otherwise.
Fault refusal(const Operator& op, const Answer& answer);

// The result of checking the calls of a program before anything runs.
struct CallFaults {
  // The first hundred faults. They break rules of operators, rule I10, or, for results, rule T24. An execution that
  // reaches one of these calls would be refused. A fault limits.work means that the check ended early.
  std::vector<Fault> faults;
  Int more = 0;  // the number of further faults
  // The numbers of calls without a fault.
  // - in_full: calls for which all rules were checked.
  // - in_part: calls with a rule that needs elements or sizes which only an execution knows. The rules before this rule
  //   were checked.
  // - not_asked: calls for which no rule was checked. The specification lacks the operator, the program computes a
  //   number or list among the arguments, or it moves a tensor among them.
  Int in_full = 0, in_part = 0, not_asked = 0;
};
CallFaults faults_of_calls(const ValidProgram& program, const Budget& budget = {});

}  // namespace assay
