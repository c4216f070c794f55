#include <algorithm>

#include "format/flow.h"
#include "format/flow_places.h"
#include "format/shared_state.h"
#include "optimized/prepare/pte/plan_reader.h"

// Where a plan has the bytes of tensors, and what these begin as.
namespace assay::optimized {

// A memory is as large as the plan uses it. A shared memory is as large as any method of the program uses it.
void PlanReader::read_memories() {
  shared_memories_ = format::shared_memories(program_.view(), options_.share_arenas, workspace_);
  source_.memories = workspace_.take<PlannedMemory>(std::max<std::size_t>(shared_memories_.size(), 1));
  if (!has_room()) return;
  for (std::size_t i = 1; i < shared_memories_.size(); ++i) source_.memories[i].is_shared = shared_memories_[i] != 0;
  for (const pte::ExecutionPlan* plan : *program_.view().tables->execution_plan()) {
    using Raise = void (*)(void*, std::uint32_t, std::uint64_t);
    constexpr Raise raise = [](void* memories, std::uint32_t i, std::uint64_t end) {
      PlannedMemory& memory = static_cast<PlannedMemory*>(memories)[i];
      memory.bytes = std::max(memory.bytes, end);
    };
    constexpr Raise raise_shared = [](void* memories, std::uint32_t i, std::uint64_t end) {
      if (static_cast<PlannedMemory*>(memories)[i].is_shared) raise(memories, i, end);
    };
    format::each_end(*plan, plan == &plan_ ? raise : raise_shared, source_.memories.data());
  }
}

// The bytes of a constant, or the initial value of state.
void PlanReader::read_content(Storage& to, const pte::Tensor& from) const {
  if (format::is_external(from)) {
    const auto found = named_.find(to.name);
    to.is_missing = !found;
    if (found) to.content = found->bytes;
  } else if (to.bytes > 0) {
    const auto data = to.has_initial ? format::initial_data : format::constant_data;
    to.content = *data(program_.view(), from.data_buffer_idx());
  }
  to.content = to.content.first(static_cast<std::size_t>(std::min<std::uint64_t>(to.content.size(), to.bytes)));
}

void PlanReader::read_storage(std::uint32_t v, const pte::Tensor& from) {
  Storage& to = source_.storage[v];
  to.bytes = format::bytes_of(from), to.name = format::name_of(from);
  if (const auto* place = from.allocation_info())
    to.memory = place->memory_id(), to.offset = format::planned_offset(*place);
  to.has_initial = format::has_initial_value(from);
  if (to.has_initial || source_.tensors[v].constant) read_content(to, from);
}

// Whether the tensor is state. `is_live`: its bytes are read before an instruction writes them.
bool PlanReader::is_kept(std::uint32_t v, const pte::Tensor& from, std::span<const std::uint8_t> is_live) const {
  if (source_.tensors[v].constant) return false;
  if (source_.storage[v].memory == 0) return !format::name_of(from).empty();
  return is_live[v] || source_.storage[v].has_initial || source_.memories[source_.storage[v].memory].is_shared;
}

bool PlanReader::read_state(std::span<const std::byte> shared) {
  auto is_live = workspace_.take<std::uint8_t>(method_.values());
  if (!has_room()) return false;
  format::each_state(
      program_.view(), plan_, workspace_,
      [](void* all, std::uint32_t v) { (*static_cast<std::span<std::uint8_t>*>(all))[v] = 1; }, &is_live);
  const bool any_shared = std::ranges::any_of(source_.memories, &PlannedMemory::is_shared);
  std::span<const std::uint8_t> is_begun;
  if (any_shared && !shared.empty())
    is_begun = format::begun_state(program_.view(), plan_, shared_memories_, shared, workspace_);
  for (std::uint32_t v = 0; v < source_.values.size() && has_room(); ++v)
    if (const pte::Tensor* from = method_.tensor(v)) {
      source_.tensors[v].lasts = is_kept(v, *from, is_live);
      source_.storage[v].is_begun = !is_begun.empty() && is_begun[v];
    }
  return has_room();
}

}  // namespace assay::optimized
