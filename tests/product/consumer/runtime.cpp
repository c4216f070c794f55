#include <cstdio>

#include "reference/runtime/runtime.h"

int main() {
  const auto program = assay::LoadedProgram::load({});
  std::printf("%s\n", program ? "ok" : program.faults.front().rule.c_str());
}
