#include "conformance/testees/optimized_library.h"

#include <algorithm>
#include <deque>

#include "conformance/testees/client_memory.h"
#include "conformance/testees/reference_library.h"
#include "optimized/kernels/instruction_set.h"
#include "optimized/runtime/table.h"
#include "reference/call.h"

namespace assay {
namespace {

using optimized::ValueKind;

// A call as a method has it, made of views. Everything that values point to stays where it is.
class Made {
 public:
  optimized::Value* value(const HostValue& from) {
    optimized::Value& to = values_.emplace_back();
    std::visit([&](const auto& v) { set(to, v); }, from);
    return &to;
  }
  // An out of these sizes.
  optimized::Value* out(const TensorView& view, const Dims& sizes) {
    TensorView resized = view;
    resized.sizes = sizes;
    optimized::Value* v = value(resized);
    v->tensor->constant = false;
    return v;
  }

 private:
  void set(optimized::Value&, std::monostate) {}
  void set(optimized::Value& to, Int n) { to.kind = ValueKind::integer, to.integer = n; }
  void set(optimized::Value& to, double d) { to.kind = ValueKind::real, to.real = d; }
  void set(optimized::Value& to, bool b) { to.kind = ValueKind::boolean, to.boolean = b; }
  void set(optimized::Value& to, const std::string& s) {
    to.kind = ValueKind::string, to.text = s.data(), to.count = static_cast<std::uint32_t>(s.size());
  }
  void set(optimized::Value& to, const TensorView& view) {
    optimized::Tensor& t = tensors_.emplace_back();
    const auto& sizes = sizes_.emplace_back(view.sizes.begin(), view.sizes.end());
    const auto& order = orders_.emplace_back(view.dim_order.begin(), view.dim_order.end());
    t.data = t.home = view.data, t.capacity = view.capacity;
    t.sizes = const_cast<std::int32_t*>(sizes.data()), t.declared = sizes.data(), t.dim_order = order.data();
    t.dtype = view.dtype, t.rank = static_cast<std::uint8_t>(sizes.size());
    t.constant = true;
    to.kind = ValueKind::tensor, to.tensor = &t;
  }
  template <class Items>
  void list(optimized::Value& to, ValueKind kind, const Items& items) {
    auto& pointers = pointers_.emplace_back();
    for (const auto& item : items) pointers.push_back(item_of(item));
    to.kind = kind, to.values = pointers.data(), to.count = static_cast<std::uint32_t>(pointers.size());
  }
  optimized::Value* item_of(Int n) { return value(n); }
  optimized::Value* item_of(const std::optional<TensorView>& view) { return view ? value(*view) : nullptr; }
  void set(optimized::Value& to, const Ints& ints) { list(to, ValueKind::integers, ints); }
  void set(optimized::Value& to, const TensorViews& views) { list(to, ValueKind::tensors, views); }
  void set(optimized::Value& to, const Doubles& d) {
    to.kind = ValueKind::reals, to.reals = d.data(), to.count = static_cast<std::uint32_t>(d.size());
  }
  void set(optimized::Value& to, const Bools& b) {
    const auto& bytes = orders_.emplace_back(b.begin(), b.end());
    to.kind = ValueKind::booleans, to.booleans = bytes.data(), to.count = static_cast<std::uint32_t>(bytes.size());
  }

  std::deque<optimized::Value> values_;
  std::deque<optimized::Tensor> tensors_;
  std::deque<std::vector<std::int32_t>> sizes_;
  std::deque<std::vector<std::uint8_t>> orders_;
  std::deque<std::vector<optimized::Value*>> pointers_;
};

// What only the rules of an operator say of a call: the sizes of its results, as tensors without bytes; none where a
// rule is broken or wants to see elements.
std::optional<std::vector<Value>> results_of(const Operator& op, std::span<const HostValue> arguments) {
  const auto described = [](const TensorView& view) { return Tensor{view.dtype, view.sizes, view.dim_order, {}}; };
  std::vector<Value> values;
  for (const HostValue& a : arguments)
    values.push_back(std::visit(
        [&]<class T>(const T& v) -> Value {
          if constexpr (std::is_same_v<T, TensorView>) {
            return described(v);
          } else if constexpr (std::is_same_v<T, TensorViews>) {
            Tensors all;
            for (const auto& view : v) all.push_back(view ? std::optional(described(*view)) : std::nullopt);
            return all;
          } else {
            return v;
          }
        },
        a));
  const Answer answer = assay::call(op, values, {}, Mode::rules);
  if (answer.outcome != Outcome::ok || !answer.unknown.empty()) return {};
  return values;
}

// Only outs that are tensors of the results' dtypes, of which kernels are.
bool has_only_tensors_as_outs(const Operator& op, std::span<const HostValue> arguments,
                              std::span<const Value> results) {
  if (op.mutated() > 0) return false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!op.arguments[i].out) continue;
    const auto* view = std::get_if<TensorView>(&arguments[i]);
    const auto* result = std::get_if<Tensor>(&results[i]);
    if (!view || !result || op.arguments[i].is_out_number() || view->dtype != result->dtype ||
        view->dim_order != result->dim_order)
      return false;
    if (static_cast<std::size_t>(result->count() * info(result->dtype).bytes) > view->capacity) return false;
  }
  return true;
}

// False: no kernel does it.
bool call_kernel(const Operator& op, std::span<HostValue> arguments) {
  const auto results = results_of(op, arguments);
  if (!results || !has_only_tensors_as_outs(op, arguments, *results)) return false;
  Made made;
  std::vector<optimized::Value*> operands;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    operands.push_back(op.arguments[i].out
                           ? made.out(std::get<TensorView>(arguments[i]), std::get<Tensor>((*results)[i]).sizes)
                           : made.value(arguments[i]));
  const auto all = format::all_roles();
  const auto roles = std::ranges::find(all, op.name, &format::OperatorRoles::name);
  if (roles == all.end()) return false;
  const optimized::Call call{&*roles, operands, operands.back()};
  const optimized::Kernel* kernel = optimized::find_kernel(call);
  if (!kernel) return false;
  format::Workspace counted_tables, counted_packed;
  const ClientMemory tables(4096);
  format::Workspace in_tables(tables.bytes());
  optimized::Stores counting{in_tables, counted_packed};
  if (kernel->prepare) kernel->prepare(call, counting);
  const ClientMemory packed(counted_packed.most()), scratch(counting.scratch);
  in_tables.back_to(0);
  format::Workspace in_packed(packed.bytes());
  optimized::Stores stores{in_tables, in_packed};
  optimized::Fault fault;
  optimized::Run run;
  run.scratch = scratch.bytes(), run.fault = &fault;
  const optimized::Step step{kernel->run, kernel->prepare ? kernel->prepare(call, stores) : nullptr, call, 0,
                             kernel->name};
  if (!step.run(step, run)) return false;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (op.arguments[i].out) std::get<TensorView>(arguments[i]).sizes = std::get<Tensor>((*results)[i]).sizes;
  return true;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> OptimizedLibrary::facts() const {
  return {{"instruction set", kernels::traits(kernels::best_instruction_set()).name}};
}

bool OptimizedLibrary::has(const Operator&) const { return true; }

Reply OptimizedLibrary::call(const Operator& op, std::span<HostValue> arguments) {
  if (call_kernel(op, arguments)) return {};
  return ReferenceLibrary().call(op, arguments);
}

}  // namespace assay
