#include "conformance/verdict/tier.h"

#include <algorithm>

namespace assay::verdict {
namespace {

constexpr double near_distance = 4;

// The tier of a promised call, by effect, in the order of the enum.
struct EffectRow {
  Effect effect;
  Tier valid, invalid;
};

constexpr auto tiers_by_effect = std::to_array<EffectRow>({
    {Effect::nothing, Tier::none, Tier::none},
    {Effect::wrong, Tier::wrong, Tier::invalid_accepted},
    {Effect::unrepeatable, Tier::not_repeatable, Tier::not_repeatable},
    {Effect::damage, Tier::damage, Tier::invalid_damage},
    {Effect::refusal, Tier::refused, Tier::invalid_aborted},
    {Effect::acceptance, Tier::invalid_accepted, Tier::invalid_accepted},
});

Tier tier_of_wrong(std::span<const std::string> slices) {
  const auto in = [&](std::string_view slice) { return std::ranges::find(slices, slice) != slices.end(); };
  if (in(exported_slice)) return Tier::wrong_exported;
  return std::ranges::any_of(special_slices, in) ? Tier::wrong_special : Tier::wrong;
}

}  // namespace

Tier tier_of(Verdict verdict, Class failure, bool valid, std::span<const std::string> slices, bool promised,
             std::optional<double> distance) {
  if (verdict == Verdict::quality) return Tier::quality;
  if (!is_failure(verdict)) return Tier::none;
  if (valid && failure == Class::value && distance && *distance <= near_distance) return Tier::near;
  if (!promised) return Tier::not_promised;
  const Effect effect =
      failure == Class::none ? Effect::damage : row(failure).effect;  // a crash without a known cause, or a hang
  const EffectRow& tier = tiers_by_effect[static_cast<std::size_t>(effect)];
  if (!valid) return tier.invalid;
  return effect == Effect::wrong ? tier_of_wrong(slices) : tier.valid;
}

}  // namespace assay::verdict
