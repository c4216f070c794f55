#include "conformance/sandbox/red_zone.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace assay::sandbox {
namespace {

using Zone = std::array<std::byte, red_zone>;

// The contents of red zones, by key. No two neighbouring bytes are equal, so that a shifted copy of a red zone counts
// as damage.
constexpr auto zones = [] {
  std::array<Zone, 256> all{};
  for (std::size_t key = 0; key < all.size(); ++key)
    for (std::size_t i = 0; i < red_zone; ++i) all[key][i] = static_cast<std::byte>((0xA5 + 37 * i) ^ key);
  return all;
}();

const Zone& zone_of(std::byte key) { return zones[std::to_integer<std::size_t>(key)]; }

// `expected(i)` is the content of byte i of the zone before the write.
template <class Expected>
Damage damage_in(Damage found, std::span<const std::byte> zone, Expected expected) {
  std::size_t first = zone.size(), last = 0;
  for (std::size_t i = 0; i < zone.size(); ++i)
    if (zone[i] != expected(i)) first = std::min(first, i), last = i, ++found.bytes;
  found.distance = found.kind == Damage::Kind::before ? zone.size() - 1 - last : first;
  std::ranges::copy(zone.subspan(first, std::min(found.written.size(), zone.size() - first)), found.written.begin());
  return found;
}

// The first bytes that were written, in hexadecimal.
std::string written(const Damage& d) {
  std::string all;
  for (std::size_t i = 0; i < std::min(d.bytes, d.written.size()); ++i)
    all += fmt::format(" {:02x}", static_cast<unsigned>(d.written[i]));
  return all + (d.bytes > d.written.size() ? " …" : "");
}

}  // namespace

std::string describe(const Damage& d, std::string_view block) {
  const auto overwritten = [&](std::string_view where, std::string_view edge) {
    return fmt::format("{} {} {} {} {} overwritten, the nearest {} bytes from its {}, with{}", d.bytes,
                       d.bytes == 1 ? "byte" : "bytes", where, block, d.bytes == 1 ? "is" : "are", d.distance, edge,
                       written(d));
  };
  switch (d.kind) {
    case Damage::Kind::before:
      return overwritten("before", "start");
    case Damage::Kind::behind:
      return overwritten("behind", "end");
    case Damage::Kind::freed:
      return overwritten("of", "start") + ", after it was freed";
    case Damage::Kind::freed_twice:
      return fmt::format("{} is freed twice", block);
    case Damage::Kind::never_allocated:
      return "what no allocation returned is freed";
  }
  return {};
}

void write_red_zone(std::span<std::byte> zone, std::byte key) {
  std::ranges::copy(std::span(zone_of(key)).first(zone.size()), zone.begin());
}

std::optional<Damage> damage_of_red_zone(const Damage& place, std::span<const std::byte> zone, std::byte key) {
  const Zone& whole = zone_of(key);
  if (zone.empty() || std::memcmp(zone.data(), whole.data(), zone.size()) == 0) return std::nullopt;
  return damage_in(place, zone, [&](std::size_t i) { return whole[i]; });
}

std::optional<Damage> damage_of_fill(const Damage& place, std::span<const std::byte> memory, std::byte fill) {
  if (memory.empty()) return std::nullopt;
  const bool all_equal = std::memcmp(memory.data(), memory.data() + 1, memory.size() - 1) == 0;
  if (all_equal && memory[0] == fill) return std::nullopt;
  return damage_in(place, memory, [=](std::size_t) { return fill; });
}

std::byte* least_aligned(std::byte* p, std::size_t alignment) {
  const std::size_t past = reinterpret_cast<std::uintptr_t>(p) % (2 * alignment);
  return p + (3 * alignment - past) % (2 * alignment);
}

}  // namespace assay::sandbox
