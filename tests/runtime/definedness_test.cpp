#include "reference/runtime/definedness.h"

#include <gtest/gtest.h>

namespace assay {
namespace definedness_test {

using By = Definedness::By;

Definedness written(std::initializer_list<std::pair<std::size_t, std::size_t>> writes) {
  Definedness d;
  d.make_room(writes.size());
  for (const auto& [at, bytes] : writes) d.write(at, bytes, By::instruction);
  return d;
}

TEST(Definedness, NothingIsWrittenAtFirst) { EXPECT_EQ(Definedness().written(0), 0); }

TEST(Definedness, AWriteIsFoundOnlyByItsFirstByte) {
  const Definedness d = written({{8, 16}});
  EXPECT_EQ(d.written(8), 16);
  EXPECT_EQ(d.written(0), 0);
  EXPECT_EQ(d.written(12), 0) << "a part of another value";
  EXPECT_EQ(d.written(24), 0);
}

TEST(Definedness, AWriteKeepsAdjacentWrites) {
  const Definedness d = written({{8, 8}, {24, 8}, {16, 8}});
  EXPECT_EQ(d.written(8), 8);
  EXPECT_EQ(d.written(16), 8);
  EXPECT_EQ(d.written(24), 8);
}

TEST(Definedness, AnOverlappingWriteForgetsTheWholeOlderWrite) {
  const Definedness d = written({{0, 8}, {8, 8}, {16, 8}, {4, 8}});
  EXPECT_EQ(d.written(0), 0);
  EXPECT_EQ(d.written(4), 8);
  EXPECT_EQ(d.written(8), 0);
  EXPECT_EQ(d.written(16), 8);
  EXPECT_EQ(written({{8, 4}, {0, 32}}).written(8), 0) << "covered";
  EXPECT_EQ(written({{0, 32}, {8, 4}}).written(0), 0) << "pierced";
}

TEST(Definedness, AWriteReplacesAWriteAtTheSameByte) {
  EXPECT_EQ(written({{8, 16}, {8, 16}}).written(8), 16);
  EXPECT_EQ(written({{8, 16}, {8, 4}}).written(8), 4) << "what is behind is of another value";
  EXPECT_EQ(written({{8, 4}, {8, 16}}).written(8), 16);
}

TEST(Definedness, AnEmptyWriteChangesNothing) { EXPECT_EQ(written({{0, 16}, {8, 0}, {0, 0}}).written(0), 16); }

TEST(Definedness, ForgetDropsTheValueThatBeginsAtAByte) {
  Definedness d = written({{0, 8}, {8, 8}});
  d.forget(8), d.forget(4);
  EXPECT_EQ(d.written(0), 8);
  EXPECT_EQ(d.written(8), 0);
}

TEST(Definedness, StateAndInputsAreKeptWhenAnExecutionBegins) {
  Definedness d;
  d.make_room(8);
  d.write(0, 8, By::state), d.write(8, 8, By::caller), d.write(16, 8, By::instruction);
  d.begin();
  EXPECT_EQ(d.written(0), 8);
  EXPECT_EQ(d.written(8), 8);
  EXPECT_EQ(d.written(16), 0);
  d.write(0, 8, By::instruction), d.write(8, 8, By::instruction);
  d.begin();
  EXPECT_EQ(d.written(0), 8) << "state stays state";
  EXPECT_EQ(d.written(8), 0) << "an input that was written over is none";
}

}  // namespace definedness_test
}  // namespace assay
