#include "reference/runtime/interpreter.h"

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

std::optional<Slot> slot_of(Value value) {
  return std::visit(
      []<class T>(T& v) -> std::optional<Slot> {
        if constexpr (std::is_constructible_v<Slot, T> && !std::is_same_v<T, Tensor>)
          return Slot(std::move(v));
        else
          return {};
      },
      value);
}

bool same_kind(const Slot& a, const Slot& b) {
  constexpr std::size_t numbers = 4;  // None, an integer, a float, a bool
  return a.index() == b.index() || (a.index() < numbers && b.index() < numbers);
}

HeldTensor& Interpreter::held(std::size_t i) const {
  const Held* t = i < slots_.size() ? tensor(i) : nullptr;
  if (!t) throw broken("I10", {}, "value ", i, " is not a tensor");
  return **t;
}

// The indices in a list of values, in which a None has an index without a value; empty for any other value.
Interpreter::Indices Interpreter::elements(std::size_t i) const {
  const auto* list = std::get_if<const pte::EValue*>(&slots_[i]);
  if (!list) return {};
  const auto indices = [](const auto* items) {
    Indices all;
    for (const auto e : format::items(items)) all.push_back(static_cast<std::size_t>(e));
    return all;
  };
  if (const auto* l = (*list)->val_as_IntList()) return indices(l->items());
  if (const auto* l = (*list)->val_as_TensorList()) return indices(l->items());
  if (const auto* l = (*list)->val_as_OptionalTensorList()) return indices(l->items());
  return {};
}

Ints Interpreter::integers(std::size_t list) const {
  Ints ints;
  for (const std::size_t e : elements(list)) {
    const Int* n = std::get_if<Int>(&slots_[e]);
    if (!n) throw broken("V3", {}, "value ", e, " of a list of integers is not an integer");
    ints.push_back(*n);
  }
  return ints;
}

Tensors Interpreter::tensors(std::size_t list, bool optional) const {
  Tensors tensors;
  for (const std::size_t e : elements(list)) {
    const bool none = optional && (e >= slots_.size() || std::holds_alternative<std::monostate>(slots_[e]));
    tensors.push_back(none ? std::nullopt : std::optional(held(e).read()));
  }
  return tensors;
}

Value Interpreter::value(std::size_t i) const {
  const auto* list = std::get_if<const pte::EValue*>(&slots_[i]);
  if (!list) return value_of(slots_[i]);
  const auto numbers = [](const auto* l, auto all) {
    for (const auto n : format::items(l->items())) all.push_back(n);
    return all;
  };
  if (const auto* doubles = (*list)->val_as_DoubleList()) return numbers(doubles, Doubles());
  if (const auto* bools = (*list)->val_as_BoolList()) return numbers(bools, Bools());
  if ((*list)->val_as_IntList()) return integers(i);
  return tensors(i, (*list)->val_as_OptionalTensorList());
}

void Interpreter::give(std::size_t i, const Value& value) {
  if (const Tensor* t = std::get_if<Tensor>(&value)) {
    HeldTensor& held = *std::get<Held>(initial_[i]);
    HeldTensor home = held;
    home.storage = home.home;
    const Tensor prepared = home.prepare(*t);
    held.storage = held.home;
    held.write(prepared, Memory::By::caller);
  } else {
    Slot slot = *slot_of(value), initial = slot;
    slots_[i] = std::move(slot), initial_[i] = std::move(initial);
  }
}

bool Interpreter::is_null(std::size_t i) const {
  return plan_.values()->Get(static_cast<std::uint32_t>(i))->val_type() == pte::KernelTypes::Null;
}

bool Interpreter::is_given(std::size_t i) const {
  const Held* t = std::get_if<Held>(&initial_[i]);
  return !t || (*t)->is_written();
}

