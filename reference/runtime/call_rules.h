#pragma once

#include <span>
#include <vector>

#include "reference/call.h"
#include "reference/program/program.h"

// Checks the calls of a program by the rules of their operators.
namespace assay {

// Returns for each item of `op.arguments` the index of its value in the plan. `args` are the args of a KernelCall. An
// out <name>_out has the index of the argument <name>, because the out's value replaces the argument's value. Requires
// a call that meets rule I9.
std::vector<std::size_t> operands(const Operator& op, std::span<const std::int32_t> args);

// Turns the answer of a refused call into a fault. The fault's rule is I10 if an argument is a number of a wrong type.
// Otherwise, it is the rule in `answer`.
Fault refusal(const Operator& op, const Answer& answer);

// The result of checking the calls of a program before anything runs.
struct CallFaults {
  // The first hundred faults. Each breaks a rule of an operator, rule I10, or rule T24 about the sizes of a result. An
  // execution that reaches one of these calls would be refused. A fault with the rule limits.work means that the check
  // ended before the last call.
  std::vector<Fault> faults;
  Int more = 0;  // the number of further faults
  // The numbers of calls without a fault.
  // - in_full: calls for which all rules were checked.
  // - in_part: calls with a rule that needs elements or sizes which only an execution knows. The rules before this rule
  //   were checked.
  // - not_asked: calls for which no rule was checked, because (a) the specification lacks the operator, (b) an argument
  //   is a number or list that the program computes, or (c) an argument is a tensor that the program moves.
  Int in_full = 0, in_part = 0, not_asked = 0;
};
CallFaults faults_of_calls(const ValidProgram& program, const Budget& budget = {});

}  // namespace assay
