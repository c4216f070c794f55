#include <set>
#include <utility>

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

}  // namespace

LoadedProgram::Shared::Shared(unpacked::ValidProgram p, std::vector<DataFile> d, RuntimeOptions o)
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

Block Machine::arena(std::uint32_t id) {
  const auto state = shared_->state.find(id);
  const bool shared = state != shared_->state.end();
  Block& block = shared ? state->second : arenas_[id];
  if (!block) {
    const std::size_t bytes = shared ? largest_size(shared_->program->tables, id)
                                     : static_cast<std::size_t>(plan_.non_const_buffer_sizes[id]);
    block = allocate(bytes, shared_->options.budget, text("planned memory ", id, " of method ", plan_.name));
  }
  return block;
}

std::span<const std::byte> Machine::external(const pte::TensorT& tensor, std::size_t bytes, const Place& place) const {
  const auto found = shared_->named(name_of(tensor));
  if (!found) throw broken("T19", place, "wants external data \"", name_of(tensor), "\", which no data file has");
  if (found->size() < bytes)
    throw broken("T21", place, "wants ", bytes, " bytes of external data \"", name_of(tensor), "\", which has ",
                 found->size());
  return found->first(bytes);
}

void Machine::initialise(const pte::TensorT& tensor, Storage& storage, std::size_t bytes, const Place& place) {
  if (bytes == 0 || (tensor.data_buffer_idx == 0 && !is_external(tensor))) return;
  if (shared_->state.contains(tensor.allocation_info->memory_id) &&
      std::exchange(shared_->initialised[std::string(name_of(tensor))], true))
    return;
  const auto from = is_external(tensor) ? external(tensor, bytes, place)
                                        : initial_data(*shared_->program, tensor.data_buffer_idx)->first(bytes);
  std::ranges::copy(from, storage.write(bytes).begin());
}

Storage Machine::storage_of(const pte::TensorT& tensor, std::size_t bytes, const Place& place) {
  if (const auto& plan = tensor.allocation_info) {
    const Block block = arena(plan->memory_id);
    Storage storage = Storage::planned(Block(block, block.get() + planned_offset(*plan)), bytes);
    initialise(tensor, storage, bytes, place);
    return storage;
  }
  if (is_external(tensor)) return Storage::constant(external(tensor, bytes, place), shared_);
  if (tensor.data_buffer_idx > 0)
    return Storage::constant(bytes == 0 ? std::span<const std::byte>()
                                        : constant_data(*shared_->program, tensor.data_buffer_idx)->first(bytes),
                             shared_);
  const bool bounded = tensor.shape_dynamism != pte::TensorShapeDynamism::DYNAMIC_UNBOUND;
  Storage own = Storage::own(bounded ? bytes : static_cast<std::size_t>(std::numeric_limits<Int>::max()),
                             shared_->options.budget);
  if (!name_of(tensor).empty()) own.write(bytes);  // state that the plan leaves to the caller begins as zeros
  return own;
}

Slot Machine::make_tensor(const pte::TensorT& tensor, std::size_t index) {
  HeldTensor t{*dtype_numbered(tensor.scalar_type),
               dims(tensor.sizes),
               dims(tensor.sizes),
               dims(tensor.dim_order),
               static_cast<HeldTensor::Dynamism>(tensor.shape_dynamism),
               nullptr};
  const Place method{nullptr, plan_.name};
  t.storage = std::make_shared<Storage>(storage_of(tensor, t.bytes(), method.in("value", static_cast<Int>(index))));
  return std::make_shared<HeldTensor>(std::move(t));
}

void Machine::make_slots() {
  using pte::KernelTypes;
  for (const auto& v : plan_.values) {
    const pte::KernelTypesUnion& val = v->val;
    switch (val.type) {
      case KernelTypes::Int:
        slots_.emplace_back(Int{val.AsInt()->int_val});
        break;
      case KernelTypes::Double:
        slots_.emplace_back(val.AsDouble()->double_val);
        break;
      case KernelTypes::Bool:
        slots_.emplace_back(val.AsBool()->bool_val);
        break;
      case KernelTypes::String:
        slots_.emplace_back(val.AsString()->string_val);
        break;
      case KernelTypes::Tensor:
        slots_.push_back(make_tensor(*val.AsTensor(), slots_.size()));
        break;
      case KernelTypes::NONE:
      case KernelTypes::Null:
        slots_.emplace_back();
        break;
      default:
        slots_.emplace_back(&val);
    }
  }
}

Machine::Kernel Machine::find_kernel(const pte::OperatorT& op) {
  Kernel kernel{operator_name(op), nullptr, nullptr};
  kernel.op = find_operator(kernel.name);
  if (kernel.name == "executorch_prim::et_view.default") kernel.handle = &Machine::view;
  if (kernel.name == "executorch_prim::et_copy_index.tensor") kernel.handle = &Machine::copy_index;
  return kernel;
}

void Machine::make_kernels() {
  std::string missing;
  for (const auto& op : plan_.operators) {
    kernels_.push_back(find_kernel(*op));
    if (!kernels_.back().op && !kernels_.back().handle) missing += (missing.empty() ? "" : ", ") + kernels_.back().name;
  }
  if (!missing.empty()) throw broken("I4", {nullptr, plan_.name}, "calls operators that there are not: ", missing);
}

void Machine::make_delegates() {
  const Program& program = *shared_->program;
  for (std::size_t i = 0; i < plan_.delegates.size(); ++i) {
    const pte::BackendDelegateT& d = *plan_.delegates[i];
    const Place method{nullptr, plan_.name}, place = method.in("delegate", static_cast<Int>(i));
    const auto backend = shared_->options.backends.find(d.id);
    if (backend == shared_->options.backends.end())
      throw broken("D2", place, "wants the backend \"", d.id, "\", which is not registered");
    DelegateSource source;
    source.options = &shared_->options;
    source.payload = d.processed->location == pte::DataLocation::INLINE
                         ? std::as_bytes(std::span(program.tables.backend_delegate_data[d.processed->index]->data))
                         : std::span<const std::byte>(program.segments[d.processed->index]);
    for (const auto& spec : d.compile_specs)
      source.compile_specs.push_back({spec->key, std::as_bytes(std::span(spec->value))});
    source.named_data = [shared = shared_.get()](std::string_view key) { return shared->named(key); };
    try {
      delegates_.push_back(backend->second(source));
    } catch (const Fault& f) {
      throw Fault(f.outcome, f.rule, f.message, f.place.empty() ? text_of(place) : text_of(place) + ", " + f.place);
    }
  }
}

}  // namespace assay
