#include <reference/runtime/runtime.h>

#include <iostream>

#include "../../file.h"

// Runs a method once, with zeros. Usage: header program.pte
int main(int, char** arguments) {
  const auto program = assay::LoadedProgram::load(assay::in_memory(bytes_of(arguments[1])));
  if (!program) return std::cerr << program.faults.front().message << '\n', 1;
  auto method = program->method("forward");
  if (!method) return std::cerr << method.faults.front().message << '\n', 1;
  const auto* declared = method->plan().values()->Get(method->plan().inputs()->Get(0))->val_as_Tensor();
  assay::Dims sizes;
  for (const std::int32_t n : *declared->sizes()) sizes.push_back(n);
  if (const assay::Refusal refusal = method->set_input(0, assay::make(assay::DType::float32, sizes)))
    return std::cerr << refusal->message << '\n', 1;
  if (const assay::Refusal refusal = method->execute()) return std::cerr << refusal->message << '\n', 1;
  std::cout << assay::describe(std::get<assay::Tensor>(*method->output(0))) << '\n';
}
