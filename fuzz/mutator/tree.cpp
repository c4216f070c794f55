#include "fuzz/mutator/tree.h"

#include <cstring>
#include <unordered_map>

#include "conformance/corrupt/references.h"

namespace assay::fuzz {
namespace {

using flatbuffers::uoffset_t;
using reflection::BaseType;

bool is_number(BaseType type) { return type >= BaseType::Bool && type <= BaseType::Double; }

// Sizes of 1, 2, 4 or 8 bytes; floats are kept as bits.
Number load_number(const std::uint8_t* at, BaseType type) {
  const std::size_t size = flatbuffers::GetTypeSize(type);
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, size);
  const bool negative =
      (type == BaseType::Byte || type == BaseType::Short || type == BaseType::Int) && (bits >> (8 * size - 1) & 1) != 0;
  return static_cast<Number>(negative ? bits | ~std::uint64_t{0} << (8 * size) : bits);
}

class Reader {
 public:
  explicit Reader(const reflection::Schema& schema) : schema_(schema) {}

  Table table(const reflection::Object& type, const flatbuffers::Table& from) const {
    Table to(type);
    for (uoffset_t i = 0; i < type.fields()->size(); ++i) to.fields[i] = field(*type.fields()->Get(i), from);
    return to;
  }

 private:
  Field field(const reflection::Field& f, const flatbuffers::Table& from) const {
    const std::uint8_t* at = from.GetAddressOf(f.offset());
    const BaseType type = f.type()->base_type();
    if (!at || type == BaseType::UType) return {};
    if (is_number(type)) return load_number(at, type);
    if (type == BaseType::String) return flatbuffers::GetFieldS(from, f)->str();
    if (type == BaseType::Vector) return vector(f, from);
    const reflection::Object* member = type == BaseType::Union ? member_of(f, from) : &object(f);
    if (!member) return {};
    return Tables{table(*member, *flatbuffers::GetFieldT(from, f))};
  }

  Field vector(const reflection::Field& f, const flatbuffers::Table& from) const {
    const auto& elements = *flatbuffers::GetFieldAnyV(from, f);
    const BaseType type = f.type()->element();
    if (type == BaseType::UByte) return std::string(reinterpret_cast<const char*>(elements.Data()), elements.size());
    if (is_number(type)) {
      Numbers numbers;
      for (uoffset_t i = 0; i < elements.size(); ++i)
        numbers.push_back(load_number(elements.Data() + i * flatbuffers::GetTypeSize(type), type));
      return numbers;
    }
    Tables tables;
    for (uoffset_t i = 0; i < elements.size(); ++i)
      tables.push_back(table(object(f), *flatbuffers::GetAnyVectorElemPointer<const flatbuffers::Table>(&elements, i)));
    return tables;
  }

  const reflection::Object* member_of(const reflection::Field& f, const flatbuffers::Table& from) const {
    const auto tag = from.GetField<std::uint8_t>(static_cast<flatbuffers::voffset_t>(f.offset() - 2), 0);
    const auto& members = *schema_.enums()->Get(static_cast<uoffset_t>(f.type()->index()))->values();
    const auto* member = tag == 0 ? nullptr : members.LookupByKey(tag);
    return member ? schema_.objects()->Get(static_cast<uoffset_t>(member->union_type()->index())) : nullptr;
  }
  const reflection::Object& object(const reflection::Field& f) const {
    return *schema_.objects()->Get(static_cast<uoffset_t>(f.type()->index()));
  }

  const reflection::Schema& schema_;
};

class Writer {
 public:
  Writer(const reflection::Schema& schema, flatbuffers::FlatBufferBuilder& builder) : schema_(schema), b_(builder) {}

  uoffset_t table(const Table& t) {
    std::vector<uoffset_t> children(t.fields.size());
    for (uoffset_t i = 0; i < children.size(); ++i) children[i] = child(t.fields[i], *t.type->fields()->Get(i));
    const uoffset_t start = b_.StartTable();
    for (uoffset_t i = 0; i < children.size(); ++i) add(t.fields[i], *t.type->fields()->Get(i), children[i]);
    return b_.EndTable(start);
  }

 private:
  // Writes the part of a field that a table stores by reference, and returns its position.
  uoffset_t child(const Field& value, const reflection::Field& f) {
    const BaseType type = f.type()->base_type();
    if (const auto* text = std::get_if<std::string>(&value))
      return type == BaseType::String
                 ? b_.CreateString(*text).o
                 : b_.CreateVector(reinterpret_cast<const std::uint8_t*>(text->data()), text->size()).o;
    if (const auto* numbers = std::get_if<Numbers>(&value))
      return vector(*numbers, flatbuffers::GetTypeSize(f.type()->element()));
    const auto* tables = std::get_if<Tables>(&value);
    if (!tables) return 0;
    if (type != BaseType::Vector) return tables->empty() ? 0 : table(tables->front());
    std::vector<flatbuffers::Offset<void>> elements;
    for (const Table& t : *tables) elements.emplace_back(table(t));
    return b_.CreateVector(elements).o;
  }

