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

constexpr std::uint64_t aligned(std::uint64_t at, std::uint64_t alignment) {
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
  std::vector<std::uint64_t> offsets;
  std::uint64_t end = 0;

  Layout(const std::vector<Bytes>& segments, std::size_t alignment) {
    for (const Bytes& s : segments) {
      offsets.push_back(aligned(end, alignment));
      if (!s.empty()) end = offsets.back() + s.size();
    }
  }
};

template <class Table>
auto pack_segments(FlatBufferBuilder& b, const std::vector<Bytes>& segments, const Layout& layout) {
  std::vector<flatbuffers::Offset<Table>> offsets;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    typename Table::Builder segment(b);
    segment.add_offset(layout.offsets[i]);
    segment.add_size(segments[i].size());
    offsets.push_back(segment.Finish());
  }
  return b.CreateVector(offsets);
}

// The tables with a header inserted behind the identifier, and the segments behind them.
template <class H>
Bytes assemble(std::span<const std::uint8_t> tables, const H& header, const std::vector<Bytes>& segments,
               const Layout& layout, std::uint64_t base) {
  Bytes file(static_cast<std::size_t>(base + layout.end));
  const std::size_t inserted = aligned(sizeof header, alignof(std::max_align_t));
  std::memcpy(file.data(), tables.data(), header_at);
  std::memcpy(file.data() + header_at, &header, sizeof header);
  std::memcpy(file.data() + header_at + inserted, tables.data() + header_at, tables.size() - header_at);
  const auto root = static_cast<std::uint32_t>(format::load<std::uint32_t>(file, 0) + inserted);
  std::memcpy(file.data(), &root, sizeof root);
  for (std::size_t i = 0; i < segments.size(); ++i)
    std::ranges::copy(segments[i], file.begin() + static_cast<std::ptrdiff_t>(base + layout.offsets[i]));
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

Bytes encode(const Program& program, std::size_t alignment, bool defaults) {
  const pte::ProgramT& t = program.tables;
  const Layout layout(program.segments, alignment);
  FlatBufferBuilder b;
  b.ForceDefaults(defaults || has_negative_zero(t));
  const auto plans = pack<pte::ExecutionPlan>(b, t.execution_plan);
  const auto constants = pack<pte::Buffer>(b, t.constant_buffer);
  const auto payloads = pack<pte::BackendDelegateInlineData>(b, t.backend_delegate_data);
  const auto segments = pack_segments<pte::DataSegment>(b, program.segments, layout);
  const auto constant_segment = t.constant_segment ? pte::SubsegmentOffsets::Pack(b, t.constant_segment.get()) : 0;
  const auto mutable_data = pack<pte::SubsegmentOffsets>(b, t.mutable_data_segments);
  const auto named = pack<pte::NamedData>(b, t.named_data);
  pte::FinishProgramBuffer(
      b, pte::CreateProgram(b, t.version, plans, constants, payloads, segments, constant_segment, mutable_data, named));
  if (layout.end == 0) return to_bytes(finished(b));
  const std::uint64_t end = b.GetSize() + aligned(sizeof(ProgramHeader), alignof(std::max_align_t)),
                      base = aligned(end, alignment);
  return assemble(finished(b), ProgramHeader{program_header_id, sizeof(ProgramHeader), {end, base, layout.end}},
                  program.segments, layout, base);
}

Bytes encode(const DataFile& file, std::size_t alignment, bool defaults) {
  const Layout layout(file.segments, alignment);
  FlatBufferBuilder b;
  b.ForceDefaults(defaults);
  const auto segments = pack_segments<ptd::DataSegment>(b, file.segments, layout);
  const auto named = pack<ptd::NamedData>(b, file.tables.named_data);
  ptd::FinishFlatTensorBuffer(b, ptd::CreateFlatTensor(b, file.tables.version, segments, named));
  const std::uint64_t begin = aligned(sizeof(DataHeader), alignof(std::max_align_t)), end = begin + b.GetSize(),
                      base = aligned(end, alignment);
  return assemble(finished(b), DataHeader{data_header_id, sizeof(DataHeader), {begin, b.GetSize(), base, layout.end}},
                  file.segments, layout, base);
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
