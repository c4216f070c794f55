#pragma once

#include <cstddef>

#include "reference/runtime/runtime.h"

// The limits of an attack, with an allowance where a limit is measured.
namespace assay::fuzz {

inline constexpr Budget::Limits limits{.bytes = Int{16} << 20, .work = 20'000'000, .output = Int{1} << 20};
inline constexpr Int most_instructions = 500;

// A unit of work takes about a nanosecond, about a hundred with sanitizers, and about four hundred without
// optimization.
#ifdef __OPTIMIZE__
inline constexpr double most_seconds = 5;
#else
inline constexpr double most_seconds = 20;
#endif

// The budget, the output, and the memory that reading a file of this size takes.
constexpr std::size_t heap_for(std::size_t file) {
  return static_cast<std::size_t>(limits.bytes + 4 * limits.output) + 2 * file;
}

inline RuntimeOptions options_for(const Budget& budget, std::byte fill = {}) {
  RuntimeOptions options;
  options.budget = budget, options.instructions = most_instructions, options.fill = fill;
  return options;
}

}  // namespace assay::fuzz
