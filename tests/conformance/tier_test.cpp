#include "conformance/verdict/tier.h"

#include <gmock/gmock-matchers.h>

#include <set>
#include <vector>

#include "conformance/verdict/record.h"

// Compares the table of tiers with a second statement of the same rules, for every possible case.
namespace assay {
namespace tier_test {

using Slices = std::vector<std::string>;

const std::vector<Slices> relevant{{},
                                   {"exported"},
                                   {"special-values"},
                                   {"zero-sizes"},
                                   {"extreme-numbers"},
                                   {"invalid"},
                                   {"layouts", "mixed-dtypes"}};

struct Finding {
  Verdict verdict;
  Class failure;
  bool valid;
  Slices slices;
  bool promised;
  std::optional<double> distance;

  Tier tier() const { return tier_of(verdict, failure, valid, slices, promised, distance); }
  bool fails() const { return is_failure(verdict); }
  bool is_of(const std::set<Class>& classes) const { return fails() && classes.contains(failure); }
};

std::vector<Finding> all_findings() {
  std::vector<Finding> all;
  for (const VerdictRow& verdict : verdicts)
    for (const ClassRow& failure : classes)
      for (const bool valid : {false, true})
        for (const Slices& slices : relevant)
          for (const bool promised : {false, true})
            for (const std::optional<double> distance : {std::optional<double>(), {4.0}, {4.5}})
              all.push_back({verdict.verdict, failure.failure, valid, slices, promised, distance});
  return all;
}

const std::set<Class> harmful{Class::spoils_state,        Class::changes_input,   Class::writes_out_of_bounds,
                              Class::heap_damage,         Class::uses_freed,      Class::double_free,
                              Class::bus_error,           Class::arithmetic_trap, Class::segmentation_fault,
                              Class::illegal_instruction, Class::signal,          Class::none};
const std::set<Class> silent{Class::value, Class::nan, Class::shape, Class::dtype, Class::layout, Class::unwritten};
const std::set<Class> shy{Class::refused_though_valid, Class::abort, Class::assertion, Class::exit};
const std::set<Class> fickle{Class::not_repeatable, Class::reads_uninitialised};

bool is_near(const Finding& f) {
  return f.fails() && f.valid && f.failure == Class::value && f.distance && *f.distance <= 4;
}

TEST(Tier, TableIsInTheOrderOfItsEnum) {
  for (std::size_t i = 0; i < tiers.size(); ++i) EXPECT_EQ(static_cast<std::size_t>(tiers[i].tier), i);
}

TEST(Tier, EachTierIsReached) {
  std::set<Tier> reached;
  for (const Finding& f : all_findings()) reached.insert(f.tier());
  EXPECT_EQ(reached.size(), tiers.size());
}

TEST(Tier, APassHasNoTier) {
  for (const Finding& f : all_findings()) {
    EXPECT_EQ(f.tier() == Tier::none, f.verdict == Verdict::pass || f.verdict == Verdict::unsupported);
    EXPECT_EQ(f.tier() == Tier::quality, f.verdict == Verdict::quality);
  }
}

TEST(Tier, CallsOutsideTheContractRankBelowPromisedCalls) {
  for (const Finding& f : all_findings()) {
    if (!f.fails() || is_near(f)) continue;
    EXPECT_EQ(f.tier() == Tier::not_promised, !f.promised);
    EXPECT_LE(f.tier(), Tier::not_promised);
  }
}

TEST(Tier, AnErrorWithinFourBoundsIsNear) {
  for (const Finding& f : all_findings()) EXPECT_EQ(f.tier() == Tier::near, is_near(f));
}

TEST(Tier, HarmOnAValidPromisedCallOutranksEverything) {
  for (const Finding& f : all_findings()) {
    const bool harm = f.promised && f.valid && f.is_of(harmful);
    EXPECT_EQ(f.tier() == Tier::damage, harm) << name(f.verdict) << ' ' << name(f.failure);
  }
}

TEST(Tier, AWrongAnswerIsRankedByItsSlice) {
  for (const Finding& f : all_findings()) {
    if (!f.promised || !f.valid || !f.is_of(silent) || is_near(f)) continue;
    const std::string& slice = f.slices.empty() ? "" : f.slices[0];
    const bool special = slice == "special-values" || slice == "zero-sizes" || slice == "extreme-numbers";
    EXPECT_EQ(f.tier(), slice == "exported" ? Tier::wrong_exported : special ? Tier::wrong_special : Tier::wrong);
  }
}

TEST(Tier, SlicesRankOnlyWrongAnswers) {
  for (Finding f : all_findings()) {
    if (f.valid && f.is_of(silent)) continue;
    const Tier tier = f.tier();
    f.slices = {"exported"};
    EXPECT_EQ(f.tier(), tier);
  }
}

TEST(Tier, AFailureOnAnInvalidCallNeverOutranksItOnAValidCall) {
  for (Finding f : all_findings()) {
    if (f.valid || !f.promised || f.is_of({Class::value})) continue;
    const Tier invalid = f.tier();
    f.valid = true;
    EXPECT_LE(f.tier(), invalid) << name(f.verdict) << ' ' << name(f.failure);
  }
}

TEST(Tier, RanksFailuresOnInvalidCalls) {
  for (const Finding& f : all_findings()) {
    if (!f.promised || f.valid || !f.fails()) continue;
    const Tier wanted = f.is_of(harmful)  ? Tier::invalid_damage
                        : f.is_of(shy)    ? Tier::invalid_aborted
                        : f.is_of(fickle) ? Tier::not_repeatable
                                          : Tier::invalid_accepted;
    EXPECT_EQ(f.tier(), wanted) << name(f.failure);
  }
}

TEST(Tier, RefusalsOfValidCallsAreOneTier) {
  for (const Finding& f : all_findings())
    EXPECT_EQ(f.tier() == Tier::refused, f.promised && f.valid && f.is_of(shy)) << name(f.failure);
}

TEST(Tier, AMissingDistanceIsNotNear) {
  Record r;
  r.verdict = Verdict::fail, r.failure = Class::value, r.distance = 1;
  EXPECT_EQ(tier_of(r), Tier::wrong);  // an integer with an error of one
  r.bound = "0.5";
  EXPECT_EQ(tier_of(r), Tier::near);
}

}  // namespace tier_test
}  // namespace assay
