#include "format/check.h"

#include <algorithm>
#include <numeric>

#include "format/check_method.h"
#include "format/flow.h"
#include "format/header.h"
#include "format/layout.h"
#include "format/sorted.h"

// A program as a whole, its methods, and data files: the rules of areas G, M and F, and rules about several methods.
namespace assay::format {
namespace {

constexpr std::uint64_t largest_signed = std::numeric_limits<std::int64_t>::max();

void check_entry(const DataView& file, const ptd::NamedData& entry, const Place& place, Findings& f) {
  const auto bytes = entry.tensor_layout() ? check_layout(layout_of(*entry.tensor_layout()),
                                                          {"F12", "F11", "F11", "F12", "F12"}, place, f)
                                           : std::nullopt;
  if (!f.check(entry.segment_index() < file.segment_count(), "F9", place, "names segment ", entry.segment_index(),
               ", but there are ", file.segment_count()))
    return;
  const std::size_t size = file.segment(entry.segment_index()).size();
  if (bytes)
    f.check(*bytes == size, "F13", place, "its layout is that of ", *bytes, " bytes, but its segment has ", size);
}

void check_entries(const DataView& file, const Place& outer, Findings& f) {
  for (std::uint32_t i = 0; i < size_of(file.tables->named_data()); ++i)
    check_entry(file, *file.tables->named_data()->Get(i), outer.in("named_data", i), f);
}

// `place_of(file)` is the place of the file that holds an entry.
void check_keys(const NamedData& named, auto place_of, Findings& f) {
  const auto key = [&](const NamedData::Entry& e) { return named.key(e); };
  each_repeated(named.sorted(), key, [&](const auto&, const NamedData::Entry& e) {
    const Place outer = place_of(e.file);
    f.check(false, e.file == 0 ? RuleId("G12") : RuleId("F8"), outer.in("named_data", e.index), "its key ",
            Quoted{key(e)}, " is there already");
  });
}

struct Value {
  std::uint32_t plan, index;
  auto operator<=>(const Value&) const = default;
};

class ProgramCheck {
 public:
  ProgramCheck(const ProgramView& program, std::span<const DataView> data, Workspace& workspace, Findings& findings)
      : program_(program),
        tables_(*program.tables),
        data_(data),
        f_(findings),
        methods_(program, workspace),
        named_(&program, data, workspace),
        external_(workspace.take<Value>(count_external())),
        scratch_(workspace.take<std::uint32_t>(longest_list())) {}

  void run() {
    constants();
    initial_data();
    named_data();
    method_names();
    for (std::uint32_t i = 0; i < size_of(tables_.execution_plan()); ++i)
      method({program_, *tables_.execution_plan()->Get(i), named_, f_}, place_of_plan(tables_, i));
    external_names();
  }

 private:
  void each_external(auto tell) const {
    for (std::uint32_t plan = 0; plan < size_of(tables_.execution_plan()); ++plan) {
      const auto* values = tables_.execution_plan()->Get(plan)->values();
      for (std::uint32_t i = 0; i < size_of(values); ++i) {
        const pte::Tensor* t = values->Get(i)->val_as_Tensor();
        if (t && is_external(*t) && !name_of(*t).empty()) tell(Value{plan, i});
      }
    }
  }
  std::uint64_t count_external() const {
    std::uint64_t n = 0;
    each_external([&](const Value&) { ++n; });
    return n;
  }
  // The length of the longest list that scratch_ holds.
  std::uint32_t longest_list() const {
    std::uint32_t longest = size_of(tables_.mutable_data_segments());
    for (std::uint32_t i = 0; i < size_of(tables_.execution_plan()); ++i)
      longest = std::max(longest, size_of(tables_.execution_plan()->Get(i)->non_const_buffer_device()));
    return longest;
  }

  // Calls tell(i) for each index below `size` whose key an earlier index has.
  void repeated(std::uint32_t size, auto key, auto tell) {
    const auto order = scratch_.first(size);
    std::iota(order.begin(), order.end(), 0);
    sort_by(order, key);
    each_repeated(std::span<const std::uint32_t>(order), key, [&](std::uint32_t, std::uint32_t i) { tell(i); });
  }

