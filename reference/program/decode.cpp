#include <flatbuffers/flatbuffers.h>

#include "bundled_program_bfbs_generated.h"
#include "flat_tensor_bfbs_generated.h"
#include "program_bfbs_generated.h"
#include "reference/program/container.h"

namespace assay {
namespace {

constexpr std::uint64_t largest_tables = (std::uint64_t{1} << 31) - 1;

// Where a header says things are: the tables of the file, and its segments, whose offsets count from their beginning.
struct Extent {
  std::span<const std::byte> tables, segments;
};

// The segments lie between base and base + size; size 0 says nothing (writers before 1.0).
std::span<const std::byte> segment_space(std::span<const std::byte> file, std::uint64_t base, std::uint64_t size,
                                         RuleId rule, Findings& f) {
  if (!f.check(within(base, size, file.size()), rule, {nullptr, "header"}, "segments at ", base, " with ", size,
               " bytes do not fit the file of ", file.size(), " bytes"))
    return {};
  if (base == 0) return {};
  return file.subspan(base, size == 0 ? file.size() - base : size);
}

Extent program_extent(std::span<const std::byte> file, Findings& f) {
  const Place header{nullptr, "header"};
  if (identifier_at(file, header_at) != std::string_view(program_header_id.data(), 4)) return {file, {}};
  const auto length = load<std::uint32_t>(file, header_at + 4);
  const auto end = load<std::uint64_t>(file, header_at + 8), base = load<std::uint64_t>(file, header_at + 16);
  constexpr std::size_t without_size = 24;
  if (!f.check(length >= without_size && within(header_at, length, file.size()), "H5", header, "its length is ", length,
               ", but must be at least ", without_size, " and within the file of ", file.size(), " bytes"))
    return {};
  const std::uint64_t size = length >= sizeof(ProgramHeader) ? load<std::uint64_t>(file, header_at + without_size) : 0;
  for (std::size_t i = sizeof(ProgramHeader); i < length; ++i)
    if (!f.check(file[header_at + i] == std::byte{0}, "H9", header, "its reserved byte ", i, " is not 0")) break;
  const bool fits = end <= file.size() && end >= header_at + length && (base == 0 || end <= base);
  if (!f.check(fits, "H8", header, "the program ends at ", end,
               ", which is not between the header and the segments at ", base, " in the file of ", file.size(),
               " bytes"))
    return {};
  return {file.first(end), segment_space(file, base, size, "H7", f)};
}

Extent data_extent(std::span<const std::byte> file, Findings& f) {
  const Place header{nullptr, "header"};
  const bool there = identifier_at(file, header_at) == std::string_view(data_header_id.data(), 4);
  const auto length =
      there && file.size() >= header_at + sizeof(DataHeader) ? load<std::uint32_t>(file, header_at + 4) : 0;
  if (!f.check(length >= sizeof(DataHeader) && within(header_at, length, file.size()), "F1", header,
               "needs \"FH01\" and a length of at least ", sizeof(DataHeader), " within the file of ", file.size(),
               " bytes, but its length is ", length))
    return {};
  const auto field = [&](std::size_t i) { return load<std::uint64_t>(file, 2 * header_at + 8 * i); };
  const std::uint64_t begin = field(0), size = field(1), base = field(2);
  const bool fits = size >= header_at && begin >= header_at + length && within(begin, size, file.size()) &&
                    (base == 0 || begin <= base);
  if (!f.check(fits, "F3", header, "tables of ", size, " bytes at ", begin, " do not fit the file of ", file.size(),
               " bytes"))
    return {};
  return {file.first(begin + size), segment_space(file, base, field(3), "F2", f)};
}

// The tables as the object that flatc generates for them; none when something was found.
template <class Table>
std::optional<typename Table::NativeTableType> unpack(std::span<const std::byte> bytes, const char* identifier,
                                                      const std::uint8_t* schema, RuleId root_rule, RuleId structure,
                                                      Findings& f) {
  if (!f.check(bytes.size() <= largest_tables, "H13", {}, "the tables have ", bytes.size(),
               " bytes, more than flatbuffers allow"))
    return {};
  const Bytes tables(bytes.begin(), bytes.end());  // aligned to the largest scalar, as flatbuffers needs
  const auto root = load<std::uint32_t>(tables, 0);
  if (!f.check(root >= header_at && root <= tables.size() - 4, root_rule, {}, "the root offset is ", root,
               ", outside of the tables of ", tables.size(), " bytes"))
    return {};
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(tables.data()), tables.size(), 64,
                                 static_cast<flatbuffers::uoffset_t>(tables.size()));
  if (!f.check(verifier.VerifyBuffer<Table>(identifier), structure, {}, "the tables are no flatbuffer of this kind"))
    return {};
  check_tables(tables, schema, structure, f);
  if (!f.faults.empty()) return {};
  return std::optional<typename Table::NativeTableType>(std::in_place,
                                                        std::move(*std::unique_ptr<typename Table::NativeTableType>(
                                                            flatbuffers::GetRoot<Table>(tables.data())->UnPack())));
}

// Moves what the segment tables describe into bytes of their own. Segments follow each other; empty ones may share a
// place.
template <class Table>
std::vector<Bytes> take_segments(std::vector<std::unique_ptr<Table>>& tables, std::span<const std::byte> space,
                                 RuleId without_space, RuleId inside, Findings& f) {
  std::vector<Bytes> segments;
  std::uint64_t end = 0;
  for (const auto& s : tables) {
    const Place place{nullptr, "segment", static_cast<Int>(segments.size())};
    if (!f.check(s->size == 0 || !space.empty(), without_space, place, "has ", s->size,
                 " bytes, but the header names no place for segments"))
      return {};
    if (!f.check(within(s->offset, s->size, space.size()) || s->size == 0, inside, place, s->size, " bytes at ",
                 s->offset, " are not within the ", space.size(), " bytes of segments"))
      return {};
    if (!f.check(s->size == 0 || s->offset >= end, inside, place, "begins at ", s->offset, ", before the end ", end,
                 " of the one before it"))
      return {};
    if (s->size > 0) end = s->offset + s->size;
    const auto bytes = s->size == 0 ? space.first(0) : space.subspan(s->offset, s->size);
    segments.emplace_back(bytes.begin(), bytes.end());
  }
  tables.clear();
  return segments;
}

template <class T>
Result<T> result(T value, Findings& f) {
  if (!f.faults.empty()) return {std::nullopt, std::move(f.faults)};
  return {std::move(value), {}};
}

std::string quoted(std::string_view identifier) {
  std::string out = "\"";
  for (const char c : identifier) out += c >= ' ' && c <= '~' ? c : '?';
  return out + '"';
}

}  // namespace

