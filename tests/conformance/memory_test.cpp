#include "conformance/sandbox/guarded_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <new>

#include "conformance/sandbox/quarantine.h"

namespace assay {
namespace memory_test {

sandbox::GuardedRegions& regions() {
  static sandbox::GuardedRegions all;
  return all;
}

// A sanitizer ends the process with its own exit code.
void expect_nobody_may_write(std::byte* at) {
  EXPECT_EXIT(
      *static_cast<volatile std::byte*>(at) = std::byte{1}, [](int status) { return status != 0; }, "");
}

// As GuardedMemory, with islands shared by all tests.
struct Memory : sandbox::GuardedMemory {
  Memory() : sandbox::GuardedMemory(regions(), sandbox::FillPattern::first) {}
};

TEST(GuardedMemory, BuffersHaveExactlyThePromisedAlignment) {
  Memory memory;
  for (std::size_t bytes : {0u, 1u, 3u, 64u, 1000u}) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory.add("x", bytes));
    EXPECT_EQ(address % 16, 0u);
    EXPECT_NE(address % 32, 0u);
  }
}

TEST(GuardedMemory, WritingInsideIsNoDamage) {
  Memory memory;
  std::byte* a = memory.add("a", 24);
  std::fill_n(a, 24, std::byte{7});
  memory.add("empty", 0);
  EXPECT_FALSE(memory.damage());
}

TEST(GuardedMemory, TheByteBehindABufferOfAnySizeIsGuarded) {
  for (std::size_t bytes = 0; bytes < 40; ++bytes) {
    Memory memory;
    memory.add("first", 8);
    memory.add("out", bytes)[bytes] ^= std::byte{1};
    const auto damage = memory.damage();
    ASSERT_TRUE(damage) << bytes;
    EXPECT_TRUE(damage->starts_with("1 byte behind out is overwritten, the nearest 0 bytes from its end, with "));
  }
}

TEST(GuardedMemory, NamesTheBufferAndThePlace) {
  Memory memory;
  std::byte* out = memory.add("out[1]", 16);
  for (int i : {-9, -10, -11}) out[i] = static_cast<std::byte>(i);
  const auto damage = memory.damage();
  ASSERT_TRUE(damage);
  EXPECT_EQ(*damage, "3 bytes before out[1] are overwritten, the nearest 8 bytes from its start, with f5 f6 f7");
}

TEST(GuardedMemory, BothEndsOfTheRedZonesAreGuarded) {
  for (std::ptrdiff_t at :
       {std::ptrdiff_t{-1}, -std::ptrdiff_t{sandbox::red_zone}, std::ptrdiff_t{8 + sandbox::red_zone - 1}}) {
    Memory memory;
    memory.add("x", 8)[at] ^= std::byte{0x80};
    EXPECT_TRUE(memory.damage()) << at;
  }
}

TEST(GuardedMemory, HasRoomForALargeTensor) {
  Memory memory;
  std::byte* a = memory.add("a", 5'000'000);
  std::byte* b = memory.add("b", 3);
  a[4'999'999] = b[2] = std::byte{1};
  EXPECT_FALSE(memory.damage());
  EXPECT_THROW(memory.add("c", std::size_t{1} << 40), std::bad_alloc);
}

TEST(GuardedRegions, AreProtectedBeforeTheNextRepeatAndNeverReused) {
  std::byte* first = nullptr;
  {
    Memory memory;
    first = memory.add("x", 8);
    EXPECT_FALSE(regions().was_retired(first));
  }
  EXPECT_TRUE(regions().was_retired(first));
  regions().retire_earlier();
  Memory memory;
  std::byte* const second = memory.add("x", 8);
  EXPECT_GT(second, first);
  EXPECT_TRUE(regions().was_retired(first));
  EXPECT_FALSE(regions().was_retired(second));
  EXPECT_FALSE(regions().was_retired(second - 8192));  // the gap before it
  expect_nobody_may_write(first);
}

std::vector<std::byte> filled(sandbox::FillPattern pattern, DType dtype, std::uint64_t seed = 1) {
  std::vector<std::byte> memory(24);
  sandbox::fill(memory, pattern, dtype, seed);
  return memory;
}

TEST(FillPattern, DiffersInEveryByteAndInTruthOfBools) {
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    for (DType dtype : {DType::int8, DType::int16, DType::float32, DType::float64, DType::boolean}) {
      const auto first = filled(sandbox::FillPattern::first, dtype, seed),
                 second = filled(sandbox::FillPattern::second, dtype, seed);
      for (std::size_t i = 0; i < first.size(); ++i) EXPECT_NE(first[i], second[i]);
    }
  for (std::byte b : filled(sandbox::FillPattern::first, DType::boolean)) EXPECT_NE(b, std::byte{0});
  for (std::byte b : filled(sandbox::FillPattern::second, DType::boolean)) EXPECT_EQ(b, std::byte{0});
}

TEST(FillPattern, IsDrawnFromItsSeed) {
  EXPECT_EQ(filled(sandbox::FillPattern::first, DType::float32, 7),
            filled(sandbox::FillPattern::first, DType::float32, 7));
  EXPECT_NE(filled(sandbox::FillPattern::first, DType::float32, 7),
            filled(sandbox::FillPattern::first, DType::float32, 8));
}

