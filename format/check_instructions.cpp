#include "dtype.gen.h"
#include "format/check_method.h"

// A method's operators, chains and instructions: the rules of areas I and D.
namespace assay::format {
namespace {

using pte::KernelTypes;

class InstructionCheck {
 public:
  InstructionCheck(const MethodCheck& method, std::uint32_t instructions, const Place& place)
      : m_(method), f_(method.findings), instructions_(instructions), place_(place) {}

  void run(const pte::Instruction& what) {
    if (const auto* kernel = what.instr_args_as_KernelCall())
      call(kernel->op_index(), size_of(m_.plan.operators()), "operator", "I1", items(kernel->args()), "I8");
    if (const auto* delegate = what.instr_args_as_DelegateCall())
      call(delegate->delegate_index(), size_of(m_.plan.delegates()), "delegate", "I13", items(delegate->args()), "I13");
    if (const auto* move = what.instr_args_as_MoveCall()) check_move(move->move_from(), move->move_to());
    if (const auto* jump = what.instr_args_as_JumpFalseCall())
      check_jump(jump->cond_value_index(), jump->destination_instruction());
    if (const auto* free = what.instr_args_as_FreeCall()) check_free(free->value_index());
  }

 private:
  void call(std::int64_t callee, std::uint32_t callees, std::string_view kind, RuleId callee_rule,
            std::span<const std::int32_t> args, RuleId args_rule) {
    f_.check(callee >= 0 && callee < callees, callee_rule, place_, "calls ", kind, " ", callee, ", but there are ",
             callees);
    std::int64_t i = 0;
    for (const std::int32_t arg : args) m_.check_index(arg, args_rule, place_.in("argument", i++));
  }

  void check_move(std::int64_t source, std::int64_t target) {
    const bool from_there = m_.check_index(source, "I18", place_), to_there = m_.check_index(target, "I18", place_);
    if (!from_there || !to_there || !f_.check(source != target, "I18", place_, "moves value ", source, " to itself"))
      return;
    const pte::EValue &from = m_.value(source), &to = m_.value(target);
    const bool alike = from.val_type() == to.val_type() || (is_number(from.val_type()) && is_number(to.val_type()));
    if (!f_.check(alike, "I18", place_, "moves a ", EnumNameKernelTypes(from.val_type()), " to a ",
                  EnumNameKernelTypes(to.val_type())))
      return;
    const pte::Tensor *a = from.val_as_Tensor(), *b = to.val_as_Tensor();
    f_.check(!a || same_type(*a, *b), "I18", place_, "moves a tensor to one of another dtype or rank");
  }

  void check_jump(std::int64_t condition, std::int64_t to) {
    f_.check(to >= 0 && to <= instructions_, "I16", place_, "jumps to instruction ", to, ", but there are ",
             instructions_);
    if (!m_.check_index(condition, "I15", place_)) return;
    const pte::EValue& value = m_.value(condition);
    const pte::Tensor* tensor = value.val_as_Tensor();
    const bool is_bool =
        tensor ? tensor->scalar_type() == static_cast<int>(DType::boolean) : is_number(value.val_type());
    f_.check(is_bool, "I15", place_, "its condition is a ", EnumNameKernelTypes(value.val_type()),
             ", but must be a bool tensor or a number");
  }

  void check_free(std::int64_t value) {
    if (!m_.check_index(value, "I19", place_)) return;
    const KernelTypes type = m_.value(value).val_type();
    f_.check(type == KernelTypes::Tensor, "I19", place_, "frees value ", value, ", a ", EnumNameKernelTypes(type),
             ", but must free a Tensor");
  }

  const MethodCheck& m_;
  Findings& f_;
  std::uint32_t instructions_;
  const Place& place_;
};

void check_chain(const MethodCheck& m, const pte::Chain& chain, const Place& place) {
  for (const std::int32_t i : items(chain.inputs())) m.check_index(i, "I6", place.in("inputs"));
  for (const std::int32_t i : items(chain.outputs())) m.check_index(i, "I6", place.in("outputs"));
  const std::uint32_t instructions = size_of(chain.instructions());
  for (std::uint32_t i = 0; i < instructions; ++i)
    InstructionCheck(m, instructions, place.in("instruction", i)).run(*chain.instructions()->Get(i));
}

void check_operator(const pte::Operator& op, const Place& place, Findings& f) {
  constexpr std::size_t longest = 99;  // ExecuTorch holds it, with the terminating 0, in 100 bytes
  const std::size_t overload = text_of(op.overload()).size();
  const std::size_t length = text_of(op.name()).size() + (overload > 0 ? 1 + overload : 0);
  f.check(length <= longest, "I3", place, "its name with overload has ", length, " characters, but ", longest,
          " is the most");
}

void check_delegate(const MethodCheck& m, const pte::BackendDelegateDataReference& processed, const Place& place) {
  const std::uint32_t payloads = size_of(m.program.tables->backend_delegate_data()), index = processed.index();
  if (processed.location() == pte::DataLocation::INLINE)
    m.findings.check(index < payloads, "G18", place, "has payload ", index, ", but there are ", payloads);
  else
    m.findings.check(index < m.program.segment_count(), "D3", place, "has its payload in segment ", index,
                     ", but there are ", m.program.segment_count());
}

}  // namespace

void check_instructions(const MethodCheck& m, const Place& place) {
  const pte::ExecutionPlan& plan = m.plan;
  for (std::uint32_t i = 0; i < size_of(plan.operators()); ++i)
    check_operator(*plan.operators()->Get(i), place.in("operator", i), m.findings);
  for (std::uint32_t i = 0; i < size_of(plan.delegates()); ++i)
    check_delegate(m, *plan.delegates()->Get(i)->processed(), place.in("delegate", i));
  m.findings.check(size_of(plan.chains()) > 0, "I5", place, "has no chain of instructions");
  for (std::uint32_t i = 0; i < size_of(plan.chains()); ++i)
    check_chain(m, *plan.chains()->Get(i), place.in("chain", i));
}

}  // namespace assay::format
