#include <algorithm>
#include <cstring>

#include "format/flow.h"
#include "format/flow_places.h"
#include "format/shared_state.h"
#include "optimized/prepare/build.h"

// Where the tensors of a method are in memory.
namespace assay::optimized {

using format::has_initial_value;
using format::items;

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
  data = data.first(static_cast<std::size_t>(std::min<std::uint64_t>(data.size(), n)));
  const bool in_place = reinterpret_cast<std::uintptr_t>(data.data()) % tensor.element_bytes() == 0;
  tensor.capacity = n;
  if (in_place) {
    tensor.data = const_cast<std::byte*>(data.data());  // which no instruction writes: T15
  } else {
    // Who asks for sizes may look at elements, too, byte by byte: what is decided then is decided again.
    const auto copy = copies_.take<std::byte>(aligned(n));
    std::copy_n(data.begin(), copy.empty() ? 0 : data.size(), copy.begin());
    tensor.data = copy.empty() ? const_cast<std::byte*>(data.data()) : copy.data();
  }
  return true;
}

bool Builder::place_constants() {
  for (std::uint32_t v = 0; v < method_.values(); ++v)
    if (const pte::Tensor* from = method_.tensor(v);
        from && tensors_[v].constant && !place_constant(tensors_[v], *from, v))
      return false;
  return true;
}

bool Builder::mark_state() {
  shared_memories_ = format::shared_memories(program_.view(), options_.share_arenas, workspace_);
  is_state_ = workspace_.take<std::uint8_t>(method_.values());
  if (!has_room()) return false;
  format::each_state(
      program_.view(), plan_, workspace_,
      [](void* all, std::uint32_t v) { (*static_cast<std::span<std::uint8_t>*>(all))[v] = 1; }, &is_state_);
  for (std::uint32_t v = 0; v < method_.values(); ++v) {
    const pte::Tensor* from = method_.tensor(v);
    if (!from || tensors_[v].constant) continue;
    const auto* plan = from->allocation_info();
    const bool shared = plan && shared_memories_[plan->memory_id()];
    tensors_[v].lasts = plan ? is_state_[v] || has_initial_value(*from) || shared : !format::name_of(*from).empty();
    is_state_[v] = tensors_[v].lasts;
  }
  return true;
}

// Where each planned memory begins, in the arena or in the state that methods share, which begins with a mark for each
// method that was made.
void Builder::place_memories(std::span<std::uint64_t> begins) {
  const auto size_in = [](const pte::ExecutionPlan& plan, std::uint32_t i) {
    const auto* sizes = plan.non_const_buffer_sizes();
    return i < format::size_of(sizes) ? static_cast<std::uint64_t>(sizes->Get(i)) : 0;
  };
  for (std::uint32_t i = 1; i < shared_memories_.size(); ++i) {  // as every method has them
    if (!shared_memories_[i]) continue;
    if (shared_ == 0) shared_ = aligned(program_.methods());
    if (i < begins.size()) begins[i] = shared_;
    std::uint64_t size = 0;
    for (const pte::ExecutionPlan* plan : *program_.view().tables->execution_plan())
      size = std::max(size, size_in(*plan, i));
    shared_ += aligned(size);
  }
  for (std::uint32_t i = 1; i < begins.size() && !flow_; ++i) {
    if (shared_memories_[i]) continue;
    begins[i] = arena_;
    arena_ += aligned(size_in(plan_, i));
  }
}

