#include "format/check_tables.h"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>

namespace assay::format {
namespace {

using flatbuffers::Table;
using flatbuffers::voffset_t;

// Tables may be shared, so that a few bytes unpack to many. The tables of exporters share nothing and unpack to three
// times their bytes.
constexpr std::uint64_t least_unpacked = 1 << 20, unpacked_per_byte = 8, bytes_of_field = 16;

class Walk {
 public:
  Walk(const Schema& schema, std::span<const std::byte> tables, RuleId structure, Findings& findings)
      : schema_(schema),
        begin_(reinterpret_cast<const std::uint8_t*>(tables.data())),
        structure_(structure),
        left_(std::max(least_unpacked, tables.size() * unpacked_per_byte)),
        findings_(findings) {}

  void table(std::size_t type, const Table& t, const Place& place) {
    const auto fields = schema_.tables[type];
    if (!spend(bytes_of_field * (1 + fields.size()), place)) return;
    for (const Field& f : fields) field(f, t, place.in(f.name));
  }

 private:
  // Whether the limit allows these bytes. The first excess is reported, later ones are not.
  bool spend(std::uint64_t bytes, const Place& place) {
    if (bytes <= left_) return left_ -= bytes, true;
    if (!spent_)
      findings_.check(false, "H15", place,
                      "the tables refer to the same bytes again and again: unpacked they exceed the limit");
    spent_ = true, left_ = 0;
    return false;
  }

  void field(const Field& f, const Table& t, const Place& place) {
    if (f.kind == FieldKind::scalar) return;
    if (f.kind == FieldKind::enumeration) {
      known(f, t.GetField<std::int8_t>(f.at, 0), 0, place);
      return;
    }
    const bool present = t.CheckField(f.at);
    if (f.rule >= 0) findings_.readable(present, rule_of(f), place, "must be present");
    if (present) content(f, t, place);
  }

  void content(const Field& f, const Table& t, const Place& place) {
    switch (f.kind) {
      case FieldKind::string:
        spend(t.GetPointer<const flatbuffers::String*>(f.at)->size(), place);
        break;
      case FieldKind::table:
        table(f.detail, *t.GetPointer<const Table*>(f.at), place);
        break;
      case FieldKind::tables:
        tables(f, *t.GetPointer<const flatbuffers::Vector<flatbuffers::Offset<Table>>*>(f.at), place);
        break;
      case FieldKind::alternative:
        alternative(f, t, place);
        break;
      default:
        vector(f, *t.GetPointer<const flatbuffers::Vector<std::uint8_t>*>(f.at), place);
    }
  }

  // Elements must begin at a multiple of their size.
  bool aligned(const std::uint8_t* data, std::uint32_t size, std::size_t element, const Place& place) {
    return findings_.check(size == 0 || static_cast<std::size_t>(data - begin_) % element == 0, structure_, place,
                           "its elements of ", element, " bytes do not begin at a multiple of that");
  }

  void vector(const Field& f, const flatbuffers::Vector<std::uint8_t>& elements, const Place& place) {
    if (!aligned(elements.Data(), elements.size(), f.detail, place)) return;
    if (!spend(std::uint64_t{elements.size()} * f.detail, place)) return;
    if (f.kind == FieldKind::flags) flags({elements.Data(), elements.size()}, rule_of(f), place);
  }

  void tables(const Field& f, const flatbuffers::Vector<flatbuffers::Offset<Table>>& elements, const Place& place) {
    if (!aligned(elements.Data(), elements.size(), sizeof(flatbuffers::uoffset_t), place)) return;
    for (std::uint32_t i = 0; i < elements.size() && !spent_; ++i)
      table(f.detail, *elements.Get(i), {place.outer, place.name, i});
  }

  void flags(std::span<const std::uint8_t> bytes, RuleId rule, const Place& place) {
    const auto other = std::ranges::find_if(bytes, [](std::uint8_t b) { return b > 1; });
    if (other != bytes.end())
      findings_.readable(false, rule, {place.outer, place.name, other - bytes.begin()}, "is ", int{*other},
                         ", but must be 0 or 1");
  }

  void alternative(const Field& f, const Table& t, const Place& place) {
    const auto tag = t.GetField<std::uint8_t>(static_cast<voffset_t>(f.at - sizeof(voffset_t)), 0);
    if (known(f, tag, 1, place))
      table(schema_.choices[f.detail].tables[tag - 1u], *t.GetPointer<const Table*>(f.at), place);
  }

  bool known(const Field& f, int value, int first, const Place& place) {
    const Choice& choice = schema_.choices[f.detail];
    return findings_.readable(value >= first && value < first + choice.count, rule_of(f), place, value, " is no ",
                              choice.name);
  }

  static RuleId rule_of(const Field& f) { return RuleId::numbered(f.rule); }

  const Schema& schema_;
  const std::uint8_t* begin_;
  RuleId structure_;
  std::uint64_t left_;
  bool spent_ = false;
  Findings& findings_;
};

}  // namespace

void check_tables(std::span<const std::byte> tables, const Schema& schema, RuleId structure, Findings& findings) {
  Walk(schema, tables, structure, findings).table(schema.root, *flatbuffers::GetRoot<Table>(tables.data()), {});
}

}  // namespace assay::format
