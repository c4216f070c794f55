#include <algorithm>
#include <limits>
#include <numeric>

#include "reference/runtime/machine.h"

// Making a method ready: memory, values, operators, delegates.
namespace assay {
namespace {

std::string_view name_of(const pte::TensorT& t) {
  return t.extra_tensor_info ? std::string_view(t.extra_tensor_info->fully_qualified_name) : std::string_view();
}

Dims dims(const auto& values) {
  Dims d;
  for (const auto v : values) d.push_back(v);
  return d;
}

// Memories into which the program's methods plan nothing but state, each name at one place.
std::set<std::uint32_t> state_memories(const pte::ProgramT& program) {
  std::map<std::pair<std::uint32_t, std::string_view>, std::uint64_t> places;
  std::set<std::uint32_t> state, other;
  for (const auto& plan : program.execution_plan)
    for (const auto& v : plan->values) {
      const pte::TensorT* t = v->val.AsTensor();
      if (!t || !t->allocation_info) continue;
      const std::uint32_t memory = t->allocation_info->memory_id;
      const std::uint64_t offset = planned_offset(*t->allocation_info);
      const bool named =
          !name_of(*t).empty() && places.try_emplace({memory, name_of(*t)}, offset).first->second == offset;
      (named ? state : other).insert(memory);
    }
  std::erase_if(state, [&](std::uint32_t memory) { return other.contains(memory); });
  return state;
}

std::size_t largest_size(const pte::ProgramT& program, std::uint32_t memory) {
  Int bytes = 0;
  for (const auto& plan : program.execution_plan)
    if (memory < plan->non_const_buffer_sizes.size()) bytes = std::max(bytes, plan->non_const_buffer_sizes[memory]);
  return static_cast<std::size_t>(bytes);
}

bool has_initial_value(const pte::TensorT& t) { return t.allocation_info && (is_external(t) || t.data_buffer_idx > 0); }

// TODO-FLOW
class LiveIn {
 public:
  explicit LiveIn(const pte::ExecutionPlanT& plan) : plan_(plan), live_(plan.values.size()) {
    for (const auto i : plan.inputs) write(i);
    for (const auto& chain : plan.chains)
      for (const auto& instruction : chain->instructions) run(instruction->instr_args);
    for (const auto i : plan.outputs) read(i);
  }
  std::vector<bool> live() && { return std::move(live_); }

