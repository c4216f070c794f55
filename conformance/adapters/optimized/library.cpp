#include "conformance/adapters/optimized/library.h"

#include <algorithm>
#include <cstring>
#include <deque>

#include "conformance/adapters/optimized/step.h"
#include "conformance/sandbox/client_memory.h"
#include "conformance/testee/copied.h"
#include "optimized/kernels/instruction_set.h"
#include "optimized/runtime/table.h"
#include "reference/call.h"
#include "reference/fault.h"

namespace assay::adapters {
namespace {

using optimized::ValueKind;

using Operands = OptimizedLibrary::Operands;

// The values of one call in the form that methods have.
class CallValues {
 public:
  explicit CallValues(Operands operands) : operands_(operands) {}

  // An out is never a constant.
  optimized::Value* add_out(const testee::HostValue& from) {
    optimized::Value* to = add(from);
    if (to->kind == ValueKind::tensor) to->tensor->constant = false;
    return to;
  }
  optimized::Value* add(const testee::HostValue& from) {
    optimized::Value& to = values_.emplace_back();
    std::visit([&](const auto& v) { set(to, v); }, from);
    return &to;
  }

  // Before kernels run, they see the declared sizes. For moving tensors, these are larger than the sizes of the call.
  void declare() {
    for (Tensor& t : tensors_) t.now = t.declared;
  }
  void begin() {
    for (Tensor& t : tensors_) t.now = t.sizes;
  }
  // The memory behind the elements belongs to the caller, so a tensor whose kernel reads beyond its end is copied.
  void lend_beyond() {
    for (Tensor& t : tensors_)
      if (t.tensor.read_beyond) {
        sandbox::ClientMemory& copy = copies_.emplace_back(t.tensor.bytes() + optimized::most_beyond);
        std::copy_n(t.tensor.data, t.tensor.bytes(), copy.bytes().data());
        t.tensor.data = t.tensor.home = copy.bytes().data();
      }
  }

 private:
  struct Tensor {
    optimized::Tensor tensor;
    std::vector<std::int32_t> sizes, now, declared;
    std::vector<std::uint8_t> order;
  };

  void set(optimized::Value&, std::monostate) {}
  void set(optimized::Value& to, const testee::TensorView& view) {
    Tensor& t = tensors_.emplace_back();
    t.sizes.assign(view.sizes.begin(), view.sizes.end());
    t.now = t.declared = t.sizes;
    for (std::int32_t& n : t.declared) n += operands_ == Operands::moving && n > 1;
    t.order.assign(view.dim_order.begin(), view.dim_order.end());
    t.tensor.data = t.tensor.home = view.data, t.tensor.capacity = view.capacity;
    t.tensor.sizes = t.now.data(), t.tensor.declared = t.declared.data(), t.tensor.dim_order = t.order.data();
    t.tensor.dtype = view.dtype, t.tensor.rank = static_cast<std::uint8_t>(t.sizes.size());
    t.tensor.constant = operands_ == Operands::constant;
    t.tensor.moves = operands_ == Operands::moving;
    to.kind = ValueKind::tensor, to.tensor = &t.tensor;
  }
  void set(optimized::Value& to, Int n) { to.kind = ValueKind::integer, to.integer = n; }
  void set(optimized::Value& to, double x) { to.kind = ValueKind::real, to.real = x; }
  void set(optimized::Value& to, bool b) { to.kind = ValueKind::boolean, to.boolean = b; }
  void set(optimized::Value& to, const std::string& s) {
    to.kind = ValueKind::string, to.text = s.data(), to.count = static_cast<std::uint32_t>(s.size());
  }
  void set(optimized::Value& to, const Ints& all) { set_list(to, ValueKind::integers, all); }
  void set(optimized::Value& to, const testee::TensorViews& all) { set_list(to, ValueKind::tensors, all); }
  void set(optimized::Value& to, const Doubles& all) {
    to.kind = ValueKind::reals, to.reals = all.data(), to.count = static_cast<std::uint32_t>(all.size());
  }
  void set(optimized::Value& to, const Bools& all) {
    auto& bytes = bytes_.emplace_back(all.begin(), all.end());
    to.kind = ValueKind::booleans, to.booleans = bytes.data(), to.count = static_cast<std::uint32_t>(all.size());
  }
  void set_list(optimized::Value& to, ValueKind kind, const auto& all) {
    auto& items = lists_.emplace_back();
    for (const auto& item : all) items.push_back(add_item(item));
    to.kind = kind, to.values = items.data(), to.count = static_cast<std::uint32_t>(items.size());
  }
  optimized::Value* add_item(Int n) { return add(testee::HostValue(n)); }
  optimized::Value* add_item(const std::optional<testee::TensorView>& view) {
    return view ? add(testee::HostValue(*view)) : nullptr;
  }

