#include "dtype.gen.h"
#include "format/flow_rules.h"

namespace assay::format {
namespace {

using pte::KernelTypes;

constexpr std::uint8_t every_kind = boolean | integer | real, not_boolean = 8;

std::uint8_t type_of_elements(const pte::Tensor& t) {
  const Kind kind = find_dtype(t.scalar_type())->kind;
  return kind == Kind::boolean ? boolean : kind == Kind::floating ? real : integer;
}

std::uint8_t type_of(KernelTypes type) {
  switch (type) {
    case KernelTypes::Bool:
      return boolean;
    case KernelTypes::Int:
      return integer;
    case KernelTypes::Double:
      return real;
    default:
      return no_number;
  }
}

// The types that each number may have when it is read: those that its writers give, or its own.
class NumberTypes {
 public:
  NumberTypes(const Method& m, const Places& places, std::span<std::uint8_t> types, Work& work)
      : m_(m), places_(places), types_(types), work_(work) {
    for (std::uint32_t v = 0; v < m.values(); ++v)
      if (!places.is_assigned(v)) types_[v] = declared(v);
  }

  void run() {
    bool more = false;
    for (std::uint32_t v = 0; v < m_.values(); ++v) more |= places_.may_change(v);
    if (!more) return;
    while (more && work_.left > 0) {
      more = false;
      each_result([&](std::uint32_t v, std::uint8_t given) {
        more |= (types_[v] | given) != types_[v];
        types_[v] |= given;
      });
    }
    each_result([&](std::uint32_t v, std::uint8_t given) {
      if (!(given & boolean)) types_[v] |= not_boolean;
    });
  }

  bool may_be_integer(std::uint32_t v) const { return types_[v] & integer; }
  bool is_condition(std::uint32_t v) const { return (types_[v] & boolean) && !(types_[v] & not_boolean); }

 private:
  // An input that is declared as Null is an integer that the caller supplies.
  std::uint8_t declared(std::uint32_t v) const {
    const std::uint8_t type = type_of(m_.type(v));
    if (type == no_number && places_.is_input(v)) return integer | real;
    return type;
  }

  // Calls f(value, types) for each number that an instruction writes.
  template <class F>
  void each_result(F f) const {
    for (std::uint32_t i = 0; i < m_.instructions(); ++i)
      each_effect(m_, m_.instruction(i), [&](const Effect& e) {
        if (work_.take(1) && (e.use == Use::written || e.use == Use::either) && places_.may_change(e.value))
          f(e.value, given(i, e));
      });
  }

  std::uint8_t given(std::uint32_t i, const Effect& e) const {
    const auto* call = m_.kernel_call(i);
    if (e.use == Use::either) return every_kind;
    if (!call) return types_[e.other];
    using Result = OperatorRoles::Result;
    const OperatorRoles& roles = *m_.roles(*call);
    if (roles.result == Result::number) return number(roles, *call);
    return roles.result == Result::boolean ? boolean : integer;
  }
  std::uint8_t number(const OperatorRoles& roles, const pte::KernelCall& call) const {
    std::uint8_t types = integer | real;
    each_effect(m_, roles, call, [&](const Effect& e) {
      const pte::Tensor* t = m_.tensor(e.value);
      if (t) types = type_of_elements(*t);
      if (e.use == Use::read && !t && (types_[e.value] & boolean)) types |= boolean;
    });
    return types;
  }

  const Method& m_;
  const Places& places_;
  std::span<std::uint8_t> types_;
  Work& work_;
};

void check_lists(const Method& m, const Places& places, const NumberTypes& types, const Place& plan, Findings& f) {
  for (std::uint32_t v = 0; v < m.values(); ++v) {
    const KernelTypes type = m.type(v);
    if (type != KernelTypes::IntList && type != KernelTypes::OptionalTensorList) continue;
    const Place place = plan.in("value", v);
    each_element(m, v, [&](std::uint32_t e) {
      if (m.tensor(e)) return;
      const bool stays = type == KernelTypes::IntList ? types.may_be_integer(e) || m.type(e) == KernelTypes::Null
                                                      : !places.may_change(e);
      f.check(stays, "V9", place, "lists value ", e, ", which is given a value of another type");
    });
  }
}

void check_arguments(const Method& m, const Places& places, const pte::KernelCall& call, const Place& place,
                     Findings& f) {
  const OperatorRoles* roles = m.roles(call);
  for (std::uint32_t i = 0; roles && i < roles->count; ++i) {
    const auto v = static_cast<std::uint32_t>(call.args()->Get(i));
    const KernelTypes type = m.type(v);
    const bool is_none = type == KernelTypes::Null;
    const auto [kind, optional, use] = roles->arguments()[i];
    if (numbers_of(kind) == no_number || places.may_change(v) || (is_none && places.is_input(v))) continue;
    f.check((numbers_of(kind) & type_of(type)) || (optional && is_none), "I10", place.in("argument", i), "is a ",
            EnumNameKernelTypes(type), ", but must be ", name_of(kind));
  }
}

}  // namespace

void check_numbers(const Method& m, const Places& places, const Place& plan, Workspace& workspace, Work& work,
                   Findings& f) {
  const Workspace::Scope scope(workspace);
  const auto memory = workspace.take<std::uint8_t>(m.values());
  if (!has_room(workspace, f)) return;
  NumberTypes types(m, places, memory, work);
  types.run();
  check_lists(m, places, types, plan, f);
  for (std::uint32_t i = 0; i < m.instructions(); ++i) {
    const InstructionPlace at(m, i, plan);
    if (const auto* call = m.kernel_call(i)) check_arguments(m, places, *call, at.here, f);
    const auto* jump = m.jump(i);
    if (const auto v = jump ? static_cast<std::uint32_t>(jump->cond_value_index()) : 0; jump && !m.tensor(v))
      f.check(types.is_condition(v), "I15", at.here, "its condition, value ", v,
              ", is not a bool when the jump is reached");
  }
}

}  // namespace assay::format
