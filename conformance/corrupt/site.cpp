#include "conformance/corrupt/site.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "conformance/corrupt/references.h"
#include "format/header.h"
#include "reference/fault.h"

namespace assay::corrupt {
namespace {

using flatbuffers::Table;
using flatbuffers::uoffset_t;
using flatbuffers::voffset_t;
using format::FileKind;
using reflection::BaseType;

// A table with the tables around it.
struct Scope {
  const Scope* outer;
  const reflection::Object& type;
  const Table& table;
  std::string_view list = {};  // the list that the table is an element of
  std::size_t index = 0;       // its index there

  std::optional<std::uint64_t> size_of_list(std::string_view name) const {
    const auto* field = type.fields()->LookupByKey(std::string(name).c_str());
    if (!field) return outer ? outer->size_of_list(name) : std::nullopt;
    const auto* elements = flatbuffers::GetFieldAnyV(table, *field);
    return elements ? elements->size() : 0;
  }

  std::optional<std::uint64_t> index_in(std::string_view name) const {
    if (list == name) return index;
    return outer ? outer->index_in(name) : std::nullopt;
  }
};

bool is_offset(BaseType type) {
  return type == BaseType::String || type == BaseType::Vector || type == BaseType::Obj || type == BaseType::Union;
}

class Walk {
 public:
  Walk(std::span<const std::byte> file, const reflection::Schema& schema) : file_(file), schema_(schema) {}

  std::vector<Site> run() {
    add({SiteKind::offset, "root", "root", 0});
    table({nullptr, *schema_.root_table(), *flatbuffers::GetRoot<Table>(file_.data())}, "");
    return std::move(sites_);
  }

 private:
  std::size_t place_of(const void* p) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(p) - file_.data());
  }
  void add(Site site) { sites_.push_back(std::move(site)); }

  void table(const Scope& scope, const std::string& place) {
    const std::string name(short_name(scope.type));
    add({SiteKind::table, name, place.empty() ? "root" : place, place_of(&scope.table)});
    for (const auto* field : *scope.type.fields())
      if (scope.table.GetAddressOf(field->offset()))
        present(scope, *field, name + "." + field->name()->str(),
                (place.empty() ? "" : place + ".") + field->name()->str());
  }

  void present(const Scope& scope, const reflection::Field& f, const std::string& field, const std::string& place) {
    const std::size_t at = place_of(scope.table.GetAddressOf(f.offset()));
    add({SiteKind::slot, field, place, place_of(scope.table.GetVTable()) + f.offset(), sizeof(voffset_t), std::nullopt,
         another_slot(scope, f), place_of(&scope.table)});
    const BaseType type = f.type()->base_type();
    if (type == BaseType::UType)
      add({SiteKind::tag, field, place, at, 1, schema_.enums()->Get(index(f))->values()->size() - 1});
    else if (!is_offset(type))
      number(scope, field, place, at, type);
    else
      offset(scope, f, field, place, at);
  }

  void number(const Scope& scope, const std::string& field, const std::string& place, std::size_t at, BaseType type) {
    const std::string_view list = list_indexed_by(std::string_view(field).substr(0, field.find('[')));
    Site site{SiteKind::number, field, place, at, static_cast<std::uint8_t>(flatbuffers::GetTypeSize(type))};
    if (!list.empty()) site.count = scope.size_of_list(list), site.own = scope.index_in(list);
    add(std::move(site));
  }

  void offset(const Scope& scope, const reflection::Field& f, const std::string& field, const std::string& place,
              std::size_t at) {
    add({SiteKind::offset, field, place, at, sizeof(uoffset_t), std::nullopt, another_target(scope, f, at)});
    const std::byte* target = file_.data() + at + load(at);
    switch (f.type()->base_type()) {
      case BaseType::Obj:
        return table({&scope, object(f.type()->index()), *reinterpret_cast<const Table*>(target)}, place);
      case BaseType::Union:
        return table({&scope, member(scope, f), *reinterpret_cast<const Table*>(target)}, place);
      case BaseType::String:
        add({SiteKind::length, field, place, place_of(target)});
        return add(
            {SiteKind::terminator, field, place, place_of(target) + sizeof(uoffset_t) + load(place_of(target)), 1});
      default:
        add({SiteKind::length, field, place, place_of(target)});
        elements(scope, f, field + "[]", place + ".", place_of(target));
    }
  }

