#include <reference/program/program.h>

#include <iostream>

#include "../../file.h"

// A program is checked, changed, and written: header program.pte
int main(int, char** arguments) {
  const std::vector<std::byte> file = bytes_of(arguments[1]);
  const auto opened = assay::open_program(assay::borrowed(file));
  if (!opened || !assay::validate(*opened)) return 1;
  assay::Program program = *assay::decode_program(file);
  program.tables.execution_plan[0]->name = "changed";
  const auto changed = assay::validate(*assay::open_program(assay::in_memory(assay::encode(program))));
  return changed && changed->plan("changed") ? 0 : 1;
}