 private:
  template <class F>
  void each(std::int32_t i, F f) {
    if (i < 0 || index(i) >= live_.size()) return;
    const pte::KernelTypesUnion& v = plan_.values[index(i)]->val;
    if (const auto* l = v.AsTensorList())
      for (const auto e : l->items) each(e, f);
    if (const auto* l = v.AsOptionalTensorList())
      for (const auto e : l->items) each(e, f);
    const pte::TensorT* t = v.AsTensor();
    if (!t || !t->allocation_info) return;
    const auto bytes = static_cast<std::size_t>(count(dims(t->sizes)) * info(*dtype_numbered(t->scalar_type)).bytes);
    f(index(i), defined_[t->allocation_info->memory_id], planned_offset(*t->allocation_info), bytes);
  }
  void read(std::int32_t i) {
    each(i, [&](std::size_t v, const Definedness& d, std::size_t at, std::size_t bytes) {
      if (d.written(at) < bytes) live_[v] = true;
    });
  }
  void write(std::int32_t i) {
    each(i, [](std::size_t, Definedness& d, std::size_t at, std::size_t bytes) {
      d.make_room(1), d.write(at, bytes, Definedness::By::instruction);
    });
  }
  void run(const pte::InstructionArgumentsUnion& what) {
    if (const auto* call = what.AsKernelCall()) {
      const std::string name = operator_name(*plan_.operators[index(call->op_index)]);
      const Operator* op = find_operator(name);
      for (const bool writes : {false, true})
        for (std::size_t i = 0; i < call->args.size(); ++i) {
          const bool out = op ? i < op->arguments.size() && op->arguments[i].out
                              : i == (name == "executorch_prim::et_copy_index.tensor" ? 0u : 2u);
          if (out == writes) out ? write(call->args[i]) : read(call->args[i]);
        }
    }
    if (const auto* d = what.AsDelegateCall())
      for (const auto i : d->args) read(i), write(i);
    if (const auto* j = what.AsJumpFalseCall()) read(j->cond_value_index);
  }
  const pte::ExecutionPlanT& plan_;
  std::vector<bool> live_;
  std::map<std::uint32_t, Definedness> defined_;
};
std::vector<bool> live_in(const pte::ExecutionPlanT& plan) { return LiveIn(plan).live(); }

}  // namespace

LoadedProgram::Shared::Shared(ValidProgram p, std::vector<DataFile> d, RuntimeOptions o)
    : program(std::move(p)), data(std::move(d)), options(std::move(o)) {
  for (const std::uint32_t memory : state_memories(program->tables)) state[memory];
}

std::optional<std::span<const std::byte>> LoadedProgram::Shared::named(std::string_view key) const {
  if (const auto own = named_data(*program, key)) return own;
  for (const DataFile& file : data)
    if (const ptd::NamedDataT* entry = find_named(file, key))
      return std::span<const std::byte>(file.segments[entry->segment_index]);
  return {};
}

Machine::Machine(std::shared_ptr<LoadedProgram::Shared> shared, const pte::ExecutionPlanT& plan)
    : shared_(std::move(shared)), plan_(plan) {
  make_kernels();
  make_slots();
  make_delegates();
  restart();
}

std::shared_ptr<Memory> Machine::planned(std::uint32_t id) {
  const auto state = shared_->state.find(id);
  const bool shared = state != shared_->state.end();
  std::shared_ptr<Memory>& memory = shared ? state->second : planned_[id];
  if (memory) return memory;
  const std::size_t bytes =
      shared ? largest_size(shared_->program->tables, id) : static_cast<std::size_t>(plan_.non_const_buffer_sizes[id]);
  const std::string what = text("planned memory ", id);
  const Budget::Scope scope(shared_->options.budget, what);
  memory = Memory::planned(bytes, shared ? std::byte{0} : shared_->options.fill);
  if (!shared) memories_.push_back(memory);
  return memory;
}

std::span<const std::byte> Machine::external(const pte::TensorT& tensor, std::size_t bytes, const Place& place) const {
  const auto found = shared_->named(name_of(tensor));
  if (!found) throw broken("T19", place, "wants external data \"", name_of(tensor), "\", which no data file has");
  if (found->size() < bytes)
    throw broken("T21", place, "wants ", bytes, " bytes of external data \"", name_of(tensor), "\", which has ",
                 found->size());
  return found->first(bytes);
}

Storage Machine::storage_of(const pte::TensorT& tensor, std::size_t bytes, const Place& place) {
  const auto constant = [&](std::span<const std::byte> data) {
    return Storage{Memory::constant(data, shared_), 0, bytes};
  };
  if (const auto& plan = tensor.allocation_info) return {planned(plan->memory_id), planned_offset(*plan), bytes};
  if (is_external(tensor)) return constant(external(tensor, bytes, place));
  if (tensor.data_buffer_idx > 0)
    return constant(bytes == 0 ? std::span<const std::byte>()
                               : constant_data(*shared_->program, tensor.data_buffer_idx)->first(bytes));
  memories_.push_back(Memory::own());
  const bool bounded = tensor.shape_dynamism != pte::TensorShapeDynamism::DYNAMIC_UNBOUND;
  return {memories_.back(), 0, bounded ? bytes : std::numeric_limits<std::size_t>::max()};
}

// State is zeros, or has its initial value, which it is given once: the other methods find it as it is.
void Machine::begin_state(const pte::TensorT& tensor, HeldTensor& held, const Place& place) {
  const auto [memory, at, bytes] = held.home;
  held.lasts = true;
  if (memory->written(at) < held.bytes()) memory->begin_as_zeros(at, held.bytes());
  if (!has_initial_value(tensor)) return;
  const std::uint32_t id = tensor.allocation_info->memory_id;
  if (!(shared_->state.contains(id) ? shared_->begun : begun_).emplace(id, at).second) return;
  const auto from = is_external(tensor) ? external(tensor, bytes, place)
                                        : initial_data(*shared_->program, tensor.data_buffer_idx)->first(bytes);
  memory->write(at, from, Memory::By::state);
}

Held Machine::make_tensor(const pte::TensorT& tensor, bool live_in, const Place& place) {
  const Held held = std::make_shared<HeldTensor>();
  held->dtype = *dtype_numbered(tensor.scalar_type);
  held->declared = held->sizes = dims(tensor.sizes);
  held->dim_order = dims(tensor.dim_order);
  held->dynamism = static_cast<HeldTensor::Dynamism>(tensor.shape_dynamism);
  held->home = held->storage = storage_of(tensor, held->bytes(), place);
  // State that the plan leaves to the caller has a name.
  const bool state = tensor.allocation_info ? live_in || has_initial_value(tensor) ||
                                                  shared_->state.contains(tensor.allocation_info->memory_id)
                                            : !held->home.memory->is_constant() && !name_of(tensor).empty();
  if (state && held->bytes() > 0) begin_state(tensor, *held, place);
  return held;
}

void Machine::make_slots() {
  using pte::KernelTypes;
  const std::vector<bool> state = live_in(plan_);
  const std::scoped_lock lock(shared_->making);
  for (const auto& v : plan_.values) {
    const pte::KernelTypesUnion& val = v->val;
    const auto i = static_cast<Int>(initial_.size());
    const Place method{nullptr, plan_.name};
    switch (val.type) {
      case KernelTypes::Int:
        initial_.emplace_back(Int{val.AsInt()->int_val});
        break;
      case KernelTypes::Double:
        initial_.emplace_back(val.AsDouble()->double_val);
        break;
      case KernelTypes::Bool:
        initial_.emplace_back(val.AsBool()->bool_val);
        break;
      case KernelTypes::String:
        initial_.emplace_back(val.AsString()->string_val);
        break;
      case KernelTypes::Tensor:
        initial_.emplace_back(make_tensor(*val.AsTensor(), state[initial_.size()], method.in("value", i)));
        break;
      case KernelTypes::NONE:
      case KernelTypes::Null:
        initial_.emplace_back();
        break;
      default:
        initial_.emplace_back(&val);
    }
  }
  for (const std::int32_t i : plan_.inputs)
    if (const Held* t = std::get_if<Held>(&initial_[index(i)])) (*t)->lasts = true;
}

Machine::Kernel Machine::find_kernel(const pte::OperatorT& op) {
  Kernel kernel;
  kernel.name = operator_name(op);
  if (kernel.name == "executorch_prim::et_view.default") kernel.handle = &Machine::view;
  if (kernel.name == "executorch_prim::et_copy_index.tensor") kernel.handle = &Machine::copy_index;
  kernel.op = find_operator(kernel.name);
  if (!kernel.op) return kernel;
  const auto& schema = kernel.op->arguments;
  Indices changed;
  kernel.from.resize(schema.size());
  std::iota(kernel.from.begin(), kernel.from.end(), std::size_t{0});
  for (std::size_t i = 0; i < schema.size(); ++i)
    if (schema[i].mutated) kernel.from[kernel.op->new_value_of(i)] = i, changed.push_back(i);
  kernel.arguments = schema.size() - changed.size();
  for (std::size_t i = 0; i < kernel.arguments; ++i)
    if (schema[i].out && !schema[i].is_out_number()) kernel.returned.push_back(i);
  if (kernel.returned.empty()) kernel.returned = changed;
  return kernel;
}

void Machine::make_kernels() {
  for (const auto& op : plan_.operators) kernels_.push_back(find_kernel(*op));
  std::set<std::size_t> called;
  for (const auto& chain : plan_.chains)
    for (const auto& instruction : chain->instructions)
      if (const auto* call = instruction->instr_args.AsKernelCall()) called.insert(index(call->op_index));
  std::string missing;
  for (const std::size_t i : called)
    if (!kernels_[i].op && !kernels_[i].handle) missing += (missing.empty() ? "" : ", ") + kernels_[i].name;
  if (!missing.empty()) throw broken("I4", {nullptr, plan_.name}, "calls operators that there are not: ", missing);
}

void Machine::make_delegates() {
  const Program& program = *shared_->program;
  RuntimeOptions options = shared_->options;
  for (std::size_t i = 0; i < plan_.delegates.size(); ++i) {
    const pte::BackendDelegateT& d = *plan_.delegates[i];
    const Place method{nullptr, plan_.name}, place = method.in("delegate", static_cast<Int>(i));
    const auto backend = shared_->options.backends.find(d.id);
    if (backend == shared_->options.backends.end())
      throw broken("D2", place, "wants the backend \"", d.id, "\", which is not registered");
    DelegateSource source;
    source.options = &options;
    source.payload = d.processed->location == pte::DataLocation::INLINE
                         ? std::as_bytes(std::span(program.tables.backend_delegate_data[d.processed->index]->data))
                         : std::span<const std::byte>(program.segments[d.processed->index]);
    for (const auto& spec : d.compile_specs)
      source.compile_specs.push_back({spec->key, std::as_bytes(std::span(spec->value))});
    source.named_data = [shared = shared_.get()](std::string_view key) { return shared->named(key); };
    try {
      delegates_.push_back(backend->second(source));
    } catch (const Fault& f) {
      throw Fault(f.outcome, f.rule, f.message, f.place.empty() ? place.text() : place.text() + ", " + f.place);
    }
  }
}

}  // namespace assay
