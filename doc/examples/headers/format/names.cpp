#include <format/names.h>
#include <reference/program/program.h>

#include "../file.h"

// Finds methods by name. Usage: header program.pte
int main(int, char** arguments) {
  const auto file = assay::open_program(assay::in_memory(bytes_of(arguments[1])));
  alignas(std::max_align_t) std::byte memory[1024];
  assay::format::Workspace workspace(memory);
  const assay::format::Methods methods(file->view(), workspace);
  return methods.find("forward") && !methods.find("backward") ? 0 : 1;
}
