#include <format/flow.h>
#include <reference/program/program.h>

#include "../file.h"

// Counts the tensors that a method keeps from one execution to the next. Usage: header program.pte
int main(int, char** arguments) {
  const auto program = assay::validate(*assay::open_program(assay::in_memory(bytes_of(arguments[1]))));
  std::vector<std::max_align_t> memory(1 << 16);
  assay::format::Workspace workspace(std::as_writable_bytes(std::span(memory)));
  int kept = 0;
  const auto count = [](void* of, std::uint32_t) { ++*static_cast<int*>(of); };
  assay::format::each_state((*program)->view(), *program->plan("forward"), workspace, count, &kept);
  return kept == 0 ? 0 : 1;
}
