#include "optimized/refusals/refusals.h"

#include <new>

#include "optimized/refusals/values.h"
#include "optimized/runtime/table.h"
#include "reference/call.h"
#include "reference/fault.h"
#include "reference/program/rule.h"
#include "reference/runtime/call_rules.h"

namespace assay::optimized {
namespace {

thread_local const Budget* charged = nullptr;

void add(assay::Value value, Value* to, std::vector<Result>& results) {
  Tensors* list = std::get_if<Tensors>(&value);
  if (!list) return results.push_back({std::move(value), to});
  const auto targets = to->items();
  if (to->kind != ValueKind::tensors || targets.size() != list->size())
    throw broken("I10", {}, "the outs are not a list of ", list->size(), " tensors");
  for (std::size_t k = 0; k < targets.size(); ++k) results.push_back({std::move(*(*list)[k]), targets[k]});
}

// Throws assay::Fault if the call breaks a rule, or if its results do not fit the method. The reference computes the
// call on copies, because some rules are about elements; its results are dropped.
void require_valid(const Operator& op, const Call& call, const Budget& budget) {
  Buffer<assay::Value> arguments;
  std::vector<std::size_t>
      from;  // by argument: its operand; the new value of a mutated argument replaces that argument
  for (std::size_t i = 0; i < op.arguments.size(); ++i) from.push_back(i);
  for (std::size_t i = 0; i < op.arguments.size(); ++i)
    if (op.arguments[i].mutated) from[op.new_value_of(i)] = i;
  for (std::size_t i = 0; i < op.arguments.size(); ++i) {
    const bool out = op.arguments[i].out;
    const format::Use use = out ? format::Use::written : call.named().arguments()[i].use;
    const bool read = !out && use != format::Use::asked && use != format::Use::overwritten;
    arguments.push_back(op.arguments[i].is_out_number() ? assay::Value() : to_reference(call[from[i]], read));
    if (!out && !read)
      if (auto* t = std::get_if<assay::Tensor>(&arguments.back())) *t = make(t->dtype, t->sizes, t->dim_order);
  }
  const Answer answer = assay::call(op, arguments, budget);
  if (answer.outcome != Outcome::ok) throw refusal(op, answer);
  std::vector<Result> results;
  for (std::size_t i = 0; i < op.arguments.size(); ++i)
    if (op.arguments[i].out) add(std::move(arguments[i]), call.arguments[from[i]], results);
  require_fit(results, "I10");
}

// Sets the fault if the call breaks a rule.
bool is_valid(const Call& call, Fault& fault) {
  try {
    const Budget budget = charged ? *charged : Budget();
    const Budget::Scope scope(budget, "a call");
    require_valid(*find_operator(call.named().name), call, budget);
    return true;
  } catch (const assay::Fault& e) {
    fault.set(e.outcome, e.rule, e.place, e.message);
  } catch (const std::bad_alloc&) {
    fault.set(Outcome::exhausted, "limits.memory", "", "no memory left");
  }
  return false;
}

// Words the refusal of a call that no kernel does. A valid call has no kernel.
bool refuse(const Step& step, Execution& execution) {
  const Call& call = step.call;
  if (!is_valid(call, *execution.fault) || step.state) return false;
  format::Text operands;
  write_operands(call, operands);
  return optimized::refuse(*execution.fault, "I4", nowhere, "there is no kernel of ", call.named().name, " for ",
                           operands.view());
}

bool accepts(const Call&) { return true; }

}  // namespace

const Kernel refusing_kernel{"reference", accepts, nullptr, refuse};

const assay_refusals* reference_refusals() { return reinterpret_cast<const assay_refusals*>(&refusing_kernel); }

RefusalBudget::RefusalBudget(const Budget& budget) { charged = &budget; }
RefusalBudget::~RefusalBudget() { charged = nullptr; }

}  // namespace assay::optimized