  Operands operands_;
  std::deque<optimized::Value> values_;
  std::deque<Tensor> tensors_;
  std::deque<std::vector<optimized::Value*>> lists_;
  std::deque<std::vector<std::uint8_t>> bytes_;
  std::deque<sandbox::ClientMemory> copies_;
};

void hand_back(const optimized::Tensor& from, testee::TensorView& to) {
  to.sizes = {};
  for (const std::int32_t n : from.shape()) to.sizes.push_back(n);
}

// Returns the sizes of outs, and numbers, to the host.
void hand_back(const optimized::Value& from, testee::HostValue& to) {
  if (auto* views = std::get_if<testee::TensorViews>(&to)) {
    for (std::size_t k = 0; k < views->size(); ++k) hand_back(*from.values[k]->tensor, *(*views)[k]);
    return;
  }
  testee::TensorView& view = std::get<testee::TensorView>(to);
  if (from.kind == ValueKind::tensor) return hand_back(*from.tensor, view);
  const bool boolean = from.kind == ValueKind::boolean, integer = from.kind == ValueKind::integer;
  view.dtype = boolean ? DType::boolean : integer ? DType::int64 : DType::float64;
  std::memcpy(view.data, &from.integer, boolean ? 1 : 8);  // the bytes of the union
}

// Prepares and runs the call as the only step, in the way that a method prepares and runs its steps.
testee::Reply run(const optimized::Call& call, CallValues& values) {
  const auto unsupported = [](const char* why) { return testee::Reply{Outcome::unsupported, why}; };
  values.declare();
  const optimized::Kernel* kernel = optimized::find_kernel(call, {});
  if (!kernel) return unsupported("there is no kernel for a call of these dtypes and this layout");
  try {
    LoneStep step(*kernel, call);
    values.lend_beyond(), values.begin();
    optimized::Fault fault;
    if (step.run(fault)) return {};
    return fault ? testee::Reply{fault.outcome, fault.message}
                 : unsupported("the kernel does not do a call of these sizes");
  } catch (const Fault& f) {
    return {f.outcome, f.message};
  }
}

}  // namespace

std::vector<std::pair<std::string, std::string>> OptimizedLibrary::facts() const {
  return {{"instruction set", kernels::name_of(set_)}};
}

std::vector<std::string> OptimizedLibrary::kernels() const {
  std::vector<std::string> names;
  for (const optimized::KernelRow& row : optimized::kernel_table())
    if (names.empty() || names.back() != row.op) names.emplace_back(row.op);
  return names;
}

bool OptimizedLibrary::has(const Operator& op) const {
  return words_refusals_ ||
         std::ranges::binary_search(optimized::kernel_table(), op.name, {}, &optimized::KernelRow::op);
}

bool OptimizedLibrary::runs_here() const { return !set_ || kernels::is_supported(*set_); }

testee::Reply OptimizedLibrary::call(const Operator& op, std::span<testee::HostValue> arguments) {
  if (!runs_here()) return {Outcome::unsupported, "this machine does not have the instruction set"};
  const std::string_view name = op.name;
  const auto roles = std::ranges::lower_bound(format::all_roles(), name, {}, &format::OperatorRoles::name);
  CallValues values(operands_);
  std::vector<optimized::Value*> all;
  std::vector<std::pair<optimized::Value*, testee::HostValue*>> outs;
  for (std::size_t i = 0; i < op.arguments.size(); ++i) {
    if (op.arguments[i].is_out_number()) {
      outs.emplace_back(all.emplace_back(values.add_out({})), &arguments[i]);
    } else if (op.arguments[i].mutated) {  // changed in place
      testee::HostValue& out = arguments[op.new_value_of(i)];
      const testee::TensorView &from = std::get<testee::TensorView>(arguments[i]),
                               &to = std::get<testee::TensorView>(out);
      if (from.dtype != to.dtype || from.sizes != to.sizes)
        return worded(op, arguments, {Outcome::unsupported, "what is changed in place is not what it becomes"});
      const Tensor before = arranged(std::get<Tensor>(testee::copied(arguments[i])), to.dim_order);
      std::ranges::copy(before.bytes, to.data);
      outs.emplace_back(all.emplace_back(values.add_out(out)), &out);
    } else if (all.size() < roles->count) {
      all.push_back(op.arguments[i].out ? values.add_out(arguments[i]) : values.add(arguments[i]));
      if (op.arguments[i].out) outs.emplace_back(all.back(), &arguments[i]);
    }
  }
  const format::OperatorRoles* of_form = roles->operator_with_out();
  if (of_form) all.push_back(all[0]);  // an in-place form, whose out is self
  const testee::Reply reply = run({of_form ? of_form : &*roles, all, nullptr, set_, relaxed_}, values);
  if (reply.outcome == Outcome::ok)
    for (const auto& [from, to] : outs) hand_back(*from, *to);
  return worded(op, arguments, reply);
}

// The reference computes the call on copies.
testee::Reply OptimizedLibrary::worded(const Operator& op, std::span<const testee::HostValue> arguments,
                                       const testee::Reply& reply) const {
  constexpr Budget::Limits limits{.bytes = Int{1} << 26};  // the judge's limits
  if (!words_refusals_ || reply.outcome != Outcome::unsupported) return reply;
  std::vector<Value> values;
  for (const testee::HostValue& a : arguments) values.push_back(testee::copied(a));
  const Answer answer = assay::call(op, values, Budget(limits));
  return answer.outcome == Outcome::ok ? reply : testee::Reply{answer.outcome, answer.message};
}

}  // namespace assay::adapters
