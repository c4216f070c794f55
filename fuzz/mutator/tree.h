#pragma once

#include <flatbuffers/flatbuffers.h>
#include <flatbuffers/reflection.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// A flatbuffer as a tree in which everything can be changed, for any schema.
namespace assay::fuzz {

struct Table;
using Number = std::int64_t;  // an integer extended to 64 bits; the bits of a double
using Numbers = std::vector<Number>;
using Tables = std::vector<Table>;
// Monostate is an absent field. A string or a vector of bytes is a string. A table or a member of a union is one table,
// whose type identifies the member.
using Field = std::variant<std::monostate, Number, std::string, Numbers, Tables>;

struct Table {
  const reflection::Object* type;
  std::vector<Field> fields;  // one for each field of type->fields(), in the same order

  explicit Table(const reflection::Object& of) : type(&of), fields(of.fields()->size()) {}
};

Table read(const reflection::Schema& schema, const flatbuffers::Table& root);
// Finishes the buffer without a file identifier.
void write(const reflection::Schema& schema, const Table& root, flatbuffers::FlatBufferBuilder& builder);

// A table and the tables that enclose it.
struct Scope {
  const Scope* outer;
  Table* table;
};

// A field of a table in a tree.
struct Site {
  const Scope& scope;
  std::size_t field;

  Field& value() const { return scope.table->fields[field]; }
  const reflection::Field& meta() const {
    return *scope.table->type->fields()->Get(static_cast<flatbuffers::uoffset_t>(field));
  }
};

// Calls f with every field until f returns true; f may then have changed the tree. Returns whether f returned true.
bool each_field(const Scope& scope, const std::function<bool(const Site&)>& f);
inline bool each_field(Table& root, const std::function<bool(const Site&)>& f) {
  return each_field({nullptr, &root}, f);
}

// The list in an enclosing table that the site's numbers are indices of; null if the numbers are no indices, or no
// table has the list.
Field* list_indexed_by(const Site& site);
// The list of this name in the nearest enclosing table that has one.
Field* list_named(std::string_view name, const Scope* scope);
// The name of the list that this field's numbers are indices of; empty if they are no indices.
std::string_view name_of_list(const Table& table, const reflection::Field& field);

std::span<Number> numbers_in(Field& field);  // one number, all numbers of a list, or none
std::size_t size_of(const Field& list);      // number of elements

}  // namespace assay::fuzz
