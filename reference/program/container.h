#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "reference/program/program.h"

// What .pte and .ptd files have in common: a header inserted into the flatbuffer behind its identifier, and segments
// behind the tables.
namespace assay {

inline constexpr std::size_t header_at = 8;  // behind the root offset and the identifier

template <class T>
T load(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// a + b <= limit, without wrapping.
constexpr bool within(std::uint64_t a, std::uint64_t b, std::uint64_t limit) { return a <= limit && b <= limit - a; }

constexpr std::uint64_t aligned(std::uint64_t at, std::uint64_t alignment) {
  return (at + alignment - 1) / alignment * alignment;
}

// A header of either kind: an identifier, its own length and three or four 64-bit fields.
template <std::size_t Fields>
struct Header {
  std::array<char, 4> identifier;
  std::uint32_t length = sizeof(Header);
  std::array<std::uint64_t, Fields> fields;
};
using ProgramHeader = Header<3>;  // end of the tables, segment base, size of all segments
using DataHeader = Header<4>;     // beginning of the tables, their size, segment base, size of all segments
inline constexpr std::array<char, 4> program_header_id{'e', 'h', '0', '0'}, data_header_id{'F', 'H', '0', '1'};

inline std::string_view identifier_at(std::span<const std::byte> file, std::size_t at) {
  return file.size() < at + 4 ? std::string_view()
                              : std::string_view(reinterpret_cast<const char*>(file.data()) + at, 4);
}

// Reports what the schema's `rule` attributes ask: fields that must be present and are not, enums and unions of unknown
// value. `schema` is the binary form of one of spec/format/*.fbs, `tables` a flatbuffer verified by it, but for the
// alignment of vectors' elements, which flatbuffers leaves out: `structure` is the rule that it breaks.
void check_tables(std::span<const std::byte> tables, const std::uint8_t* schema, RuleId structure, Findings& findings);

}  // namespace assay
