#include "reference/runtime/runtime.h"

#include <cmath>
#include <new>

#include "reference/runtime/interpreter.h"

namespace assay {

struct Method::Parts {
  Interpreter interpreter;
  Listener* listener = nullptr;
  std::vector<bool> set;  // for each input, whether it has a value
  bool in_call = false;   // a callback may then read, but change nothing

  Parts(std::shared_ptr<LoadedProgram::Shared> shared, const pte::ExecutionPlan& plan)
      : interpreter(std::move(shared), plan), set(format::size_of(plan.inputs())) {}

  bool running() const { return !interpreter.at_start() && !interpreter.at_end(); }
  void step(const Method& method);
};

namespace {

constexpr Int work_of_loading = 100'000;  // the work of loading a program that is nearly empty

template <class T, class F>
Result<T> result_of(F f) {
  return unless_refused<T>([&] { return Result<T>{std::optional<T>(f()), {}}; });
}

std::size_t index_at(Args indices, std::size_t i, const Place& place) {
  if (i >= indices.size())
    throw broken("R7", place, "must be below ", indices.size(), ", the number of ", place.name, "s");
  return index(indices[i]);
}

void check_tensor(const HeldTensor& to, const Value& value, const Place& place) {
  const Tensor* from = std::get_if<Tensor>(&value);
  if (!from) throw broken("R1", place, "is ", kind_name(value), ", but must be a tensor");
  if (from->dtype != to.dtype) throw broken("R1", place, "is ", from->dtype, ", but must be ", to.dtype);
  if (from->sizes.size() == to.sizes.size() && from->dim_order != to.dim_order)
    throw broken("R2", place, "has dim order ", from->dim_order, ", but must have ", to.dim_order);
  to.check_sizes(from->sizes, "R1", place);
  if (from->bytes.size() > to.home.bound)
    throw broken("R1", place, "has ", from->bytes.size(), " bytes, more than the ", to.home.bound, " of its memory");
  if (!is_whole(*from)) throw broken("R1", place, "does not have the bytes of ", describe(*from));
}

const pte::ExecutionPlan& plan_of(const ValidProgram& program, std::string_view method) {
  if (const pte::ExecutionPlan* plan = program.plan(method)) return *plan;
  throw no_method(method, program->tables());
}

// R3: as close as the official runtime requires.
bool is_close(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= 1e-4 + 1e-5 * std::fabs(b);
}

// R3: any other value equals the one that the program was exported with.
void check_traced(const Value& traced, const Value& value, const Place& place) {
  if (value.index() != traced.index())
    throw broken("R1", place, "is ", kind_name(value), ", but must be ", kind_name(traced));
  const double* d = std::get_if<double>(&value);
  if (d ? !is_close(*d, std::get<double>(traced)) : *slot_of(value) != *slot_of(traced))
    throw broken("R3", place, "differs from the value for which the program was exported");
}

void set_value(Interpreter& interpreter, std::size_t at, const Value& value, const Place& place) {
  const Slot& initial = interpreter.initial(at);
  if (const Held* t = std::get_if<Held>(&initial))
    check_tensor(**t, value, place);
  else if (!interpreter.is_null(at))
    return check_traced(value_of(initial), value, place);
  else if (!slot_of(value))  // a Null is an input for any integer, or one that the method never reads
    throw broken("R1", place, "is ", kind_name(value), ", but must be None, a number or a string");
  interpreter.give(at, value);
}

}  // namespace

void Method::Parts::step(const Method& method) {
  if (!running()) interpreter.restart();
  for (std::size_t i = 0; interpreter.at_start() && i < set.size(); ++i)
    if (!set[i] || !interpreter.is_given(index(format::items(interpreter.plan().inputs())[i])))
      throw broken("R4", {nullptr, "input", static_cast<Int>(i)}, "was not set, or an execution has overwritten it");
  interpreter.step(method, listener);
}

Method::Method(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Method::Method(Method&&) noexcept = default;
Method& Method::operator=(Method&&) noexcept = default;
Method::~Method() = default;

const pte::ExecutionPlan& Method::plan() const { return parts_->interpreter.plan(); }
bool Method::running() const { return parts_->running(); }
void Method::listen(Listener* listener) { parts_->listener = listener; }

// Refuses changes during an instruction, when a listener or a delegate is called.
template <class F>
Refusal Method::change(F f) {
  return refusal_of([&] {
    struct Busy {
      bool& now;
      explicit Busy(bool& in_call) : now(in_call) { now = true; }
      ~Busy() { now = false; }
    };
    if (parts_->in_call) throw broken("R6", place_of(plan()), "is executing an instruction");
    const Busy busy(parts_->in_call);
    const Budget::Scope scope(parts_->interpreter.budget(), "a method");
    f(*parts_);
  });
}

Refusal Method::reset() {
  return change([](Parts& p) { p.interpreter.give_up(); });
}

Refusal Method::set_input(std::size_t i, const Value& value) {
  return change([&](Parts& p) {
    const Place place{nullptr, "input", static_cast<Int>(i)};
    if (p.running()) throw broken("R6", place, "cannot be set during an execution");
    set_value(p.interpreter, index_at(format::items(plan().inputs()), i, place), value, place);
    p.set[i] = true;
  });
}

Refusal Method::set_output(std::size_t i, std::span<std::byte> memory) {
  return change([&](Parts& p) {
    const Place place{nullptr, "output", static_cast<Int>(i)};
    if (p.running()) throw broken("R6", place, "cannot be set during an execution");
    p.interpreter.give_memory(index_at(format::items(plan().outputs()), i, place), memory, place);
  });
}

Refusal Method::step() {
  return change([&](Parts& p) { p.step(*this); });
}

Refusal Method::execute() {
  return change([&](Parts& p) {
    if (p.running()) throw broken("R6", place_of(plan()), "has an execution that has not ended");
    try {
      do p.step(*this);
      while (p.running());
    } catch (...) {
      p.interpreter.give_up();
      throw;
    }
  });
}

Result<Value> Method::output(std::size_t i) const {
  return result_of<Value>([&] {
    const Budget::Scope scope(parts_->interpreter.budget(), "an output");
    return parts_->interpreter.value(
        index_at(format::items(plan().outputs()), i, {nullptr, "output", static_cast<Int>(i)}));
  });
}

Result<Value> Method::value(std::size_t index) const {
  return result_of<Value>([&] {
    if (index >= parts_->interpreter.size())
      throw broken("R7", {nullptr, "value", static_cast<Int>(index)}, "must be below ", parts_->interpreter.size(),
                   ", the number of values");
    const Budget::Scope scope(parts_->interpreter.budget(), "a value");
    return parts_->interpreter.value(index);
  });
}

Result<LoadedProgram> LoadedProgram::load(File program, std::vector<File> data, RuntimeOptions options) {
  const auto refused = [](auto& result) -> Result<LoadedProgram> {
    return {std::nullopt, std::move(result.faults), result.more};
  };
  return unless_refused<LoadedProgram>([&]() -> Result<LoadedProgram> {
    const Budget budget = options.budget;
    const Budget::Scope scope(budget, "a program");
    if (options.nested.depth > deepest_nesting)
      throw broken("D6", {}, "is ", options.nested.depth, " programs deep, but at most ", deepest_nesting,
                   " are allowed");
    budget.work(work_of_loading, "a program");
    std::vector<NamedDataFile> files;
    for (File& file : data) {
      auto opened = open_data(std::move(file));
      if (!opened) return refused(opened);
      files.push_back(std::move(*opened));
    }
    auto opened = open_program(std::move(program));
    if (!opened) return refused(opened);
    auto valid = validate(std::move(*opened), std::move(files));
    if (!valid) return refused(valid);
    return {LoadedProgram(std::move(*valid), std::move(options)), {}};
  });
}

LoadedProgram::LoadedProgram(ValidProgram program, RuntimeOptions options)
    : shared_(std::make_shared<Shared>(std::move(program), std::move(options))) {}

const ValidProgram& LoadedProgram::program() const { return shared_->program; }

Result<const pte::ExecutionPlan*> LoadedProgram::plan(std::string_view method) const {
  return result_of<const pte::ExecutionPlan*>([&] { return &plan_of(shared_->program, method); });
}

Result<Method> LoadedProgram::method(std::string_view name) const {
  return result_of<Method>([&] {
    const Budget::Scope scope(shared_->options.budget, "a method");
    return Method(std::make_unique<Method::Parts>(shared_, plan_of(shared_->program, name)));
  });
}

}  // namespace assay