TEST(FillPattern, HasOppositeSignsAndTheSizeOfOne) {
  for (DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
    const auto value = [&](sandbox::FillPattern p) {
      const auto memory = filled(p, dtype);
      Bits bits = 0;
      std::memcpy(&bits, memory.data(), static_cast<std::size_t>(info(dtype).bytes));
      return info(dtype).real_of(bits);
    };
    EXPECT_LT(value(sandbox::FillPattern::first), -0.1);
    EXPECT_GT(value(sandbox::FillPattern::first), -2);
    EXPECT_LT(value(sandbox::FillPattern::second), 2);
    EXPECT_GT(value(sandbox::FillPattern::second), 1e-4);
  }
}

TEST(QuarantineHeap, KeepsSomeBlocksForTheHost) {
  sandbox::QuarantineHeap arena;
  while (!arena.is_nearly_used_up()) ASSERT_NE(arena.allocate(1, std::byte{}), nullptr);
  const std::size_t left = sandbox::QuarantineHeap::most_blocks - arena.blocks_used();
  ASSERT_GT(left, 1000U);
  for (std::size_t k = 0; k < left; ++k) ASSERT_NE(arena.allocate(1, std::byte{}), nullptr);
  EXPECT_EQ(arena.allocate(1, std::byte{}), nullptr);
}

TEST(QuarantineHeap, DetectsMisuseOfItsBlocks) {
  const auto damage_after = [](auto deed) {
    sandbox::QuarantineHeap arena;
    std::byte* const block = arena.allocate(24, std::byte{7});
    EXPECT_EQ(block[23], std::byte{7});
    EXPECT_FALSE(arena.damage());
    deed(arena, block);
    const auto damage = arena.damage();
    return damage ? sandbox::describe(*damage, "a block") : "";
  };
  EXPECT_EQ(damage_after([](sandbox::QuarantineHeap&, std::byte* b) { b[0] = b[23] = std::byte{1}; }), "");
  EXPECT_EQ(damage_after([](sandbox::QuarantineHeap& a, std::byte* b) { a.release(b); }), "");
  EXPECT_EQ(damage_after([](sandbox::QuarantineHeap&, std::byte* b) { b[24] = std::byte{1}; }),
            "1 byte behind a block is overwritten, the nearest 0 bytes from its end, with 01");
  EXPECT_EQ(damage_after(
                [](sandbox::QuarantineHeap&, std::byte* b) { b[-std::ptrdiff_t{sandbox::red_zone}] = std::byte{1}; }),
            "1 byte before a block is overwritten, the nearest 127 bytes from its start, with 01");
  EXPECT_EQ(damage_after([](sandbox::QuarantineHeap& a, std::byte* b) { a.release(b), b[5] = std::byte{1}; }),
            "1 byte of a block is overwritten, the nearest 5 bytes from its start, with 01, after it was freed");
  EXPECT_EQ(damage_after([](sandbox::QuarantineHeap& a, std::byte* b) { a.release(b), a.release(b); }),
            "a block is freed twice");
  EXPECT_EQ(damage_after([](sandbox::QuarantineHeap& a, std::byte* b) { a.release(b + 8); }),
            "what no allocation returned is freed");
}

TEST(QuarantineHeap, HandsOutNothingTwice) {
  sandbox::QuarantineHeap arena;
  std::byte* const first = arena.allocate(24, std::byte{0});
  arena.release(first);
  EXPECT_GT(arena.allocate(24, std::byte{0}), first + 24 + sandbox::red_zone);
  EXPECT_EQ(arena.allocate(sandbox::QuarantineHeap::most, std::byte{0}), nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.allocate(1, std::byte{0}, 4096)) % 4096, 0u);
  EXPECT_EQ(arena.used(), 49u);
  EXPECT_EQ(arena.size_of(first), 24u);
  EXPECT_FALSE(arena.contains(&arena));
}

TEST(QuarantineHeap, RetiresFreedBlocks) {
  sandbox::QuarantineHeap arena;
  std::byte* const freed = arena.allocate(24, std::byte{0});
  arena.release(freed);
  arena.retire_freed();
  std::byte* const used = arena.allocate(24, std::byte{0});
  std::byte* const beside = arena.allocate(24, std::byte{0});
  arena.release(beside);
  for (int again = 0; again < 2; ++again) arena.retire_freed();
  expect_nobody_may_write(freed);
  EXPECT_TRUE(arena.was_retired(freed));
  expect_nobody_may_write(freed + (std::ptrdiff_t{64} << 20));  // far behind all blocks
  EXPECT_FALSE(arena.was_retired(freed + (std::ptrdiff_t{64} << 20)));
  EXPECT_EQ(used[23], std::byte{0});
  EXPECT_FALSE(arena.damage());
  beside[5] = std::byte{1};  // in the same page as a block in use
  EXPECT_EQ(arena.damage()->kind, sandbox::Damage::Kind::freed);
  beside[5] = std::byte{0xDD};
  arena.release(used);
  arena.retire_freed();
  expect_nobody_may_write(beside);
  arena.release(freed);
  EXPECT_EQ(arena.damage()->kind, sandbox::Damage::Kind::freed_twice);
}

}  // namespace memory_test
}  // namespace assay
