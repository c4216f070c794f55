#pragma once

#include <algorithm>

#include "optimized/draft/source.h"

// What instructions do to values. `format/flow_effects.h` defines the uses.
namespace assay::optimized {

// f(Value) for the value, or for the values that it lists.
template <class F>
void each_element(Value* v, const F& f) {
  if (v->kind != ValueKind::integers && v->kind != ValueKind::tensors) return f(*v);
  for (Value* item : v->items())
    if (item) f(*item);
}

// The last argument that a call changes in place. Null: it changes none.
inline Value* changed_argument(const Call& call) {
  Value* changed = nullptr;
  for (std::size_t i = 0; i < call.roles->arguments().size(); ++i)
    if (const format::Use use = call.roles->arguments()[i].use;
        use == format::Use::changed || use == format::Use::overwritten)
      changed = call.arguments[i];
  return changed;
}

// f(Use, Value) for each argument of a call, in the order of the arguments, and f(Use::returned, Value) for the value
// that becomes the handle of an argument that the call changes.
template <class F>
void each_effect_of_call(const Call& call, const F& f) {
  const auto roles = call.roles->arguments();
  for (std::size_t i = 0; i < roles.size(); ++i) each_element(call.arguments[i], [&](Value& v) { f(roles[i].use, v); });
  if (call.roles->returns_changed() && call.returned && call.returned != changed_argument(call))
    f(format::Use::returned, *call.returned);
}

template <class F>
void each_effect(const Source& source, const Instruction& instruction, const F& f) {
  using format::Use;
  const auto arguments = instruction.call.arguments;
  switch (instruction.kind) {
    case Instruction::Kind::call:
      return each_effect_of_call(instruction.call, f);
    case Instruction::Kind::delegate:
      for (Value* v : arguments) each_element(v, [&](Value& item) { f(Use::either, item); });
      return;
    case Instruction::Kind::move:
      f(Use::read, *arguments[0]);
      return f(arguments[1]->kind == ValueKind::tensor ? Use::moved : Use::written, *arguments[1]);
    case Instruction::Kind::jump:
      return f(Use::read, *arguments[0]);
    case Instruction::Kind::free:
      return f(Use::freed, source.values[instruction.target]);
  }
}

}  // namespace assay::optimized
