#include "reference/runtime/machine.h"

#include <cstring>
#include <limits>
#include <numeric>

namespace assay {
namespace {

std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
bool is_list(const SchemaArgument& a) { return a.type.ends_with("[]") || a.type.ends_with("[]?"); }

// The sizes of a view: at most one is -1, which is what is left of the elements.
Dims view_sizes(const HeldTensor& self, const Ints& size) {
  const bool open = std::ranges::count(size, -1) == 1;
  const bool possible = std::ranges::count_if(size, [](Int n) { return n < 0; }) == (open ? 1 : 0);
  if (!possible || size.size() > max_rank) throw broken("I11", {}, "a view cannot have sizes ", size);
  Dims sizes, known;
  for (const Int n : size) sizes.push_back(n), known.push_back(n == -1 ? 1 : n);
  const Int elements = count(self.sizes), of_known = count(known);
  if (open && of_known == 0) throw broken("I11", {}, "a view of sizes ", size, " does not say what -1 stands for");
  for (int d = 0; d < sizes.size(); ++d)
    if (sizes[d] == -1) sizes[d] = elements / of_known;
  if (count(sizes) != elements)
    throw broken("I11", {}, "a view of a tensor of sizes ", self.sizes, " cannot have sizes ", size);
  return sizes;
}

}  // namespace

HeldTensor& Machine::held(std::size_t i) const {
  const Held* t = i < slots_.size() ? tensor(i) : nullptr;
  if (!t) throw broken("I10", {}, "value ", i, " is no tensor");
  return **t;
}

// The values that a list names, a None by an index that there is not; none of a list of numbers.
std::vector<std::size_t> Machine::elements(const pte::KernelTypesUnion& list) const {
  const auto indices = [](const auto& items) { return std::vector<std::size_t>(items.begin(), items.end()); };
  if (const auto* l = list.AsIntList()) return indices(l->items);
  if (const auto* l = list.AsTensorList()) return indices(l->items);
  if (const auto* l = list.AsOptionalTensorList()) return indices(l->items);
  return {};
}

Value Machine::value(std::size_t i) const {
  const Slot& slot = slots_[i];
  if (const Held* t = std::get_if<Held>(&slot)) return (*t)->read();
  if (const auto* list = std::get_if<const pte::KernelTypesUnion*>(&slot)) {
    const pte::KernelTypesUnion& l = **list;
    if (const auto* doubles = l.AsDoubleList()) return doubles->items;
    if (const auto* bools = l.AsBoolList()) return Bools(bools->items.begin(), bools->items.end());
    if (l.type == pte::KernelTypes::IntList) {
      Ints ints;
      for (const std::size_t e : elements(l)) {
        const Int* n = std::get_if<Int>(&slots_[e]);
        if (!n) throw broken("V3", {}, "value ", e, " of a list of integers is no integer");
        ints.push_back(*n);
      }
      return ints;
    }
    Tensors tensors;
    for (const std::size_t e : elements(l)) {
      const bool none = l.type == pte::KernelTypes::OptionalTensorList &&
                        (e >= slots_.size() || std::holds_alternative<std::monostate>(slots_[e]));
      tensors.push_back(none ? std::nullopt : std::optional(held(e).read()));
    }
    return tensors;
  }
  if (const Int* n = std::get_if<Int>(&slot)) return *n;
  if (const double* d = std::get_if<double>(&slot)) return *d;
  if (const bool* b = std::get_if<bool>(&slot)) return *b;
  if (const auto* s = std::get_if<std::string>(&slot)) return *s;
  return {};
}

// What an operator is given. An out argument says which dtype and dim order it has; its values do not matter.
Value Machine::argument(const SchemaArgument& schema, std::size_t i) const {
  if (!schema.out) return value(i);
  const auto out = [](const HeldTensor& t) { return Tensor{t.dtype, t.sizes, t.dim_order, {}}; };
  if (const Held* t = tensor(i)) return out(**t);
  const auto* list = std::get_if<const pte::KernelTypesUnion*>(&slots_[i]);
  if (!list || !is_list(schema)) return {};
  Tensors outs;
  for (const std::size_t e : elements(**list)) outs.emplace_back(out(held(e)));
  return outs;
}

// Puts a result where an out argument is.
void Machine::store(Value result, std::size_t i) {
  if (const Tensor* t = std::get_if<Tensor>(&result)) {
    moved_ += t->bytes.size();
    held(i).write(*t);
  } else if (const Tensors* list = std::get_if<Tensors>(&result)) {
    const auto* target = std::get_if<const pte::KernelTypesUnion*>(&slots_[i]);
    const auto to = target ? elements(**target) : std::vector<std::size_t>();
    if (to.size() != list->size()) throw broken("I10", {}, "value ", i, " is no list of ", list->size(), " tensors");
    for (std::size_t k = 0; k < to.size(); ++k) store(*(*list)[k], to[k]);
  } else if (const Int* n = std::get_if<Int>(&result)) {
    slots_[i] = *n;
  } else if (const double* d = std::get_if<double>(&result)) {
    slots_[i] = *d;
  } else if (const bool* b = std::get_if<bool>(&result)) {
    slots_[i] = *b;
  }
}

// Arguments of the schema's own text in order; behind those of an operator with out arguments the returned value again.
// The new value of what is changed in place goes where the old one was; without an out, it is what is returned, as a
// handle.
void Machine::call(const Kernel& kernel, const std::vector<std::int32_t>& args) {
  const auto& schema = kernel.op->arguments;
  std::vector<std::size_t> from(schema.size());  // which of args an argument is
  std::iota(from.begin(), from.end(), std::size_t{0});
  std::size_t changed = 0;
  for (std::size_t i = 0; i < schema.size(); ++i)
    if (schema[i].mutated) from[kernel.op->new_value_of(i)] = i, ++changed;
  const std::size_t taken = schema.size() - changed, outs = kernel.op->outs();
  if (args.size() != taken && args.size() != taken + 1)
    throw broken("I9", {}, "has ", args.size(), " arguments, but ", kernel.name, " takes ", taken, " and its result");
  const auto at = [&](std::size_t i) { return index(args[from[i]]); };
  std::vector<Value> arguments;
  for (std::size_t i = 0; i < schema.size(); ++i) {
    arguments.push_back(argument(schema[i], at(i)));
    if (const Tensor* t = std::get_if<Tensor>(&arguments.back())) moved_ += t->bytes.size();
  }
  const Answer answer = assay::call(*kernel.op, arguments, shared_->options.budget);
  if (answer.outcome != Outcome::ok) throw Fault(answer.outcome, answer.rule, answer.message);
  for (std::size_t i = 0; i < schema.size(); ++i)
    if (schema[i].out) store(std::move(arguments[i]), at(i));
  const std::size_t returned = outs > changed ? outs - changed : outs;
  if (returned == 1) slots_[index(args.back())] = slots_[at(schema.size() - outs)];
}

void Machine::call_delegate(const pte::DelegateCallT& call) {
  Delegate& delegate = *delegates_[index(call.delegate_index)];
  const std::size_t inputs = delegate.inputs();
  if (call.args.size() != inputs + delegate.outputs())
    throw broken("I14", {}, "has ", call.args.size(), " arguments, but the delegate takes ", inputs, " and gives ",
                 delegate.outputs());
  std::vector<Value> arguments;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const Held* t = tensor(index(call.args[i]));
    arguments.push_back(i >= inputs && t ? Value(make((*t)->dtype, (*t)->sizes, (*t)->dim_order))
                                         : value(index(call.args[i])));
  }
  delegate.execute(arguments);
  for (std::size_t i = inputs; i < arguments.size(); ++i) store(std::move(arguments[i]), index(call.args[i]));
}

