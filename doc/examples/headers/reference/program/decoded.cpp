#include <reference/program/decoded.h>

#include "../../file.h"

// Changes a program and writes it. Usage: header program.pte
int main(int, char** arguments) {
  assay::Program program = *assay::decode_program(bytes_of(arguments[1]));
  program.tables.execution_plan[0]->name = "changed";
  const auto changed = assay::validate(*assay::open_program(assay::in_memory(assay::encode(program))));
  return changed && changed->plan("changed") ? 0 : 1;
}
