#include <gmock/gmock.h>

#include <random>
#include <vector>

#include "planning/arena.h"

namespace assay::planning {
namespace planning_test {

using Lifetimes = std::vector<Lifetime>;

struct Plan {
  std::vector<std::uint64_t> offsets;
  std::uint64_t size = 0;
};

Plan planned(const Lifetimes& lifetimes) {
  std::vector<std::max_align_t> memory(lifetimes.size() + 16);
  format::Workspace workspace(std::as_writable_bytes(std::span(memory)));
  Plan plan{std::vector<std::uint64_t>(lifetimes.size(), 1)};
  const auto size = plan_arena(lifetimes, plan.offsets, workspace);
  EXPECT_TRUE(size);
  plan.size = size.value_or(0);
  return plan;
}

// Up to 60 buffers, some of them empty, of up to 1000 bytes and of alignments up to 64.
Lifetimes drawn(std::mt19937& random) {
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  Lifetimes all(below(60));
  for (Lifetime& life : all) {
    life.first = below(20), life.last = life.first + below(8);
    life.bytes = below(5) == 0 ? 0 : below(1000), life.alignment = std::uint64_t{1} << below(7);
  }
  return all;
}

TEST(PlanArena, SharesBytesOnlyBetweenBuffersThatNeverLiveAtTheSameStep) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const Lifetimes all = drawn(random);
    const Plan plan = planned(all);
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (all[i].overlaps(all[j]) && all[i].bytes > 0 && all[j].bytes > 0) {
          EXPECT_TRUE(plan.offsets[i] + all[i].bytes <= plan.offsets[j] ||
                      plan.offsets[j] + all[j].bytes <= plan.offsets[i]);
        }
  }
}

TEST(PlanArena, AlignsEachOffset) {
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    const Lifetimes all = drawn(random);
    const Plan plan = planned(all);
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(plan.offsets[i] % all[i].alignment, 0u);
  }
}

TEST(PlanArena, SizeIsTheLargestEnd) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    const Lifetimes all = drawn(random);
    const Plan plan = planned(all);
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < all.size(); ++i) end = std::max(end, plan.offsets[i] + all[i].bytes);
    EXPECT_EQ(plan.size, end);
  }
}

TEST(PlanArena, IsDeterministic) {
  std::mt19937 random(4);
  const Lifetimes all = drawn(random);
  EXPECT_EQ(planned(all).offsets, planned(all).offsets);
}

TEST(PlanArena, PlacesTheLargestBufferFirst) {
  EXPECT_THAT(planned({{0, 1, 8}, {1, 2, 16}, {2, 3, 8}}).offsets, testing::ElementsAre(16, 0, 16));
}

TEST(PlanArena, ReusesTheBytesOfABufferWhoseLifetimeEnded) {
  EXPECT_EQ(planned({{0, 0, 64}, {1, 1, 64}, {2, 2, 64}}).size, 64u);
}

TEST(PlanArena, PlacesBuffersBeyondTheLimitBehindAllOthers) {
  Lifetimes all((1 << 13) + 2);
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = {i, i, 4, 4};
  EXPECT_EQ(planned(all).size, 12u);
}

TEST(PlanArena, ReturnsNothingWithoutRoom) {
  const Lifetimes all(100);
  std::vector<std::uint64_t> offsets(all.size());
  std::vector<std::max_align_t> memory(4);
  format::Workspace small(std::as_writable_bytes(std::span(memory))), counting;
  EXPECT_FALSE(plan_arena(all, offsets, small));
  EXPECT_FALSE(plan_arena(all, offsets, counting));
  EXPECT_GE(counting.most(), 800u);
}

}  // namespace planning_test
}  // namespace assay::planning