bool Builder::place_tensors() {
  format::Workspace::Scope scope(workspace_);
  const auto begins = workspace_.take<std::uint64_t>(format::size_of(plan_.non_const_buffer_sizes()));
  if (!has_room()) return false;
  place_memories(begins);
  for (std::uint32_t v = 0; v < method_.values(); ++v) {
    const pte::Tensor* from = method_.tensor(v);
    Tensor& t = tensors_[v];
    if (!from || t.constant) continue;
    t.capacity = format::bytes_of(*from);
    const auto* plan = from->allocation_info();
    const bool shared = plan && shared_memories_[plan->memory_id()];
    if (flow_ && !shared) continue;
    const std::uint64_t at = plan ? begins[plan->memory_id()] + format::planned_offset(*plan) : arena_;
    if (!plan) arena_ += aligned(t.capacity);
    if (memories_) t.data = (shared ? memories_->shared : memories_->arena).data() + at;
  }
  if (flow_ && !place_by_lifetime()) return false;
  for (Tensor& t : tensors_) t.home = t.data;
  return true;
}

// State begins as zeros, or has its initial value. That which methods share is given it once.
bool Builder::begin_state() {
  const auto initial = [&](const pte::Tensor& from) -> std::span<const std::byte> {
    if (!format::is_external(from)) return *format::initial_data(program_.view(), from.data_buffer_idx());
    const auto found = named_.find(format::name_of(from));
    return found ? found->bytes : std::span<const std::byte>();
  };
  const std::span<std::byte> made = memories_ && shared_ > 0 ? memories_->shared : std::span<std::byte>();
  std::span<const std::uint8_t> begun;
  if (!made.empty()) begun = format::begun_state(program_.view(), plan_, shared_memories_, made, workspace_);
  if (!has_room()) return false;
  for (std::uint32_t v = 0; v < method_.values(); ++v) {
    const pte::Tensor* from = method_.tensor(v);
    if (!from || tensors_[v].constant) continue;
    Tensor& t = tensors_[v];
    const auto* plan = from->allocation_info();
    const bool in_shared = plan && shared_memories_[plan->memory_id()];
    if (!t.lasts || !memories_) continue;
    if (!in_shared && t.data) std::memset(t.data, 0, static_cast<std::size_t>(t.capacity));
    if (!has_initial_value(*from) || t.capacity == 0) continue;
    if (in_shared && begun[v]) continue;
    const auto bytes = initial(*from);
    if (bytes.size() < t.capacity)
      return refuse(fault_, "T19", place_of(v), "wants external data ", format::Quoted{format::name_of(*from)},
                    ", which no data file has");
    std::memcpy(t.data, bytes.data(), static_cast<std::size_t>(t.capacity));
  }
  const auto& plans = *program_.view().tables->execution_plan();
  for (std::uint32_t i = 0; i < plans.size() && !made.empty(); ++i)
    if (plans[i] == &plan_) made[i] = std::byte{1};
  return true;
}

// An input is overwritten where an instruction writes other values to its bytes. Where the file's plan is what counts,
// others may have the bytes of whatever it has a place for.
void Builder::mark_inputs() {
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
  std::uint64_t looks = Flow::most_steps;
  for (std::size_t i = 0; i < inputs.size() && !all.empty(); ++i) {
    const auto in = static_cast<std::uint32_t>(inputs[i]);
    if (!method_.tensor(in)) continue;
    made_->inputs_[i].own = tensors_[in].home;
    if (tensors_[in].lasts) continue;
    bool over = looks < method_.instructions();  // too much to look at: it is set again
    looks -= std::min<std::uint64_t>(looks, method_.instructions());
    for (std::uint32_t k = 0; k < method_.instructions() && !over; ++k)
      format::each_effect(method_, method_.instruction(k), [&](const format::Effect& e) {
        over = over || (format::writes(e.use) && !format::is_alias(e.use) && e.use != format::Use::freed &&
                        method_.tensor(e.value) && overlap(in, e.value));
      });
    if (over) all[n++] = static_cast<std::uint32_t>(i);
    const bool is_alone =
        flow_ ? flow_->group(in).members == 1 && flow_->group(in).writers == 0 && !flow_->group(in).output
              : !over && !method_.tensor(in)->allocation_info();
    made_->inputs_[i].is_alone = is_alone && !tensors_[in].read_beyond;
  }
  made_->overwritten_ = all.first(n);
}

}  // namespace assay::optimized
