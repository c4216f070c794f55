#include "format/flow_rules.h"

namespace assay::format {

std::string_view name_of(ArgumentKind kind) {
  constexpr std::string_view names[] = {
      "a Tensor", "a TensorList", "an OptionalTensorList", "a number",   "a Double or Int", "an Int",
      "a Bool",   "an IntList",   "a DoubleList",          "a BoolList", "a String"};
  return names[static_cast<std::size_t>(kind)];
}

namespace {

using pte::KernelTypes;

constexpr bool fits(ArgumentKind kind, KernelTypes type) {
  switch (kind) {
    case ArgumentKind::tensor:
      return type == KernelTypes::Tensor;
    case ArgumentKind::tensors:
      return type == KernelTypes::TensorList;
    case ArgumentKind::optional_tensors:
      return type == KernelTypes::OptionalTensorList || type == KernelTypes::TensorList;
    case ArgumentKind::integers:
      return type == KernelTypes::IntList;
    case ArgumentKind::doubles:
      return type == KernelTypes::DoubleList;
    case ArgumentKind::bools:
      return type == KernelTypes::BoolList;
    case ArgumentKind::string:
      return type == KernelTypes::String;
    default:  // the types of numbers are checked when it is known which numbers change
      return is_number(type);
  }
}

// Whether `result` lists the values that the call writes, in their order.
bool lists_outs(const Method& m, const OperatorRoles& roles, const pte::KernelCall& call, std::uint32_t result) {
  const auto* list = m.value(result).val_as_TensorList();
  std::uint32_t n = 0;
  bool same = list != nullptr;
  each_effect(m, roles, call, [&](const Effect& e) {
    if (!same || e.use != Use::written) return;
    same = n < list->items()->size() && static_cast<std::uint32_t>(list->items()->Get(n)) == e.value;
    ++n;
  });
  return same && n == list->items()->size();
}

void check_result(const Method& m, const OperatorRoles& roles, const pte::KernelCall& call, const Place& place,
                  Findings& f) {
  const auto& args = *call.args();
  const auto result = static_cast<std::uint32_t>(args.Get(roles.count));
  if (roles.returns_changed()) {
    const pte::Tensor* to = m.tensor(result);
    if (!f.check(to, "I9", place, "gives its result to value ", result, ", which is no Tensor")) return;
    each_effect(m, roles, call, [&](const Effect& e) {
      if (e.use == Use::returned)
        f.check(m.tensor(e.other) && same_type(*m.tensor(e.other), *to), "I9", place, "gives its result to value ",
                result, ", which is of another dtype or rank than value ", e.other, ", which it changes");
    });
    return;
  }
  const bool is_one = std::ranges::count(roles.arguments(), Use::written, &ArgumentRole::use) == 1;
  const bool repeats = is_one && args.Get(roles.count) == args.Get(roles.count - 1u);
  const bool is_tensor = is_one && roles.arguments().back().kind == ArgumentKind::tensor;
  f.check(repeats || (!is_tensor && lists_outs(m, roles, call, result)), "I9", place, "its last argument, value ",
          result, ", is not what it writes to");
}

void check_call(const Method& m, const pte::KernelCall& call, const Place& place, Findings& f) {
  const OperatorRoles* roles = m.roles(call);
  if (!roles) return;
  const std::uint32_t returns = roles->result == OperatorRoles::Result::tensors;
  const auto& args = *call.args();
  if (!f.check(args.size() == roles->count + returns, "I9", place, "has ", args.size(), " arguments, but ",
               Quoted{roles->name}, " takes ", roles->count, returns ? " and its result" : ""))
    return;
  const auto before = f.count();
  for (std::uint32_t i = 0; i < roles->count; ++i) {
    const auto [kind, optional, use] = roles->arguments()[i];
    const KernelTypes type = m.type(static_cast<std::uint32_t>(args.Get(i)));
    f.check(fits(kind, type) || (optional && type == KernelTypes::Null), "I10", place.in("argument", i), "is a ",
            EnumNameKernelTypes(type), ", but must be ", name_of(kind));
  }
  if (returns && f.count() == before) check_result(m, *roles, call, place, f);
}

}  // namespace

void check_calls(const Method& m, const Place& plan, Findings& f) {
  for (std::uint32_t i = 0; i < m.instructions(); ++i) {
    const InstructionPlace at(m, i, plan);
    if (const auto* call = m.kernel_call(i)) check_call(m, *call, at.here, f);
    if (const auto* move = m.instruction(i).instr_args_as_MoveCall()) {
      const KernelTypes type = m.type(static_cast<std::uint32_t>(move->move_from()));
      f.check(type == KernelTypes::Tensor || is_number(type), "I18", at.here, "moves a ", EnumNameKernelTypes(type),
              ", but only a tensor or a number can be moved");
    }
  }
}

}  // namespace assay::format
