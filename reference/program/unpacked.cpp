#include "reference/program/unpacked.h"

#include <algorithm>

namespace assay {
namespace {

std::optional<std::span<const std::byte>> part_of(const Program& p, const pte::SubsegmentOffsetsT& parts,
                                                  std::uint32_t index) {
  if (index >= parts.offsets.size() || parts.segment_index >= p.segments.size()) return {};
  const std::span<const std::byte> segment = p.segments[parts.segment_index];
  return segment.subspan(std::min<std::uint64_t>(parts.offsets[index], segment.size()));
}

}  // namespace

const pte::ExecutionPlanT* unpacked::ValidProgram::plan(std::string_view name) const {
  const auto& plans = program_.tables.execution_plan;
  const auto found = std::ranges::find_if(plans, [&](const auto& plan) { return plan->name == name; });
  return found == plans.end() ? nullptr : found->get();
}

Result<unpacked::ValidProgram> validate(Program program, std::span<const DataFile> data) {
  std::vector<NamedDataFile> files;
  for (const DataFile& file : data) files.push_back(*open_data(in_memory(encode(file))));
  auto valid = validate(*open_program(in_memory(encode(program))), std::move(files));
  if (!valid) return {std::nullopt, std::move(valid.faults), valid.more};
  return {unpacked::ValidProgram(std::move(program), std::move(*valid)), {}};
}

std::vector<Fault> faults_of(const DataFile& file) { return faults_of(*open_data(in_memory(encode(file)))); }

std::vector<Fault> faults_of(const BundledProgram& bundle, const unpacked::ValidProgram& program) {
  return faults_of(*open_bundle(in_memory(encode(bundle))), program.valid());
}

bool uses_constant_buffer(const Program& program) {
  return !program.tables.constant_segment || program.tables.constant_segment->offsets.empty();
}

std::optional<std::span<const std::byte>> constant_data(const Program& program, std::uint32_t index) {
  if (!uses_constant_buffer(program)) return part_of(program, *program.tables.constant_segment, index);
  const auto& constants = program.tables.constant_buffer;
  if (index >= constants.size()) return {};
  return std::as_bytes(std::span(constants[index]->storage));
}

std::optional<std::span<const std::byte>> initial_data(const Program& program, std::uint32_t index) {
  const auto& parts = program.tables.mutable_data_segments;
  if (parts.empty()) return {};
  return part_of(program, *parts.front(), index);
}

std::optional<std::span<const std::byte>> named_data(const Program& program, std::string_view key) {
  const auto& entries = program.tables.named_data;
  const auto found = std::ranges::find_if(entries, [&](const auto& e) { return e->key == key; });
  if (found == entries.end()) return {};
  return std::span<const std::byte>(program.segments[(*found)->segment_index]);
}

const ptd::NamedDataT* find_named(const DataFile& file, std::string_view key) {
  const auto& entries = file.tables.named_data;
  const auto found = std::ranges::find_if(entries, [&](const auto& e) { return e->key == key; });
  return found == entries.end() ? nullptr : found->get();
}

}  // namespace assay
