#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::kernels {

// The instruction sets for which kernels are compiled, for each architecture the slowest first. `portable` is the set
// that the compiler targets by default. Weights are packed for one set. Sizes can be computed for any set, even if this
// machine lacks it.
// `amx` is avx512 with the instructions VNNI and AMX for products of bytes.
enum class InstructionSet : std::uint8_t { sse4, avx2, avx512, amx, neon, portable };

struct InstructionSetTraits {
  const char* name;
  std::size_t lanes;      // the number of floats in a vector
  std::size_t registers;  // the number of vector registers
};
constexpr InstructionSetTraits instruction_sets[] = {
    {"sse4", 4, 16}, {"avx2", 8, 16}, {"avx512", 16, 32}, {"amx", 16, 32}, {"neon", 4, 32}, {"portable", 1, 16},
};
// Pointers to a function that Highway compiled for each instruction set; null if it did not compile it.
#define ASSAY_OF_EACH_SET(function)                                                                             \
  {                                                                                                             \
    HWY_CHOOSE_SSE4(function), HWY_CHOOSE_AVX2(function), HWY_CHOOSE_AVX3(function), HWY_CHOOSE_AVX3(function), \
        HWY_CHOOSE_NEON(function), HWY_CHOOSE_FALLBACK(function)                                                \
  }
constexpr const InstructionSetTraits& traits(InstructionSet set) {
  return instruction_sets[static_cast<std::size_t>(set)];
}

constexpr const char* name_of(std::optional<InstructionSet> set) { return set ? traits(*set).name : "none"; }
std::optional<InstructionSet> find_instruction_set(std::string_view name);

// is_compiled: whether this library contains the set. is_supported: whether this machine can also run it. For AMX, this
// asks the Linux kernel for the permission, which holds for the whole process.
bool is_compiled(InstructionSet);
bool is_supported(InstructionSet);
// Whether this machine has the VNNI instructions, which sum products of bytes, for the vectors of a set.
bool has_vnni(InstructionSet);
// The fastest supported set. Nothing on an x86-64 without SSE4.2.
std::optional<InstructionSet> best_instruction_set();

}  // namespace assay::kernels
