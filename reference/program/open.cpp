#include <algorithm>

#include "format/check.h"
#include "reference/program/memory.h"
#include "reference/program/program.h"

namespace assay {
namespace {

// What `locate` finds and `open` accepts.
template <class View, class Locate, class Open>
Result<OpenFile<View>> opened(File file, Locate locate, Open open) {
  FaultList faults;
  const auto head = file.bytes.first(std::min(file.bytes.size(), format::head_bytes));
  const auto extent = locate(head, file.bytes.size(), faults.findings());
  if (!extent) return refused<OpenFile<View>>(faults);
  const auto tables = std::make_shared<AlignedMemory>(extent->tables_size);
  std::ranges::copy(file.bytes.first(extent->tables_size), tables->bytes().begin());
  const auto view =
      open(tables->bytes(), file.bytes.subspan(extent->segments_begin, extent->segments_size), faults.findings());
  if (!view) return refused<OpenFile<View>>(faults);
  return {OpenFile<View>(std::move(file), tables, *view), {}};
}

}  // namespace

File in_memory(Bytes bytes) {
  const auto owner = std::make_shared<const Bytes>(std::move(bytes));
  return {*owner, owner};
}

File borrowed(std::span<const std::byte> bytes) { return {bytes, nullptr}; }

Result<ProgramFile> open_program(File file) {
  return opened<format::ProgramView>(std::move(file), format::locate_program, format::open_program);
}

Result<NamedDataFile> open_data(File file) {
  return opened<format::DataView>(std::move(file), format::locate_data, format::open_data);
}

Result<BundleFile> open_bundle(File file) {
  return opened<format::BundleView>(std::move(file), format::locate_bundle, [](auto tables, auto, auto& findings) {
    return format::open_bundle(tables, findings);
  });
}

File program_of(const BundleFile& bundle) { return {bundle.view().program(), bundle.memory_}; }

}  // namespace assay
