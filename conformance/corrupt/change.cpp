#include "conformance/corrupt/change.h"

#include <algorithm>
#include <cstring>

#include "format/header.h"

namespace assay::corrupt {
namespace {

void write(Bytes& file, std::size_t at, std::uint64_t value, std::size_t width) {
  std::memcpy(&file[at], &value, width);
}

// The vtable of a table: its number of bytes, the table's number of bytes, then the slots.
std::size_t slots_of(const Bytes& file, std::size_t table) {
  return static_cast<std::size_t>(static_cast<std::int64_t>(table) - format::load<std::int32_t>(file, table));
}

constexpr std::uint64_t least(std::size_t width) { return std::uint64_t{1} << (8 * width - 1); }

// -- the end of the tables, and more room there ----------------------------------------------------------------------

using format::HeaderNumber;

std::uint64_t stated(const Bytes& file, const HeaderNumber& n) { return read(file, n.at, n.width); }
void state(Bytes& file, const HeaderNumber& n, std::uint64_t value) { write(file, n.at, value, n.width); }

// The header states the end of the tables, or their number of bytes.
const HeaderNumber* tables_size_of(const Bytes& file) {
  const HeaderNumber* end = header_number(file, "end");
  return end ? end : header_number(file, "size");
}

std::size_t end_of_tables(const Bytes& file) {
  const HeaderNumber *size = tables_size_of(file), *begin = header_number(file, "begin");
  if (!size) return file.size();
  return (begin ? stated(file, *begin) : 0) + stated(file, *size);
}

// Room for a vtable. It keeps the alignment of everything behind it.
constexpr std::size_t room = 4096;

Bytes with_room(Bytes file, std::size_t tables_end) {
  const HeaderNumber *size = tables_size_of(file), *segments = header_number(file, "segments");
  file.insert(file.begin() + static_cast<std::ptrdiff_t>(tables_end), room, std::byte{0});
  if (size) state(file, *size, stated(file, *size) + room);
  const std::uint64_t base = segments ? stated(file, *segments) : 0;
  if (base != 0) state(file, *segments, base + room);
  return file;
}

// -- the changes of a number -----------------------------------------------------------------------------------------

struct Around {
  std::uint64_t file_size, tables_end;
};

std::uint64_t number(const Site& site, std::string_view change, std::uint64_t now, const Around& around) {
  if (change == "zero") return 0;
  if (change == "one") return 1;
  if (change == "minus-one") return ~std::uint64_t{0};
  if (change == "least") return least(site.width);
  if (change == "huge") return least(site.width) - 1;
  if (change == "next" || change == "odd" || change == "more") return now + 1;
  if (change == "count") return *site.count;
  if (change == "self") return *site.own;
  if (change == "before") return *site.own - 1;
  if (change == "size") return site.kind == SiteKind::offset ? around.tables_end - site.at : around.file_size;
  if (change == "over") return site.other != 0 ? site.other - site.at : now + sizeof(std::uint32_t);
  if (change == "less") return std::max<std::uint64_t>(now, 1) - 1;
  if (change == "half") return now / 2;
  if (change == "unknown") return *site.count + 1;
  if (change == "other") return now % *site.count + 1;
  throw Fault(Outcome::invalid, "corruption", concat("there is no change ", change, " of ", site.place));
}

std::uint16_t slot(const Site& site, std::string_view change, std::uint64_t now, std::uint64_t table_size) {
  const std::uint64_t in_the_way = 2;  // the distance from the table to its vtable
  if (change == "absent") return 0;
  if (change == "huge") return 0xffff;
  if (change == "end") return static_cast<std::uint16_t>(table_size);
  if (change == "odd") return static_cast<std::uint16_t>(now + 1);
  return static_cast<std::uint16_t>(site.other != 0 ? site.other : in_the_way);
}

constexpr std::string_view slots_prefix = "slots-", bytes_prefix = "bytes-";

}  // namespace

std::vector<std::string_view> changes_of(SiteKind kind, std::size_t width, bool is_index) {
  using enum SiteKind;
  std::vector<std::string_view> numbers{"zero", "one", "minus-one", "least", "huge", "next"};
  switch (kind) {
    case number:
      if (width >= sizeof(std::uint32_t)) numbers.push_back("size");
      if (is_index) numbers.push_back("count");
      return numbers;
    case tag:
      return {"zero", "unknown", "minus-one", "other"};
    case offset:
      return {"zero", "minus-one", "huge", "size", "odd", "over"};
    case length:
      return {"zero", "less", "half", "more", "size", "minus-one", "huge"};
    case terminator:
      return {"minus-one"};
    case slot:
      return {"absent", "huge", "end", "odd", "over"};
    case table:
      return {"zero",       "minus-one", "least",      "huge",       "odd",
              "slots-zero", "slots-odd", "slots-huge", "bytes-zero", "bytes-huge"};
    case file:
      return {"cut-0", "cut-4", "cut-8", "cut-head", "cut-half", "cut-tables", "cut-last"};
  }
  return {};
}

Corrupter::Corrupter(Bytes file) : file_(std::move(file)), tables_end_(end_of_tables(file_)), sites_(sites_of(file_)) {}

std::vector<std::string_view> Corrupter::changes(const Site& site) const {
  std::vector<std::string_view> changes = changes_of(site.kind, site.width, site.count.has_value());
  if (site.own) changes.push_back("self");
  if (site.own.value_or(0) > 0) changes.push_back("before");
  return changes;
}

Bytes Corrupter::changed(const Site& site, std::string_view change) const {
  constexpr std::size_t width = sizeof(std::uint16_t);
  switch (site.kind) {
    case SiteKind::file:
      return cut(change);
    case SiteKind::slot: {
      const std::size_t first = slots_of(file_, site.table);
      return with_own_slots(site.table, site.at - first,
                            slot(site, change, read(file_, site.at, width), read(file_, first + width, width)));
    }
    case SiteKind::table:
      if (change.starts_with(slots_prefix) || change.starts_with(bytes_prefix)) {
        const std::size_t which = change.starts_with(slots_prefix) ? 0 : width;
        const std::string_view to = change.substr(slots_prefix.size());
        const std::uint64_t now = read(file_, slots_of(file_, site.at) + which, width);
        return with_own_slots(site.at, which,
                              static_cast<std::uint16_t>(to == "zero"  ? 0
                                                         : to == "odd" ? now + 1
                                                                       : 0xffff));
      }
      [[fallthrough]];
    default:
      return with_number(site, change);
  }
}

Bytes Corrupter::with_number(const Site& site, std::string_view change) const {
  Bytes edited = file_;
  write(edited, site.at, number(site, change, read(file_, site.at, site.width), {file_.size(), tables_end_}),
        site.width);
  return edited;
}

// Tables share vtables. This table gets one of its own, behind all tables, with one slot changed.
Bytes Corrupter::with_own_slots(std::size_t table, std::size_t slot, std::uint16_t says) const {
  constexpr std::size_t alignment = 16;
  const std::size_t from = slots_of(file_, table), size = read(file_, from, sizeof(std::uint16_t)),
                    to = (tables_end_ + alignment - 1) / alignment * alignment;
  Bytes edited = with_room(file_, tables_end_);
  std::memcpy(&edited[to], &file_[from], size);
  write(edited, to + slot, says, sizeof says);
  write(edited, table, table - to, sizeof(std::int32_t));
  return edited;
}

Bytes Corrupter::cut(std::string_view change) const {
  const std::size_t last = file_.size() - 1;
  const std::size_t to = change == "cut-0"        ? 0
                         : change == "cut-4"      ? 4
                         : change == "cut-8"      ? 8
                         : change == "cut-head"   ? 63
                         : change == "cut-half"   ? file_.size() / 2
                         : change == "cut-tables" ? tables_end_ - 1
                                                  : last;
  return {file_.begin(), file_.begin() + static_cast<std::ptrdiff_t>(std::min(to, last))};
}

}  // namespace assay::corrupt
