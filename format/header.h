#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

// The common structure of .pte and .ptd files. A header is inserted into the flatbuffer after its identifier, and
// segments follow the tables.
namespace assay::format {

inline constexpr std::size_t identifier_at = 4, header_at = 8;
inline constexpr std::size_t table_alignment = 16;  // the alignment of tables in memory, in bytes

// A header of a .pte or .ptd file: an identifier, the header's length, and three or four 64-bit fields.
template <std::size_t Fields>
struct Header {
  std::array<char, 4> identifier;
  std::uint32_t length = sizeof(Header);
  std::array<std::uint64_t, Fields> fields;
};
using ProgramHeader = Header<3>;  // end of the tables, segment base, size of all segments
using DataHeader = Header<4>;     // beginning of the tables, their size, segment base, size of all segments
inline constexpr std::array<char, 4> program_header_id{'e', 'h', '0', '0'}, data_header_id{'F', 'H', '0', '1'};

template <class T>
T load(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

inline std::string_view identifier(std::span<const std::byte> bytes, std::size_t at) {
  return bytes.size() < at + 4 ? std::string_view()
                               : std::string_view(reinterpret_cast<const char*>(bytes.data()) + at, 4);
}

// Reads the header of a program or a data file. Returns nothing if the identifier is not `id` or the header is cut off.
template <class H>
std::optional<H> read_header(std::span<const std::byte> bytes, const std::array<char, 4>& id) {
  const bool there =
      identifier(bytes, header_at) == std::string_view(id.data(), id.size()) && bytes.size() >= header_at + sizeof(H);
  return there ? std::optional(load<H>(bytes, header_at)) : std::nullopt;
}

// Whether a + b <= limit, computed without overflow.
constexpr bool within(std::uint64_t a, std::uint64_t b, std::uint64_t limit) { return a <= limit && b <= limit - a; }

}  // namespace assay::format
