#include "optimized/draft/effects.h"

namespace assay::optimized {
namespace {

using format::Use;

void take_elements(Use use, Value* v, TakeValueEffect take) {
  if (v->kind != ValueKind::integers && v->kind != ValueKind::tensors) return take({use, *v});
  for (Value* item : v->items())
    if (item) take({use, *item});
}

void take_call(const Call& call, TakeValueEffect take) {
  const auto roles = call.roles->arguments();
  for (std::size_t i = 0; i < roles.size(); ++i) take_elements(roles[i].use, call.arguments[i], take);
  if (Value* handle = returned_handle(call)) take({Use::returned, *handle});
}

}  // namespace

Value* changed_argument(const Call& call) {
  const auto roles = call.roles->arguments();
  Value* changed = nullptr;
  for (std::size_t i = 0; i < roles.size(); ++i)
    if (roles[i].use == Use::changed || roles[i].use == Use::overwritten) changed = call.arguments[i];
  return changed;
}

Value* returned_handle(const Call& call) {
  return call.roles->returns_changed() && call.returned != changed_argument(call) ? call.returned : nullptr;
}

void each_effect(const Source& source, const Instruction& instruction, TakeValueEffect take) {
  const auto arguments = instruction.call.arguments;
  switch (instruction.kind) {
    case Instruction::Kind::call:
      return take_call(instruction.call, take);
    case Instruction::Kind::delegate:
      for (Value* v : arguments) take_elements(Use::either, v, take);
      return;
    case Instruction::Kind::move:
      take({Use::read, *arguments[0]});
      return take({arguments[1]->kind == ValueKind::tensor ? Use::moved : Use::written, *arguments[1]});
    case Instruction::Kind::jump:
      return take({Use::read, *arguments[0]});
    case Instruction::Kind::free:
      return take({Use::freed, source.values[instruction.target]});
  }
}

}  // namespace assay::optimized
