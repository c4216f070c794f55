#pragma once

#include <cstdint>
#include <span>
#include <string_view>

// What specgen writes of spec/format/*.fbs for the walk over a file's tables.
namespace assay::format {

enum class FieldKind : std::uint8_t {
  scalar,
  enumeration,
  string,
  vector,  // of scalars
  flags,   // a vector of bools
  table,
  tables,       // a vector of tables
  alternative,  // a union: a tag, and a table that the tag tells
};

struct Field {
  std::string_view name;
  FieldKind kind;
  std::uint16_t at;     // where the table's list of places tells the field's
  std::uint8_t detail;  // the index of its table or choice, or the bytes of a scalar or of an element
  std::int16_t rule;    // that asks for it to be there, or to be known: an index of format_rules; -1: none does
};

// An enum, whose values are 0 to count - 1, or a union, whose tags are 1 to count and tell these tables.
struct Choice {
  std::string_view name;
  std::uint8_t count;
  std::span<const std::uint8_t> tables;
};

struct Schema {
  std::span<const std::span<const Field>> tables;
  std::span<const Choice> choices;
  std::uint8_t root;            // the index of a table
  std::string_view identifier;  // at byte 4 of a file
  std::string_view extension;   // "pte"
};

}  // namespace assay::format
