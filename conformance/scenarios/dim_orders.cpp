#include <algorithm>

#include "conformance/scenarios/expectation.h"
#include "conformance/scenarios/recorded_program.h"

// Calls with an input in another dim order than the program declares. A runtime that reads the elements in the declared
// order gives wrong results.
namespace assay::scenarios {
namespace {

// The tensor with two dimensions exchanged in its dim order. Returns nothing if no exchange moves an element.
std::optional<Tensor> reordered(const Tensor& t) {
  for (int inner = t.rank() - 1; inner > 0; --inner) {
    Dims order = t.dim_order;
    std::swap(order[inner], order[inner - 1]);
    if (Tensor other = arranged(t, order); other.bytes != t.bytes) return other;
  }
  return std::nullopt;
}

// The inputs with the first tensor reordered that can be.
std::optional<std::vector<Value>> reordered(std::vector<Value> inputs) {
  for (Value& v : inputs)
    if (const Tensor* t = std::get_if<Tensor>(&v))
      if (auto other = reordered(*t)) return v = std::move(*other), inputs;
  return std::nullopt;
}

}  // namespace

void add_dim_orders(std::vector<Scenario>& all, const Recorded& program) {
  const auto& calls = program->calls.calls;
  auto inputs = calls.empty() ? std::nullopt : reordered(calls.front().inputs);
  if (!inputs) return;
  Step step = call(calls.front());
  step.judge = gives_or_refuses(step.judge.outputs, {step.judge.rtol, step.judge.atol});
  step.inputs = std::move(*inputs), step.reordered = true;
  Scenario s{.id = concat(name(ScenarioKind::dim_orders), '/', program->name), .kind = ScenarioKind::dim_orders};
  s.script = [program, step] { return Script{program->settings(), {load(), step}}; };
  all.push_back(std::move(s));
}

}  // namespace assay::scenarios
