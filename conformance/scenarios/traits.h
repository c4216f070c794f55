#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "conformance/scenarios/scenario.h"

// Traits of the calls of a scenario that may be the reason why a runtime fails, such as a condition that is false.
namespace assay::scenarios {

struct Trait {
  std::string_view where;  // as Defect::when
};

// The narrowest first. Trait i is bit i of a step's traits.
inline constexpr auto traits = std::to_array<Trait>({
    {"where a bool input without dimensions is false"},
    {"where a condition is false"},
    {"where an instruction jumps back (a loop)"},
    {"with two or more tensors as inputs"},
});
using Traits = std::uint32_t;

// The traits of each step. The reference executes the calls that it can execute.
std::vector<Traits> traits_of(const Scenario& scenario);

}  // namespace assay::scenarios
