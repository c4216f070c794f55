#pragma once

#include <flatbuffers/reflection.h>

#include <functional>
#include <set>
#include <string>

#include "reference/program/decoded.h"

// For every field with a `rule` attribute in the given tables: the same file without the field, or with a value that
// the field's enum does not have.
namespace assay {

// The field's `rule` attribute; "" if it has none.
inline std::string rule_of(const reflection::Field& field) {
  if (!field.attributes()) return "";
  for (const auto* attribute : *field.attributes())
    if (attribute->key()->string_view() == "rule") return attribute->value()->str();
  return "";
}

class RequiredFields {
 public:
  using Use = std::function<void(const std::string& rule, const std::string& field, const Bytes& edited)>;

  RequiredFields(Bytes file, Use use)
      : file_(std::move(file)), schema_(*reflection::GetSchema(file_kind(file_)->reflection())), use_(std::move(use)) {}

  void run() { table(*schema_.root_table(), *flatbuffers::GetRoot<Table>(file_.data())); }

 private:
  using Table = flatbuffers::Table;
  using Object = reflection::Object;
  using Field = reflection::Field;
  using BaseType = reflection::BaseType;

  void table(const Object& type, const Table& t) {
    for (const Field* f : *type.fields()) {
      const auto kind = f->type()->base_type();
      if (kind == BaseType::UType || t.GetAddressOf(f->offset()) == nullptr) continue;
      const std::string rule = rule_of(*f);
      if (!rule.empty())
        use_(rule, type.name()->str() + "." + f->name()->str(),
             kind <= BaseType::Double ? unknown(*f, t) : without(*f, t));
      below(*f, t);
    }
  }

  void below(const Field& f, const Table& t) {
    const auto kind = f.type()->base_type();
    if (kind == BaseType::Obj) table(object(f.type()->index()), *flatbuffers::GetFieldT(t, f));
    if (kind == BaseType::Vector && f.type()->element() == BaseType::Obj) {
      const auto* elements = flatbuffers::GetFieldAnyV(t, f);
      for (flatbuffers::uoffset_t i = 0; i < elements->size(); ++i)
        table(object(f.type()->index()), *flatbuffers::GetAnyVectorElemPointer<const Table>(elements, i));
    }
    if (kind == BaseType::Union) {
      const auto tag =
          t.GetField<std::uint8_t>(static_cast<flatbuffers::voffset_t>(f.offset() - sizeof(flatbuffers::voffset_t)), 0);
      const auto* value =
          schema_.enums()->Get(static_cast<flatbuffers::uoffset_t>(f.type()->index()))->values()->LookupByKey(tag);
      table(object(value->union_type()->index()), *flatbuffers::GetFieldT(t, f));
    }
  }

  const Object& object(int index) const { return *schema_.objects()->Get(static_cast<flatbuffers::uoffset_t>(index)); }
  std::size_t place(const void* p) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(p) - file_.data());
  }

  Bytes unknown(const Field& f, const Table& t) const {
    Bytes edited = file_;
    edited[place(t.GetAddressOf(f.offset()))] = std::byte{100};
    return edited;
  }

  // Tables share vtables. This table gets a vtable of its own at the end of the file.
  Bytes without(const Field& f, const Table& t) const {
    Bytes edited = file_;
    edited.resize((edited.size() + 3) / 4 * 4);
    const std::uint8_t* fields = t.GetVTable();
    const auto size = flatbuffers::ReadScalar<std::uint16_t>(fields);
    const std::size_t at = edited.size(), from = place(fields), table = place(&t);
    const auto distance =
        static_cast<std::int32_t>(static_cast<std::ptrdiff_t>(table) - static_cast<std::ptrdiff_t>(at));
    edited.resize((at + size + 3u) / 4 * 4);
    std::memcpy(&edited[at], &file_[from], size);
    std::memset(&edited[at + f.offset()], 0, sizeof(std::uint16_t));
    std::memcpy(&edited[table], &distance, sizeof distance);
    if (file_kind(edited) == &format::data_kind) {  // the header states the size of the tables
      constexpr std::size_t begin_at = 16, size_at = 24;
      std::uint64_t begin = 0;
      std::memcpy(&begin, &edited[begin_at], sizeof begin);
      const std::uint64_t tables = edited.size() - begin;
      std::memcpy(&edited[size_at], &tables, sizeof tables);
    }
    return edited;
  }

  Bytes file_;
  const reflection::Schema& schema_;
  Use use_;
};

}  // namespace assay