  void constants() {
    if (uses_constant_buffer(tables_)) return;
    const Place place{nullptr, "constant_segment"};
    const pte::SubsegmentOffsets& constants = *tables_.constant_segment();
    const auto offsets = items(constants.offsets());
    f_.check(size_of(tables_.constant_buffer()) == 0, "G4", place, "there is a constant_buffer too");
    f_.check(constants.segment_index() < program_.segment_count(), "G5", place, "names segment ",
             constants.segment_index(), ", but there are ", program_.segment_count());
    f_.check(offsets.front() == 0 && std::ranges::is_sorted(offsets), "G8", place, "its offsets do not ascend from 0");
  }

  void initial_data() {
    const auto* parts = tables_.mutable_data_segments();
    const auto segment = [&](std::uint32_t i) { return parts->Get(i)->segment_index(); };
    for (std::uint32_t i = 0; i < size_of(parts); ++i) {
      const Place place{nullptr, "mutable_data_segments", i};
      if (!f_.check(segment(i) < program_.segment_count(), "G14", place, "names segment ", segment(i),
                    ", but there are ", program_.segment_count()))
        continue;
      const std::size_t size = program_.segment(segment(i)).size();
      f_.check(std::ranges::all_of(items(parts->Get(i)->offsets()), [&](auto offset) { return offset <= size; }), "G14",
               place, "an offset is outside of the segment of ", size, " bytes");
    }
    repeated(size_of(parts), segment, [&](std::uint32_t i) {
      f_.check(false, "G16", {nullptr, "mutable_data_segments", i}, "names segment ", segment(i),
               ", which an earlier one names");
    });
  }

  void named_data() {
    const auto* entries = tables_.named_data();
    f_.check(size_of(entries) == 0 || program_.segment_count() > 0, "G11", {}, "there are named data, but no segments");
    for (std::uint32_t i = 0; i < size_of(entries); ++i)
      f_.check(entries->Get(i)->segment_index() < program_.segment_count(), "G12", {nullptr, "named_data", i},
               "names segment ", entries->Get(i)->segment_index(), ", but there are ", program_.segment_count());
    for (std::size_t i = 0; i < data_.size(); ++i) check_entries(data_[i], data_file(i), f_);
    check_keys(
        named_, [](std::uint32_t file) { return file == 0 ? Place{} : data_file(file - 1); }, f_);
  }
  static Place data_file(std::size_t i) { return {nullptr, "data file", static_cast<std::int64_t>(i)}; }

  void method_names() {
    const auto name = [&](std::uint32_t plan) { return methods_.name(plan); };
    for (const std::uint32_t i : methods_.sorted())
      if (!f_.check(!name(i).empty(), "G2", {nullptr, "plan", i}, "its name is empty")) break;
    each_repeated(methods_.sorted(), name, [&](std::uint32_t, std::uint32_t i) {
      f_.check(false, "G2", {nullptr, "plan", i}, "its name ", Quoted{name(i)}, " is that of an earlier plan");
    });
  }

  void method(const MethodCheck& m, const Place& place) {
    memories(m.plan, place);
    arguments(m, items(m.plan.inputs()), "input", place);
    arguments(m, items(m.plan.outputs()), "output", place);
    check_values(m, place);
    check_instructions(m, place);
  }

  void memories(const pte::ExecutionPlan& plan, const Place& place) {
    const auto sizes = items(plan.non_const_buffer_sizes());
    f_.check(!sizes.empty(), "M4", place, "non_const_buffer_sizes has no entry 0, the placeholder");
    std::uint64_t all = 0;
    bool fit = true;
    for (std::uint32_t i = 1; i < sizes.size(); ++i)
      if (f_.check(sizes[i] >= 0, "M4", place.in("memory", i), "its size is ", sizes[i])) {
        const auto size = static_cast<std::uint64_t>(sizes[i]);
        fit = fit && within(all, size, largest_signed);
        all += size;
      }
    f_.check(fit, "M4", place, "its memories have together more bytes than there can be");
    devices(plan, sizes.size(), place);
  }

