#include <gtest/gtest.h>

#include "bench/results.h"
#include "bench/statistics.h"

namespace assay::bench {
namespace bench_test {

TEST(Quantiles, InterpolateBetweenNeighbours) {
  EXPECT_EQ(quantile({}, 0.5), 0);
  EXPECT_EQ(quantile({3}, 0.9), 3);
  EXPECT_EQ(quantile({4, 1, 2, 3}, 0.5), 2.5);
  EXPECT_EQ(quantile({5, 4, 3, 2, 1}, 0.25), 2);
  EXPECT_EQ(quantile({1, 2}, 1), 2);
}

TEST(GeometricMean, OfANumberAndItsReciprocalIsOne) {
  EXPECT_EQ(geometric_mean({}), 0);
  EXPECT_DOUBLE_EQ(geometric_mean({0.25, 4}), 1);
}

Measurement runs(std::vector<double> alternating, std::vector<double> bursts) {
  Measurement m;
  m.alternating = std::move(alternating), m.bursts = std::move(bursts);
  return m;
}

Measurement ran_once(double first) {
  Measurement m;
  m.first = first, m.once = true;
  return m;
}

TEST(Ratios, CompareTimesOfTheSameRound) {
  const Measurement ours = runs({1, 2, 4}, {});
  EXPECT_EQ(ratios(ours, runs({2, 4, 8}, {})), (std::vector<double>{2, 2, 2}));
  EXPECT_EQ(ratios(ours, ran_once(10)), std::vector<double>{5});
  EXPECT_EQ(ratios(ran_once(10), ours), std::vector<double>{0.2});
  Measurement counted = runs({2, 4, 8}, {2});
  counted.counts_time = false;
  EXPECT_TRUE(ratios(ours, counted).empty() && ratios(counted, ours).empty());
}

TEST(Races, CompareWithEachEngineAndWithTheBest) {
  Measurement failing;
  failing.failure = {Outcome::unsupported, "no"};
  Results results;
  results.programs = {{"a", {}, {}, {runs({1}, {1}), runs({2}, {3}), ran_once(100)}, {}},
                      {"b", {}, {}, {runs({1}, {1}), runs({8}, {5}), runs({4}, {7})}, {}},
                      {"c", {}, {}, {runs({1}, {1}), failing, runs({6}, {6})}, {}}};
  const std::vector<Race> all = races(results);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].alternating, (std::vector<double>{2, 8}));
  EXPECT_EQ(all[1].alternating, (std::vector<double>{100, 4, 6}));
  EXPECT_EQ(all[1].bursts, (std::vector<double>{7, 6}));
  EXPECT_EQ(all[2].alternating, (std::vector<double>{2, 4, 6}));
  EXPECT_EQ(all[2].bursts, (std::vector<double>{3, 5, 6}));
}

TEST(Contenders, MayRunAnotherFile) {
  EXPECT_EQ(text_of(contender("executorch=a=b.pte")), "executorch=a=b.pte");
  EXPECT_EQ(contender("-- ssh board env A=b assay serve optimized").name, "-- ssh board env A=b assay serve optimized");
  EXPECT_EQ(contender("executorch").name, "executorch");
  EXPECT_EQ(program_of(contender("executorch"), "x/program.pte"), "x/program.pte");
  EXPECT_EQ(program_of(contender("executorch=nowhere.pte"), "x/program.pte"), "x/nowhere.pte");
}

TEST(Judged, IsNoEngineThatDoesNotStateWhatItIs) {
  EXPECT_EQ(judged(Measurement{}, {}).sentence, "was never judged: it does not state what identifies its code");
}

}  // namespace bench_test
}  // namespace assay::bench
