#include "conformance/sandbox/quarantine.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <utility>

namespace assay::sandbox {
namespace {

constexpr std::size_t large = 16 * page_size;  // larger blocks are retired when they are freed
constexpr std::size_t most_opened = std::size_t{1}
                                    << 18;  // the bytes that are made usable at once, ahead of allocations
constexpr std::byte freed_fill{0xDD}, block_key{0};

}  // namespace

QuarantineHeap::QuarantineHeap()
    : memory_(reserve(addresses)),
      open_(memory_),
      blocks_(reinterpret_cast<Block*>(memory_ + reserved)),
      stretches_(reinterpret_cast<Stretch*>(blocks_ + most_blocks)) {
  static_assert(reserved % page_size == 0 && books % page_size == 0);
  if (!make_usable({memory_ + reserved, books})) throw std::bad_alloc();
}

QuarantineHeap::~QuarantineHeap() { munmap(memory_, addresses); }

std::byte* QuarantineHeap::end_of(std::size_t count) const {
  return count == 0 ? memory_ : blocks_[count - 1].data + blocks_[count - 1].size + red_zone;
}

std::byte* QuarantineHeap::allocate(std::size_t bytes, std::byte fill, std::size_t alignment) {
  if (count_ == most_blocks || bytes > most - used_ || alignment > most) return nullptr;
  std::byte *const end = end_of(count_), *const begin = count_ == current_ ? page_end(end) : end;
  std::byte* const data = least_aligned(begin + red_zone, std::max(alignment, promised_alignment));
  if (std::byte* const needed = data + bytes + red_zone; needed > open_) {
    std::byte* const opened = std::min(page_end(needed) + most_opened, memory_ + reserved);
    if (needed > opened || !make_usable({open_, opened})) return nullptr;
    populate({open_, opened});
    open_ = opened;
  }
  write_red_zone({data - red_zone, red_zone}, block_key);
  std::memset(data, static_cast<int>(fill), bytes);
  write_red_zone({data + bytes, red_zone}, block_key);
  blocks_[count_++] = {data, bytes, false};
  used_ += bytes, live_ += bytes;
  return data;
}

QuarantineHeap::Block* QuarantineHeap::find(const void* block) const {
  // Most blocks are freed by the call that allocated them.
  const bool is_current = current_ < count_ && !std::less<const void*>()(block, blocks_[current_].data);
  const std::span<Block> among(blocks_ + (is_current ? current_ : 0), blocks_ + (is_current ? count_ : current_));
  const auto found = std::ranges::lower_bound(among, block, std::less<const void*>(), &Block::data);
  return found != among.end() && found->data == block ? &*found : nullptr;
}

void QuarantineHeap::release(void* block) {
  Block* const b = find(block);
  if (!b || b->freed) {
    if (!misuse_)
      misuse_ = {b ? Damage::Kind::freed_twice : Damage::Kind::never_allocated, static_cast<std::byte*>(block),
                 b ? b->size : 0};
    return;
  }
  b->freed = true;
  live_ -= b->size;
  if (b->size < large)
    std::memset(b->data, static_cast<int>(freed_fill), b->size);
  else
    retire({page_end(b->data), page_begin(b->data + b->size)});
}

bool QuarantineHeap::contains(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  return std::greater_equal<>()(at, memory_) && std::less<>()(at, memory_ + reserved);
}

bool QuarantineHeap::was_retired(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  return contains(at) && std::less<>()(at, open_);
}

std::size_t QuarantineHeap::size_of(const void* block) const {
  const Block* b = find(block);
  return b ? b->size : 0;
}

std::optional<Damage> QuarantineHeap::damage() const {
  if (misuse_) return misuse_;
  for (const Stretch s : std::span(stretches_, stretch_count_))
    if (auto found = damage(s)) return found;
  return damage(Stretch{current_, count_});
}

std::optional<Damage> QuarantineHeap::damage(Stretch stretch) const {
  for (const Block& b : blocks(stretch)) {
    const auto at = [&](Damage::Kind kind) { return Damage{kind, b.data, b.size}; };
    if (auto found = damage_of_red_zone(at(Damage::Kind::before), {b.data - red_zone, red_zone}, block_key))
      return found;
    if (auto found = damage_of_red_zone(at(Damage::Kind::behind), {b.data + b.size, red_zone}, block_key)) return found;
    if (!b.freed || b.size >= large) continue;
    if (auto found = damage_of_fill(at(Damage::Kind::freed), {b.data, b.size}, freed_fill)) return found;
  }
  return std::nullopt;
}

void QuarantineHeap::retire_freed() {
  if (current_ < count_) stretches_[stretch_count_++] = {std::exchange(current_, count_), count_};
  Stretch* const end = std::remove_if(stretches_, stretches_ + stretch_count_, [&](Stretch s) {
    return std::ranges::all_of(blocks(s), &Block::freed) &&
           retire({page_end(end_of(s.first)), page_end(end_of(s.last))});
  });
  stretch_count_ = static_cast<std::size_t>(end - stretches_);
}

}  // namespace assay::sandbox
