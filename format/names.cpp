#include "format/names.h"

#include <numeric>

#include "format/sorted.h"

namespace assay::format {

Methods::Methods(const ProgramView& program, Workspace& workspace)
    : program_(*program.tables), order_(workspace.take<std::uint32_t>(size_of(program_.execution_plan()))) {
  std::iota(order_.begin(), order_.end(), 0);
  sort_by(order_, [this](std::uint32_t plan) { return name(plan); });
}

const pte::ExecutionPlan* Methods::find(std::string_view wanted) const {
  const auto* found = find_by(sorted(), wanted, [this](std::uint32_t plan) { return name(plan); });
  return found ? program_.execution_plan()->Get(*found) : nullptr;
}

NamedData::NamedData(const ProgramView* program, std::span<const DataView> data, Workspace& workspace)
    : program_(program), data_(data) {
  const auto entries = [&](std::size_t file) {
    if (file > 0) return size_of(data[file - 1].tables->named_data());
    return program ? size_of(program->tables->named_data()) : 0;
  };
  std::uint64_t all = 0;
  for (std::size_t file = 0; file <= data.size(); ++file) all += entries(file);
  order_ = workspace.take<Entry>(all);
  if (order_.empty()) return;
  auto next = order_.begin();
  for (std::size_t file = 0; file <= data.size(); ++file)
    for (std::uint32_t i = 0; i < entries(file); ++i) *next++ = {static_cast<std::uint32_t>(file), i};
  sort_by(order_, [this](const Entry& e) { return key(e); });
}

std::string_view NamedData::key(const Entry& e) const {
  return text_of(e.file == 0 ? in_program(e).key() : in_data(e).key());
}

std::optional<NamedBytes> NamedData::find(std::string_view wanted) const {
  const Entry* e = find_by(sorted(), wanted, [this](const Entry& entry) { return key(entry); });
  if (!e) return {};
  const auto bytes = [](const auto& file, std::uint32_t segment, const ptd::TensorLayout* layout) {
    return segment < file.segment_count() ? std::optional(NamedBytes{file.segment(segment), layout}) : std::nullopt;
  };
  return e->file == 0 ? bytes(*program_, in_program(*e).segment_index(), nullptr)
                      : bytes(data_[e->file - 1], in_data(*e).segment_index(), in_data(*e).tensor_layout());
}

}  // namespace assay::format
