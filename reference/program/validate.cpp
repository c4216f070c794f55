#include <unordered_set>

#include "reference/program/checks.h"

// A program as a whole and its methods: the rules of areas G and M.
namespace assay {
namespace {

void check_constants(const Program& p, Findings& f) {
  if (!p.tables.constant_segment || p.tables.constant_segment->offsets.empty()) return;
  const pte::SubsegmentOffsetsT& constants = *p.tables.constant_segment;
  const Place place{nullptr, "constant_segment"};
  f.check(p.tables.constant_buffer.empty(), "G4", place, "there is a constant_buffer too");
  f.check(constants.segment_index < p.segments.size(), "G5", place, "names segment ", constants.segment_index,
          ", but there are ", p.segments.size());
  f.check(constants.offsets.front() == 0 && std::ranges::is_sorted(constants.offsets), "G8", place,
          "its offsets do not ascend from 0");
}

void check_initial_data(const Program& p, Findings& f) {
  std::unordered_set<std::uint32_t> used;
  for (std::size_t i = 0; i < p.tables.mutable_data_segments.size(); ++i) {
    const Place place{nullptr, "mutable_data_segments", static_cast<Int>(i)};
    const pte::SubsegmentOffsetsT& part = *p.tables.mutable_data_segments[i];
    f.check(used.insert(part.segment_index).second, "G16", place, "names segment ", part.segment_index,
            ", which an earlier one names");
    if (!f.check(part.segment_index < p.segments.size(), "G14", place, "names segment ", part.segment_index,
                 ", but there are ", p.segments.size()))
      continue;
    const std::size_t size = p.segments[part.segment_index].size();
    const auto outside = std::ranges::find_if(part.offsets, [&](std::uint64_t offset) { return offset > size; });
    f.check(outside == part.offsets.end(), "G14", place, "an offset is outside of the segment of ", size, " bytes");
  }
}

// The entries of a program or of a data file by key.
template <class Entry, class Layout>
void add_named(const std::vector<std::unique_ptr<Entry>>& entries, const std::vector<Bytes>& segments, Layout layout,
               RuleId unique, RuleId in_range, const Place& outer, NamedBytesByKey& named, Findings& f) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& e = *entries[i];
    const Place place = outer.in("named_data", static_cast<Int>(i));
    const bool there = f.check(e.segment_index < segments.size(), in_range, place, "names segment ", e.segment_index,
                               ", but there are ", segments.size());
    const auto bytes = there ? std::optional(NamedBytes{layout(e), segments[e.segment_index].size()}) : std::nullopt;
    f.check(named.try_emplace(e.key, bytes).second, unique, place, "its key \"", e.key, "\" is there already");
  }
}

NamedBytesByKey check_named(const Program& p, std::span<const DataFile> data, Findings& f) {
  NamedBytesByKey named;
  add_named(
      p.tables.named_data, p.segments, [](const auto&) -> const ptd::TensorLayoutT* { return nullptr; }, "G12", "G12",
      {}, named, f);
  for (std::size_t i = 0; i < data.size(); ++i)
    add_named(
        data[i].tables.named_data, data[i].segments, [](const auto& e) { return e.tensor_layout.get(); }, "F8", "F9",
        {nullptr, "data file", static_cast<Int>(i)}, named, f);
  return named;
}

void check_memories(const MethodCheck& m, const Place& place) {
  const auto& sizes = m.plan.non_const_buffer_sizes;
  m.findings.check(!sizes.empty(), "M4", place, "non_const_buffer_sizes has no entry 0, which stands for nothing");
  for (std::size_t i = 1; i < sizes.size(); ++i)
    m.findings.check(sizes[i] >= 0, "M4", place.in("memory", static_cast<Int>(i)), "its size is ", sizes[i]);
  std::unordered_set<std::int32_t> named;
  for (const auto& device : m.plan.non_const_buffer_device) {
    const Int i = device->buffer_idx;
    m.findings.check(i > 0 && static_cast<std::uint64_t>(i) < sizes.size() && named.insert(device->buffer_idx).second,
                     "M6", place, "names memory ", i, " with a device, which there is not or which is named already");
    m.findings.check(device->device_type == pte::DeviceType::CPU, "T9", place.in("memory", i),
                     "is on a device that is not the CPU");
  }
}

void check_arguments(const MethodCheck& m, const std::vector<std::int32_t>& indices, std::string_view kind,
                     const Place& plan) {
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const Place place = plan.in(kind, static_cast<Int>(i));
    if (!m.check_index(indices[i], "M2", place)) continue;
    const auto type = m.value(indices[i]).type;
    m.findings.check(type <= pte::KernelTypes::String, "M10", place, "is a ", EnumNameKernelTypes(type),
                     ", but must be no list");
  }
}

void check_method(const MethodCheck& m, const Place& place) {
  check_memories(m, place);
  check_arguments(m, m.plan.inputs, "input", place);
  check_arguments(m, m.plan.outputs, "output", place);
  check_values(m, place);
  check_instructions(m, place);
}

// From the index'th place of a segment to its end.
std::optional<std::span<const std::byte>> part_of(const Program& p, const pte::SubsegmentOffsetsT& parts,
                                                  std::uint32_t index) {
  if (index >= parts.offsets.size() || parts.segment_index >= p.segments.size()) return {};
  const std::span<const std::byte> segment = p.segments[parts.segment_index];
  return segment.subspan(std::min<std::uint64_t>(parts.offsets[index], segment.size()));
}

}  // namespace

std::vector<Fault> faults_of(const Program& program, std::span<const DataFile> data) {
  Findings f;
  check_constants(program, f);
  check_initial_data(program, f);
  const NamedBytesByKey named = check_named(program, data, f);
  std::unordered_map<std::string_view, const pte::TensorT*> external;
  std::unordered_set<std::string_view> names;
  for (std::size_t i = 0; i < program.tables.execution_plan.size(); ++i) {
    const pte::ExecutionPlanT& plan = *program.tables.execution_plan[i];
    const Place place{nullptr, "plan", static_cast<Int>(i)};
    f.check(!plan.name.empty() && names.insert(plan.name).second, "G2", place, "its name \"", plan.name,
            "\" is empty or that of an earlier plan");
    check_method({program, plan, named, external, f}, place);
  }
  return std::move(f.faults);
}

Result<ValidProgram> validate(Program program, std::span<const DataFile> data) {
  if (auto faults = faults_of(program, data); !faults.empty()) return {std::nullopt, std::move(faults)};
  return {ValidProgram(std::move(program)), {}};
}

const pte::ExecutionPlanT* ValidProgram::plan(std::string_view name) const {
  const auto& plans = program_.tables.execution_plan;
  const auto found = std::ranges::find_if(plans, [&](const auto& plan) { return plan->name == name; });
  return found == plans.end() ? nullptr : found->get();
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

}  // namespace assay
