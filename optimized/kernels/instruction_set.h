#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::kernels {

// What kernels are compiled for, of each architecture the slowest first; portable are those of the compiler's. Weights
// are packed for one of them, and sizes can be asked for any, also one that this machine lacks.
enum class InstructionSet : std::uint8_t { sse4, avx2, avx512, neon, portable };

struct InstructionSetTraits {
  const char* name;
  std::size_t lanes;      // floats of a vector
  std::size_t registers;  // vectors
};
constexpr InstructionSetTraits instruction_sets[] = {
    {"sse4", 4, 16}, {"avx2", 8, 16}, {"avx512", 16, 32}, {"neon", 4, 32}, {"portable", 1, 16},
};
constexpr const InstructionSetTraits& traits(InstructionSet set) {
  return instruction_sets[static_cast<std::size_t>(set)];
}

constexpr const char* name_of(std::optional<InstructionSet> set) { return set ? traits(*set).name : "none"; }
std::optional<InstructionSet> find_instruction_set(std::string_view name);

// Whether this library has it, and whether this machine can run it, too.
bool is_compiled(InstructionSet);
bool is_supported(InstructionSet);
// The fastest that is; an x86-64 without SSE4.2 has none.
std::optional<InstructionSet> best_instruction_set();

}  // namespace assay::kernels
