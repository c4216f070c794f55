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
  verdict::Verdict verdict;
  verdict::Class failure;
  bool valid;
  Slices slices;
  bool promised;
  std::optional<double> distance;

  verdict::Tier tier() const { return verdict::tier_of(verdict, failure, valid, slices, promised, distance); }
  bool fails() const { return verdict::is_failure(verdict); }
  bool is_of(const std::set<verdict::Class>& classes) const { return fails() && classes.contains(failure); }
};

std::vector<Finding> all_findings() {
  std::vector<Finding> all;
  for (const verdict::VerdictRow& verdict : verdict::verdicts)
    for (const verdict::ClassRow& failure : verdict::classes)
      for (const bool valid : {false, true})
        for (const Slices& slices : relevant)
          for (const bool promised : {false, true})
            for (const std::optional<double> distance : {std::optional<double>(), {4.0}, {4.5}})
              all.push_back({verdict.verdict, failure.failure, valid, slices, promised, distance});
  return all;
}

const std::set<verdict::Class> harmful{verdict::Class::spoils_state,
                                       verdict::Class::changes_input,
                                       verdict::Class::writes_out_of_bounds,
                                       verdict::Class::heap_damage,
                                       verdict::Class::uses_freed,
                                       verdict::Class::double_free,
                                       verdict::Class::bus_error,
                                       verdict::Class::arithmetic_trap,
                                       verdict::Class::segmentation_fault,
                                       verdict::Class::illegal_instruction,
                                       verdict::Class::signal,
                                       verdict::Class::reads_out_of_bounds,
                                       verdict::Class::leaks,
                                       verdict::Class::none};
const std::set<verdict::Class> silent{verdict::Class::value, verdict::Class::nan,    verdict::Class::shape,
                                      verdict::Class::dtype, verdict::Class::layout, verdict::Class::unwritten};
const std::set<verdict::Class> shy{verdict::Class::refused_though_valid, verdict::Class::abort,
                                   verdict::Class::assertion, verdict::Class::exit};
const std::set<verdict::Class> fickle{verdict::Class::not_repeatable, verdict::Class::reads_uninitialised,
                                      verdict::Class::depends_on_addresses};

bool is_near(const Finding& f) {
  return f.fails() && f.valid && f.failure == verdict::Class::value && f.distance && *f.distance <= 4;
}

TEST(Tier, TableIsInTheOrderOfItsEnum) {
  for (std::size_t i = 0; i < verdict::tiers.size(); ++i)
    EXPECT_EQ(static_cast<std::size_t>(verdict::tiers[i].tier), i);
}

TEST(Tier, EachTierIsReached) {
  std::set<verdict::Tier> reached;
  for (const Finding& f : all_findings()) reached.insert(f.tier());
  EXPECT_EQ(reached.size(), verdict::tiers.size());
}

TEST(Tier, APassHasNoTier) {
  for (const Finding& f : all_findings()) {
    EXPECT_EQ(f.tier() == verdict::Tier::none, f.verdict == verdict::Verdict::pass ||
                                                   f.verdict == verdict::Verdict::unsupported ||
                                                   f.verdict == verdict::Verdict::undecided);
    EXPECT_EQ(f.tier() == verdict::Tier::quality, f.verdict == verdict::Verdict::quality);
  }
}

TEST(Tier, CallsOutsideTheContractRankBelowPromisedCalls) {
  for (const Finding& f : all_findings()) {
    if (!f.fails() || is_near(f)) continue;
    EXPECT_EQ(f.tier() == verdict::Tier::not_promised, !f.promised);
    EXPECT_LE(f.tier(), verdict::Tier::not_promised);
  }
}

TEST(Tier, AnErrorWithinFourBoundsIsNear) {
  for (const Finding& f : all_findings()) EXPECT_EQ(f.tier() == verdict::Tier::near, is_near(f));
}

TEST(Tier, HarmOnAValidPromisedCallOutranksEverything) {
  for (const Finding& f : all_findings()) {
    const bool harm = f.promised && f.valid && f.is_of(harmful);
    EXPECT_EQ(f.tier() == verdict::Tier::damage, harm) << verdict::name(f.verdict) << ' ' << verdict::name(f.failure);
  }
}

TEST(Tier, AWrongAnswerIsRankedByItsSlice) {
  for (const Finding& f : all_findings()) {
    if (!f.promised || !f.valid || !f.is_of(silent) || is_near(f)) continue;
    const std::string& slice = f.slices.empty() ? "" : f.slices[0];
    const bool special = slice == "special-values" || slice == "zero-sizes" || slice == "extreme-numbers";
    EXPECT_EQ(f.tier(), slice == "exported" ? verdict::Tier::wrong_exported
                        : special           ? verdict::Tier::wrong_special
                                            : verdict::Tier::wrong);
  }
}

TEST(Tier, SlicesRankOnlyWrongAnswers) {
  for (Finding f : all_findings()) {
    if (f.valid && f.is_of(silent)) continue;
    const verdict::Tier tier = f.tier();
    f.slices = {"exported"};
    EXPECT_EQ(f.tier(), tier);
  }
}

TEST(Tier, AFailureOnAnInvalidCallNeverOutranksItOnAValidCall) {
  for (Finding f : all_findings()) {
    if (f.valid || !f.promised || f.is_of({verdict::Class::value})) continue;
    const verdict::Tier invalid = f.tier();
    f.valid = true;
    EXPECT_LE(f.tier(), invalid) << verdict::name(f.verdict) << ' ' << verdict::name(f.failure);
  }
}

TEST(Tier, RanksFailuresOnInvalidCalls) {
  for (const Finding& f : all_findings()) {
    if (!f.promised || f.valid || !f.fails()) continue;
    const verdict::Tier wanted = f.is_of(harmful)  ? verdict::Tier::invalid_damage
                                 : f.is_of(shy)    ? verdict::Tier::invalid_aborted
                                 : f.is_of(fickle) ? verdict::Tier::not_repeatable
                                                   : verdict::Tier::invalid_accepted;
    EXPECT_EQ(f.tier(), wanted) << verdict::name(f.failure);
  }
}

TEST(Tier, RefusalsOfValidCallsAreOneTier) {
  for (const Finding& f : all_findings())
    EXPECT_EQ(f.tier() == verdict::Tier::refused, f.promised && f.valid && f.is_of(shy)) << verdict::name(f.failure);
}

TEST(Tier, AMissingDistanceIsNotNear) {
  verdict::Record r;
  r.verdict = verdict::Verdict::fail, r.failure = verdict::Class::value, r.distance = 1;
  EXPECT_EQ(verdict::tier_of(r), verdict::Tier::wrong);  // an integer with an error of one
  r.bound = "0.5";
  EXPECT_EQ(verdict::tier_of(r), verdict::Tier::near);
}

}  // namespace tier_test
}  // namespace assay
