#include "format/shared_state.h"

#include "format/flow.h"
#include "format/flow_places.h"
#include "format/sorted.h"

namespace assay::format {
namespace {

template <class F>
void each_planned(const ProgramView& program, const F& f) {
  for (const pte::ExecutionPlan* plan : *program.tables->execution_plan())
    for (const pte::EValue* value : *plan->values())
      if (const pte::Tensor* t = value->val_as_Tensor(); t && t->allocation_info()) f(*t);
}

std::uint32_t memory_of(const pte::Tensor& t) { return t.allocation_info()->memory_id(); }

struct Listener {
  const pte::ExecutionPlan& plan;
  std::span<std::uint8_t> shared;
};

void share_state(void* listener, std::uint32_t v) {
  const auto& [plan, shared] = *static_cast<const Listener*>(listener);
  shared[memory_of(*plan.values()->Get(v)->val_as_Tensor())] = 1;
}

}  // namespace

std::span<std::uint8_t> shared_memories(const ProgramView& program, bool arenas, Workspace& workspace) {
  const auto& plans = *program.tables->execution_plan();
  std::uint32_t memories = 0, named = 0;
  for (const pte::ExecutionPlan* plan : plans) memories = std::max(memories, size_of(plan->non_const_buffer_sizes()));
  each_planned(program, [&](const pte::Tensor& t) { named += !name_of(t).empty(); });
  const auto shared = workspace.take<std::uint8_t>(memories);
  const Workspace::Scope scope(workspace);
  const auto tensors = workspace.take<const pte::Tensor*>(named);
  if (!workspace.counts_only() && workspace.has_room()) {
    std::size_t n = 0;
    each_planned(program, [&](const pte::Tensor& t) {
      if (!name_of(t).empty()) shared[memory_of(t)] = 1, tensors[n++] = &t;
    });
    const auto key = [](const pte::Tensor* t) { return std::pair(memory_of(*t), name_of(*t)); };
    sort_by(tensors, key);
    each_repeated(std::span<const pte::Tensor* const>(tensors), key, [&](const pte::Tensor* a, const pte::Tensor* b) {
      if (!same_beginning(*a, *b)) shared[memory_of(*a)] = 0;
    });
    each_planned(program, [&](const pte::Tensor& t) {
      if (name_of(t).empty()) shared[memory_of(t)] = 0;
    });
  }
  for (const pte::ExecutionPlan* plan : plans) {
    if (!arenas) break;
    Listener listener{*plan, shared};
    each_state(program, *plan, workspace, share_state, &listener);
  }
  if (!arenas || workspace.counts_only() || !workspace.has_room()) return shared;
  each_planned(program, [&](const pte::Tensor& t) {
    if (has_initial_value(t)) shared[memory_of(t)] = 1;
  });
  return shared;
}

std::span<std::uint8_t> begun_state(const ProgramView& program, const pte::ExecutionPlan& plan,
                                    std::span<const std::uint8_t> shared, std::span<const std::byte> made,
                                    Workspace& workspace) {
  const auto& plans = *program.tables->execution_plan();
  const auto begun = workspace.take<std::uint8_t>(plan.values()->size());
  const Workspace::Scope scope(workspace);
  const auto is_shared_state = [&](const pte::Tensor* t) {
    return t && has_initial_value(*t) && (workspace.counts_only() || shared[memory_of(*t)]);
  };
  const auto each = [&](const auto& f) {
    for (std::uint32_t i = 0; i < plans.size(); ++i)
      if (workspace.counts_only() || made[i] != std::byte{0})
        for (const pte::EValue* value : *plans[i]->values())
          if (const pte::Tensor* t = value->val_as_Tensor(); is_shared_state(t)) f(t);
  };
  std::size_t n = 0;
  each([&](const pte::Tensor*) { ++n; });
  const auto given = workspace.take<const pte::Tensor*>(n);
  if (workspace.counts_only() || !workspace.has_room()) return begun;
  n = 0;
  each([&](const pte::Tensor* t) { given[n++] = t; });
  const auto place = [](const pte::Tensor* t) {
    return std::pair(memory_of(*t), planned_offset(*t->allocation_info()));
  };
  sort_by(given, place);
  for (std::uint32_t v = 0; v < begun.size(); ++v)
    if (const pte::Tensor* t = plan.values()->Get(v)->val_as_Tensor(); is_shared_state(t))
      begun[v] = find_by(std::span<const pte::Tensor* const>(given), place(t), place) != nullptr;
  return begun;
}

}  // namespace assay::format
