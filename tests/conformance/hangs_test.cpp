// The time that a loader may take by hanging.

#include <gtest/gtest.h>

#include "conformance/loaders/isolated_loader.h"

namespace assay {
namespace hangs_test {

using namespace std::chrono_literals;
using loaders::LoadOutcome;

LoadOutcome taking(double seconds, LoadOutcome::End end) { return {end, verdict::Class::none, "", seconds}; }

TEST(Hangs, ShortenTheLimitAfterThreeFiles) {
  loaders::Hangs hangs;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(hangs.wall_limit(20s), 20s);
    hangs.note(taking(20, LoadOutcome::End::hung));
  }
  EXPECT_EQ(hangs.wall_limit(20s), 2s);
  EXPECT_EQ(hangs.wall_limit(1s), 1s);
  hangs.note(taking(0.5, LoadOutcome::End::accepted));
  EXPECT_EQ(hangs.wall_limit(20s), 10s);  // 20 times the longest time of a file that ended
}

TEST(Hangs, AreTooManyAfterAHundredSeconds) {
  loaders::Hangs hangs;
  for (int i = 0; i < 50; ++i) {
    hangs.note(taking(1000, LoadOutcome::End::refused));
    EXPECT_FALSE(hangs.are_too_many()) << i;
    hangs.note(taking(2, LoadOutcome::End::hung));
  }
  EXPECT_FALSE(hangs.are_too_many());
  hangs.note(taking(2, LoadOutcome::End::hung));
  EXPECT_TRUE(hangs.are_too_many());
}

}  // namespace hangs_test
}  // namespace assay
