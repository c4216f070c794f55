#include <algorithm>

#include "format/check.h"
#include "format/check_tables.h"
#include "format/header.h"
#include "format/structure.h"
#include "format_tables.gen.h"

namespace assay::format {
namespace {

// Segments follow each other within the space that the header gives them; empty segments may be anywhere.
template <class Table>
void check_segments(const FileView<Table>& file, RuleId without_space, RuleId inside, Findings& f) {
  const std::uint64_t space = file.segments.size();
  std::uint64_t end = 0;
  for (std::uint32_t i = 0; i < file.segment_count(); ++i) {
    const std::uint64_t offset = file.tables->segments()->Get(i)->offset(),
                        size = file.tables->segments()->Get(i)->size();
    if (size == 0) continue;
    const Place place{nullptr, "segment", i};
    if (!f.check(space > 0, without_space, place, "has ", size, " bytes, but the header names no place for segments"))
      return;
    if (f.check(within(offset, size, space), inside, place, size, " bytes at ", offset, " are not within the ", space,
                " bytes of segments") &&
        f.check(offset >= end, inside, place, "begins at ", offset, ", before the end ", end, " of the one before it"))
      end = offset + size;
  }
}

// Bytes of a header beyond its known fields are reserved for later versions.
void check_reserved(std::span<const std::byte> tables, Findings& f) {
  const auto header = read_header<ProgramHeader>(tables, program_header_id);
  if (!header || header->length <= sizeof(ProgramHeader)) return;
  const auto reserved = tables.first(header_at + header->length).subspan(header_at + sizeof(ProgramHeader));
  const auto other = std::ranges::find_if(reserved, [](std::byte b) { return b != std::byte{0}; });
  f.check(other == reserved.end(), "H9", {nullptr, "header"}, "its reserved byte ",
          sizeof(ProgramHeader) + static_cast<std::size_t>(other - reserved.begin()), " is not 0");
}

// Offsets in the file at which constants and named data begin. A reader computes them before it knows whether they
// exist.
void check_beginnings(const ProgramView& program, std::span<const std::byte> tables, Findings& f) {
  const auto header = read_header<ProgramHeader>(tables, program_header_id);
  const std::uint64_t base = header ? header->fields[1] : 0;
  const auto check = [&](std::uint32_t segment, std::uint64_t offset, RuleId rule, const Place& place) {
    if (segment >= program.segment_count()) return;
    constexpr std::uint64_t most = ~std::uint64_t{0};
    const std::uint64_t from = program.tables->segments()->Get(segment)->offset();
    f.check(within(base, from, most) && within(base + from, offset, most), rule, place, "begins at ", base, " + ", from,
            " + ", offset, ", which does not fit 64 bits");
  };
  if (const auto* constants = program.tables->constant_segment())
    for (std::uint32_t i = 0; i < size_of(constants->offsets()); ++i)
      check(constants->segment_index(), constants->offsets()->Get(i), "G6", {nullptr, "constant", i});
  for (std::uint32_t i = 0; i < size_of(program.tables->named_data()); ++i)
    check(program.tables->named_data()->Get(i)->segment_index(), 0, "G13", {nullptr, "named_data", i});
}

}  // namespace

const void* root_of(std::span<const std::byte> tables, const Schema& schema,
                    bool (*verify)(flatbuffers::Verifier& verifier, const char* identifier),
                    const StructureRules& rules, Findings& f) {
  const std::size_t size = tables.size();
  if (!f.check(reinterpret_cast<std::uintptr_t>(tables.data()) % table_alignment == 0, rules.alignment, {},
               "the tables do not begin at a multiple of ", table_alignment, " in memory"))
    return nullptr;
  const auto root = size < header_at ? 0 : load<std::uint32_t>(tables, 0);
  if (!f.check(root >= header_at && root <= size - 4, rules.root, {}, "the root offset is ", root,
               ", outside of the tables of ", size, " bytes"))
    return nullptr;
  constexpr flatbuffers::uoffset_t most_nested = 64;  // each table has at least a byte of its own
  const auto most_tables = static_cast<flatbuffers::uoffset_t>(size);
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(tables.data()), size, most_nested, most_tables);
  if (!f.check(verify(verifier, schema.identifier.data()), rules.structure, {},
               "the tables are no flatbuffer of this kind"))
    return nullptr;
  const std::uint64_t before = f.count();
  check_tables(tables, schema, rules.structure, f);
  return f.count() == before ? tables.data() + root : nullptr;
}

std::optional<ProgramView> open_program(std::span<const std::byte> tables, std::span<const std::byte> segments,
                                        Findings& f) {
  const std::uint64_t before = f.count();
  check_reserved(tables, f);
  const auto* root = root_of<pte::Program>(tables, program::schema, {"H3", "H11", "H12"}, f);
  if (!root) return {};
  f.check(root->version() == 0, "H14", {}, "the version is ", root->version(), ", but must be 0");
  const ProgramView view{root, segments, tables};
  check_segments(view, "G17", "G7", f);
  check_beginnings(view, tables, f);
  return f.count() == before ? std::optional(view) : std::nullopt;
}

std::optional<DataView> open_data(std::span<const std::byte> tables, std::span<const std::byte> segments, Findings& f) {
  const std::uint64_t before = f.count();
  const auto* root = root_of<ptd::FlatTensor>(tables, flat_tensor::schema, {"F4", "F5", "F5"}, f);
  if (!root) return {};
  f.check(root->version() == 0, "F6", {}, "the version is ", root->version(), ", but must be 0");
  const DataView view{root, segments, tables};
  check_segments(view, "F2", "F2", f);
  return f.count() == before ? std::optional(view) : std::nullopt;
}

std::optional<BundleView> open_bundle(std::span<const std::byte> tables, Findings& f) {
  const auto* root = root_of<bpte::BundledProgram>(tables, bundled_program::schema, {"B11", "B1", "B1"}, f);
  if (!root) return {};
  const BundleView view{root, {}, tables};
  const auto program = program_in(view);
  const bool aligned =
      f.check(program.empty() || reinterpret_cast<std::uintptr_t>(program.data()) % table_alignment == 0, "B11",
              {nullptr, "program"}, "does not begin at a multiple of ", table_alignment);
  return aligned ? std::optional(view) : std::nullopt;
}

}  // namespace assay::format
