#pragma once

#include <cstdint>
#include <span>
#include <string_view>

// The schemas of spec/format/*.fbs, as specgen writes them, for the walk over a file's tables.
namespace assay::format {

enum class FieldKind : std::uint8_t {
  scalar,
  enumeration,
  string,
  vector,  // of scalars
  flags,   // a vector of bools
  table,
  tables,       // a vector of tables
  alternative,  // a union: a tag, and a table of the type that the tag selects
};

struct Field {
  std::string_view name;
  FieldKind kind;
  std::uint16_t at;     // the offset of the field in the table's vtable
  std::uint8_t detail;  // the index of the table or choice; of a scalar or vector: the bytes of an element
  std::int16_t rule;  // the index in format_rules of the rule that requires the field to be present, or its value to be
                      // known; -1: none
};

// An enum with the values 0 to count - 1, or a union with the tags 1 to count, which select these tables.
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
