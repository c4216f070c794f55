#include <format/view.h>
#include <reference/program/program.h>

#include <cstdio>

#include "../file.h"

// Reads a program in place. Usage: header program.pte
int main(int, char** arguments) {
  const auto file = assay::open_program(assay::in_memory(bytes_of(arguments[1])));
  const assay::format::ProgramView& program = file->view();
  for (const auto* plan : *program.tables->execution_plan())
    std::printf("%s: %u values\n", plan->name()->c_str(), assay::format::size_of(plan->values()));
  return assay::format::size_of(program.tables->execution_plan()) == 1 ? 0 : 1;
}
