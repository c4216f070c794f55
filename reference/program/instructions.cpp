#include "reference/dtype.h"
#include "reference/program/checks.h"

// A method's operators, chains and instructions: the rules of areas I and D.
namespace assay {
namespace {

using pte::KernelTypes;

class InstructionCheck {
 public:
  InstructionCheck(const MethodCheck& method, std::size_t instructions, const Place& place)
      : m_(method), f_(method.findings), instructions_(instructions), place_(place) {}

  void run(const pte::InstructionArgumentsUnion& what) {
    if (const auto* kernel = what.AsKernelCall())
      call(kernel->op_index, m_.plan.operators.size(), "operator", "I1", kernel->args, "I8");
    if (const auto* delegate = what.AsDelegateCall())
      call(delegate->delegate_index, m_.plan.delegates.size(), "delegate", "I13", delegate->args, "I13");
    if (const auto* move = what.AsMoveCall()) check_move(*move);
    if (const auto* jump = what.AsJumpFalseCall()) check_jump(*jump);
    if (const auto* free = what.AsFreeCall()) check_free(free->value_index);
  }

 private:
  void call(Int callee, std::size_t callees, std::string_view kind, RuleId callee_rule,
            const std::vector<std::int32_t>& args, RuleId args_rule) {
    f_.check(callee >= 0 && static_cast<std::uint64_t>(callee) < callees, callee_rule, place_, "calls ", kind, " ",
             callee, ", but there are ", callees);
    for (std::size_t i = 0; i < args.size(); ++i)
      m_.check_index(args[i], args_rule, place_.in("argument", static_cast<Int>(i)));
  }

  void check_move(const pte::MoveCallT& move) {
    const bool from_there = m_.check_index(move.move_from, "I18", place_),
               to_there = m_.check_index(move.move_to, "I18", place_);
    if (!from_there || !to_there ||
        !f_.check(move.move_from != move.move_to, "I18", place_, "moves value ", move.move_from, " to itself"))
      return;
    const auto &from = m_.value(move.move_from), &to = m_.value(move.move_to);
    const bool same = from.type == to.type || (is_number(from.type) && is_number(to.type));
    if (!f_.check(same, "I18", place_, "moves a ", EnumNameKernelTypes(from.type), " to a ",
                  EnumNameKernelTypes(to.type)) ||
        from.type != KernelTypes::Tensor)
      return;
    const pte::TensorT &a = *from.AsTensor(), &b = *to.AsTensor();
    f_.check(a.scalar_type == b.scalar_type && a.sizes.size() == b.sizes.size(), "I18", place_,
             "moves a tensor to one of another dtype or rank");
  }

  void check_jump(const pte::JumpFalseCallT& jump) {
    const Int to = jump.destination_instruction;
    f_.check(to >= 0 && static_cast<std::uint64_t>(to) <= instructions_, "I16", place_, "jumps to instruction ", to,
             ", but there are ", instructions_);
    if (!m_.check_index(jump.cond_value_index, "I15", place_)) return;
    const auto& condition = m_.value(jump.cond_value_index);
    const auto* tensor = condition.AsTensor();
    const bool is_bool = tensor ? tensor->scalar_type == static_cast<int>(DType::boolean) : is_number(condition.type);
    f_.check(is_bool, "I15", place_, "its condition is a ", EnumNameKernelTypes(condition.type),
             ", but must be a bool tensor or a number");
  }

  void check_free(Int value) {
    if (!m_.check_index(value, "I19", place_)) return;
    f_.check(m_.value(value).type == KernelTypes::Tensor, "I19", place_, "frees value ", value, ", a ",
             EnumNameKernelTypes(m_.value(value).type), ", but must free a Tensor");
  }

  const MethodCheck& m_;
  Findings& f_;
  std::size_t instructions_;
  const Place& place_;
};

void check_chain(const MethodCheck& m, const pte::ChainT& chain, const Place& place) {
  for (const std::int32_t i : chain.inputs) m.check_index(i, "I6", place.in("inputs"));
  for (const std::int32_t i : chain.outputs) m.check_index(i, "I6", place.in("outputs"));
  for (std::size_t i = 0; i < chain.instructions.size(); ++i) {
    const Place here = place.in("instruction", static_cast<Int>(i));
    InstructionCheck(m, chain.instructions.size(), here).run(chain.instructions[i]->instr_args);
  }
}

void check_delegate(const MethodCheck& m, const pte::BackendDelegateDataReferenceT& processed, const Place& place) {
  const std::size_t payloads = m.program.tables.backend_delegate_data.size(), segments = m.program.segments.size();
  if (processed.location == pte::DataLocation::INLINE)
    m.findings.check(processed.index < payloads, "G18", place, "has payload ", processed.index, ", but there are ",
                     payloads);
  else
    m.findings.check(processed.index < segments, "D3", place, "has its payload in segment ", processed.index,
                     ", but there are ", segments);
}

}  // namespace

void check_instructions(const MethodCheck& m, const Place& place) {
  for (std::size_t i = 0; i < m.plan.operators.size(); ++i) {
    constexpr std::size_t longest = 99;  // ExecuTorch holds it, with the terminating 0, in 100 bytes
    const std::size_t length = operator_name(*m.plan.operators[i]).size();
    m.findings.check(length <= longest, "I3", place.in("operator", static_cast<Int>(i)), "its name with overload has ",
                     length, " characters, but ", longest, " is the most");
  }
  for (std::size_t i = 0; i < m.plan.delegates.size(); ++i)
    check_delegate(m, *m.plan.delegates[i]->processed, place.in("delegate", static_cast<Int>(i)));
  m.findings.check(!m.plan.chains.empty(), "I5", place, "has no chain of instructions");
  for (std::size_t i = 0; i < m.plan.chains.size(); ++i)
    check_chain(m, *m.plan.chains[i], place.in("chain", static_cast<Int>(i)));
}

}  // namespace assay
