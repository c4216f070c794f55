#include "reference/runtime/runtime.h"

#include <cmath>
#include <new>

#include "reference/runtime/machine.h"

namespace assay {

struct Method::Parts {
  Machine machine;
  Listener* listener = nullptr;
  std::vector<bool> set;  // which inputs have a value

  Parts(std::shared_ptr<LoadedProgram::Shared> shared, const pte::ExecutionPlanT& plan)
      : machine(std::move(shared), plan), set(plan.inputs.size()) {}
};

namespace {

// What f throws, as a value.
template <class F>
Refusal refusal_of(F f) {
  try {
    f();
    return {};
  } catch (const Fault& fault) {
    return fault;
  } catch (const std::bad_alloc&) {
    return Fault(Outcome::exhausted, "limits.memory", "the machine has no memory left");
  }
}

template <class T, class F>
Result<T> result_of(F f) {
  Result<T> result;
  if (Refusal refused = refusal_of([&] { result.value.emplace(f()); })) result.faults.push_back(std::move(*refused));
  return result;
}

std::size_t index_at(const std::vector<std::int32_t>& indices, std::size_t i, const Place& place) {
  if (i >= indices.size()) throw broken("R7", place, "there are ", indices.size(), " of these");
  return static_cast<std::size_t>(indices[i]);
}

void set_tensor(HeldTensor& to, const Tensor& from, const Place& place) {
  if (from.dtype != to.dtype) throw broken("R1", place, "is ", from.dtype, ", but must be ", to.dtype);
  to.check_sizes(from.sizes, "R1", place);
  if (from.dim_order != to.dim_order)
    throw broken("R2", place, "has dim order ", from.dim_order, ", but must have ", to.dim_order);
  if (to.storage->is_constant()) throw broken("T15", place, "is a constant");
  to.write(from);
}

// R3: close as the official runtime compares.
bool is_close(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= 1e-4 + 1e-5 * std::fabs(b);
}

// A Null of the program receives what a method that was exported for every integer asks for, or what it never looks at.
void set_null(Slot& slot, const Value& value, const Place& place) {
  if (const Int* n = std::get_if<Int>(&value))
    slot = *n;
  else if (const double* d = std::get_if<double>(&value))
    slot = *d;
  else if (const bool* b = std::get_if<bool>(&value))
    slot = *b;
  else if (const auto* s = std::get_if<std::string>(&value))
    slot = *s;
  else if (std::holds_alternative<std::monostate>(value))
    slot = std::monostate();
  else
    throw broken("R1", place, "is ", kind_name(value), ", but must be None, a number or a string");
}

// R3: any other value is the one for which the program was made.
void check_traced(const Value& traced, const Value& value, const Place& place) {
  if (value.index() != traced.index())
    throw broken("R1", place, "is ", kind_name(value), ", but must be ", kind_name(traced));
  const bool same = std::visit(
      [&]<class T>(const T& v) {
        if constexpr (std::is_same_v<T, double>)
          return is_close(v, std::get<T>(traced));
        else if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, Tensors>)
          return true;
        else
          return v == std::get<T>(traced);
      },
      value);
  if (!same) throw broken("R3", place, "differs from the value for which the program was made");
}

void set_value(Machine& machine, std::size_t at, const Value& value, const Place& place) {
  const auto declared = machine.plan().values[at]->val.type;
  if (declared == pte::KernelTypes::Null) return set_null(machine.slot(at), value, place);
  if (declared != pte::KernelTypes::Tensor) return check_traced(machine.value(at), value, place);
  if (!std::holds_alternative<Tensor>(value))
    throw broken("R1", place, "is ", kind_name(value), ", but must be a tensor");
  set_tensor(**machine.tensor(at), std::get<Tensor>(value), place);
}

}  // namespace

