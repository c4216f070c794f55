#include "conformance/sandbox/guarded_memory.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "conformance/sandbox/pages.h"

namespace assay::sandbox {
namespace {

constexpr std::size_t strait = std::size_t{1} << 20, sea = std::size_t{1} << 36;

std::uint64_t mixed(std::uint64_t x) {  // the finalizer of splitmix64
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

}  // namespace

std::byte fill_byte(FillPattern pattern) { return pattern == FillPattern::first ? std::byte{0xBE} : std::byte{0x3E}; }

void fill(std::span<std::byte> memory, FillPattern pattern, DType dtype, std::uint64_t seed) {
  const bool first = pattern == FillPattern::first;
  for (std::size_t at = 0; at < memory.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t drawn = mixed(seed + at), word = first ? drawn : ~drawn;
    std::memcpy(&memory[at], &word, std::min(sizeof word, memory.size() - at));
  }
  if (dtype == DType::boolean) {
    for (std::byte& b : memory) b = first ? b | std::byte{1} : std::byte{0};
    return;
  }
  const auto element = static_cast<std::size_t>(info(dtype).bytes);
  for (std::size_t at = element - 1; at < memory.size(); at += element) {
    memory[at] = first ? std::byte{0xBF} : std::byte{0x3F};          // the sign and most bits of an exponent;
    if (dtype == DType::float64) memory[at - 1] |= std::byte{0xF0};  // a float64 exponent has four more bits
  }
}

GuardedRegions::GuardedRegions() : begin_(reserve(sea)), next_(begin_) {}

GuardedRegions::~GuardedRegions() { munmap(begin_, sea); }

bool GuardedRegions::was_retired(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  const std::byte* const end = standing_ ? standing_ - strait : next_;
  return std::greater_equal<>()(at, begin_) && std::less<>()(at, end);
}

GuardedMemory::GuardedMemory(GuardedRegions& regions, FillPattern pattern)
    : regions_(regions), pattern_(pattern), begin_(regions.next_ + strait), end_(begin_), open_(begin_) {
  regions_.standing_ = begin_;
}

GuardedMemory::~GuardedMemory() {
  retire({begin_, open_});
  regions_.standing_ = nullptr;
  regions_.next_ = open_;
}

std::byte* GuardedMemory::add(std::string name, std::size_t bytes) {
  std::byte* const data = least_aligned(end_ + red_zone, promised_alignment);
  const auto left = static_cast<std::size_t>(regions_.begin_ + sea - data);
  if (left < red_zone + page_size || bytes > left - red_zone - page_size) throw std::bad_alloc();
  end_ = data + bytes + red_zone;
  if (end_ > open_) {
    if (!make_usable({open_, page_end(end_)})) throw std::bad_alloc();
    open_ = page_end(end_);
  }
  write_red_zone(data - red_zone, fill_byte(pattern_));
  write_red_zone(data + bytes, fill_byte(pattern_));
  buffers_.push_back({std::move(name), data, bytes});
  return data;
}

std::optional<std::string> GuardedMemory::damage() const {
  for (const Buffer& b : buffers_) {
    const auto in = [&](Damage::Kind kind, const std::byte* zone) {
      return damage_of_red_zone({kind, b.data, b.bytes}, zone, fill_byte(pattern_));
    };
    if (const auto found = in(Damage::Kind::before, b.data - red_zone)) return describe(*found, b.name);
    if (const auto found = in(Damage::Kind::behind, b.data + b.bytes)) return describe(*found, b.name);
  }
  return std::nullopt;
}

}  // namespace assay::sandbox
