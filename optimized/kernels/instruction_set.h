#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::kernels {

// What kernels are compiled for, the slowest first. Weights are packed for one of them, and sizes can be asked for any,
// also one that this machine lacks.
enum class InstructionSet : std::uint8_t { sse4, avx2, avx512, neon };

struct InstructionSetTraits {
  const char* name;
  std::size_t lanes;      // floats of a vector
  std::size_t registers;  // vectors
};
constexpr InstructionSetTraits instruction_sets[] = {
    {"sse4", 4, 16},
    {"avx2", 8, 16},
    {"avx512", 16, 32},
    {"neon", 4, 32},
};
constexpr const InstructionSetTraits& traits(InstructionSet set) {
  return instruction_sets[static_cast<std::size_t>(set)];
}

// Whether this machine can run it, and this library has it.
bool is_supported(InstructionSet);
// The fastest that is. A machine with none of them (an x86-64 without SSE4.2) gets the slowest, which is_supported
// denies.
InstructionSet best_instruction_set();

}  // namespace assay::kernels
