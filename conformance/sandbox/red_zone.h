#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace assay::sandbox {

// A write to memory outside of a live block, or a wrong free.
struct Damage {
  enum class Kind : std::uint8_t { before, behind, freed, freed_twice, never_allocated };
  Kind kind = Kind::before;
  const std::byte* block = nullptr;
  std::size_t size = 0;      // the block's size in bytes
  std::size_t distance = 0;  // before, behind: from the block's edge to the nearest damaged byte; freed: from its start
  std::size_t bytes = 0;     // the number of damaged bytes
  std::array<std::byte, 16> written{};  // the contents from the first damaged byte on, in memory order
};

// "4 bytes behind out are overwritten, the nearest 0 bytes from its end, with 00 00 80 3f"
std::string describe(const Damage& damage, std::string_view block);

// The bytes before and behind a block, at most `red_zone` on each side. `key` selects their pattern.
constexpr std::size_t red_zone = 128;
void write_red_zone(std::span<std::byte> zone, std::byte key);
std::optional<Damage> damage_of_red_zone(const Damage& place, std::span<const std::byte> zone, std::byte key);

// The same check for bytes that must all be `fill`.
std::optional<Damage> damage_of_fill(const Damage& place, std::span<const std::byte> memory, std::byte fill);

// The alignment that a kernel may rely on: ExecuTorch's memory plans align tensors to 16 bytes.
constexpr std::size_t promised_alignment = 16;

// The first address at or after p that is a multiple of the alignment, but not of twice the alignment.
std::byte* least_aligned(std::byte* p, std::size_t alignment);

}  // namespace assay::sandbox
