#pragma once

#include <array>
#include <cmath>
#include <string_view>

#include "reference/real.h"

namespace assay::cases {

// Numbers that kernels treat in a way of their own, or fail to treat so.
struct SpecialNumbers {
  std::string_view name;  // in the plural where the set has several numbers
  bool (*has)(Real x);
  // The number that takes the place of x in a call that differs in these numbers alone; null: there is no such call.
  Real (*plain)(Real x) = nullptr;
  std::string_view instead = "";  // names what `plain` gives
  // Whether few numbers are so. A call that passes without rare numbers fails because of them; a call without common
  // ones may pass because less cancels.
  bool is_rare = false;
};

inline Real one_in_place_of(Real) { return 1; }
inline Real one_if_finite(Real x) { return std::isinf(x) ? x : 1; }

// Mutations name an entry by its position, so entries are only appended.
inline constexpr auto special_numbers = std::to_array<SpecialNumbers>({
    {"NaN", [](Real x) { return std::isnan(x); }, one_in_place_of, "1", true},
    {"infinity", [](Real x) { return std::isinf(x); }, one_in_place_of, "1", true},
    {"-0", [](Real x) { return x == 0 && std::signbit(x); }, [](Real) { return Real{0}; }, "0", true},
    {"0", [](Real x) { return x == 0 && !std::signbit(x); }, one_in_place_of, "1"},
    {"0 or -0", [](Real x) { return x == 0; }},
    {"numbers halfway between two integers", [](Real x) { return std::fabs(x - std::trunc(x)) == 0.5; },
     [](Real x) { return std::trunc(x); }, "the numbers rounded toward 0"},
    {"fractions", [](Real x) { return std::isfinite(x) && x != std::trunc(x); }},
    {"integers of 2^53 and more", [](Real x) { return std::fabs(x) >= 0x1p53; }, one_if_finite, "1", true},
    {"numbers of 2^31 and more", [](Real x) { return std::fabs(x) >= 0x1p31; }, one_if_finite, "1", true},
    {"integers that float32 rounds",
     [](Real x) { return std::isfinite(x) && x == std::trunc(x) && static_cast<Real>(static_cast<float>(x)) != x; },
     [](Real x) { return static_cast<Real>(static_cast<float>(x)); }, "the rounded integers", true},
    {"numbers near 0", [](Real x) { return x != 0 && std::fabs(x) < 0x1p-6; }},
    {"numbers above 1", [](Real x) { return x > 1; }},
    {"numbers below -1", [](Real x) { return x < -1; }},
    {"negative numbers", [](Real x) { return x < 0; }, [](Real x) { return -x; }, "their opposites"},
    {"positive numbers", [](Real x) { return x > 0; }},
});

}  // namespace assay::cases
