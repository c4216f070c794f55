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

template <class View>
Result<OpenFile<View>> opened(File file, const FileKind& kind) {
  return unless_refused<OpenFile<View>>([&]() -> Result<OpenFile<View>> {
    FaultList faults;
    const auto head = file.bytes.first(std::min(file.bytes.size(), format::head_bytes));
    const auto extent = kind.locate(head, file.bytes.size(), faults.findings());
    if (!extent) return refused<OpenFile<View>>(faults);
    const auto tables = copied(file.bytes.first(extent->tables_size));
    const auto segments = file.bytes.subspan(extent->segments_begin, extent->segments_size);
    const auto view = kind.open(tables->bytes(), segments, faults.findings());
    if (!view) return refused<OpenFile<View>>(faults);
    return {OpenFile<View>(std::move(file), tables, View(*view)), {}};
  });
}

}  // namespace

File in_memory(Bytes bytes) {
  const auto owner = std::make_shared<const Bytes>(std::move(bytes));
  return {*owner, owner};
}

File borrowed(std::span<const std::byte> bytes) { return {bytes, nullptr}; }

Result<ProgramFile> open_program(File file) {
  return opened<format::ProgramView>(std::move(file), format::program_kind);
}
Result<NamedDataFile> open_data(File file) { return opened<format::DataView>(std::move(file), format::data_kind); }
Result<BundleFile> open_bundle(File file) { return opened<format::BundleView>(std::move(file), format::bundle_kind); }
Result<AnyFile> open_as(File file, const FileKind& kind) { return opened<format::AnyView>(std::move(file), kind); }

}  // namespace assay
