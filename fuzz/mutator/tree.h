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

// A flatbuffer as a tree that can be changed anywhere, whatever its schema.
namespace assay::fuzz {

struct Table;
using Number = std::int64_t;  // an integer extended to 64 bits; the bits of a double
using Numbers = std::vector<Number>;
using Tables = std::vector<Table>;
// Absent, or what there is. A string and a vector of bytes are a string; a table and a union's member are one table,
// whose type says which member it is.
using Field = std::variant<std::monostate, Number, std::string, Numbers, Tables>;

struct Table {
  const reflection::Object* type;
  std::vector<Field> fields;  // as many as type->fields(), in their order

  explicit Table(const reflection::Object& of) : type(&of), fields(of.fields()->size()) {}
};

Table read(const reflection::Schema& schema, const flatbuffers::Table& root);
// Finished without an identifier.
void write(const reflection::Schema& schema, const Table& root, flatbuffers::FlatBufferBuilder& builder);

// A table with those around it.
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

// Tells of every field until f returns true, behind which the tree may be another. Whether it did.
bool each_field(const Scope& scope, const std::function<bool(const Site&)>& f);
inline bool each_field(Table& root, const std::function<bool(const Site&)>& f) {
  return each_field({nullptr, &root}, f);
}

// The list of the tables around it of which the site's numbers are indices; null: they are no indices, or there is
// none.
Field* list_indexed_by(const Site& site);
// The list of this name in the nearest table around that has one.
Field* list_named(std::string_view name, const Scope* scope);
// The name of the list of which this field's numbers are indices; empty: they are no indices.
std::string_view name_of_list(const Table& table, const reflection::Field& field);

std::span<Number> numbers_in(Field& field);  // one, all of a list, or none
std::size_t size_of(const Field& list);      // elements

}  // namespace assay::fuzz
