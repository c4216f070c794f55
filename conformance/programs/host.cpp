#include "conformance/programs/host.h"

#include <fmt/format.h>

#include "conformance/text/element.h"

namespace assay {
namespace {

LoadedProgram load(std::span<const std::byte> program, const std::vector<std::vector<std::byte>>& data,
                   RuntimeOptions options) {
  const std::vector<std::span<const std::byte>> files(data.begin(), data.end());
  return taken(LoadedProgram::load(program, files, std::move(options)));
}

const pte::KernelTypesUnion& declared(const pte::ExecutionPlanT& plan, std::int32_t index) {
  return plan.values[static_cast<std::size_t>(index)]->val;
}

Ints integers(const auto& items) { return Ints(items.begin(), items.end()); }

// As the program has it: the tensor in its dim order, the number as a float.
Value adapted(Value value, const pte::KernelTypesUnion& to) {
  if (const auto* tensor = std::get_if<Tensor>(&value); tensor && to.type == pte::KernelTypes::Tensor) {
    const Dims order(integers(to.AsTensor()->dim_order));
    return order.size() == tensor->rank() ? arranged(*tensor, order) : *tensor;
  }
  const Int* n = std::get_if<Int>(&value);
  return n && to.type == pte::KernelTypes::Double ? static_cast<double>(*n) : value;
}

std::string want(const pte::TensorT& t) {
  constexpr std::string_view dynamism[] = {" ", " up to ", " of any sizes, first "};
  const Ints sizes = integers(t.sizes), order = integers(t.dim_order);
  const bool contiguous = Dims(order) == Dims::counting(static_cast<int>(order.size()));
  return text(*dtype_numbered(t.scalar_type), dynamism[static_cast<std::size_t>(t.shape_dynamism)], sizes,
              contiguous ? "" : text(", laid out as ", order));
}

std::string want(const pte::KernelTypesUnion& value) {
  if (const auto* t = value.AsTensor()) return want(*t);
  if (const auto* n = value.AsInt()) return fmt::format("integer {}", n->int_val);
  if (const auto* d = value.AsDouble()) return fmt::format("float {}", double_text(d->double_val));
  if (const auto* b = value.AsBool()) return fmt::format("bool {}", b->bool_val);
  if (const auto* s = value.AsString()) return fmt::format("string \"{}\"", s->string_val);
  return value.type == pte::KernelTypes::Null ? "none, a number or a string"
                                              : fmt::format("a value of kind {}", pte::EnumNameKernelTypes(value.type));
}

}  // namespace

std::vector<std::string> wants(const pte::ExecutionPlanT& plan) {
  std::vector<std::string> lines;
  for (const std::int32_t input : plan.inputs)
    lines.push_back(fmt::format("{}: {}", lines.size(), want(declared(plan, input))));
  return lines;
}

Host::Host(std::span<const std::byte> program, const std::vector<std::vector<std::byte>>& data, RuntimeOptions options,
           Listener* listener)
    : program_(load(program, data, std::move(options))), listener_(listener) {}

const pte::ExecutionPlanT& Host::plan(std::string_view method) const {
  if (const auto* plan = program_.program().plan(method)) return *plan;
  std::string names;
  for (const auto& p : tables().execution_plan) names += (names.empty() ? "" : ", ") + p->name;
  throw broken("G3", {}, "there is no method \"", method, "\"; there are: ", names);
}

std::string Host::default_method() const {
  const auto& plans = tables().execution_plan;
  return plans.size() == 1 ? plans[0]->name : plan("forward").name;
}

Method& Host::ready(const std::string& name) {
  const auto found = methods_.find(name);
  if (found != methods_.end()) return found->second;
  Method& method = methods_.emplace(name, taken(program_.method(name))).first->second;
  method.listen(listener_);
  return method;
}

std::vector<Value> Host::call(const std::string& name, std::vector<Value> inputs) {
  const auto done = [](Refusal refused) {
    if (refused) throw std::move(*refused);
  };
  const pte::ExecutionPlanT& plan = this->plan(name);
  if (inputs.size() != plan.inputs.size())
    throw broken("R4", {nullptr, name}, "the method wants ", plan.inputs.size(), " inputs, but ", inputs.size(),
                 " came");
  Method& method = ready(name);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    done(method.set_input(i, adapted(std::move(inputs[i]), declared(plan, plan.inputs[i]))));
  done(method.execute());
  std::vector<Value> outputs;
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) outputs.push_back(taken(method.output(i)));
  return outputs;
}

}  // namespace assay
