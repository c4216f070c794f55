#pragma once

#include <flatbuffers/reflection.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/kind.h"

// Sites: the places of a file that have a meaning, found in its bytes by the reflection of its schema.
namespace assay::corrupt {

enum class SiteKind : std::uint8_t {
  number,      // a scalar, an element of a list of scalars, a field of a header
  tag,         // selects the member of a union
  offset,      // the distance to a table, list or string
  length,      // the length of a list or string
  terminator,  // the zero byte at the end of a string
  slot,        // the offset of a field in its table; 0 if the field is absent
  table,       // the distance from a table to its vtable
  file,        // the whole file
};
std::string_view word(SiteKind kind);

struct Site {
  SiteKind kind = SiteKind::number;
  // The field, such as "Tensor.sizes", "header.length", or "Tensor.sizes[]" for an element of a list.
  std::string field;
  std::string place;       // the path of the field, such as "execution_plan.0.values.3.val.sizes"
  std::size_t at = 0;      // the offset in the file
  std::uint8_t width = 4;  // the number of bytes
  // For a number, the length of the list that it indexes. For a tag, the number of members of the union.
  std::optional<std::uint64_t> count = {};
  std::uint64_t other = 0;  // for an offset, where another target begins; for a slot, the value of another slot; else 0
  std::size_t table = 0;    // for a slot, the offset of its table
  // For a number that indexes a list in which the number itself is, the index of its entry there.
  std::optional<std::uint64_t> own = {};
};

const reflection::Schema& schema_of(const format::FileKind& kind);
// The kind of a file. Throws Fault: H2 if the file has no known identifier.
const format::FileKind& kind_of(std::span<const std::byte> file);
// The number with this name in the header; null if the kind has no such number, or the file has no header.
const format::HeaderNumber* header_number(std::span<const std::byte> file, std::string_view name);
// The little-endian number of `width` bytes at offset `at`.
std::uint64_t read(std::span<const std::byte> file, std::size_t at, std::size_t width);
// The offset in the file from which the offsets in its tables count.
std::size_t begin_of_offsets(std::span<const std::byte> file);
std::string_view short_name(
    const reflection::Object& table);  // The name of a table without its namespace, such as "Tensor".

// The sites of a file whose structure holds, in the order of references between its tables.
std::vector<Site> sites_of(std::span<const std::byte> file);

// Keeps at most `places` of the sites that are alike (the same kind of the same field), spread over the file. 0 keeps
// all.
std::vector<Site> spread(std::vector<Site> sites, std::size_t places);

}  // namespace assay::corrupt
