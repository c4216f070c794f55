#include "reference/runtime/machine.h"

#include <algorithm>

namespace assay {

constexpr Int work_of_instruction = 1000;

Value value_of(const Slot& slot) {
  return std::visit(
      []<class T>(const T& v) -> Value {
        if constexpr (std::is_same_v<T, Held>)
          return v->read();
        else if constexpr (std::is_constructible_v<Value, T>)
          return v;
        else
          return {};
      },
      slot);
}

std::optional<Slot> slot_of(const Value& value) {
  return std::visit(
      []<class T>(const T& v) -> std::optional<Slot> {
        if constexpr (std::is_constructible_v<Slot, T> && !std::is_same_v<T, Tensor>)
          return Slot(v);
        else
          return {};
      },
      value);
}

bool same_kind(const Slot& a, const Slot& b) {
  constexpr std::size_t numbers = 4;  // None, an integer, a float, a bool
  return a.index() == b.index() || (a.index() < numbers && b.index() < numbers);
}

HeldTensor& Machine::held(std::size_t i) const {
  const Held* t = i < slots_.size() ? tensor(i) : nullptr;
  if (!t) throw broken("I10", {}, "value ", i, " is no tensor");
  return **t;
}

// The values that a list names, a None by an index that there is not; none of a list of numbers, or of what is no list.
Machine::Indices Machine::elements(std::size_t i) const {
  const auto* list = std::get_if<const pte::KernelTypesUnion*>(&slots_[i]);
  if (!list) return {};
  const auto indices = [](const auto& items) { return Indices(items.begin(), items.end()); };
  if (const auto* l = (*list)->AsIntList()) return indices(l->items);
  if (const auto* l = (*list)->AsTensorList()) return indices(l->items);
  if (const auto* l = (*list)->AsOptionalTensorList()) return indices(l->items);
  return {};
}

Value Machine::value(std::size_t i) const {
  if (const auto* list = std::get_if<const pte::KernelTypesUnion*>(&slots_[i])) {
    const pte::KernelTypesUnion& l = **list;
    if (const auto* doubles = l.AsDoubleList()) return doubles->items;
    if (const auto* bools = l.AsBoolList()) return Bools(bools->items.begin(), bools->items.end());
    if (l.type == pte::KernelTypes::IntList) {
      Ints ints;
      for (const std::size_t e : elements(i)) {
        const Int* n = std::get_if<Int>(&slots_[e]);
        if (!n) throw broken("V3", {}, "value ", e, " of a list of integers is no integer");
        ints.push_back(*n);
      }
      return ints;
    }
    Tensors tensors;
    for (const std::size_t e : elements(i)) {
      const bool none = l.type == pte::KernelTypes::OptionalTensorList &&
                        (e >= slots_.size() || std::holds_alternative<std::monostate>(slots_[e]));
      tensors.push_back(none ? std::nullopt : std::optional(held(e).read()));
    }
    return tensors;
  }
  return value_of(slots_[i]);
}

void Machine::give(std::size_t i, const Value& value) {
  if (const Tensor* t = std::get_if<Tensor>(&value)) {
    HeldTensor& held = *std::get<Held>(initial_[i]);
    held.storage = held.home;
    held.write(held.prepare(*t), Memory::By::caller);
  } else {
    Slot slot = *slot_of(value), initial = slot;
    slots_[i] = std::move(slot), initial_[i] = std::move(initial);
  }
}

bool Machine::is_given(std::size_t i) const {
  const Held* t = std::get_if<Held>(&initial_[i]);
  return !t || (*t)->is_written();
}

void Machine::give_memory(std::size_t i, std::span<std::byte> memory, const Place& place) {
  const Held* t = std::get_if<Held>(&initial_[i]);
  if (!t || (*t)->home.memory->is_planned() || (*t)->home.memory->is_constant())
    throw broken("R5", place, "has its place in the plan, so that memory cannot be given to it");
  Storage& home = (*t)->home;
  if (memory.size() < home.bound)
    throw broken("R5", place, "needs ", home.bound, " bytes, but is given ", memory.size());
  const auto supplied = Memory::supplied(memory);
  *std::ranges::find(memories_, home.memory) = supplied;
  (*t)->storage = home = {supplied, 0, home.bound};
}

bool Machine::is_true(std::size_t i) const {
  if (const bool* b = std::get_if<bool>(&slots_[i])) return *b;
  const Tensor t = held(i).read();
  if (t.dtype != DType::boolean) throw broken("I15", {}, "the condition is ", t.dtype, ", but must be bool");
  return std::ranges::all_of(t.bytes, [](std::byte b) { return b != std::byte{0}; });
}

std::string_view Machine::run(const pte::InstructionT& instruction) {
  const auto& what = instruction.instr_args;
  std::size_t next = next_ + 1;
  std::string_view name = "FreeCall";
  if (const auto* kernel = what.AsKernelCall()) {
    const Kernel& k = kernels_[index(kernel->op_index)];
    name = k.name;
    if (k.handle)
      (this->*k.handle)(kernel->args);
    else
      call(k, kernel->args);
  } else if (const auto* delegate = what.AsDelegateCall()) {
    name = "DelegateCall";
    call_delegate(*delegate);
  } else if (const auto* move = what.AsMoveCall()) {
    name = "MoveCall";
    slots_[index(move->move_to)] = slots_[index(move->move_from)];
  } else if (const auto* jump = what.AsJumpFalseCall()) {
    name = "JumpFalseCall";
    if (!is_true(index(jump->cond_value_index))) next = index(jump->destination_instruction);
  } else {
    const Storage& freed = held(index(what.AsFreeCall()->value_index)).storage;
    freed.memory->forget(freed.at);
  }
  next_ = next;
  return name;
}

void Machine::restart() {
  slots_ = initial_;
  for (const auto& memory : memories_) memory->begin();
  for (const Slot& slot : slots_)
    if (const Held* t = std::get_if<Held>(&slot)) (*t)->begin();
  chain_ = next_ = 0, executed_ = 0;
  skip_ended_chains();
}

void Machine::skip_ended_chains() {
  while (!at_end() && next_ >= plan_.chains[chain_]->instructions.size()) ++chain_, next_ = 0;
}

void Machine::step(const Method& method, Listener* listener) {
  if (at_end()) return;
  const std::size_t chain = chain_, at = next_;
  const pte::InstructionT& instruction = *plan_.chains[chain]->instructions[at];
  moved_ = 0;
  try {
    if (executed_ == shared_->options.instructions)
      throw broken("I17", {}, "the execution has reached its limit of ", shared_->options.instructions,
                   " instructions");
    shared_->options.budget.work(work_of_instruction, "an instruction");
    const auto start = listener ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
    const std::string_view name = run(instruction);
    ++executed_;
    skip_ended_chains();
    if (listener)
      listener->instruction_done(method, {chain, at, name, std::chrono::steady_clock::now() - start, moved_});
  } catch (const Fault& f) {
    const Place outer{nullptr, plan_.name}, place = outer.in("instruction", static_cast<Int>(at));
    const auto* kernel = instruction.instr_args.AsKernelCall();
    throw Fault(f.outcome, f.rule, f.message,
                text_of(place) + (kernel ? " (" + kernels_[index(kernel->op_index)].name + ")" : "") +
                    (f.place.empty() ? "" : ", " + f.place));
  }
}

}  // namespace assay