  void devices(const pte::ExecutionPlan& plan, std::size_t memories, const Place& place) {
    const auto* devices = plan.non_const_buffer_device();
    const auto memory = [&](std::uint32_t i) { return devices->Get(i)->buffer_idx(); };
    for (std::uint32_t i = 0; i < size_of(devices); ++i) {
      f_.check(memory(i) > 0 && static_cast<std::uint32_t>(memory(i)) < memories, "M6", place, "names memory ",
               memory(i), " with a device, but there is no such memory");
      f_.check(devices->Get(i)->device_type() == pte::DeviceType::CPU, "T9", place.in("memory", memory(i)),
               "is on a device that is not the CPU");
    }
    repeated(size_of(devices), memory, [&](std::uint32_t i) {
      f_.check(false, "M6", place, "names memory ", memory(i), " with a device, which is named already");
    });
  }

  void arguments(const MethodCheck& m, std::span<const std::int32_t> indices, std::string_view kind,
                 const Place& plan) {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const Place place = plan.in(kind, static_cast<std::int64_t>(i));
      if (!m.check_index(indices[i], "M2", place)) continue;
      const auto type = m.value(indices[i]).val_type();
      f_.check(type <= pte::KernelTypes::String, "M10", place, "is a ", EnumNameKernelTypes(type),
               ", but must be no list");
    }
  }

  void external_names() {
    auto next = external_.begin();
    each_external([&](const Value& v) { *next++ = v; });
    const auto tensor = [&](const Value& v) -> const pte::Tensor& {
      return *tables_.execution_plan()->Get(v.plan)->values()->Get(v.index)->val_as_Tensor();
    };
    const auto name = [&](const Value& v) { return name_of(tensor(v)); };
    sort_by(external_, name);
    each_repeated(std::span<const Value>(external_), name, [&](const Value& first, const Value& v) {
      const Place plan = place_of_plan(tables_, v.plan);
      f_.check(same(layout_of(tensor(v)), layout_of(tensor(first))), "V11", plan.in("value", v.index), "has the name ",
               Quoted{name(v)}, " of an earlier tensor, but another dtype, other sizes or dim order");
    });
  }

  const ProgramView& program_;
  const pte::Program& tables_;
  std::span<const DataView> data_;
  Findings& f_;
  Methods methods_;
  NamedData named_;
  std::span<Value> external_;
  std::span<std::uint32_t> scratch_;
};

}  // namespace

void check(const ProgramView& program, std::span<const DataView> data, Workspace& workspace, Findings& findings) {
  const auto before = findings.count();
  {
    const Workspace::Scope scope(workspace);
    ProgramCheck all(program, data, workspace, findings);
    if (has_room(workspace, findings)) all.run();
  }
  if (findings.count() == before) check_flow(program, workspace, findings);
}

void check(const DataView& data, Workspace& workspace, Findings& findings) {
  const Workspace::Scope scope(workspace);
  const NamedData named(nullptr, {&data, 1}, workspace);
  if (!has_room(workspace, findings)) return;
  check_entries(data, {}, findings);
  check_keys(
      named, [](std::uint32_t) { return Place{}; }, findings);
}

void check_memories(const pte::ExecutionPlan& plan, std::span<const std::span<std::byte>> memories, Findings& f) {
  const auto sizes = items(plan.non_const_buffer_sizes());
  for (std::uint32_t i = 1; i < sizes.size(); ++i) {
    const Place place{nullptr, "memory", i};
    if (sizes[i] == 0 ||
        !f.check(i <= memories.size(), "T17", place, "is not given, but the plan has ", sizes[i], " bytes in it"))
      continue;
    f.check(memories[i - 1].size() >= static_cast<std::uint64_t>(sizes[i]), "M11", place, "is given with ",
            memories[i - 1].size(), " bytes, but the plan has ", sizes[i]);
  }
}

}  // namespace assay::format
