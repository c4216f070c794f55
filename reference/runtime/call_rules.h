#pragma once

#include <span>
#include <vector>

#include "reference/call.h"
#include "reference/program/program.h"

// The rules of the operators that a program calls, on the calls of the program.
namespace assay {

// For each argument of the operator, its value of the plan in a KernelCall with these arguments: the arguments of the
// schema in order; the new value of an argument that is changed in place replaces the old value. The call keeps rule
// I9.
std::vector<std::size_t> operands(const Operator& op, std::span<const std::int32_t> args);

// An operator's refusal as a fault: a number of another type breaks rule I10; other faults keep the operator's own ids.
Fault refusal(const Operator& op, const Answer& answer);

// The calls of a program, checked before anything runs.
struct CallFaults {
  std::vector<Fault> faults;  // of operators, I10, and T24 of results: an execution that reaches the call would be
                              // refused; limits.work ends the check. The first hundred
  Int more = 0;               // the number of further faults
  // The numbers of calls whose rules were all checked; whose rules were checked up to one that needs elements or sizes
  // that only an execution knows; and of which no rule was checked, since a number or list is computed, a tensor is
  // moved, or the specification lacks the operator.
  Int in_full = 0, in_part = 0, not_asked = 0;
};
CallFaults faults_of_calls(const ValidProgram& program, const Budget& budget = {});

}  // namespace assay
