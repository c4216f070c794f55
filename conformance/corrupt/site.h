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

// The places of a file that say something, found in its bytes by the reflection of its schema.
namespace assay::corrupt {

enum class SiteKind : std::uint8_t {
  number,      // a scalar, an element of a list of scalars, a field of a header
  tag,         // says which member a union has
  offset,      // how far away a table, list or string is
  length,      // of a list or string
  terminator,  // of a string
  slot,        // where in its table a field stands; 0: it is absent
  table,       // how far away from a table its slots are
  file,        // all its bytes
};
std::string_view word(SiteKind kind);

struct Site {
  SiteKind kind = SiteKind::number;
  std::string field;                        // "Tensor.sizes", "Tensor.sizes[]" of an element, "header.length"
  std::string place;                        // "execution_plan.0.values.3.val.sizes"
  std::size_t at = 0;                       // in the file
  std::uint8_t width = 4;                   // bytes there
  std::optional<std::uint64_t> count = {};  // number: of what it is an index; tag: of the union's members
  std::uint64_t other = 0;  // offset: where something else begins; slot: what another one says; 0: nothing
  std::size_t table = 0;    // slot: where its table begins
};

const reflection::Schema& schema_of(const format::FileKind& kind);
// The kind of a file that is to be changed. Throws Fault: H2 where it has no known identifier.
const format::FileKind& kind_of(std::span<const std::byte> file);
// Where the number of this name is in the file's header; none: its kind has no such number, or the file has no header.
std::optional<std::size_t> header_number(std::span<const std::byte> file, std::string_view name);
std::string_view short_name(const reflection::Object& table);  // "Tensor"

// Of a file whose structure holds, in the order in which its tables refer to one another.
std::vector<Site> sites_of(std::span<const std::byte> file);

// Of those that are alike, the same kind of the same field, so many that stand far apart; 0: all.
std::vector<Site> spread(std::vector<Site> sites, std::size_t places);

}  // namespace assay::corrupt
