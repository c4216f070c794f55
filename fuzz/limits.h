#pragma once

#include <cstddef>

#include "reference/runtime/runtime.h"

// What an attacked command may use, and what is forgiven where that is measured.
namespace assay::fuzz {

inline constexpr Int most_bytes = Int{16} << 20, most_work = 5'000'000, most_instructions = 500;
inline constexpr std::size_t most_output = std::size_t{16} << 20;
inline constexpr double most_seconds = 5;  // a unit of work is about a nanosecond, which sanitizers make a hundred

// Files are read by the caller, outside of the budget: what is allowed for one of this size.
constexpr std::size_t heap_for(std::size_t file) {
  return static_cast<std::size_t>(most_bytes) + 16 * file + (std::size_t{2} << 20);
}

// Planned memory begins as these bytes, but for state.
template <class Options>
void set_fill(Options& options, std::byte fill) {
  if constexpr (requires { options.fill = fill; }) options.fill = fill;
}

inline Budget limited_budget() { return Budget({.bytes = most_bytes, .work = most_work}); }

inline RuntimeOptions limited_options(std::byte fill = {}) {
  RuntimeOptions o;
  o.budget = limited_budget();
  o.instructions = most_instructions;
  set_fill(o, fill);
  return o;
}

}  // namespace assay::fuzz
