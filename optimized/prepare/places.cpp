#include <algorithm>
#include <cstring>

#include "format/flow.h"
#include "format/places.h"
#include "optimized/prepare/build.h"

// Where the tensors of a method are in memory.
namespace assay::optimized {

using format::items;

namespace {

constexpr std::uint64_t alignment = 64;
constexpr std::uint64_t aligned(std::uint64_t n) { return (n + alignment - 1) / alignment * alignment; }

bool has_initial_value(const pte::Tensor& t) {
  return t.allocation_info() && (format::is_external(t) || t.data_buffer_idx() > 0);
}

// f(Tensor) for those of all methods that are planned.
template <class F>
void each_planned(const format::ProgramView& program, F f) {
  for (const pte::ExecutionPlan* plan : *program.tables->execution_plan())
    for (const pte::EValue* value : *plan->values())
      if (const pte::Tensor* t = value->val_as_Tensor(); t && t->allocation_info()) f(*plan, *t);
}

}  // namespace

// The methods of a program share the memories into which they plan nothing but named state.
bool Builder::is_shared(std::uint32_t memory) const {
  bool shared = true;
  each_planned(program_.view(), [&](const pte::ExecutionPlan&, const pte::Tensor& t) {
    shared = shared && (t.allocation_info()->memory_id() != memory || !format::name_of(t).empty());
  });
  return shared;
}

bool Builder::place_constant(Tensor& tensor, const pte::Tensor& from, std::uint32_t v) {
  const std::uint64_t n = format::bytes_of(from);
  std::span<const std::byte> data;
  if (format::is_external(from)) {
    const auto found = named_.find(format::name_of(from));
    if (!found)
      return refuse(fault_, "T19", place_of(v), "wants external data ", format::Quoted{format::name_of(from)},
                    ", which no data file has");
    data = found->bytes;
  } else if (n > 0) {
    data = *format::constant_data(program_.view(), from.data_buffer_idx());
  }
  data = data.first(std::min<std::uint64_t>(data.size(), n));
  const bool in_place = reinterpret_cast<std::uintptr_t>(data.data()) % tensor.element_bytes() == 0;
  tensor.capacity = n;
  if (in_place) {
    tensor.data = const_cast<std::byte*>(data.data());  // which no instruction writes: T15
  } else {
    const auto copy = packed_.take<std::byte>(aligned(n));
    std::copy_n(data.begin(), copy.empty() ? 0 : data.size(), copy.begin());
    tensor.data = copy.data();
  }
  return true;
}

bool Builder::place_tensors() {
  format::Workspace::Scope scope(workspace_);
  const std::uint32_t memories = format::size_of(plan_.non_const_buffer_sizes());
  // Where each planned memory begins, and whether it is one that methods share.
  const auto begins = workspace_.take<std::uint64_t>(memories);
  shared_memories_ = tables_.take<std::uint8_t>(memories);
  const auto shared = shared_memories_;
  if (!has_room()) return false;
  std::uint64_t state = 0;
  for (std::uint32_t i = 1; i < memories; ++i) {
    shared[i] = is_shared(i);
    std::uint64_t size = static_cast<std::uint64_t>(plan_.non_const_buffer_sizes()->Get(i));
    if (shared[i])
      for (const pte::ExecutionPlan* plan : *program_.view().tables->execution_plan())
        if (i < format::size_of(plan->non_const_buffer_sizes()))
          size = std::max(size, static_cast<std::uint64_t>(plan->non_const_buffer_sizes()->Get(i)));
    std::uint64_t& end = shared[i] ? shared_ : arena_;
    begins[i] = end;
    end += aligned(size);
  }
  // The shared state begins with a mark that it has its initial values.
  if (shared_ > 0) state = alignment, shared_ += alignment;
  const auto at = [&](bool in_shared, std::uint64_t offset) -> std::byte* {
    if (!memories_) return nullptr;
    return (in_shared ? memories_->shared.data() + state : memories_->arena.data()) + offset;
  };
  for (std::uint32_t v = 0; v < method_.values(); ++v) {
    const pte::Tensor* from = method_.tensor(v);
    if (!from) continue;
    Tensor& t = tensors_[v];
    if (const auto* plan = from->allocation_info()) {
      t.capacity = format::bytes_of(*from);
      t.data = at(shared[plan->memory_id()], begins[plan->memory_id()] + format::planned_offset(*plan));
    } else if (t.constant) {
      if (!place_constant(t, *from, v)) return false;
    } else if (!t.unbounded) {
      t.capacity = format::bytes_of(*from);
      t.data = at(false, arena_);
      arena_ += aligned(t.capacity);
    }
    t.home = t.data;
  }
  return true;
}

// State begins as zeros, or has its initial value. That which methods share is given them once.
bool Builder::begin_state() {
  format::Workspace::Scope scope(workspace_);
  is_state_ = workspace_.take<std::uint8_t>(method_.values());
  if (!has_room()) return false;
  format::each_state(
      program_.view(), plan_, workspace_,
      [](void* all, std::uint32_t v) { (*static_cast<std::span<std::uint8_t>*>(all))[v] = 1; }, &is_state_);
  const auto initial = [&](const pte::Tensor& from) -> std::span<const std::byte> {
    if (!format::is_external(from)) return *format::initial_data(program_.view(), from.data_buffer_idx());
    const auto found = named_.find(format::name_of(from));
    return found ? found->bytes : std::span<const std::byte>();
  };
  const bool shared_begun = memories_ && shared_ > 0 && memories_->shared[0] != std::byte{0};
  for (std::uint32_t v = 0; v < method_.values(); ++v) {
    const pte::Tensor* from = method_.tensor(v);
    if (!from || tensors_[v].constant) continue;
    Tensor& t = tensors_[v];
    const auto* plan = from->allocation_info();
    const bool in_shared = plan && shared_memories_[plan->memory_id()];
    t.lasts = plan ? is_state_[v] || has_initial_value(*from) || in_shared : !format::name_of(*from).empty();
    if (!t.lasts || !memories_ || (in_shared && shared_begun)) continue;
    if (!in_shared && t.data) std::memset(t.data, 0, t.capacity);
    if (!has_initial_value(*from) || t.capacity == 0) continue;
    const auto bytes = initial(*from);
    if (bytes.size() < t.capacity)
      return refuse(fault_, "T19", place_of(v), "wants external data ", format::Quoted{format::name_of(*from)},
                    ", which no data file has");
    std::memcpy(t.data, bytes.data(), t.capacity);
  }
  if (memories_ && shared_ > 0) memories_->shared[0] = std::byte{1};
  return true;
}

// An input is overwritten where an instruction writes other values to its bytes.
void Builder::mark_overwritten_inputs() {
  const auto inputs = items(plan_.inputs());
  const auto all = tables_.take<std::uint32_t>(inputs.size());
  std::size_t n = 0;
  const auto overlap = [&](std::uint32_t a, std::uint32_t b) {
    const Tensor &x = tensors_[a], &y = tensors_[b];
    const auto *p = method_.tensor(a)->allocation_info(), *q = method_.tensor(b)->allocation_info();
    if (a == b) return true;
    if (!p || !q || p->memory_id() != q->memory_id()) return false;
    const std::uint64_t x0 = format::planned_offset(*p), y0 = format::planned_offset(*q);
    return x0 < y0 + y.capacity && y0 < x0 + x.capacity;
  };
  for (std::size_t i = 0; i < inputs.size() && !all.empty(); ++i) {
    const auto in = static_cast<std::uint32_t>(inputs[i]);
    if (!method_.tensor(in) || tensors_[in].lasts) continue;
    bool over = false;
    for (std::uint32_t k = 0; k < method_.instructions(); ++k)
      format::each_effect(method_, method_.instruction(k), [&](const format::Effect& e) {
        over = over || (format::writes(e.use) && !format::is_alias(e.use) && e.use != format::Use::freed &&
                        method_.tensor(e.value) && overlap(in, e.value));
      });
    if (over) all[n++] = static_cast<std::uint32_t>(i);
  }
  made_->overwritten_ = all.first(n);
}

}  // namespace assay::optimized
