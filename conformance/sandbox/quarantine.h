#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "conformance/sandbox/pages.h"
#include "conformance/sandbox/red_zone.h"

namespace assay {

// Blocks of memory between red zones that are never handed out twice: what is freed is filled and stays, so that a
// write to it shows, until it sinks. It keeps its books outside of what it hands out and takes no memory from anybody,
// so that a malloc can be made of it. All blocks together are at most `most`: what a process may touch is no matter of
// its machine.
class QuarantineHeap {
  struct Block {
    std::byte* data;
    std::size_t size;
    bool freed;
  };
  struct Stretch {
    std::size_t first, last;  // blocks, without the second
  };
  static constexpr std::size_t most_blocks = std::size_t{1} << 20,
                               books = most_blocks * (sizeof(Block) + sizeof(Stretch));

 public:
  static constexpr std::size_t most = std::size_t{1} << 30;
  static constexpr std::size_t addresses = most + most_blocks * (2 * red_zone + page_size) + books;

  QuarantineHeap();  // reserves `addresses`, no memory. Throws std::system_error
  ~QuarantineHeap();
  QuarantineHeap(const QuarantineHeap&) = delete;
  QuarantineHeap& operator=(const QuarantineHeap&) = delete;

  // A block of exactly `bytes`, each of which holds `fill`. Null where they are too many.
  std::byte* allocate(std::size_t bytes, std::byte fill, std::size_t alignment = promised_alignment);
  void release(void* block);  // what is wrong with it, damage() says later
  bool contains(const void* address) const;
  bool was_retired(const void* address) const;   // of one that can't be touched: for it was once
  std::size_t size_of(const void* block) const;  // 0 where it is none

  // The first wrong release, else the first block whose red zone, or which itself after its release, was written to.
  std::optional<Damage> damage() const;

  // From now on nobody may touch a stretch, which is what was handed out between two calls of this, whose blocks are
  // all freed; damage() need not look at it again. A stretch with a block in use waits for a later call.
  void retire_freed();

  std::size_t used() const { return used_; }  // bytes that were ever handed out

 private:
  static constexpr std::size_t reserved = addresses - books;  // for blocks

  Block* find(const void* block) const;
  std::span<Block> blocks() const { return {blocks_, count_}; }
  std::span<Block> blocks(Stretch s) const { return {blocks_ + s.first, blocks_ + s.last}; }
  std::byte* end_of(std::size_t count) const;  // of so many blocks, the last with its red zone
  std::optional<Damage> damage(Stretch) const;

  std::byte *memory_, *open_;  // what is behind the second nobody may touch yet
  Block* blocks_;              // sorted by address
  Stretch* stretches_;         // that have not sunk
  std::size_t count_ = 0, used_ = 0, stretch_count_ = 0;
  std::size_t current_ = 0;  // the first block after the last stretch
  std::optional<Damage> misuse_;
};

}  // namespace assay