  // Of a long list of scalars, only the first, the last and the middle element are sites.
  void elements(const Scope& scope, const reflection::Field& f, const std::string& field, const std::string& place,
                std::size_t list) {
    constexpr std::size_t few = 64;
    const BaseType type = f.type()->element();
    const std::size_t count = load(list), width = flatbuffers::GetTypeSize(type), first = list + sizeof(uoffset_t);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string here = place + std::to_string(i);
      if (type == BaseType::Obj)
        element(scope, f, field, here, first, i, i + 1 < count ? 1 : -1);
      else if (count <= few || i == 0 || i == count / 2 || i + 1 == count)
        number(scope, field, here, first + i * width, type);
    }
  }

  void element(const Scope& scope, const reflection::Field& f, const std::string& field, const std::string& place,
               std::size_t first, std::size_t i, int neighbour) {
    const std::size_t at = first + i * sizeof(uoffset_t);
    const std::size_t beside = at + static_cast<std::size_t>(neighbour) * sizeof(uoffset_t);
    const std::size_t other = beside + load(beside);
    add({SiteKind::offset, field, place, at, sizeof(uoffset_t), std::nullopt, other > at + 4 ? other : 0});
    table({&scope, object(f.type()->index()), *reinterpret_cast<const Table*>(file_.data() + at + load(at)),
           f.name()->string_view(), i},
          place);
  }

  // The value of the slot of another present field.
  static std::uint64_t another_slot(const Scope& scope, const reflection::Field& f) {
    for (const auto* field : *scope.type.fields())
      if (const voffset_t says = scope.table.GetOptionalFieldOffset(field->offset()); says && field != &f) return says;
    return 0;
  }

  // The target of another field, behind this one.
  std::uint64_t another_target(const Scope& scope, const reflection::Field& f, std::size_t at) const {
    for (const auto* field : *scope.type.fields()) {
      const auto* there = scope.table.GetAddressOf(field->offset());
      if (field == &f || !there || !is_offset(field->type()->base_type())) continue;
      if (const std::size_t target = place_of(there) + load(place_of(there)); target > at) return target;
    }
    return 0;
  }

  const reflection::Object& member(const Scope& scope, const reflection::Field& f) const {
    const auto tag = scope.table.GetField<std::uint8_t>(static_cast<voffset_t>(f.offset() - sizeof(voffset_t)), 0);
    return object(schema_.enums()->Get(index(f))->values()->LookupByKey(tag)->union_type()->index());
  }
  const reflection::Object& object(int i) const { return *schema_.objects()->Get(static_cast<uoffset_t>(i)); }
  static uoffset_t index(const reflection::Field& f) { return static_cast<uoffset_t>(f.type()->index()); }
  uoffset_t load(std::size_t at) const { return format::load<uoffset_t>(file_, at); }

  std::span<const std::byte> file_;
  const reflection::Schema& schema_;
  std::vector<Site> sites_;
};

bool has_header(std::span<const std::byte> file, const format::HeaderFields& header) {
  return !header.numbers.empty() && format::identifier(file, header.identifier_at) == header.identifier &&
         file.size() >= header.numbers.back().at + std::size_t{header.numbers.back().width};
}

// The sites of identifiers and headers, which are in no schema.
std::vector<Site> sites_of_head(std::span<const std::byte> file, const FileKind& kind) {
  constexpr auto number = SiteKind::number;
  std::vector<Site> sites{{SiteKind::file, "file", "file"},
                          {number, "identifier", "identifier", format::identifier_at}};
  if (!has_header(file, kind.header)) return sites;
  const auto add = [&](std::string_view name, std::size_t at, std::uint8_t width) {
    const std::string field = "header." + std::string(name);
    sites.push_back({number, field, field, at, width});
  };
  if (kind.header.identifier_at != format::identifier_at) add("identifier", kind.header.identifier_at, 4);
  for (const format::HeaderNumber& n : kind.header.numbers) add(n.name, n.at, n.width);
  return sites;
}

}  // namespace

std::string_view word(SiteKind kind) {
  constexpr std::string_view words[] = {"number", "tag", "offset", "length", "terminator", "slot", "table", "file"};
  return words[static_cast<std::size_t>(kind)];
}

const reflection::Schema& schema_of(const FileKind& kind) { return *reflection::GetSchema(kind.reflection()); }

const FileKind& kind_of(std::span<const std::byte> file) {
  if (const FileKind* kind = format::file_kind(file)) return *kind;
  throw Fault(Outcome::malformed, "H2", "it is no .pte, .ptd or .bpte file and no XNNPACK payload");
}

const format::HeaderNumber* header_number(std::span<const std::byte> file, std::string_view name) {
  const format::HeaderFields& header = kind_of(file).header;
  const auto found = std::ranges::find(header.numbers, name, &format::HeaderNumber::name);
  return found == header.numbers.end() || !has_header(file, header) ? nullptr : &*found;
}

std::uint64_t read(std::span<const std::byte> file, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  std::memcpy(&value, &file[at], width);
  return value;
}

std::size_t begin_of_offsets(std::span<const std::byte> file) {
  const format::HeaderNumber* begin = kind_of(file).header.offsets_from_begin ? header_number(file, "begin") : nullptr;
  return begin ? read(file, begin->at, begin->width) : 0;
}

std::string_view short_name(const reflection::Object& table) {
  const std::string_view name = table.name()->string_view();
  return name.substr(name.rfind('.') + 1);
}

std::vector<Site> sites_of(std::span<const std::byte> file) {
  const FileKind& kind = kind_of(file);
  std::vector<Site> sites = sites_of_head(file, kind);
  const std::size_t begin = begin_of_offsets(file);
  for (Site& site : Walk(file.subspan(begin), schema_of(kind)).run()) {
    site.at += begin, site.table += begin;
    sites.push_back(std::move(site));
  }
  return sites;
}

std::vector<Site> spread(std::vector<Site> sites, std::size_t places) {
  if (places == 0) return sites;
  std::map<std::pair<std::string, SiteKind>, std::size_t> alike, seen;
  for (const Site& s : sites) ++alike[{s.field, s.kind}];
  std::vector<Site> chosen;
  for (Site& s : sites) {
    const std::pair key{s.field, s.kind};
    const std::size_t i = seen[key]++, n = alike[key];
    // The i-th of n is chosen if the line from 0 to `places` passes a whole number there.
    if (i * places / n != (i + 1) * places / n || n <= places) chosen.push_back(std::move(s));
  }
  return chosen;
}

}  // namespace assay::corrupt