FileKind file_kind(std::span<const std::byte> file) {
  const std::string_view id = identifier_at(file, 4);
  return id == pte::ProgramIdentifier()           ? FileKind::program
         : id == ptd::FlatTensorIdentifier()      ? FileKind::data
         : id == bpte::BundledProgramIdentifier() ? FileKind::bundle
                                                  : FileKind::unknown;
}

Result<Program> decode_program(std::span<const std::byte> file) {
  Findings f;
  constexpr std::size_t least = 64;
  if (!f.check(file.size() >= least, "H1", {}, "the file has ", file.size(), " bytes, but a program has at least ",
               least) ||
      !f.check(file_kind(file) == FileKind::program, "H2", {}, "the identifier is ", quoted(identifier_at(file, 4)),
               ", but that of a program is \"", pte::ProgramIdentifier(), '"'))
    return {std::nullopt, f.faults};
  const Extent extent = program_extent(file, f);
  if (!f.faults.empty()) return {std::nullopt, f.faults};
  auto tables =
      unpack<pte::Program>(extent.tables, pte::ProgramIdentifier(), pte::ProgramBinarySchema::data(), "H11", "H12", f);
  if (!tables) return {std::nullopt, f.faults};
  f.check(tables->version == 0, "H14", {}, "the version is ", tables->version, ", but must be 0");
  Program program{std::move(*tables), {}};
  program.segments = take_segments(program.tables.segments, extent.segments, "G17", "G7", f);
  return result(std::move(program), f);
}

Result<DataFile> decode_data_file(std::span<const std::byte> file) {
  Findings f;
  if (!f.check(file_kind(file) == FileKind::data, "F1", {}, "the identifier is ", quoted(identifier_at(file, 4)),
               ", but that of a data file is \"", ptd::FlatTensorIdentifier(), '"'))
    return {std::nullopt, f.faults};
  const Extent extent = data_extent(file, f);
  if (!f.faults.empty()) return {std::nullopt, f.faults};
  auto tables = unpack<ptd::FlatTensor>(extent.tables, ptd::FlatTensorIdentifier(), ptd::FlatTensorBinarySchema::data(),
                                        "F5", "F5", f);
  if (!tables) return {std::nullopt, f.faults};
  f.check(tables->version == 0, "F6", {}, "the version is ", tables->version, ", but must be 0");
  DataFile data{std::move(*tables), {}};
  data.segments = take_segments(data.tables.segments, extent.segments, "F2", "F2", f);
  return result(std::move(data), f);
}

Result<BundledProgram> decode_bundle(std::span<const std::byte> file) {
  Findings f;
  if (!f.check(file.size() >= header_at && file_kind(file) == FileKind::bundle, "B1", {}, "the identifier is ",
               quoted(identifier_at(file, 4)), ", but that of a bundled program is \"",
               bpte::BundledProgramIdentifier(), '"'))
    return {std::nullopt, f.faults};
  auto tables = unpack<bpte::BundledProgram>(file, bpte::BundledProgramIdentifier(),
                                             bpte::BundledProgramBinarySchema::data(), "B1", "B1", f);
  if (!tables) return {std::nullopt, f.faults};
  return result(std::move(*tables), f);
}

}  // namespace assay
