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

// Views that read files in place. flatbuffers reads the tables, and segments lie in the bytes of the file. Views
// neither copy nor own bytes.
namespace assay::format {

// A list in a file may be absent (null). An absent list counts as empty.
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

// Whether both tensors have the same dtype and rank.
inline bool same_type(const pte::Tensor& a, const pte::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && size_of(a.sizes()) == size_of(b.sizes());
}

template <class Tables>
struct FileView {
  const Tables* tables = nullptr;            // the root of verified tables with all required fields
  std::span<const std::byte> segments = {};  // the bytes that the header reserves for all segments
  std::span<const std::byte> bytes = {};     // the bytes of the tables

  FileView() = default;
  FileView(const Tables* root, std::span<const std::byte> behind, std::span<const std::byte> all)
      : tables(root), segments(behind), bytes(all) {}
  // Converts to or from FileView<void>, the view of a file whose kind is known only at run time. Requires that the
  // kinds match.
  template <class Other>
  requires(std::is_void_v<Tables> != std::is_void_v<Other>) explicit FileView(const FileView<Other>& file)
      : FileView(static_cast<const Tables*>(file.tables), file.segments, file.bytes) {}

  std::uint32_t segment_count() const { return size_of(tables->segments()); }
  // The bytes of segment i. Requires i < segment_count() and a file whose segments were checked by the rules.
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
// Returns the tensor's fully qualified name, or an empty text if it has none.
inline std::string_view name_of(const pte::Tensor& t) {
  return t.extra_tensor_info() ? text_of(t.extra_tensor_info()->fully_qualified_name()) : std::string_view();
}

// Whether the program stores its constants in constant_buffer, as old programs do. Other programs have
// constant_segment.
bool uses_constant_buffer(const pte::Program& program);
// Returns the bytes from the beginning of a constant to the end of its buffer or segment. `index` is the
// data_buffer_idx of the tensor that has the constant's elements: an index in constant_buffer or in the offsets of
// constant_segment, counted from 0. The dtype and sizes of this tensor determine how many of the bytes belong to the
// constant. Returns nothing if the index is out of range.
std::optional<std::span<const std::byte>> constant_data(const ProgramView& program, std::uint32_t index);
// Returns the bytes from the beginning of a mutable buffer's initial value to the end of its segment. `index` is the
// tensor's data_buffer_idx: an index in the offsets of mutable_data_segments[0], counted from 0. Returns nothing if the
// index is out of range.
std::optional<std::span<const std::byte>> initial_data(const ProgramView& program, std::uint32_t index);
// A delegate may keep its payload in the program's named data. Its compile spec "named_data" then has the key of the
// payload. Returns this key, or nothing if the delegate has no such compile spec and its own bytes are the payload.
std::optional<std::string_view> payload_key(const pte::BackendDelegate& delegate);
// A delegate's own bytes, which are inline or in a segment. Requires a program that meets its rules.
std::span<const std::byte> payload(const ProgramView& program, const pte::BackendDelegate& delegate);

}  // namespace assay::format
