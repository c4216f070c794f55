#include <flatbuffers/reflection.h>

#include "reference/program/container.h"

namespace assay {
namespace {

using flatbuffers::Table;
using reflection::BaseType;
using reflection::Field;
using reflection::Object;

// Tables may be shared, so that a few bytes unpack to many.
constexpr std::size_t least_unpacked = std::size_t{1} << 20, unpacked_per_byte = 64;

class Walk {
 public:
  Walk(const reflection::Schema& schema, std::span<const std::byte> tables, RuleId structure, Findings& findings)
      : schema_(schema),
        begin_(reinterpret_cast<const std::uint8_t*>(tables.data())),
        structure_(structure),
        left_(std::max(least_unpacked, tables.size() * unpacked_per_byte)),
        findings_(findings) {}

  void table(const Object& type, const Table& t, const Place& place) {
    spend(sizeof(std::max_align_t) * (1 + type.fields()->size()), place);
    for (const Field* f : *type.fields())
      if (f->type()->base_type() != BaseType::UType) field(*f, t, place.in(f->name()->string_view()));
  }

 private:
  void spend(std::size_t bytes, const Place& place) {
    if (bytes > left_)
      throw broken("H15", place, "the tables refer to the same bytes again and again: unpacked they exceed the limit");
    left_ -= bytes;
  }

  static const FormatRule* rule_of(const Field& f) {
    if (!f.attributes()) return nullptr;
    for (const auto* attribute : *f.attributes())
      if (attribute->key()->string_view() == "rule") return find_format_rule(attribute->value()->string_view());
    return nullptr;
  }

  void field(const Field& f, const Table& t, const Place& place) {
    const FormatRule* rule = rule_of(f);
    const auto kind = f.type()->base_type();
    const bool scalar = kind <= BaseType::Double;
    const bool present = t.GetAddressOf(f.offset()) != nullptr;
    if (rule && !scalar) readable(present, RuleId(*rule), place, "must be present");
    if (rule && scalar && f.type()->index() >= 0) known(f, flatbuffers::GetAnyFieldI(t, f), RuleId(*rule), place);
    if (!present) return;
    if (kind == BaseType::Obj)
      table(object(f.type()->index()), *flatbuffers::GetFieldT(t, f), place);
    else if (kind == BaseType::String)
      spend(flatbuffers::GetFieldS(t, f)->size(), place);
    else if (kind == BaseType::Union)
      union_of(f, t, rule, place);
    else if (kind == BaseType::Vector)
      vector(f, t, rule, place);
  }

  void vector(const Field& f, const Table& t, const FormatRule* rule, const Place& place) {
    const auto* elements = flatbuffers::GetFieldAnyV(t, f);
    const std::size_t element = flatbuffers::GetTypeSize(f.type()->element());
    const bool aligned = elements->size() == 0 || static_cast<std::size_t>(elements->Data() - begin_) % element == 0;
    if (!findings_.check(aligned, structure_, place, "its elements of ", element,
                         " bytes do not begin at a multiple of that"))
      return;
    if (rule && f.type()->element() == BaseType::Bool)
      bools({elements->Data(), elements->size()}, RuleId(*rule), place);
    if (f.type()->element() != BaseType::Obj) return spend(elements->size() * element, place);
    for (flatbuffers::uoffset_t i = 0; i < elements->size(); ++i)
      table(object(f.type()->index()), *flatbuffers::GetAnyVectorElemPointer<const Table>(elements, i),
            {place.outer, place.name, i});
  }

  void bools(std::span<const std::uint8_t> bytes, RuleId rule, const Place& place) {
    const auto other = std::ranges::find_if(bytes, [](std::uint8_t b) { return b > 1; });
    if (other != bytes.end())
      readable(false, rule, {place.outer, place.name, other - bytes.begin()}, "is ", int{*other},
               ", but must be 0 or 1");
  }

  void union_of(const Field& f, const Table& t, const FormatRule* rule, const Place& place) {
    const auto tag =
        t.GetField<std::uint8_t>(static_cast<flatbuffers::voffset_t>(f.offset() - sizeof(flatbuffers::voffset_t)), 0);
    if (rule && !known(f, tag, RuleId(*rule), place)) return;
    const auto* value = enumeration(f).values()->LookupByKey(tag);
    if (tag != 0 && value) table(object(value->union_type()->index()), *flatbuffers::GetFieldT(t, f), place);
  }

  bool known(const Field& f, Int value, RuleId rule, const Place& place) {
    const bool none = f.type()->base_type() == BaseType::Union && value == 0;
    return readable(!none && enumeration(f).values()->LookupByKey(value) != nullptr, rule, place, value, " is no ",
                    enumeration(f).name()->string_view());
  }

  // What does not hold is malformed, whatever else the rule asks.
  template <class... Parts>
  bool readable(bool holds, RuleId rule, const Place& place, const Parts&... sentence) {
    if (!findings_.check(holds, rule, place, sentence...)) findings_.faults.back().outcome = Outcome::malformed;
    return holds;
  }

  const Object& object(int index) const { return *schema_.objects()->Get(static_cast<flatbuffers::uoffset_t>(index)); }
  const reflection::Enum& enumeration(const Field& f) const {
    return *schema_.enums()->Get(static_cast<flatbuffers::uoffset_t>(f.type()->index()));
  }

  const reflection::Schema& schema_;
  const std::uint8_t* begin_;
  RuleId structure_;
  std::size_t left_;
  Findings& findings_;
};

}  // namespace

void check_tables(std::span<const std::byte> tables, const std::uint8_t* schema, RuleId structure, Findings& findings) {
  const reflection::Schema& s = *reflection::GetSchema(schema);
  try {
    Walk(s, tables, structure, findings).table(*s.root_table(), *flatbuffers::GetRoot<Table>(tables.data()), {});
  } catch (const Fault& f) {
    findings.faults.push_back(f);
  }
}

}  // namespace assay
