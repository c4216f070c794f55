#include "format/view.h"

#include <algorithm>

namespace assay::format {
namespace {

// The bytes of a segment from the offset of this index to its end.
std::optional<std::span<const std::byte>> part_of(const ProgramView& program, const pte::SubsegmentOffsets& parts,
                                                  std::uint32_t index) {
  if (index >= size_of(parts.offsets()) || parts.segment_index() >= program.segment_count()) return {};
  const auto segment = program.segment(parts.segment_index());
  return segment.subspan(
      static_cast<std::size_t>(std::min<std::uint64_t>(parts.offsets()->Get(index), segment.size())));
}

}  // namespace

bool uses_constant_buffer(const pte::Program& program) {
  return !program.constant_segment() || size_of(program.constant_segment()->offsets()) == 0;
}

std::optional<std::span<const std::byte>> constant_data(const ProgramView& program, std::uint32_t index) {
  if (!uses_constant_buffer(*program.tables)) return part_of(program, *program.tables->constant_segment(), index);
  if (index >= size_of(program.tables->constant_buffer())) return {};
  return std::as_bytes(items(program.tables->constant_buffer()->Get(index)->storage()));
}

std::optional<std::span<const std::byte>> initial_data(const ProgramView& program, std::uint32_t index) {
  if (size_of(program.tables->mutable_data_segments()) == 0) return {};
  return part_of(program, *program.tables->mutable_data_segments()->Get(0), index);
}

std::optional<std::string_view> payload_key(const pte::BackendDelegate& delegate) {
  for (std::uint32_t i = 0; i < size_of(delegate.compile_specs()); ++i) {
    const pte::CompileSpec& spec = *delegate.compile_specs()->Get(i);
    const auto value = items(spec.value());
    if (text_of(spec.key()) == "named_data")
      return std::string_view(reinterpret_cast<const char*>(value.data()), value.size());
  }
  return {};
}

std::span<const std::byte> payload(const ProgramView& program, const pte::BackendDelegate& delegate) {
  const pte::BackendDelegateDataReference& reference = *delegate.processed();
  if (reference.location() == pte::DataLocation::SEGMENT) return program.segment(reference.index());
  return std::as_bytes(items(program.tables->backend_delegate_data()->Get(reference.index())->data()));
}

}  // namespace assay::format