  uoffset_t vector(const Numbers& numbers, std::size_t size) {
    std::uint8_t* to = nullptr;
    const uoffset_t offset = b_.CreateUninitializedVector(numbers.size(), size, &to);
    for (const Number n : numbers) std::memcpy(to, &n, size), to += size;
    return offset;
  }

  void add(const Field& value, const reflection::Field& f, uoffset_t child) {
    if (const Number* n = std::get_if<Number>(&value)) return number(*n, f);
    if (child == 0) return;
    b_.AddOffset(f.offset(), flatbuffers::Offset<void>(child));
    if (f.type()->base_type() == BaseType::Union)
      b_.AddElement(static_cast<flatbuffers::voffset_t>(f.offset() - 2),
                    tag_of(*std::get<Tables>(value).front().type, f));
  }

  void number(Number n, const reflection::Field& f) {
    switch (flatbuffers::GetTypeSize(f.type()->base_type())) {
      case 1:
        return b_.AddElement(f.offset(), static_cast<std::uint8_t>(n));
      case 2:
        return b_.AddElement(f.offset(), static_cast<std::uint16_t>(n));
      case 4:
        return b_.AddElement(f.offset(), static_cast<std::uint32_t>(n));
      default:
        return b_.AddElement(f.offset(), n);
    }
  }

  std::uint8_t tag_of(const reflection::Object& member, const reflection::Field& f) const {
    for (const auto* v : *schema_.enums()->Get(static_cast<uoffset_t>(f.type()->index()))->values())
      if (v->value() != 0 && schema_.objects()->Get(static_cast<uoffset_t>(v->union_type()->index())) == &member)
        return static_cast<std::uint8_t>(v->value());
    return 0;
  }

  const reflection::Schema& schema_;
  flatbuffers::FlatBufferBuilder& b_;
};

std::string_view after_last_dot(std::string_view name) { return name.substr(name.rfind('.') + 1); }

std::string_view find_reference(const Table& table, const reflection::Field& field) {
  const std::string name = std::string(after_last_dot(table.type->name()->string_view())) + '.' + field.name()->str();
  return corrupt::list_indexed_by(name);
}

}  // namespace

Table read(const reflection::Schema& schema, const flatbuffers::Table& root) {
  return Reader(schema).table(*schema.root_table(), root);
}

void write(const reflection::Schema& schema, const Table& root, flatbuffers::FlatBufferBuilder& builder) {
  builder.Finish(flatbuffers::Offset<void>(Writer(schema, builder).table(root)));
}

bool each_field(const Scope& scope, const std::function<bool(const Site&)>& f) {
  for (std::size_t i = 0; i < scope.table->fields.size(); ++i) {
    const Site site{scope, i};
    if (site.meta().type()->base_type() == BaseType::UType) continue;
    if (f(site)) return true;
    if (auto* tables = std::get_if<Tables>(&site.value()))
      for (Table& t : *tables)
        if (each_field({&scope, &t}, f)) return true;
  }
  return false;
}

std::string_view name_of_list(const Table& table, const reflection::Field& field) {
  static std::unordered_map<const reflection::Field*, std::string_view> known;  // schemas live until the process ends
  const auto [at, is_new] = known.try_emplace(&field);
  if (is_new) at->second = find_reference(table, field);
  return at->second;
}

Field* list_named(std::string_view name, const Scope* scope) {
  for (; scope; scope = scope->outer) {
    const auto& fields = *scope->table->type->fields();
    if (const auto* f = fields.LookupByKey(std::string(name).c_str()))
      for (uoffset_t i = 0; i < fields.size(); ++i)
        if (fields.Get(i) == f) return &scope->table->fields[i];
  }
  return nullptr;
}

Field* list_indexed_by(const Site& site) {
  const std::string_view name = name_of_list(*site.scope.table, site.meta());
  return name.empty() ? nullptr : list_named(name, &site.scope);
}

std::span<Number> numbers_in(Field& field) {
  if (Number* n = std::get_if<Number>(&field)) return {n, 1};
  if (Numbers* all = std::get_if<Numbers>(&field)) return *all;
  return {};
}

std::size_t size_of(const Field& list) {
  if (const auto* tables = std::get_if<Tables>(&list)) return tables->size();
  if (const auto* numbers = std::get_if<Numbers>(&list)) return numbers->size();
  return 0;
}

}  // namespace assay::fuzz
