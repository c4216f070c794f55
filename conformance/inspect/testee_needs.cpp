#include "conformance/inspect/testee_needs.h"

#include <fmt/format.h>

#include "conformance/inspect/listing.h"
#include "conformance/text/printable.h"
#include "reference/runtime/call_rules.h"

namespace assay::inspect {
namespace {

Tensor tensor_of(const pte::Tensor& t) {
  const auto ints = [](const auto& items) { return Dims(Ints(items.begin(), items.end())); };
  return {*dtype_numbered(t.scalar_type()), ints(format::items(t.sizes())), ints(format::items(t.dim_order())), {}};
}

// The facts of a value before anything runs. A tensor has its first sizes and no elements.
Value value_of(const pte::ExecutionPlan& plan, Int index) {
  if (const auto* t = tensor_at(plan, index)) return tensor_of(*t);
  if (value_at(plan, index)->val_type() < pte::KernelTypes::TensorList) return {};
  Tensors list;
  each_tensor(plan, index, [&](Int i) { list.emplace_back(tensor_of(*tensor_at(plan, i))); });
  return list;
}

std::string described(const std::vector<Value>& arguments) {
  std::string all;
  for (const Value& v : arguments)
    if (const Tensor* t = std::get_if<Tensor>(&v)) all += ", " + describe(*t);
  return all;
}

// Why the testee has no kernel for the call; empty where it has one.
std::string lack(const pte::ExecutionPlan& plan, const pte::KernelCall& call, const Testee& testee) {
  const pte::Operator& called = *plan.operators()->Get(static_cast<std::uint32_t>(call.op_index()));
  if (works_on_handles(called)) return "";
  const std::string name = operator_name(called);
  const Operator* op = find_operator(name);
  if (!op) return fmt::format("{}, which the specification lacks", text::shown(name));
  if (!testee.library.has(*op)) return name;
  std::vector<Value> arguments;
  for (const std::size_t index : operands(*op, format::items(call.args())))
    arguments.push_back(value_of(plan, static_cast<Int>(index)));
  Budget::Scope::work(static_cast<Int>(arguments.size()));
  return testee.contract.promises_types(*op, arguments) ? "" : name + described(arguments);
}

void each_lacking_backend(const pte::ExecutionPlan& plan, const Testee& testee,
                          const std::function<void(std::string)>& tell) {
  std::uint32_t i = 0;
  for (const pte::BackendDelegate& d : tables(plan.delegates())) {
    const std::string_view id = format::text_of(d.id());
    if (!testee.backends.contains(id))
      tell(fmt::format("delegate {} of {}: the backend {}", i, text::shown(format::text_of(plan.name())),
                       text::shown(id)));
    ++i;
  }
}

}  // namespace

void each_lacking(const ValidProgram& program, const Testee& testee, const std::function<void(std::string)>& tell) {
  for (const pte::ExecutionPlan& plan : tables(program->tables().execution_plan())) {
    each_lacking_backend(plan, testee, tell);
    std::uint32_t i = 0;
    for (const pte::Chain& chain : tables(plan.chains()))
      for (const pte::Instruction& instruction : tables(chain.instructions())) {
        const auto* call = instruction.instr_args_as_KernelCall();
        const std::string what = call ? lack(plan, *call, testee) : "";
        if (!what.empty())
          tell(fmt::format("instruction {} of {}: {}", i, text::shown(format::text_of(plan.name())), what));
        ++i;
      }
  }
}

}  // namespace assay::inspect