Method::Method(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Method::Method(Method&&) noexcept = default;
Method& Method::operator=(Method&&) noexcept = default;
Method::~Method() = default;

const pte::ExecutionPlanT& Method::plan() const { return parts_->machine.plan(); }
bool Method::running() const { return !parts_->machine.at_start() && !parts_->machine.at_end(); }
void Method::reset() { parts_->machine.restart(); }
void Method::listen(Listener* listener) { parts_->listener = listener; }

Refusal Method::set_input(std::size_t i, const Value& value) {
  return refusal_of([&] {
    const Place place{nullptr, "input", static_cast<Int>(i)};
    if (running()) throw broken("R6", place, "cannot be set amid an execution");
    set_value(parts_->machine, index_at(plan().inputs, i, place), value, place);
    parts_->set[i] = true;
  });
}

Refusal Method::set_output(std::size_t i, std::span<std::byte> memory) {
  return refusal_of([&] {
    const Place place{nullptr, "output", static_cast<Int>(i)};
    if (running()) throw broken("R6", place, "cannot be set amid an execution");
    const Held* t = parts_->machine.tensor(index_at(plan().outputs, i, place));
    if (!t || !(*t)->storage->is_own())
      throw broken("R5", place, "has its place in the plan, so that memory cannot be given to it");
    if (memory.size() < (*t)->storage->bound())
      throw broken("R5", place, "needs ", (*t)->storage->bound(), " bytes, but is given ", memory.size());
    (*t)->storage = std::make_shared<Storage>(Storage::supplied(memory));
  });
}

Refusal Method::step() {
  return refusal_of([&] {
    Machine& m = parts_->machine;
    if (m.at_end()) m.restart();
    for (std::size_t i = 0; m.at_start() && i < parts_->set.size(); ++i)
      if (!parts_->set[i]) throw broken("R4", {nullptr, "input", static_cast<Int>(i)}, "is not set");
    m.step(*this, parts_->listener);
  });
}

Refusal Method::execute() {
  if (running()) return broken("R6", {nullptr, plan().name}, "is amid an execution");
  parts_->machine.restart();
  do {
    if (Refusal refused = step()) {
      reset();
      return refused;
    }
  } while (!parts_->machine.at_end());
  return {};
}

Result<Value> Method::output(std::size_t i) const {
  return result_of<Value>([&] {
    return parts_->machine.value(index_at(plan().outputs, i, {nullptr, "output", static_cast<Int>(i)}));
  });
}

Result<Value> Method::value(std::size_t index) const {
  return result_of<Value>([&] {
    if (index >= parts_->machine.size())
      throw broken("R7", {nullptr, "value", static_cast<Int>(index)}, "there are ", parts_->machine.size(),
                   " of these");
    return parts_->machine.value(index);
  });
}

Result<LoadedProgram> LoadedProgram::load(std::span<const std::byte> program,
                                          std::span<const std::span<const std::byte>> data, RuntimeOptions options) {
  std::vector<DataFile> files;
  for (const auto bytes : data) {
    Result<DataFile> file = decode_data_file(bytes);
    if (!file) return {std::nullopt, std::move(file.faults)};
    files.push_back(std::move(*file));
  }
  Result<Program> decoded = decode_program(program);
  if (!decoded) return {std::nullopt, std::move(decoded.faults)};
  Result<unpacked::ValidProgram> valid = validate(std::move(*decoded), files);
  if (!valid) return {std::nullopt, std::move(valid.faults)};
  return {LoadedProgram(std::make_shared<Shared>(std::move(*valid), std::move(files), std::move(options))), {}};
}

const unpacked::ValidProgram& LoadedProgram::program() const { return shared_->program; }

Result<Method> LoadedProgram::method(std::string_view name) const {
  return result_of<Method>([&] {
    const pte::ExecutionPlanT* plan = shared_->program.plan(name);
    if (!plan) {
      std::string names;
      for (const auto& p : shared_->program->tables.execution_plan) names += (names.empty() ? "" : ", ") + p->name;
      throw broken("G3", {}, "there is no method \"", name, "\"; there are: ", names);
    }
    return Method(std::make_unique<Method::Parts>(shared_, *plan));
  });
}

}  // namespace assay
