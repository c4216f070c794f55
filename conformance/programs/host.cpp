#include "conformance/programs/host.h"

#include <fmt/format.h>

#include "conformance/text/element.h"

namespace assay {
namespace {

const pte::EValue& declared(const pte::ExecutionPlan& plan, std::int32_t index) {
  return *plan.values()->Get(static_cast<std::uint32_t>(index));
}

Ints integers(const auto* list) {
  const auto items = format::items(list);
  return Ints(items.begin(), items.end());
}

// As the program has it: the tensor in its dim order, the number as a float.
Value adapted(Value value, const pte::EValue& to) {
  if (const auto* tensor = std::get_if<Tensor>(&value); tensor && to.val_type() == pte::KernelTypes::Tensor) {
    const Dims order(integers(to.val_as_Tensor()->dim_order()));
    return order.size() == tensor->rank() ? arranged(*tensor, order) : *tensor;
  }
  const Int* n = std::get_if<Int>(&value);
  return n && to.val_type() == pte::KernelTypes::Double ? static_cast<double>(*n) : value;
}

std::string want(const pte::Tensor& t) {
  constexpr std::string_view dynamism[] = {" ", " up to ", " of any sizes, first "};
  const Ints sizes = integers(t.sizes()), order = integers(t.dim_order());
  const bool contiguous = Dims(order) == Dims::counting(static_cast<int>(order.size()));
  return text(*dtype_numbered(static_cast<Int>(t.scalar_type())),
              dynamism[static_cast<std::size_t>(t.shape_dynamism())], sizes,
              contiguous ? "" : text(", laid out as ", order));
}

std::string want(const pte::EValue& value) {
  if (const auto* t = value.val_as_Tensor()) return want(*t);
  if (const auto* n = value.val_as_Int()) return fmt::format("integer {}", n->int_val());
  if (const auto* d = value.val_as_Double()) return fmt::format("float {}", double_text(d->double_val()));
  if (const auto* b = value.val_as_Bool()) return fmt::format("bool {}", b->bool_val());
  if (const auto* s = value.val_as_String()) return text("string ", format::Quoted{format::text_of(s->string_val())});
  return value.val_type() == pte::KernelTypes::Null
             ? "none, a number or a string"
             : fmt::format("a value of kind {}", pte::EnumNameKernelTypes(value.val_type()));
}

}  // namespace

std::vector<std::string> wants(const pte::ExecutionPlan& plan) {
  std::vector<std::string> lines;
  for (const std::int32_t input : format::items(plan.inputs()))
    lines.push_back(fmt::format("{}: {}", lines.size(), want(declared(plan, input))));
  return lines;
}

Host::Host(File program, std::vector<File> data, RuntimeOptions options, Listener* listener)
    : program_(taken(LoadedProgram::load(std::move(program), std::move(data), std::move(options)))),
      listener_(listener) {}

const pte::ExecutionPlan& Host::plan(std::string_view method) const { return *taken(program_.plan(method)); }

std::string Host::default_method() const {
  const auto& plans = *program_.program()->tables().execution_plan();
  return std::string(format::text_of((plans.size() == 1 ? *plans.Get(0) : plan("forward")).name()));
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
  const pte::ExecutionPlan& plan = this->plan(name);
  const auto wanted = format::items(plan.inputs());
  if (inputs.size() != wanted.size())
    throw broken("R4", {nullptr, name, -1, true}, "the method wants ", wanted.size(), " inputs, but ", inputs.size(),
                 " came");
  Method& method = ready(name);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    done(method.set_input(i, adapted(std::move(inputs[i]), declared(plan, wanted[i]))));
  done(method.execute());
  std::vector<Value> outputs;
  for (std::size_t i = 0; i < format::size_of(plan.outputs()); ++i) outputs.push_back(taken(method.output(i)));
  return outputs;
}

}  // namespace assay
