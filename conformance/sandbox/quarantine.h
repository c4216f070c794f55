#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "conformance/sandbox/pages.h"
#include "conformance/sandbox/red_zone.h"

namespace assay::sandbox {

// An allocator that places each block between red zones and never reuses a block. A freed block is filled and stays
// readable, so that a later write to it is detected, until it is retired: then its pages are protected. The bookkeeping
// lies outside of the blocks and uses no other allocator, so that malloc can be implemented by this class. All blocks
// together are at most `most` bytes, on every machine.
class QuarantineHeap {
  struct Block {
    std::byte* data;
    std::size_t size;
    bool freed;
  };
  struct Stretch {
    std::size_t first, last;  // the blocks [first, last)
  };

 public:
  static constexpr std::size_t most = std::size_t{1} << 30, most_blocks = std::size_t{1} << 20;
  static constexpr std::size_t books = most_blocks * (sizeof(Block) + sizeof(Stretch)),
                               addresses = most + most_blocks * (2 * red_zone + page_size) + books;

  QuarantineHeap();  // reserves `addresses` bytes of address space, no memory. Throws std::system_error
  ~QuarantineHeap();
  QuarantineHeap(const QuarantineHeap&) = delete;
  QuarantineHeap& operator=(const QuarantineHeap&) = delete;

  // A block of exactly `bytes` bytes that hold `fill`. Null when `most` or `most_blocks` would be exceeded.
  std::byte* allocate(std::size_t bytes, std::byte fill, std::size_t alignment = promised_alignment);
  void release(void* block);  // damage() reports a wrong release later
  bool contains(const void* address) const;
  bool was_retired(const void* address) const;   // the address lay in a block that is retired now
  std::size_t size_of(const void* block) const;  // 0 if `block` is not a block of this heap

  // The first wrong release, else the first block whose red zone was written to, or that was written to after its
  // release.
  std::optional<Damage> damage() const;

  // Protects the pages of every stretch whose blocks are all freed. A stretch is the blocks that were allocated between
  // two calls of this function. damage() does not look at it again. A stretch with a block in use waits for a later
  // call.
  void retire_freed();

  std::size_t used() const { return used_; }          // the bytes of all blocks ever allocated
  std::size_t live() const { return live_; }          // the bytes of the blocks that are not freed
  std::size_t blocks_used() const { return count_; }  // the blocks ever allocated
  // Whether so little is left that a library's allocations must fail, so that those of its host do not.
  bool is_nearly_used_up() const { return count_ > most_blocks - most_blocks / 64 || used_ > most - most / 64; }

 private:
  static constexpr std::size_t reserved = addresses - books;  // the bytes of address space for blocks

  Block* find(const void* block) const;
  std::span<Block> blocks() const { return {blocks_, count_}; }
  std::span<Block> blocks(Stretch s) const { return {blocks_ + s.first, blocks_ + s.last}; }
  std::byte* end_of(std::size_t count) const;  // the end of the first `count` blocks, with the last red zone
  std::optional<Damage> damage(Stretch) const;

  std::byte *memory_, *open_;  // the addresses from `open_` on are protected
  Block* blocks_;              // sorted by address
  Stretch* stretches_;         // the stretches that are not retired
  std::size_t count_ = 0, used_ = 0, live_ = 0, stretch_count_ = 0;
  std::size_t current_ = 0;  // the first block after the last stretch
  std::optional<Damage> misuse_;
};

}  // namespace assay::sandbox
