#include <flatbuffers/flatbuffers.h>

#include "format/xnnpack/payload.h"
#include "reference/program/decoded.h"

namespace assay {
namespace {

template <class Table>
typename Table::NativeTableType unpacked(const Table& table) {
  return std::move(*std::unique_ptr<typename Table::NativeTableType>(table.UnPack()));
}

// The tables as the object that flatc generates for them, and copies of the segments.
template <class T, class View>
T with_segments(const OpenFile<View>& file) {
  T all{unpacked(file.tables()), {}};
  all.tables.segments.clear();
  for (std::uint32_t i = 0; i < file.view().segment_count(); ++i) {
    const auto bytes = file.segment(i);
    all.segments.emplace_back(bytes.begin(), bytes.end());
  }
  return all;
}
template <class T, class View>
Result<T> with_segments(Result<OpenFile<View>> file) {
  if (!file) return {std::nullopt, std::move(file.faults), file.more};
  return {with_segments<T>(*file), {}};
}

}  // namespace

Program decoded(const ProgramFile& file) { return with_segments<Program>(file); }

pte::ProgramT decoded_tables(const ProgramFile& file) {
  pte::ProgramT tables = unpacked(file.tables());
  tables.segments.clear();
  return tables;
}

Result<Program> decode_program(std::span<const std::byte> file) {
  return with_segments<Program>(open_program(borrowed(file)));
}

Result<DataFile> decode_data_file(std::span<const std::byte> file) {
  return with_segments<DataFile>(open_data(borrowed(file)));
}

Result<BundledProgram> decode_bundle(std::span<const std::byte> file) {
  const auto bundle = open_bundle(borrowed(file));
  if (!bundle) return {std::nullopt, bundle.faults, bundle.more};
  return {unpacked(bundle->tables()), {}};
}

Result<XnnpackPayload> decode_xnnpack(std::span<const std::byte> payload) {
  const auto opened = open_as(borrowed(payload), format::xnnpack_kind);
  if (!opened) return {std::nullopt, opened.faults, opened.more};
  const format::xnnpack::PayloadView view(opened->view());
  return {XnnpackPayload{unpacked(*view.tables), {view.segments.begin(), view.segments.end()}}, {}};
}

}  // namespace assay
