#include <algorithm>
#include <limits>
#include <set>

#include "format/flow.h"
#include "format/flow_places.h"
#include "format/shared_state.h"
#include "reference/program/memory.h"
#include "reference/runtime/interpreter.h"

// Prepares a method: memory, values, operators, delegates.
namespace assay {
namespace {

using format::has_initial_value;
using format::is_external;
using format::items;
using format::name_of;
using format::planned_offset;
using format::size_of;
using format::text_of;

constexpr Int work_of_value = 500;

template <class F>
void each_plan(const pte::Program& program, F f) {
  for (std::uint32_t i = 0; i < size_of(program.execution_plan()); ++i) f(*program.execution_plan()->Get(i));
}

// Raises the size of each planned memory to what the plan uses of it.
void raise(MemorySizes& sizes, const pte::ExecutionPlan& plan) {
  const auto raise_one = [](void* context, std::uint32_t memory, std::uint64_t end) {
    auto& all = *static_cast<MemorySizes*>(context);
    all.resize(std::max<std::size_t>(all.size(), memory + std::size_t{1}));
    all[memory] = std::max(all[memory], end);
  };
  format::each_end(plan, raise_one, &sizes);
}

// By value, whether it is state: planned, and live into the method.
std::vector<bool> state_of(const format::ProgramView& program, const pte::ExecutionPlan& plan) {
  std::vector<bool> state(size_of(plan.values()));
  const auto tell = [](void* all, std::uint32_t value) { (*static_cast<std::vector<bool>*>(all))[value] = true; };
  with_workspace([&](format::Workspace& w) { each_state(program, plan, w, tell, &state); });
  return state;
}

}  // namespace

LoadedProgram::Shared::Shared(ValidProgram p, RuntimeOptions o) : program(std::move(p)), options(std::move(o)) {
  with_workspace([&](format::Workspace& w) {
    const auto shared = format::shared_memories(program->view(), options.share_arenas, w);
    for (std::uint32_t i = 0; i < shared.size(); ++i)
      if (shared[i]) state[i];
  });
  if (!state.empty()) each_plan(program->tables(), [&](const pte::ExecutionPlan& plan) { raise(shared_sizes, plan); });
}

Interpreter::Interpreter(std::shared_ptr<LoadedProgram::Shared> shared, const pte::ExecutionPlan& plan)
    : shared_(std::move(shared)), plan_(plan), executed_(shared_->options.nested.executed) {
  if (!executed_) executed_ = std::make_shared<Int>(0);
  make_kernels();
  raise(memory_sizes_, plan_);
  make_slots();
  make_delegates();
  restart();
}

std::shared_ptr<Memory> Interpreter::planned(std::uint32_t id) {
  const auto state = shared_->state.find(id);
  const bool shared = state != shared_->state.end();
  std::shared_ptr<Memory>& memory = shared ? state->second : planned_[id];
  if (memory) return memory;
  const std::uint64_t bytes = (shared ? shared_->shared_sizes : memory_sizes_)[id];
  const std::string what = concat("planned memory ", id);
  const Budget::Scope scope(budget(), what);
  memory = Memory::planned(static_cast<std::size_t>(bytes), shared ? std::byte{0} : shared_->options.fill);
  if (!shared) memories_.push_back(memory);
  return memory;
}

std::span<const std::byte> Interpreter::external(const pte::Tensor& tensor, std::size_t bytes,
                                                 const Place& place) const {
  const auto found = shared_->program.named(name_of(tensor));
  const format::Quoted name{name_of(tensor)};
  if (!found) throw broken("T19", place, "needs external data ", name, ", which no data file has");
  return found->bytes.first(bytes);
}

Storage Interpreter::storage_of(const pte::Tensor& tensor, std::size_t bytes, const Place& place) {
  const auto constant = [&](std::span<const std::byte> data) { return Storage{Memory::constant(data), 0, bytes}; };
  if (const auto* plan = tensor.allocation_info()) return {planned(plan->memory_id()), planned_offset(*plan), bytes};
  if (is_external(tensor)) return constant(external(tensor, bytes, place));
  if (tensor.data_buffer_idx() > 0)
    return constant(bytes == 0 ? std::span<const std::byte>()
                               : constant_data(shared_->program->view(), tensor.data_buffer_idx())->first(bytes));
  memories_.push_back(Memory::own());
  const bool bounded = tensor.shape_dynamism() != pte::TensorShapeDynamism::DYNAMIC_UNBOUND;
  return {memories_.back(), 0, bounded ? bytes : std::numeric_limits<std::size_t>::max()};
}

// State begins as zeros or with its initial value. The first method writes it; other methods leave it as it is.
void Interpreter::begin_state(const pte::Tensor& tensor, HeldTensor& held, const Place& place) {
  const auto [memory, at, bytes] = held.home;
  held.lasts = true;
  if (memory->written(at) < held.bytes()) memory->begin_as_zeros(at, held.bytes());
  if (!has_initial_value(tensor)) return;
  const std::uint32_t id = tensor.allocation_info()->memory_id();
  if (!(shared_->state.contains(id) ? shared_->begun : begun_).emplace(id, at).second) return;
  const auto from = is_external(tensor)
                        ? external(tensor, bytes, place)
                        : initial_data(shared_->program->view(), tensor.data_buffer_idx())->first(bytes);
  memory->write(at, from, Memory::By::state);
}

Held Interpreter::make_tensor(const pte::Tensor& tensor, bool is_state, const Place& place) {
  const Held held = std::allocate_shared<HeldTensor>(Charged<HeldTensor>());
  held->dtype = *dtype_numbered(static_cast<Int>(tensor.scalar_type()));
  held->declared = held->sizes = dims(tensor.sizes());
  held->dim_order = dims(tensor.dim_order());
  held->dynamism = static_cast<HeldTensor::Dynamism>(tensor.shape_dynamism());
  held->home = held->storage = storage_of(tensor, held->bytes(), place);
  // State without planned memory has a name.
  const auto* plan = tensor.allocation_info();
  const bool state = plan ? is_state || has_initial_value(tensor) || shared_->state.contains(plan->memory_id())
                          : !held->home.memory->is_constant() && !name_of(tensor).empty();
  if (state && held->bytes() > 0) begin_state(tensor, *held, place);
  return held;
}

Slot Interpreter::make_slot(const pte::EValue& value, bool is_state, const Place& place) {
  switch (value.val_type()) {
    case pte::KernelTypes::NONE:
    case pte::KernelTypes::Null:
      return {};
    case pte::KernelTypes::Int:
      return Int{value.val_as_Int()->int_val()};
    case pte::KernelTypes::Double:
      return value.val_as_Double()->double_val();
    case pte::KernelTypes::Bool:
      return value.val_as_Bool()->bool_val();
    case pte::KernelTypes::String:
      return std::string(text_of(value.val_as_String()->string_val()));
    case pte::KernelTypes::Tensor:
      return make_tensor(*value.val_as_Tensor(), is_state, place);
    default:
      return &value;
  }
}

void Interpreter::make_slots() {
  budget().work(work_of_value * size_of(plan_.values()), "a method");
  const std::vector<bool> state = state_of(shared_->program->view(), plan_);
  const Place method = place_of(plan_);
  const std::scoped_lock lock(shared_->making);
  initial_.reserve(size_of(plan_.values()));
  for (std::uint32_t i = 0; i < size_of(plan_.values()); ++i)
    initial_.push_back(make_slot(*plan_.values()->Get(i), state[i], method.in("value", i)));
  for (const std::int32_t i : items(plan_.inputs()))
    if (const Held* t = std::get_if<Held>(&initial_[index(i)])) (*t)->lasts = true;
}

Interpreter::Kernel Interpreter::find_kernel(const pte::Operator& op) {
  Kernel kernel;
  kernel.name = operator_name(op);
  if (kernel.name == "executorch_prim::et_view.default") kernel.handle = &Interpreter::view;
  if (kernel.name == "executorch_prim::et_copy_index.tensor") kernel.handle = &Interpreter::copy_index;
  kernel.op = find_operator(kernel.name);
  kernel.roles = format::find_roles(op);
  return kernel;
}

// An operator that the program lists but never calls need not be known.
void Interpreter::make_kernels() {
  format::Text missing;
  kernels_.resize(size_of(plan_.operators()));
  for (std::uint32_t c = 0; c < size_of(plan_.chains()); ++c)
    for (std::uint32_t i = 0; i < size_of(plan_.chains()->Get(c)->instructions()); ++i) {
      const auto* call = plan_.chains()->Get(c)->instructions()->Get(i)->instr_args_as_KernelCall();
      if (!call || !kernels_[index(call->op_index())].name.empty()) continue;
      Kernel& kernel = kernels_[index(call->op_index())];
      kernel = find_kernel(*plan_.operators()->Get(static_cast<std::uint32_t>(call->op_index())));
      if (!kernel.op && !kernel.handle)
        missing.add(missing.view().empty() ? "" : ", ").add(format::Quoted{kernel.name});
    }
  if (const std::string_view all = missing.view(); !all.empty())
    throw broken("I4", place_of(plan_), "calls operators that have no implementation: ", all);
}

void Interpreter::make_delegates() {
  RuntimeOptions options = shared_->options;  // the options of delegated programs
  options.nested = {options.nested.depth + 1, executed_};
  for (std::uint32_t i = 0; i < size_of(plan_.delegates()); ++i) {
    const pte::BackendDelegate& d = *plan_.delegates()->Get(i);
    const Place method = place_of(plan_), place = method.in("delegate", i);
    const auto backend = shared_->options.backends.find(text_of(d.id()));
    if (backend == shared_->options.backends.end())
      throw broken("D2", place, "needs the backend ", format::Quoted{text_of(d.id())}, ", which is not registered");
    DelegateSource source{format::payload(shared_->program->view(), d), {}, options, {}, &plan_, i};
    for (std::uint32_t s = 0; s < size_of(d.compile_specs()); ++s) {
      const pte::CompileSpec& spec = *d.compile_specs()->Get(s);
      source.compile_specs.push_back({text_of(spec.key()), std::as_bytes(items(spec.value()))});
    }
    source.named_data = [program = shared_->program](std::string_view key) {
      const auto found = program.named(key);
      return found ? std::optional(found->bytes) : std::nullopt;
    };
    try {
      delegates_.push_back(backend->second(source));
    } catch (Fault& f) {
      f.place = text_of(place) + (f.place.empty() ? "" : ", ") + f.place;
      throw;
    }
  }
}

}  // namespace assay
