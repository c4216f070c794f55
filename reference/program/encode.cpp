#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <cmath>

#include "format/header.h"
#include "format/xnnpack/payload.h"
#include "reference/program/decoded.h"

namespace assay {
namespace {

using flatbuffers::FlatBufferBuilder;
using format::data_header_id;
using format::DataHeader;
using format::header_at;
using format::program_header_id;
using format::ProgramHeader;

constexpr std::size_t aligned(std::size_t at, std::size_t alignment) {
  return (at + alignment - 1) / alignment * alignment;
}

// Packs each table as flatc does.
template <class Table, class Native>
auto pack(FlatBufferBuilder& b, const std::vector<std::unique_ptr<Native>>& tables) {
  std::vector<flatbuffers::Offset<Table>> offsets;
  for (const auto& t : tables) offsets.push_back(Table::Pack(b, t.get()));
  return b.CreateVector(offsets);
}

// The offsets of the segments behind the base, each a multiple of the alignment, and the end of the last one.
struct Layout {
  std::span<const std::size_t> sizes;
  std::vector<std::size_t> offsets = {};
  std::size_t end = 0;

  Layout(std::span<const std::size_t> segments, std::size_t alignment) : sizes(segments) {
    for (const std::size_t size : sizes) {
      offsets.push_back(aligned(end, alignment));
      if (size > 0) end = offsets.back() + size;
    }
  }
};

template <class Table>
auto pack_segments(FlatBufferBuilder& b, const Layout& layout) {
  std::vector<flatbuffers::Offset<Table>> offsets;
  for (std::size_t i = 0; i < layout.sizes.size(); ++i) {
    typename Table::Builder segment(b);
    segment.add_offset(layout.offsets[i]);
    segment.add_size(layout.sizes[i]);
    offsets.push_back(segment.Finish());
  }
  return b.CreateVector(offsets);
}

// The tables with a header inserted behind the identifier, and the places of the segments behind them.
template <class H>
EncodedHead head_of(std::span<const std::uint8_t> tables, const H& header, Layout layout, std::size_t base) {
  Bytes head(base);
  const std::size_t inserted = aligned(sizeof header, alignof(std::max_align_t));
  std::memcpy(head.data(), tables.data(), header_at);
  std::memcpy(head.data() + header_at, &header, sizeof header);
  std::memcpy(head.data() + header_at + inserted, tables.data() + header_at, tables.size() - header_at);
  const auto root = static_cast<std::uint32_t>(format::load<std::uint32_t>(head, 0) + inserted);
  std::memcpy(head.data(), &root, sizeof root);
  for (std::size_t& offset : layout.offsets) offset += base;
  return {std::move(head), std::move(layout.offsets), base + layout.end};
}

std::vector<std::size_t> sizes_of(const std::vector<Bytes>& segments) {
  std::vector<std::size_t> sizes;
  for (const Bytes& s : segments) sizes.push_back(s.size());
  return sizes;
}

// A segment without bytes may begin behind the end of the file.
Bytes with_segments(EncodedHead head, const std::vector<Bytes>& segments) {
  Bytes file = std::move(head.bytes);
  file.resize(head.size);
  for (std::size_t i = 0; i < segments.size(); ++i)
    if (!segments[i].empty())
      std::ranges::copy(segments[i], file.begin() + static_cast<std::ptrdiff_t>(head.segments[i]));
  return file;
}

std::span<const std::uint8_t> finished(FlatBufferBuilder& b) { return {b.GetBufferPointer(), b.GetSize()}; }

bool is_negative_zero(const auto& value) {
  const auto* d = value.val.AsDouble();
  return d && d->double_val == 0 && std::signbit(d->double_val);
}
bool has_negative_zero(const auto& values) {
  return std::ranges::any_of(values, [](const auto& v) { return is_negative_zero(*v); });
}

// FlatBuffers leaves out a number that equals its default, which -0.0 does, unless defaults are forced.
bool has_negative_zero(const pte::ProgramT& program) {
  return std::ranges::any_of(program.execution_plan, [](const auto& p) { return has_negative_zero(p->values); });
}
bool has_negative_zero(const BundledProgram& bundle) {
  const auto in_case = [](const auto& c) {
    return has_negative_zero(c->inputs) || has_negative_zero(c->expected_outputs);
  };
  return std::ranges::any_of(bundle.method_test_suites,
                             [&](const auto& s) { return std::ranges::any_of(s->test_cases, in_case); });
}

Bytes to_bytes(std::span<const std::uint8_t> tables) {
  const auto bytes = std::as_bytes(tables);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

EncodedHead encode_head(const pte::ProgramT& t, std::span<const std::size_t> sizes, std::size_t alignment,
                        bool defaults) {
  Layout layout(sizes, alignment);
  FlatBufferBuilder b;
  b.ForceDefaults(defaults || has_negative_zero(t));
  const auto plans = pack<pte::ExecutionPlan>(b, t.execution_plan);
  const auto constants = pack<pte::Buffer>(b, t.constant_buffer);
  const auto payloads = pack<pte::BackendDelegateInlineData>(b, t.backend_delegate_data);
  const auto segments = pack_segments<pte::DataSegment>(b, layout);
  const auto constant_segment = t.constant_segment ? pte::SubsegmentOffsets::Pack(b, t.constant_segment.get()) : 0;
  const auto mutable_data = pack<pte::SubsegmentOffsets>(b, t.mutable_data_segments);
  const auto named = pack<pte::NamedData>(b, t.named_data);
  pte::FinishProgramBuffer(
      b, pte::CreateProgram(b, t.version, plans, constants, payloads, segments, constant_segment, mutable_data, named));
  if (layout.end == 0) return {to_bytes(finished(b)), std::vector<std::size_t>(sizes.size(), b.GetSize()), b.GetSize()};
  const std::size_t end = b.GetSize() + aligned(sizeof(ProgramHeader), alignof(std::max_align_t)),
                    base = aligned(end, alignment), bytes = layout.end;
  return head_of(finished(b), ProgramHeader{program_header_id, sizeof(ProgramHeader), {end, base, bytes}},
                 std::move(layout), base);
}

Bytes encode(const Program& program, std::size_t alignment, bool defaults) {
  return with_segments(encode_head(program.tables, sizes_of(program.segments), alignment, defaults), program.segments);
}

Bytes encode(const DataFile& file, std::size_t alignment, bool defaults) {
  const auto sizes = sizes_of(file.segments);
  Layout layout(sizes, alignment);
  FlatBufferBuilder b;
  b.ForceDefaults(defaults);
  const auto segments = pack_segments<ptd::DataSegment>(b, layout);
  const auto named = pack<ptd::NamedData>(b, file.tables.named_data);
  ptd::FinishFlatTensorBuffer(b, ptd::CreateFlatTensor(b, file.tables.version, segments, named));
  const std::size_t begin = aligned(sizeof(DataHeader), alignof(std::max_align_t)), end = begin + b.GetSize(),
                    base = aligned(end, alignment), bytes = layout.end;
  return with_segments(
      head_of(finished(b), DataHeader{data_header_id, sizeof(DataHeader), {begin, b.GetSize(), base, bytes}},
              std::move(layout), base),
      file.segments);
}

Bytes encode(const BundledProgram& bundle, bool defaults) {
  FlatBufferBuilder b;
  b.ForceDefaults(defaults || has_negative_zero(bundle));
  bpte::FinishBundledProgramBuffer(b, bpte::BundledProgram::Pack(b, &bundle));
  return to_bytes(finished(b));
}

Bytes encode_tables(const xnn::GraphT& graph, bool defaults) {
  FlatBufferBuilder b;
  b.ForceDefaults(defaults);
  xnn::FinishGraphBuffer(b, xnn::Graph::Pack(b, &graph));
  return to_bytes(finished(b));
}

Bytes encode(const XnnpackPayload& payload, bool defaults) {
  using namespace format::xnnpack;
  const Bytes tables = encode_tables(payload.graph, defaults);
  constexpr std::size_t begin = aligned(header_bytes, format::table_alignment);
  const std::size_t constants = aligned(begin + tables.size(), format::table_alignment);
  Bytes file(constants + payload.constants.size());
  const auto state = [&](std::size_t at, auto value) { std::memcpy(&file[at], &value, sizeof value); };
  std::memcpy(&file[format::identifier_at], container_id.data(), container_id.size());
  state(length_at, static_cast<std::uint16_t>(header_bytes));
  state(begin_at, static_cast<std::uint32_t>(begin));
  state(size_at, static_cast<std::uint32_t>(tables.size()));
  state(constants_at, static_cast<std::uint32_t>(constants));
  state(constants_size_at, std::uint64_t{payload.constants.size()});
  std::ranges::copy(tables, file.begin() + begin);
  std::ranges::copy(payload.constants, file.begin() + static_cast<std::ptrdiff_t>(constants));
  return file;
}

}  // namespace assay
