#include <algorithm>

#include "conformance/inspect/listing.h"
#include "conformance/scenarios/expectation.h"
#include "conformance/scenarios/recorded_program.h"

// Calls that a runtime must refuse. Afterwards its program must answer as if these calls had not been made.
namespace assay::scenarios {
namespace {

using Inputs = std::vector<Value>;

// A change of the inputs of a recorded call; returns none if it does not apply.
struct Wrong {
  const char *name, *why;
  std::optional<Inputs> (*inputs)(const pte::ExecutionPlan& plan, Inputs right);
};

// The first tensor with the required dimensions and elements, and its declaration in the program.
struct Found {
  Tensor* tensor = nullptr;
  const pte::Tensor* declared = nullptr;
};
Found tensor_in(const pte::ExecutionPlan& plan, Inputs& inputs, int least_rank = 0) {
  const auto declared = format::items(plan.inputs());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (Tensor* t = std::get_if<Tensor>(&inputs[i]); t && t->rank() >= least_rank && t->count() > 0)
      return {t, inspect::value_at(plan, declared[i])->val_as_Tensor()};
  return {};
}

std::optional<Inputs> too_few(const pte::ExecutionPlan&, Inputs right) {
  if (right.empty()) return std::nullopt;
  right.pop_back();
  return right;
}

std::optional<Inputs> too_many(const pte::ExecutionPlan&, Inputs right) {
  right.push_back(right.empty() ? Value(make(DType::float32, {1})) : right.back());
  return right;
}

std::optional<Inputs> of_another_dtype(const pte::ExecutionPlan& plan, Inputs right) {
  const auto [tensor, declared] = tensor_in(plan, right);
  if (!tensor) return std::nullopt;
  *tensor = make(tensor->dtype == DType::int32 ? DType::float32 : DType::int32, tensor->sizes, tensor->dim_order);
  return right;
}

std::optional<Inputs> of_more_dimensions(const pte::ExecutionPlan& plan, Inputs right) {
  const auto [tensor, declared] = tensor_in(plan, right);
  if (!tensor || tensor->rank() + 1 > max_rank) return std::nullopt;
  Dims sizes = tensor->sizes;
  sizes.insert(0, 1);
  *tensor = make(tensor->dtype, sizes);
  return right;
}

std::optional<Inputs> of_fewer_dimensions(const pte::ExecutionPlan& plan, Inputs right) {
  const auto [tensor, declared] = tensor_in(plan, right, 2);
  if (!tensor) return std::nullopt;
  Dims sizes = tensor->sizes;
  sizes[1] *= sizes[0];
  sizes.erase(0);
  *tensor = make(tensor->dtype, sizes);
  return right;
}

// One more than the declared size, which is the upper bound of an open size.
std::optional<Inputs> too_large(const pte::ExecutionPlan& plan, Inputs right) {
  const auto [tensor, declared] = tensor_in(plan, right, 1);
  if (!tensor || declared->shape_dynamism() == pte::TensorShapeDynamism::DYNAMIC_UNBOUND) return std::nullopt;
  Dims sizes;
  for (const auto n : format::items(declared->sizes())) sizes.push_back(n);
  ++sizes[0];
  *tensor = make(tensor->dtype, sizes, tensor->dim_order);
  return right;
}

constexpr auto wrongs = std::to_array<Wrong>({
    {"too-few", "an input that is missing", too_few},
    {"too-many", "an input too many", too_many},
    {"dtype", "an input of another dtype", of_another_dtype},
    {"more-dimensions", "an input of more dimensions", of_more_dimensions},
    {"fewer-dimensions", "an input of fewer dimensions", of_fewer_dimensions},
    {"too-large", "a size beyond what the program declares", too_large},
});

}  // namespace

void add_wrong_inputs(std::vector<Scenario>& all, const Recorded& program) {
  const auto& calls = program->calls.calls;
  if (calls.empty()) return;
  const hosts::ProgramCall& first = calls.front();
  const auto add = [&](const std::string& what, std::vector<Step> steps) {
    all.push_back(with_refusal(program, ScenarioKind::inputs, what, std::move(steps)));
  };
  for (const Wrong& wrong : wrongs)
    if (auto inputs = wrong.inputs(program->plan(first), first.inputs))
      add(wrong.name, {load(), refused_call(first.method, std::move(*inputs), wrong.why), call(first)});
  add("method", {load(), refused_call("no such method", first.inputs, "a method that is not there"), call(first)});
  if (first.inputs.empty()) return;
  std::vector<Step> forgotten{load(), call(first), refused_call(first.method, {}, "inputs of an earlier call alone")};
  if (calls.size() > 1) forgotten.push_back(call(calls[1]));
  add("forgotten", std::move(forgotten));
}

}  // namespace assay::scenarios
