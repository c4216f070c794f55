#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "conformance/verdict/verdict.h"

namespace assay::verdict {

// Severity, most serious first, by who is harmed.
enum class Tier : std::uint8_t {
  damage,
  wrong_exported,
  wrong,
  wrong_special,
  not_repeatable,
  refused,
  invalid_damage,
  invalid_accepted,
  invalid_aborted,
  not_promised,
  near,
  quality,
  none,
};

struct TierRow {
  Tier tier;
  std::string_view name;
  std::string_view sentence;
};

inline constexpr std::array tiers = std::to_array<TierRow>({
    {Tier::damage, "damage", "A valid call damages memory or state, changes its inputs, ends in a signal or hangs."},
    {Tier::wrong_exported, "wrong-exported", "A call that exporters emit gets a wrong answer without an error."},
    {Tier::wrong, "wrong",
     "A promised valid call gets a wrong answer, and the case is neither wrong-exported nor wrong-special."},
    {Tier::wrong_special, "wrong-special",
     "A call with special values, sizes of zero or extreme numbers gets a wrong answer."},
    {Tier::not_repeatable, "not-repeatable",
     "The answer changes from call to call, or with the contents of uninitialised memory."},
    {Tier::refused, "refused", "A valid call is refused or aborted."},
    {Tier::invalid_damage, "invalid-damage", "An invalid call damages memory or state, ends in a signal or hangs."},
    {Tier::invalid_accepted, "invalid-accepted", "An invalid call is answered."},
    {Tier::invalid_aborted, "invalid-aborted", "An invalid call aborts or exits instead of being refused."},
    {Tier::not_promised, "not-promised",
     "A call that the contract does not promise fails, for example with a wrong answer."},
    {Tier::near, "near", "The error of a value is more than its bound, but at most 4 times the bound."},
    {Tier::quality, "quality", "The error of a value is within its bound, but larger than it should be."},
    {Tier::none, "none", "The case does not fail."},
});

constexpr const TierRow& row(Tier tier) { return tiers[static_cast<std::size_t>(tier)]; }
constexpr std::string_view name(Tier tier) { return row(tier).name; }

// The slices that decide a tier.
inline constexpr std::string_view exported_slice = "exported";
inline constexpr std::array special_slices =
    std::to_array<std::string_view>({"special-values", "zero-sizes", "extreme-numbers"});

// The tier of a verdict on a call, from whether the call is valid, its slices, and whether the testee's contract
// promises it. `distance` is the distance of a wrong value in units of its bound; none if it has no bound.
Tier tier_of(Verdict verdict, Class failure, bool valid, std::span<const std::string> slices, bool promised,
             std::optional<double> distance);

}  // namespace assay::verdict
