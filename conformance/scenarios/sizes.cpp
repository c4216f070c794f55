#include <algorithm>
#include <map>

#include "conformance/inspect/listing.h"
#include "conformance/scenarios/expectation.h"
#include "conformance/scenarios/recorded_program.h"

// Scenarios of programs with open input sizes: calls at the ends of the allowed range and beyond it.
namespace assay {
namespace {

using Inputs = std::vector<Value>;

// An open size. The recorded calls show which sizes are open; no file states it.
struct Open {
  std::size_t input;
  int dim;
  Int least, most;  // the smallest recorded size; the largest declared size
};

// A method with open sizes, and one of its calls.
struct OpenMethod {
  ProgramCall call;
  std::vector<Open> sizes;
};

OpenMethod opened(const RecordedProgram& program, const ProgramCall& first) {
  OpenMethod method{first, {}};
  const pte::ExecutionPlan& plan = program.plan(first);
  const auto inputs = format::items(plan.inputs());
  for (std::size_t i = 0; i < first.inputs.size(); ++i) {
    const pte::Tensor* declared = value_at(plan, inputs[i])->val_as_Tensor();
    if (!declared || declared->shape_dynamism() != pte::TensorShapeDynamism::DYNAMIC_BOUND) continue;
    const auto bounds = format::items(declared->sizes());
    for (int d = 0; d < static_cast<int>(bounds.size()); ++d) {
      Open open{i, d, bounds[static_cast<std::size_t>(d)], bounds[static_cast<std::size_t>(d)]};
      for (const ProgramCall& call : program.calls.calls)
        if (call.method == first.method) open.least = std::min(open.least, std::get<Tensor>(call.inputs[i]).sizes[d]);
      if (open.least < open.most) method.sizes.push_back(open);
    }
  }
  return method;
}

// The elements of a tensor, repeated to fill the given sizes.
Tensor tiled(const Tensor& tensor, const Dims& sizes) {
  const Array<Element> from = read<Element>(tensor);
  Array<Element> to(sizes);
  if (from.count() > 0)
    for (const Dims& i : indices(sizes)) {
      Dims at = i;
      for (int d = 0; d < at.size(); ++d) at[d] %= tensor.sizes[d];
      to(i) = from(at);
    }
  Tensor result = make(tensor.dtype, sizes, tensor.dim_order);
  write(to, result);
  return result;
}

Inputs at_sizes(const OpenMethod& method, Int (*size)(const Open&)) {
  std::map<std::size_t, Dims> sizes;
  for (const Open& open : method.sizes) {
    const auto& tensor = std::get<Tensor>(method.call.inputs[open.input]);
    sizes.try_emplace(open.input, tensor.sizes).first->second[open.dim] = size(open);
  }
  Inputs inputs = method.call.inputs;
  for (const auto& [i, dims] : sizes) inputs[i] = tiled(std::get<Tensor>(inputs[i]), dims);
  return inputs;
}

// Appends a call with the first sizes that the reference answers, and its results. No file states which sizes go
// together, so the reference decides.
void append(std::vector<Step>& steps, Host& reference, const OpenMethod& method,
            std::initializer_list<Int (*)(const Open&)> first_that_fits) {
  for (const auto size : first_that_fits) {
    Inputs inputs = at_sizes(method, size);
    try {
      const std::vector<Value> outputs = reference.call(method.call.method, inputs);
      steps.push_back(
          {.method = method.call.method, .inputs = std::move(inputs), .judge = gives(outputs, method.call.tolerance)});
      return;
    } catch (const Fault&) {
    }
  }
}

Script within_bounds(const RecordedProgram& program, const OpenMethod& method) {
  constexpr auto one = [](const Open&) { return Int{1}; };
  constexpr auto least = [](const Open& o) { return o.least; };
  constexpr auto middle = [](const Open& o) { return (o.least + o.most) / 2; };
  constexpr auto most = [](const Open& o) { return o.most; };
  Host reference(program.program);
  std::vector<Step> steps{load()};
  append(steps, reference, method, {one, least});
  append(steps, reference, method, {most});
  append(steps, reference, method, {middle});
  append(steps, reference, method, {one, least});
  return {program.settings(), std::move(steps)};
}

// Exceeds the bound of one size by 1. The other open sizes of the same input are `others`.
Inputs beyond(const OpenMethod& method, const Open& open, Int Open::*others) {
  Inputs inputs = method.call.inputs;
  Tensor& tensor = std::get<Tensor>(inputs[open.input]);
  Dims sizes = tensor.sizes;
  for (const Open& other : method.sizes)
    if (other.input == open.input) sizes[other.dim] = other.*others;
  sizes[open.dim] = open.most + 1;
  tensor = tiled(tensor, sizes);
  return inputs;
}

bool has_others(const OpenMethod& method, const Open& open) {
  return std::ranges::any_of(method.sizes, [&](const Open& o) { return o.input == open.input && o.dim != open.dim; });
}

}  // namespace

void add_sizes(std::vector<Scenario>& all, const Recorded& program) {
  std::map<std::string, OpenMethod> methods;
  for (const ProgramCall& call : program->calls.calls)
    if (!methods.contains(call.method)) methods.emplace(call.method, opened(*program, call));
  for (const auto& [name, method] : methods) {
    if (method.sizes.empty()) continue;
    Scenario s{.id = text("sizes/", program->name, ':', name), .kind = ScenarioKind::sizes};
    s.script = [program, method = method] { return within_bounds(*program, method); };
    all.push_back(std::move(s));
    const auto refused = [&](const std::string& what, const Open& open, Int Open::*others) {
      all.push_back(with_refusal(
          program, ScenarioKind::sizes, text(name, ':', what, '-', open.input, '.', open.dim),
          {load(), refused_call(name, beyond(method, open, others), "a size beyond what the program declares"),
           call(program->calls.calls.front())}));
    };
    for (const Open& open : method.sizes) {
      refused("beyond", open, &Open::most);
      // The input has fewer elements than the program declares. A runtime that only counts elements accepts it.
      if (has_others(method, open)) refused("beyond-with-few-elements", open, &Open::least);
    }
  }
}

}  // namespace assay
