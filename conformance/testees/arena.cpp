#include "conformance/testees/arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace assay {
namespace {

constexpr std::size_t most_blocks = std::size_t{1} << 20;
constexpr std::size_t reserved = Arena::most + 2 * most_blocks * red_zone;
constexpr std::size_t large = 16 * page_size;  // what is large gives its memory back when it is freed
constexpr std::byte freed_fill{0xDD}, block_key{0};

void* reserve(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  return memory;
}

// The whole pages of a block, which can be taken from it.
std::span<std::byte> pages(std::byte* data, std::size_t size) {
  const auto begin = (reinterpret_cast<std::uintptr_t>(data) + page_size - 1) / page_size * page_size;
  const auto end = (reinterpret_cast<std::uintptr_t>(data) + size) / page_size * page_size;
  return {reinterpret_cast<std::byte*>(begin), end - begin};
}

}  // namespace

Arena::Arena()
    : blocks_(static_cast<Block*>(reserve(most_blocks * sizeof(Block) + reserved))),
      memory_(reinterpret_cast<std::byte*>(blocks_ + most_blocks)) {}

Arena::~Arena() { munmap(blocks_, most_blocks * sizeof(Block) + reserved); }

std::byte* Arena::allocate(std::size_t bytes, std::byte fill, std::size_t alignment) {
  if (count_ == most_blocks || bytes > most - used_ || alignment > most) return nullptr;
  std::byte* const end = count_ == 0 ? memory_ : blocks_[count_ - 1].data + blocks_[count_ - 1].size + red_zone;
  std::byte* const data = least_aligned(end + red_zone, std::max(alignment, promised_alignment));
  if (data + bytes + red_zone > memory_ + reserved) return nullptr;
  write_red_zone(data - red_zone, block_key);
  std::memset(data, static_cast<int>(fill), bytes);
  write_red_zone(data + bytes, block_key);
  blocks_[count_++] = {data, bytes, false};
  used_ += bytes;
  return data;
}

Arena::Block* Arena::find(const void* block) const {
  const auto found = std::ranges::lower_bound(blocks(), block, std::less<const void*>(), &Block::data);
  Block* at = blocks_ + (found - blocks().begin());
  return at != blocks_ + count_ && at->data == block ? at : nullptr;
}

void Arena::release(void* block) {
  Block* const b = find(block);
  if (!b || b->freed) {
    if (!misuse_)
      misuse_ = {b ? Damage::Kind::freed_twice : Damage::Kind::never_allocated, static_cast<std::byte*>(block),
                 b ? b->size : 0};
    return;
  }
  b->freed = true;
  if (b->size < large) {
    std::memset(b->data, static_cast<int>(freed_fill), b->size);
  } else {
    const std::span whole = pages(b->data, b->size);
    madvise(whole.data(), whole.size(), MADV_DONTNEED);
    mprotect(whole.data(), whole.size(), PROT_NONE);
  }
}

bool Arena::contains(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  return std::greater_equal<>()(at, memory_) && std::less<>()(at, memory_ + reserved);
}

std::size_t Arena::size_of(const void* block) const {
  const Block* b = find(block);
  return b ? b->size : 0;
}

std::optional<Damage> Arena::damage() const {
  if (misuse_) return misuse_;
  for (const Block& b : blocks()) {
    const auto at = [&](Damage::Kind kind) { return Damage{kind, b.data, b.size}; };
    if (auto found = damage_of_red_zone(at(Damage::Kind::before), b.data - red_zone, block_key)) return found;
    if (auto found = damage_of_red_zone(at(Damage::Kind::behind), b.data + b.size, block_key)) return found;
    if (!b.freed || b.size >= large) continue;
    if (auto found = damage_of_fill(at(Damage::Kind::freed), {b.data, b.size}, freed_fill)) return found;
  }
  return std::nullopt;
}

}  // namespace assay
