#include "format/structure.h"

namespace assay::format {
namespace {

constexpr Place header_place{nullptr, "header"};

// Where the segments are, if the header states it. Size 0 states nothing: writers before 1.0 leave it.
bool locate_segments(std::uint64_t base, std::uint64_t size, std::uint64_t file_size, RuleId rule, Extent& extent,
                     Findings& f) {
  if (!f.check(within(base, size, file_size), rule, header_place, "segments at ", base, " with ", size,
               " bytes do not fit the file of ", file_size, " bytes"))
    return false;
  if (base != 0) extent.segments_begin = base, extent.segments_size = size == 0 ? file_size - base : size;
  return true;
}

}  // namespace

bool has_identifier(std::span<const std::byte> head, std::string_view wanted, std::string_view noun, RuleId rule,
                    Findings& f) {
  const std::string_view found = identifier(head, identifier_at);
  return f.check(found == wanted, rule, {}, "the identifier is ", Quoted{found}, ", but that of a ", noun, " is \"",
                 wanted, '"');
}

// Flatbuffers are addressed by signed 32-bit offsets.
std::optional<Extent> of_possible_size(const Extent& extent, Findings& f, RuleId rule) {
  constexpr std::uint64_t largest = (std::uint64_t{1} << 31) - 1;
  const bool possible = f.check(extent.tables_size <= largest, rule, {}, "the tables have ", extent.tables_size,
                                " bytes, more than flatbuffers allow");
  return possible ? std::optional(extent) : std::nullopt;
}

std::optional<Extent> locate_program(std::span<const std::byte> head, std::uint64_t file_size, Findings& f) {
  if (!f.check(head.size() >= head_bytes, "H1", {}, "the file has ", file_size, " bytes, but a program has at least ",
               head_bytes) ||
      !has_identifier(head, pte::ProgramIdentifier(), "program", "H2", f))
    return {};
  const auto header = read_header<ProgramHeader>(head, program_header_id);
  if (!header) return of_possible_size({file_size}, f);
  constexpr std::uint32_t without_size = 24;
  const std::uint32_t length = header->length;
  if (!f.check(length >= without_size && within(header_at, length, file_size), "H5", header_place, "its length is ",
               length, ", but must be at least ", without_size, " and within the file of ", file_size, " bytes") ||
      !f.check(length == without_size || length >= sizeof(ProgramHeader), "H6", header_place, "its length of ", length,
               " cuts the size of the segments"))
    return {};
  const auto [end, base, stated] = header->fields;
  Extent extent{end};
  const bool fits =
      f.check(end <= file_size && end >= header_at + length && (base == 0 || end <= base), "H8", header_place,
              "the program ends at ", end, ", which is not between the header and the segments at ", base,
              " in the file of ", file_size, " bytes");
  const std::uint64_t size = length == without_size ? 0 : stated;
  if (!locate_segments(base, size, file_size, "H7", extent, f) || !fits) return {};
  return of_possible_size(extent, f);
}

std::optional<Extent> locate_data(std::span<const std::byte> head, std::uint64_t file_size, Findings& f) {
  if (!has_identifier(head, ptd::FlatTensorIdentifier(), "data file", "F1", f)) return {};
  const auto header = read_header<DataHeader>(head, data_header_id);
  const std::uint32_t length = header ? header->length : 0;
  if (!f.check(length >= sizeof(DataHeader) && within(header_at, length, file_size), "F1", header_place,
               "needs \"FH01\" and a length of at least ", sizeof(DataHeader), " within the file of ", file_size,
               " bytes, but its length is ", length))
    return {};
  const auto [begin, size, base, segments_size] = header->fields;
  Extent extent{begin + size};
  const bool fits = f.check(size >= header_at && begin >= header_at + length && within(begin, size, file_size) &&
                                (base == 0 || begin <= base),
                            "F3", header_place, "tables of ", size, " bytes at ", begin, " do not fit the file of ",
                            file_size, " bytes");
  if (!locate_segments(base, segments_size, file_size, "F2", extent, f) || !fits) return {};
  return of_possible_size(extent, f);
}

std::optional<Extent> locate_bundle(std::span<const std::byte> head, std::uint64_t file_size, Findings& f) {
  if (!has_identifier(head, bpte::BundledProgramIdentifier(), "bundled program", "B1", f)) return {};
  return of_possible_size({file_size}, f);
}

}  // namespace assay::format
