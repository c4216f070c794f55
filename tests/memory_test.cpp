#include "conformance/testees/memory.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace assay {
namespace {

TEST(GuardedMemory, BuffersAreAlignedAsPromisedAndNoBetter) {
  GuardedMemory memory;
  for (std::size_t bytes : {0u, 1u, 3u, 64u, 1000u}) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory.add("x", bytes));
    EXPECT_EQ(address % 16, 0u);
    EXPECT_NE(address % 32, 0u);
  }
}

TEST(GuardedMemory, WritingInsideIsNoDamage) {
  GuardedMemory memory;
  std::byte* a = memory.add("a", 24);
  std::fill_n(a, 24, std::byte{7});
  memory.add("empty", 0);
  EXPECT_FALSE(memory.damage());
}

TEST(GuardedMemory, TheByteBehindABufferOfAnySizeIsGuarded) {
  for (std::size_t bytes = 0; bytes < 40; ++bytes) {
    GuardedMemory memory;
    memory.add("first", 8);
    memory.add("out", bytes)[bytes] ^= std::byte{1};
    const auto damage = memory.damage();
    ASSERT_TRUE(damage) << bytes;
    EXPECT_EQ(describe(*damage), "1 byte behind out is overwritten, the nearest 0 bytes from its end");
  }
}

TEST(GuardedMemory, SaysWhichBufferAndWhere) {
  GuardedMemory memory;
  std::byte* out = memory.add("out[1]", 16);
  for (int i : {-9, -12, -16}) out[i] = std::byte{0};
  const auto damage = memory.damage();
  ASSERT_TRUE(damage);
  EXPECT_EQ(describe(*damage), "3 bytes before out[1] are overwritten, the nearest 8 bytes from its start");
}

TEST(GuardedMemory, BothEndsOfTheRedZonesAreGuarded) {
  for (std::ptrdiff_t at : {std::ptrdiff_t{-1}, -std::ptrdiff_t{GuardedMemory::red_zone},
                            std::ptrdiff_t{8 + GuardedMemory::red_zone - 1}}) {
    GuardedMemory memory;
    memory.add("x", 8)[at] ^= std::byte{0x80};
    EXPECT_TRUE(memory.damage()) << at;
  }
}

TEST(Poison, DiffersInEveryByteAndInTruthOfBools) {
  for (DType dtype : {DType::int8, DType::float32, DType::boolean})
    EXPECT_NE(poison_byte(Poison::first, dtype), poison_byte(Poison::second, dtype));
  EXPECT_EQ(poison_byte(Poison::second, DType::boolean), std::byte{0});
}

TEST(Poison, HasOppositeSignsAndTheSizeOfOne) {
  for (DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
    const auto value = [&](Poison p) {
      return info(dtype).real_of(0x0101010101010101u * static_cast<Bits>(poison_byte(p, dtype)));
    };
    EXPECT_LT(value(Poison::first), -0.1);
    EXPECT_GT(value(Poison::first), -2);
    EXPECT_LT(value(Poison::second), 2);
    EXPECT_GT(value(Poison::second), 1e-4);
  }
}

}  // namespace
}  // namespace assay