void Interpreter::give_memory(std::size_t i, std::span<std::byte> memory, const Place& place) {
  const Held* t = std::get_if<Held>(&initial_[i]);
  if (!t || (*t)->home.memory->is_planned() || (*t)->home.memory->is_constant())
    throw broken("R5", place, "has planned memory, so that the client cannot supply memory for it");
  Storage& home = (*t)->home;
  if (memory.size() < home.bound)
    throw broken("R5", place, "needs ", home.bound, " bytes, but the supplied memory has ", memory.size());
  const auto supplied = Memory::supplied(memory);
  *std::ranges::find(memories_, home.memory) = supplied;
  (*t)->storage = home = {supplied, 0, home.bound};
}

bool Interpreter::is_true(std::size_t i) const {
  if (const bool* b = std::get_if<bool>(&slots_[i])) return *b;
  const Tensor t = held(i).read();
  if (t.dtype != DType::boolean) throw broken("I15", {}, "the condition is ", t.dtype, ", but must be bool");
  return std::ranges::all_of(t.bytes, [](std::byte b) { return b != std::byte{0}; });
}

std::string_view Interpreter::run(const pte::Instruction& instruction) {
  std::size_t next = next_ + 1;
  std::string_view name = "FreeCall";
  if (const auto* kernel = instruction.instr_args_as_KernelCall()) {
    const Kernel& k = kernels_[index(kernel->op_index())];
    const Args args = format::items(kernel->args());
    name = k.name;
    k.handle ? (this->*k.handle)(args) : call(k, args);
  } else if (const auto* delegate = instruction.instr_args_as_DelegateCall()) {
    name = "DelegateCall";
    call_delegate(*delegate);
  } else if (const auto* move = instruction.instr_args_as_MoveCall()) {
    name = "MoveCall";
    slots_[index(move->move_to())] = slots_[index(move->move_from())];
  } else if (const auto* jump = instruction.instr_args_as_JumpFalseCall()) {
    name = "JumpFalseCall";
    if (!is_true(index(jump->cond_value_index()))) next = index(jump->destination_instruction());
  } else {
    const Storage& freed = held(index(instruction.instr_args_as_FreeCall()->value_index())).storage;
    freed.memory->forget(freed.at);
  }
  next_ = next;
  return name;
}

void Interpreter::restart() {
  slots_ = initial_;
  for (const auto& memory : memories_) memory->begin();
  for (const Slot& slot : slots_)
    if (const Held* t = std::get_if<Held>(&slot)) (*t)->begin();
  chain_ = next_ = 0, steps_ = 0;
  if (shared_->options.nested.depth == 0) *executed_ = 0;
  skip_ended_chains();
}

void Interpreter::skip_ended_chains() {
  while (!at_end() && next_ >= instructions().size()) ++chain_, next_ = 0;
}

void Interpreter::charge_instruction() {
  const Int limit = shared_->options.instructions;
  if (*executed_ >= limit) throw broken("I17", {}, "the execution has reached its limit of ", limit, " instructions");
  budget().work(work_of_instruction, "an instruction");
  ++*executed_, ++steps_;
}

void Interpreter::step(const Method& method, Listener* listener) {
  if (at_end()) return;
  const std::size_t chain = chain_, at = next_;
  const pte::Instruction& instruction = *instructions().Get(static_cast<std::uint32_t>(at));
  moved_ = 0;
  try {
    charge_instruction();
    const auto start = listener ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
    const std::string_view name = run(instruction);
    skip_ended_chains();
    if (listener)
      listener->instruction_done(method, {chain, at, name, std::chrono::steady_clock::now() - start, moved_});
  } catch (Fault& f) {
    const Place outer = place_of(plan_), place = outer.in("instruction", static_cast<Int>(at));
    const auto* kernel = instruction.instr_args_as_KernelCall();
    const auto* delegate = instruction.instr_args_as_DelegateCall();
    const std::string called = kernel     ? kernels_[index(kernel->op_index())].name
                               : delegate ? concat("delegate ", delegate->delegate_index())
                                          : std::string();
    f.place = concat(text_of(place), called.empty() ? "" : " (", called, called.empty() ? "" : ")",
                     f.place.empty() ? "" : ", ", f.place);
    throw;
  }
}

}  // namespace assay
