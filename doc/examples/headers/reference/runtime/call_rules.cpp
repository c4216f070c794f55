#include <reference/runtime/call_rules.h>

#include <iostream>

#include "../../file.h"

// Lists the calls of a program that their operators refuse, before anything runs. Usage: header program.pte
int main(int, char** arguments) {
  const auto program = assay::validate(*assay::open_program(assay::in_memory(bytes_of(arguments[1]))));
  const assay::CallFaults calls = assay::faults_of_calls(*program);
  for (const assay::Fault& fault : calls.faults) std::cout << fault.rule << ": " << fault.message << '\n';
  return calls.in_full > 0 && calls.faults.empty() ? 0 : 1;
}
