#pragma once

#include <span>
#include <vector>

#include "reference/call.h"
#include "reference/program/program.h"

// What the spec says about a program's calls of operators: rules I9, I10, and those of the operators themselves.
namespace assay {

// For each argument of the operator, which value of the plan it is in a KernelCall with these arguments: the schema's
// in order; the new value of one that is changed in place goes where the old one was. What is returned stands behind
// them once more, but for a number. Faults: I9.
std::vector<std::size_t> operands(const Operator& op, std::span<const std::int32_t> args);

// An operator's refusal as a fault: types of arguments are rule I10, all others have the operator's own ids.
Fault refusal(const Operator& op, const Answer& answer);

// The calls of a program, asked before anything runs.
struct CallFaults {
  std::vector<Fault> faults;  // I9, I10, operators' own, T24 of their results: each as an execution that comes there
                              // would be refused; limits.work, which ends it; the first hundred
  Int more = 0;               // how many there are besides
  // Calls of which every rule was asked; only those before one that needs elements or sizes which only an execution
  // knows; no more than I9 and I10, as a number or list is computed, or nothing, as the spec lacks the operator.
  Int in_full = 0, in_part = 0, not_asked = 0;
};
CallFaults faults_of_calls(const ValidProgram& program, const Budget& budget = {});

}  // namespace assay
