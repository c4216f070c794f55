#include <reference/program/program.h>

#include "../../file.h"

// Checks a program. Usage: header program.pte
int main(int, char** arguments) {
  const auto opened = assay::open_program(assay::in_memory(bytes_of(arguments[1])));
  return opened && assay::validate(*opened) ? 0 : 1;
}
