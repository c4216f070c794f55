#include <algorithm>

#include "format/check.h"
#include "reference/program/memory.h"
#include "reference/program/program.h"

namespace assay {
namespace {

// A reference to a shared table takes 4 bytes of a list; following it in every pass takes some 30 ns.
constexpr Int work_of_a_byte = 8;

std::shared_ptr<AlignedMemory> copied(std::span<const std::byte> tables) {
  const auto copy = std::make_shared<AlignedMemory>(tables.size());
  Budget::Scope::work(static_cast<Int>(tables.size()) * work_of_a_byte);
  std::ranges::copy(tables, copy->bytes().begin());
  return copy;
}

// What `locate` finds and `open` accepts.
template <class View, class Locate, class Open>
Result<OpenFile<View>> opened(File file, Locate locate, Open open) {
  return unless_refused<OpenFile<View>>([&]() -> Result<OpenFile<View>> {
    FaultList faults;
    const auto head = file.bytes.first(std::min(file.bytes.size(), format::head_bytes));
    const auto extent = locate(head, file.bytes.size(), faults.findings());
    if (!extent) return refused<OpenFile<View>>(faults);
    const auto tables = copied(file.bytes.first(extent->tables_size));
    const auto segments = file.bytes.subspan(extent->segments_begin, extent->segments_size);
    const auto view = open(tables->bytes(), segments, faults.findings());
    if (!view) return refused<OpenFile<View>>(faults);
    return {OpenFile<View>(std::move(file), tables, *view), {}};
  });
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
