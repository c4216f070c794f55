#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace assay::judge {

// The arithmetic of a testee, as far as it decides which answers are right: spec/contracts.md.
enum class ArithmeticMode : std::uint8_t { ieee, flush_to_zero, half_accumulation };

inline constexpr std::array<std::string_view, 3> arithmetic_modes{"ieee", "flush-to-zero", "half-accumulation"};

}  // namespace assay::judge
