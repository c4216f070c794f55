#include "optimized/runtime/method.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "optimized/runtime/handles.h"
#include "optimized/runtime/table.h"

namespace assay::optimized {
namespace {

using format::Place;

Place input_place(std::size_t i) { return {nullptr, "input", static_cast<std::int64_t>(i)}; }

constexpr std::string_view kind_names[] = {
    "None",     "an integer",         "a float",           "a bool",           "a string",
    "a tensor", "a list of integers", "a list of tensors", "a list of floats", "a list of bools"};
std::string_view name_of(ValueKind kind) { return kind_names[static_cast<int>(kind)]; }

std::string_view name_of(DType dtype) { return find_dtype(static_cast<int>(dtype))->name; }

// R3: as close as the official runtime requires.
bool is_close(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= 1e-4 + 1e-5 * std::fabs(b);
}

bool same(const Value& a, const Value& b) {
  switch (a.kind) {
    case ValueKind::integer:
      return a.integer == b.integer;
    case ValueKind::real:
      return is_close(a.real, b.real);
    case ValueKind::boolean:
      return a.boolean == b.boolean;
    case ValueKind::string:
      return a.string() == b.string();
    default:
      return a.kind == ValueKind::none;
  }
}

bool refuse_type(Fault& fault, const Place& place, std::string_view is, std::string_view must) {
  return refuse(fault, "R1", place, "is ", is, ", but must be ", must);
}

bool check_tensor(const Tensor& to, const Value& value, const Place& place, Fault& fault) {
  if (value.kind != ValueKind::tensor)
    return refuse_type(fault, place, name_of(value.kind), name_of(ValueKind::tensor));
  const Tensor& from = *value.tensor;
  if (from.dtype != to.dtype) return refuse_type(fault, place, name_of(from.dtype), name_of(to.dtype));
  if (from.rank != to.rank)
    return refuse(fault, "R1", place, "has ", from.rank, " dimensions, but must have ", to.rank);
  if (!std::equal(from.dim_order, from.dim_order + from.rank, to.dim_order))
    return refuse(fault, "R2", place, "has another dim order than the program declares");
  return true;
}

// An in-place form is done by the operator whose out is self. An out takes the sizes of the result, but self keeps its
// sizes: a result of other sizes is refused.
bool change_in_place(const Step& step, Execution& execution) {
  Tensor& self = step.call.out();
  const Tensor before = self;
  self.moves = false, self.declared = self.sizes;
  const bool done = step.execute(execution);
  self.moves = before.moves, self.declared = before.declared;
  return done;
}

}  // namespace

bool run_delegate(const Step& step, Execution& execution) {
  const auto& delegate = *static_cast<const Delegate*>(step.state);
  return delegate.backend->execute(delegate.instance, step.call.arguments, execution.steps_left, *execution.fault);
}

bool Method::set_tensor(Input& input, const Value& value, bool alias, const Place& place, Fault& fault) {
  Tensor& tensor = *initial_[input.value].tensor;
  if (!check_tensor(tensor, value, place, fault)) return false;
  const Tensor& from = *value.tensor;
  if (alias && !input.is_alone)
    return refuse(fault, "R5", place,
                  "must be copied, because the program writes it, another value shares its bytes, or a kernel reads "
                  "bytes behind it");
  if (alias && reinterpret_cast<std::uintptr_t>(from.data) % from.element_bytes() != 0)
    return refuse(fault, "R5", place, "must be aligned to the size of an element");
  if (!resize(tensor, from.shape()))
    return refuse(fault, rule_of_sizes(tensor, from.rank, "R1"), place,
                  "has sizes that the program does not allow, or more elements than fit in its memory");
  tensor.data = tensor.home = alias ? from.data : input.own;
  if (from.bytes() > 0 && from.data != tensor.data)
    std::memmove(tensor.data, from.data, static_cast<std::size_t>(from.bytes()));
  return true;
}

bool Method::set_value(Input& input, const Value& value, const Place& place, Fault& fault) {
  Value& to = initial_[input.value];
  if (input.is_open) {
    if (value.kind > ValueKind::string)
      return refuse_type(fault, place, name_of(value.kind), "None, a number or a string");
    to = value;
    to.changes = true;
    values_[input.value] = to;
    restores_ = true;
    return true;
  }
  if (value.kind != to.kind) return refuse_type(fault, place, name_of(value.kind), name_of(to.kind));
  return same(value, to) || refuse(fault, "R3", place, "differs from the value for which the program was exported");
}

// Whether the client may set one of n inputs or outputs.
bool Method::may_set(const Place& place, std::size_t n, Fault& fault) const {
  if (running_) return refuse(fault, "R6", place, "cannot be set during an execution");
  return static_cast<std::uint64_t>(place.index) < n ||
         refuse(fault, "R7", place, "must be below ", n, ", the number of ", place.name, "s");
}

bool Method::set_input(std::size_t i, const Value& value, bool alias, Fault& fault) {
  const Place place = input_place(i);
  if (!may_set(place, inputs(), fault)) return false;
  Input& input = inputs_[i];
  const bool is_tensor = initial_[input.value].kind == ValueKind::tensor;
  if (is_tensor ? !set_tensor(input, value, alias, place, fault) : !set_value(input, value, place, fault)) return false;
  return input.given = true;
}

bool Method::set_output(std::size_t i, std::span<std::byte> memory, Fault& fault) {
  const Place place{nullptr, "output", static_cast<std::int64_t>(i)};
  if (!may_set(place, outputs(), fault)) return false;
  if (!outputs_[i].takes_memory)
    return refuse(fault, "R5", place, "has planned memory, so that the client cannot supply memory for it");
  Tensor& t = *initial_[outputs_[i].value].tensor;
  std::uint64_t needed = t.element_bytes();
  for (int d = 0; d < t.rank; ++d) needed *= static_cast<std::uint64_t>(t.declared[d]);
  if (memory.size() < needed)
    return refuse(fault, "R5", place, "needs ", needed, " bytes, but the supplied memory has ", memory.size());
  t.data = t.home = memory.data(), t.capacity = memory.size();
  return true;
}

bool Method::begin(std::int64_t instructions, Fault& fault) {
  for (std::size_t i = 0; i < inputs(); ++i)
    if (!inputs_[i].given)
      return refuse(fault, "R4", input_place(i), "was not set, or an execution has overwritten it");
  if (restores_) {
    std::ranges::copy(initial_, values_.begin());
    for (Tensor& t : tensors_) t.data = t.home;
  }
  has_outputs_ = false;
  execution_.next = 0, execution_.steps_left = instructions;
  running_ = true;
  return true;
}

bool Method::run_one(Fault& fault) {
  if (execution_.steps_left-- <= 0)
    return refuse(fault, "I17", nowhere, "the execution has reached its limit of ", instructions_, " instructions");
  const std::uint32_t at = execution_.next++;
  const Step& step = steps_[at];
  const bool has_kinds = !step.asks || optimized::has_kinds(step.call);
  if (has_kinds && (step.call.form ? change_in_place(step, execution_) : step.execute(execution_))) [[likely]] {
    if (step.changed) hand_over(*step.changed, *step.call.returned);
    return !listener_ || tell(at, fault);
  }
  if (!fault && refusals_ && step.call.roles) word_refusal(step);
  --execution_.next;
  return fail(step, has_kinds, fault);
}

// Sets the fault of a step that was not executed, and names its instruction.
bool Method::fail(const Step& step, bool has_kinds, Fault& fault) {
  if (!fault)
    refuse(fault, has_kinds ? format::RuleId("I11") : format::RuleId("I10"),
           "the kernel does not support these sizes or numbers");
  const format::Place method = own_place();
  format::Text place;
  method.in("instruction", step.index).write(place);
  if (step.call.roles) place.add(" (").add(step.call.named().name).add(")");
  if (step.run == run_delegate)
    place.add(" (delegate ").add(static_cast<const Delegate*>(step.state) - delegates_.data()).add(")");
  fault.add_place(place);
  return false;
}

bool Method::tell(std::uint32_t step, Fault& fault) {
  if (listener_(listening_, reinterpret_cast<const assay_method*>(this), step)) return true;
  return refuse(fault, Outcome::exhausted, "cancelled", "the client ended the execution");
}

// Lets the client word the refusal of a call that was not done. Of merged calls it can word that of the first call.
void Method::word_refusal(const Step& step) {
  const Fusion* fusion = step.call.fusion;
  if (fusion && (fusion->attention || fusion->unread || !fusion->views.empty())) return;
  Step again = step;
  again.state = &step, again.call.fusion = nullptr;
  refusals_->run(again, execution_);
}

bool Method::step(Fault& fault) {
  if (busy_) return refuse(fault, "R6", own_place(), "is executing a step");
  if (!running_ && !begin(instructions_, fault)) return false;
  execution_.fault = &fault;
  busy_ = true;
  const bool done = execution_.next == steps_.size() || run_one(fault);
  busy_ = false;
  if (done && execution_.next == steps_.size()) end_execution();
  return done;
}

void Method::end() {
  for (Delegate& d : delegates_)
    if (void* instance = std::exchange(d.instance, nullptr)) d.backend->end(instance);
}

void Method::end_execution() {
  reset();
  has_outputs_ = true;
}

void Method::reset() {
  if (!running_ || busy_) return;
  running_ = false;
  for (Input& input : inputs_)
    if (input.is_overwritten) input.given = false;
}

bool Method::execute(Fault& fault) {
  std::int64_t left = instructions_;
  return execute(left, fault);
}

bool Method::execute(std::int64_t& left, Fault& fault) {
  if (running_) return refuse(fault, "R6", own_place(), "has an execution that has not ended");
  if (!begin(left, fault)) return false;
  execution_.fault = &fault;
  busy_ = true;
  const auto end = static_cast<std::uint32_t>(steps_.size());
  bool done = true;
  while (done && execution_.next < end) done = run_one(fault);
  busy_ = false;
  done ? end_execution() : reset();
  left = execution_.steps_left;
  return done;
}

}  // namespace assay::optimized
