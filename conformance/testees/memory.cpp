#include "conformance/testees/memory.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "reference/fault.h"

namespace assay {
namespace {

// No two neighbouring bytes are equal, so that a shifted copy of a red zone is damage too.
constexpr auto pattern = [] {
  std::array<std::byte, GuardedMemory::red_zone> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(0xA5 + 37 * i);
  return bytes;
}();

// The first address at or after p that is a multiple of the alignment, but not of twice the alignment.
std::byte* least_aligned(std::byte* p) {
  constexpr std::size_t twice = 2 * GuardedMemory::alignment;
  const std::size_t past = reinterpret_cast<std::uintptr_t>(p) % twice;
  return p + (twice + GuardedMemory::alignment - past) % twice;
}

// The zone starts `zone` and its bytes are numbered away from the buffer: upwards behind it, downwards before it.
std::optional<Damage> damage_in(const std::string& buffer, const std::byte* zone, bool behind) {
  if (std::memcmp(pattern.data(), zone, pattern.size()) == 0) return std::nullopt;
  Damage found{buffer, behind, pattern.size(), 0};
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (zone[i] == pattern[i]) continue;
    found.distance = std::min(found.distance, behind ? i : pattern.size() - 1 - i);
    ++found.bytes;
  }
  return found;
}

}  // namespace

std::string describe(const Damage& d) {
  return text(d.bytes, d.bytes == 1 ? " byte " : " bytes ", d.behind ? "behind " : "before ", d.buffer,
              d.bytes == 1 ? " is" : " are", " overwritten, the nearest ", d.distance, " bytes from its ",
              d.behind ? "end" : "start");
}

std::byte* GuardedMemory::add(std::string name, std::size_t bytes) {
  auto memory = std::make_unique_for_overwrite<std::byte[]>(bytes + 2 * red_zone + 2 * alignment);
  std::byte* data = least_aligned(memory.get() + red_zone);
  std::ranges::copy(pattern, data - red_zone);
  std::ranges::copy(pattern, data + bytes);
  buffers_.push_back({std::move(name), std::move(memory), data, bytes});
  return data;
}

std::optional<Damage> GuardedMemory::damage() const {
  for (const Buffer& b : buffers_) {
    if (auto found = damage_in(b.name, b.data - red_zone, false)) return found;
    if (auto found = damage_in(b.name, b.data + b.bytes, true)) return found;
  }
  return std::nullopt;
}

std::byte poison_byte(Poison poison, DType dtype) {
  if (poison == Poison::first) return std::byte{0xBF};
  return dtype == DType::boolean ? std::byte{0} : std::byte{0x3F};
}

void fill(std::span<std::byte> memory, Poison poison, DType dtype) {
  std::ranges::fill(memory, poison_byte(poison, dtype));
}

}  // namespace assay
