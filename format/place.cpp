#include <algorithm>

#include "format/rule.h"
#include "format/view.h"

namespace assay::format {
namespace {

// Names of methods and operators are written without quotes if they need none.
Part shown(std::string_view name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == ':';
  };
  const bool plain = !name.empty() && name.size() <= Quoted{}.most && std::ranges::all_of(name, is_plain);
  return plain ? Part(name) : Part(Quoted{name});
}

void write_part(const Place& part, Text& to) {
  to.add(part.quoted ? Part(Quoted{part.name}) : Part(part.name));
  if (part.index >= 0) to.add(' ').add(part.index);
}

const Place& root_of(const Place& place) { return place.outer ? root_of(*place.outer) : place; }

bool is_instruction(const Place& place) { return place.name == "instruction" && place.outer->name == "chain"; }

// Writes "argument 2 of instruction 15 of forward". The only chain of a method is left out. Returns the instruction;
// null if the place is not in an instruction.
const Place* write_within(const Place& place, const pte::ExecutionPlan& method, Text& to) {
  if (!place.outer) return to.add(shown(text_of(method.name()))), nullptr;
  write_part(place, to);
  to.add(" of ");
  const bool is_in_only_chain = is_instruction(place) && size_of(method.chains()) == 1;
  const Place* within = write_within(is_in_only_chain ? *place.outer->outer : *place.outer, method, to);
  return is_instruction(place) ? &place : within;
}

// Writes ", aten::add.out", or the kind of an instruction that calls no operator. Requires an instruction of the
// method. Its operator may not exist.
void write_callee(const Place& instruction, const pte::ExecutionPlan& method, Text& to) {
  const auto at = [](const auto* list, std::int64_t i) { return list->Get(static_cast<std::uint32_t>(i)); };
  const pte::Instruction& what = *at(at(method.chains(), instruction.outer->index)->instructions(), instruction.index);
  const auto* call = what.instr_args_as_KernelCall();
  if (!call) return void(to.add(", ").add(EnumNameInstructionArguments(what.instr_args_type())));
  const std::int64_t index = call->op_index();
  if (index < 0 || index >= size_of(method.operators())) return;
  const pte::Operator& op = *at(method.operators(), index);
  to.add(", ").add(shown(text_of(op.name())));
  if (const std::string_view overload = text_of(op.overload()); !overload.empty()) to.add('.').add(shown(overload));
}

}  // namespace

Place place_of_plan(const pte::Program& program, std::uint32_t i) {
  return {nullptr, "plan", i, false, program.execution_plan()->Get(i)};
}

void Place::write(Text& to) const {
  if (const pte::ExecutionPlan* method = root_of(*this).method) {
    if (!outer) to.add("method ");
    if (const Place* instruction = write_within(*this, *method, to)) write_callee(*instruction, *method, to);
    return;
  }
  if (outer) outer->write(to);
  if (name.empty()) return;
  if (!to.view().empty()) to.add(", ");
  write_part(*this, to);
}

}  // namespace assay::format
