#include <algorithm>

#include "reference/runtime/interpreter.h"

// Instructions that call an operator or a delegate: arguments are copied out, and either all results or none are
// written back.
namespace assay {
namespace {

bool is_list(const SchemaArgument& a) { return a.type.ends_with("[]") || a.type.ends_with("[]?"); }

Tensor without_values(const HeldTensor& t) { return {t.dtype, t.sizes, t.dim_order, {}}; }

}  // namespace

// The value as argument i of the operator. An out argument only declares its dtype and dim order. The elements of an
// argument that the operator does not read may be undefined.
Value Interpreter::argument(const Kernel& kernel, std::size_t i, std::size_t at) const {
  const SchemaArgument& schema = kernel.op->arguments[i];
  const Held* t = tensor(at);
  if (!schema.out) {
    const format::Use use = kernel.roles->arguments()[i].use;
    const bool read = use != format::Use::asked && use != format::Use::overwritten;
    return read || !t ? value(at) : make((*t)->dtype, (*t)->sizes, (*t)->dim_order);
  }
  if (t) return without_values(**t);
  if (!is_list(schema)) return {};
  Tensors outs;
  for (const std::size_t e : elements(at)) outs.emplace_back(without_values(held(e)));
  return outs;
}

void Interpreter::prepare(Result& result, std::size_t results, RuleId rule) const {
  const Slot& to = slots_[result.to];
  if (const Held* held = std::get_if<Held>(&to)) {
    Tensor* t = std::get_if<Tensor>(&result.value);
    if (!t || t->dtype != (*held)->dtype || !is_whole(*t))
      throw broken(rule, {}, "value ", result.to, " is a tensor of dtype ", (*held)->dtype, ", but its result is ",
                   t ? describe(*t) : std::string(kind_name(result.value)));
    *t = (*held)->prepare(std::move(*t), results);
  } else if (const auto slot = slot_of(result.value); !slot || !same_kind(*slot, to)) {
    throw broken(rule, {}, "value ", result.to, " cannot hold its result, which is ", kind_name(result.value));
  }
}

void Interpreter::store(Buffer<Result> results, RuleId rule) {
  for (Result& r : results) prepare(r, results.size(), rule);
  for (Result& r : results)
    if (const Tensor* t = std::get_if<Tensor>(&r.value)) {
      moved_ += t->bytes.size();
      std::get<Held>(slots_[r.to])->write(*t, Memory::By::instruction);
    } else {
      slots_[r.to] = *slot_of(std::move(r.value));
    }
}

void Interpreter::call(const Kernel& kernel, Args args) {
  const Operator& op = *kernel.op;
  const Operands operand = operands(op, args);
  Buffer<Value> arguments;
  for (std::size_t i = 0; i < operand.size(); ++i) {
    arguments.push_back(argument(kernel, i, operand[i]));
    if (const Tensor* t = std::get_if<Tensor>(&arguments.back())) moved_ += t->bytes.size();
  }
  const CallOperator& other = shared_->options.call;
  const Answer answer = other ? other(op, arguments, budget()) : assay::call(op, arguments, budget());
  if (answer.outcome != Outcome::ok) throw refusal(op, answer);
  Buffer<Result> results;
  for (std::size_t i = 0; i < operand.size(); ++i)
    if (op.arguments[i].out) add_results(std::move(arguments[i]), operand[i], results);
  store(std::move(results), "I10");
  if (op.outs() == op.mutated()) slots_[index(args.back())] = slots_[operand.back()];
}

// A list of tensors is written to the elements of a list.
void Interpreter::add_results(Value value, std::size_t to, Buffer<Result>& results) const {
  Tensors* list = std::get_if<Tensors>(&value);
  if (!list) return results.push_back({std::move(value), to});
  const Indices targets = elements(to);
  if (targets.size() != list->size())
    throw broken("I10", {}, "value ", to, " is not a list of ", list->size(), " tensors");
  for (std::size_t k = 0; k < targets.size(); ++k) results.push_back({std::move(*(*list)[k]), targets[k]});
}

void Interpreter::call_delegate(const pte::DelegateCall& call) {
  Delegate& delegate = *delegates_[index(call.delegate_index())];
  const Args args = format::items(call.args());
  const std::size_t inputs = delegate.inputs();
  if (args.size() != inputs + delegate.outputs())
    throw broken("I14", {}, "has ", args.size(), " arguments, but the delegate has ", inputs, " inputs and ",
                 delegate.outputs(), " outputs");
  Buffer<Value> arguments;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::size_t at = index(args[i]);
    const Held* out = i < inputs ? nullptr : tensor(at);
    arguments.push_back(out ? without_values(**out) : value(at));
  }
  delegate.execute(arguments);
  Buffer<Result> results;
  for (std::size_t i = inputs; i < arguments.size(); ++i) add_results(std::move(arguments[i]), index(args[i]), results);
  store(std::move(results), "I14");
}

}  // namespace assay