bool Machine::is_true(std::size_t i) const {
  if (const bool* b = std::get_if<bool>(&slots_[i])) return *b;
  const HeldTensor& t = held(i);
  if (t.dtype != DType::boolean) throw broken("I15", {}, "the condition is ", t.dtype, ", but must be bool");
  return std::ranges::all_of(t.storage->read(t.bytes()), [](std::byte b) { return b != std::byte{0}; });
}

// et_view(self, size, out): out becomes self's memory with other sizes.
void Machine::view(const std::vector<std::int32_t>& args) {
  if (args.size() < 3) throw broken("I9", {}, "has ", args.size(), " arguments, but a view takes 3");
  const HeldTensor& self = held(index(args[0]));
  const Value size = value(index(args[1]));
  if (!std::holds_alternative<Ints>(size)) throw broken("I10", {}, "the size of a view must be a list of integers");
  HeldTensor& out = held(index(args[2]));
  if (out.dtype != self.dtype) throw broken("I11", {}, "a view of ", self.dtype, " cannot be ", out.dtype);
  out.resize(view_sizes(self, std::get<Ints>(size)));
  out.storage = self.storage;
}

// et_copy_index(copy_to, copy_from, index): copy_to gets at least index + 1 rows, of which copy_from becomes the last.
void Machine::copy_index(const std::vector<std::int32_t>& args) {
  if (args.size() < 3) throw broken("I9", {}, "has ", args.size(), " arguments, but et_copy_index takes 3");
  HeldTensor& to = held(index(args[0]));
  const HeldTensor& from = held(index(args[1]));
  const Int* row = std::get_if<Int>(&slots_[index(args[2])]);
  if (!row || *row < 0 || *row == std::numeric_limits<Int>::max() || to.dtype != from.dtype)
    throw broken("I11", {}, "et_copy_index copies rows of one dtype to an index that is not negative");
  if (from.sizes.size() == max_rank) throw broken("I11", {}, "rows of ", max_rank, " dimensions fit into no tensor");
  Dims sizes{*row + 1};
  for (const Int n : from.sizes) sizes.push_back(n);
  if (to.dynamism == HeldTensor::Dynamism::fixed && sizes.size() == to.declared.size())
    sizes[0] = std::max(sizes[0], to.declared[0]);
  to.resize(sizes);
  const auto bytes = from.storage->read(from.bytes());
  std::memmove(to.storage->write(to.bytes()).data() + static_cast<std::size_t>(*row) * bytes.size(), bytes.data(),
               bytes.size());
  moved_ += 2 * bytes.size();
}

std::string_view Machine::run(const pte::InstructionT& instruction) {
  const auto& what = instruction.instr_args;
  ++next_;
  if (const auto* kernel = what.AsKernelCall()) {
    const Kernel& k = kernels_[index(kernel->op_index)];
    if (k.handle)
      (this->*k.handle)(kernel->args);
    else
      call(k, kernel->args);
    return k.name;
  }
  if (const auto* delegate = what.AsDelegateCall()) return call_delegate(*delegate), "DelegateCall";
  if (const auto* move = what.AsMoveCall())
    return slots_[index(move->move_to)] = slots_[index(move->move_from)], "MoveCall";
  if (const auto* jump = what.AsJumpFalseCall()) {
    if (!is_true(index(jump->cond_value_index))) next_ = index(jump->destination_instruction);
    return "JumpFalseCall";
  }
  held(index(what.AsFreeCall()->value_index)).storage->release();
  return "FreeCall";
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
    if (executed_++ == shared_->options.instructions)
      throw broken("I17", {}, "the execution has reached its limit of ", shared_->options.instructions,
                   " instructions");
    const auto start = listener ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
    const std::string_view name = run(instruction);
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
