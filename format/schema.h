#pragma once

#include <cstdint>
#include <span>
#include <string_view>

// The schemas of spec/format/*.fbs as tables, which tools/specgen generates. The check of a file's structure reads
// these tables.
namespace assay::format {

enum class FieldKind : std::uint8_t {
  scalar,
  enumeration,
  string,
  vector,  // a vector of scalars
  flags,   // a vector of bools
  table,
  tables,       // a vector of tables
  alternative,  // a union, which has a tag and a table of the type that the tag selects
};

struct Field {
  std::string_view name;
  FieldKind kind;
  std::uint16_t at;  // the offset of the field in the table's vtable
  // For a table or a vector of tables, the index in Schema::tables. For an enumeration or a union, the index in
  // Schema::choices. For a scalar or a vector of scalars, the size of one element in bytes.
  std::uint8_t detail;
  // The rule that requires the field to be present or its value to be known. The number is an index in format_rules, or
  // -1 if there is no such rule.
  std::int16_t rule;
};

// An enum with the values 0 to count - 1, or a union with the tags 1 to count. Tag i selects the table tables[i - 1].
struct Choice {
  std::string_view name;
  std::uint8_t count;
  std::span<const std::uint8_t> tables;
};

struct Schema {
  std::span<const std::span<const Field>> tables;
  std::span<const Choice> choices;
  std::uint8_t root;            // the index of the root table
  std::string_view identifier;  // the four characters at byte 4 of a file
  std::string_view extension;   // the file name's extension, such as "pte"
};

}  // namespace assay::format
