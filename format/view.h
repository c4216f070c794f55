#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "bundled_program_generated.h"
#include "flat_tensor_generated.h"
#include "program_generated.h"

// Files in place: flatbuffers reads their tables, and segments lie in the bytes of the file. Nothing is copied, and
// nothing is owned.
namespace assay::format {

// A list of a file may be absent; an absent list counts as empty.
template <class T>
std::uint32_t size_of(const flatbuffers::Vector<T>* list) {
  return list ? list->size() : 0;
}
template <class T>
requires std::is_scalar_v<T> std::span<const T> items(const flatbuffers::Vector<T>* list) {
  static_assert(std::endian::native == std::endian::little, "files are little-endian, and so is this code");
  if (!list) return {};
  return {reinterpret_cast<const T*>(list->Data()), list->size()};
}

// Whether both have one dtype and rank, so that one may become the other.
inline bool same_type(const pte::Tensor& a, const pte::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && size_of(a.sizes()) == size_of(b.sizes());
}

template <class Tables>
struct FileView {
  const Tables* tables = nullptr;            // verified; fields that must be present are present
  std::span<const std::byte> segments = {};  // the space that the header gives them, one behind the other
  std::span<const std::byte> bytes = {};     // of the tables

  FileView() = default;
  FileView(const Tables* root, std::span<const std::byte> behind, std::span<const std::byte> all)
      : tables(root), segments(behind), bytes(all) {}
  // A file whose kind is known only while the program runs is a FileView<void>.
  template <class Other>
  requires(std::is_void_v<Tables> != std::is_void_v<Other>) explicit FileView(const FileView<Other>& file)
      : FileView(static_cast<const Tables*>(file.tables), file.segments, file.bytes) {}

  std::uint32_t segment_count() const { return size_of(tables->segments()); }
  // The bytes of segment i, which exists. Rules have checked that it lies within the space.
  std::span<const std::byte> segment(std::uint32_t i) const {
    const auto& s = *tables->segments()->Get(i);
    return s.size() == 0 ? segments.first(0)
                         : segments.subspan(static_cast<std::size_t>(s.offset()), static_cast<std::size_t>(s.size()));
  }
};
using ProgramView = FileView<pte::Program>;
using DataView = FileView<ptd::FlatTensor>;
using BundleView = FileView<bpte::BundledProgram>;
using AnyView = FileView<void>;

inline std::span<const std::byte> program_in(const BundleView& bundle) {
  return std::as_bytes(items(bundle.tables->program()));
}

inline std::string_view text_of(const flatbuffers::String* s) { return s ? s->string_view() : std::string_view(); }

inline std::uint64_t planned_offset(const pte::AllocationDetails& a) {
  return std::uint64_t{a.memory_offset_high()} << 32 | a.memory_offset_low();
}
inline bool is_external(const pte::Tensor& t) {
  return t.extra_tensor_info() && t.extra_tensor_info()->location() == pte::TensorDataLocation::EXTERNAL;
}
inline std::string_view name_of(const pte::Tensor& t) {  // its fully qualified name; empty: none
  return t.extra_tensor_info() ? text_of(t.extra_tensor_info()->fully_qualified_name()) : std::string_view();
}

bool uses_constant_buffer(
    const pte::Program& program);  // as in old programs; otherwise constants are in constant_segment
// The bytes from the constant with this data_buffer_idx to the end of its buffer or segment; the tensor states how many
// of them are the constant. None: the index is out of range.
std::optional<std::span<const std::byte>> constant_data(const ProgramView& program, std::uint32_t index);
// Likewise for the initial value of a mutable buffer.
std::optional<std::span<const std::byte>> initial_data(const ProgramView& program, std::uint32_t index);
// The key of the named data that are the delegate's payload in place of its own bytes: its compile spec "named_data".
std::optional<std::string_view> payload_key(const pte::BackendDelegate& delegate);
// A delegate's own bytes, inline or in a segment. The program keeps the rules.
std::span<const std::byte> payload(const ProgramView& program, const pte::BackendDelegate& delegate);

}  // namespace assay::format
