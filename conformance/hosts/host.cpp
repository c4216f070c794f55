#include "conformance/hosts/host.h"

#include <fmt/format.h>

#include "conformance/inspect/listing.h"
#include "conformance/text/element.h"
#include "conformance/text/printable.h"

namespace assay {
namespace {

Ints integers(const auto& items) { return Ints(items.begin(), items.end()); }

// Converts a value to what the program declares: a tensor to its dim order, an integer to a float.
Value adapted(Value value, const pte::EValue& to) {
  if (const auto* declared = to.val_as_Tensor())
    if (const auto* tensor = std::get_if<Tensor>(&value)) {
      const Dims order(integers(format::items(declared->dim_order())));
      return order.size() == tensor->rank() ? arranged(*tensor, order) : *tensor;
    }
  const Int* n = std::get_if<Int>(&value);
  return n && to.val_as_Double() ? static_cast<double>(*n) : value;
}

std::string want(const pte::Tensor& t) {
  constexpr std::string_view dynamism[] = {" ", " up to ", " of any sizes, first "};
  const Ints sizes = integers(format::items(t.sizes())), order = integers(format::items(t.dim_order()));
  const bool contiguous = std::ranges::is_sorted(order);
  return text(*dtype_numbered(t.scalar_type()), dynamism[static_cast<std::size_t>(t.shape_dynamism())], sizes,
              contiguous ? "" : text(", laid out as ", order));
}

std::string want(const pte::EValue& value) {
  if (const auto* t = value.val_as_Tensor()) return want(*t);
  if (const auto* n = value.val_as_Int()) return fmt::format("integer {}", n->int_val());
  if (const auto* d = value.val_as_Double()) return fmt::format("float {}", double_text(d->double_val()));
  if (const auto* b = value.val_as_Bool()) return fmt::format("bool {}", b->bool_val());
  if (const auto* s = value.val_as_String())
    return fmt::format("string {}", in_quotes(format::text_of(s->string_val())));
  return "none, a number or a string";
}

}  // namespace

std::vector<std::string> wants(const pte::ExecutionPlan& plan) {
  constexpr std::size_t most = 20;
  std::vector<std::string> all;
  const auto inputs = format::items(plan.inputs());
  for (const std::int32_t input : inputs.first(std::min(inputs.size(), most)))
    all.push_back(want(*value_at(plan, input)));
  return all;
}

std::vector<Value> adapted(const pte::ExecutionPlan& plan, std::vector<Value> inputs) {
  const std::span wanted = format::items(plan.inputs());
  if (inputs.size() != wanted.size())
    throw broken("R4", {nullptr, format::text_of(plan.name()), -1, true}, "the method wants ", wanted.size(),
                 " inputs, but ", inputs.size(), " came");
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = adapted(std::move(inputs[i]), *value_at(plan, wanted[i]));
  return inputs;
}

ValidProgram valid_program(const File& program, std::span<const File> data) {
  std::vector<NamedDataFile> files;
  for (const File& file : data) files.push_back(value_or_throw(open_data(file)));
  return value_or_throw(validate(value_or_throw(open_program(program)), std::move(files)));
}

Host::Host(const ValidProgram& program, RuntimeOptions options, Listener* listener)
    : program_(program), loaded_(program, std::move(options)), listener_(listener) {}

const pte::ExecutionPlan& Host::plan(std::string_view method) const { return *value_or_throw(loaded_.plan(method)); }

std::string Host::default_method() const {
  const auto* plans = tables().execution_plan();
  const pte::ExecutionPlan& plan = format::size_of(plans) == 1 ? *plans->Get(0) : this->plan("forward");
  return std::string(format::text_of(plan.name()));
}

Method& Host::ready(const std::string& name) {
  const auto found = methods_.find(name);
  if (found != methods_.end()) return found->second;
  Method& method = methods_.emplace(name, value_or_throw(loaded_.method(name))).first->second;
  method.listen(listener_);
  return method;
}

std::vector<std::pair<std::string, Tensor>> Host::state(const std::string& name) {
  Method& method = ready(name);
  std::vector<std::pair<std::string, Tensor>> all;
  const auto& values = *method.plan().values();
  for (flatbuffers::uoffset_t i = 0; i < values.size(); ++i) {
    const pte::Tensor* t = values.Get(i)->val_as_Tensor();
    if (!t || !t->allocation_info() || t->data_buffer_idx() == 0) continue;
    const auto* extra = t->extra_tensor_info();
    const auto* said = extra ? extra->fully_qualified_name() : nullptr;
    std::string called = said && said->size() > 0 ? said->str() : text("value ", i);
    all.emplace_back(std::move(called), std::get<Tensor>(value_or_throw(method.value(i))));
  }
  return all;
}

std::vector<Value> Host::call(const std::string& name, std::vector<Value> inputs) {
  const auto done = [](Refusal refused) {
    if (refused) throw std::move(*refused);
  };
  const pte::ExecutionPlan& plan = this->plan(name);
  inputs = adapted(plan, std::move(inputs));
  Method& method = ready(name);
  for (std::size_t i = 0; i < inputs.size(); ++i) done(method.set_input(i, inputs[i]));
  done(method.execute());
  std::vector<Value> outputs;
  for (std::size_t i = 0; i < format::size_of(plan.outputs()); ++i) outputs.push_back(value_or_throw(method.output(i)));
  return outputs;
}

}  // namespace assay
