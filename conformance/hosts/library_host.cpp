#include "conformance/hosts/library_host.h"

#include <fmt/format.h>

#include <cmath>

#include "conformance/runner/run_case.h"
#include "format/xnnpack/payload.h"

namespace assay::hosts {
namespace {

RuntimeOptions with(RuntimeOptions options, CallOperator call) {
  options.call = std::move(call);
  return options;
}

Value number_of(const Tensor& t) {
  if (t.dtype == DType::boolean) return read<Int>(t).data[0] != 0;
  if (t.dtype == DType::int64) return read<Int>(t).data[0];
  return read<Real>(t).data[0];
}

// Moves outs into the out arguments. The tensors of a list take one out each.
void put(std::span<Value> arguments, std::vector<Tensor> outs) {
  auto next = outs.begin();
  for (Value& a : arguments) {
    if (Tensors* list = std::get_if<Tensors>(&a))
      for (auto& t : *list) t = std::move(*next++);
    else
      a = number_in(a) ? number_of(*next++) : Value(std::move(*next++));
  }
}

// Notes which delegate runs.
class Watched final : public Delegate {
 public:
  Watched(const DelegateSource& source, const Delegate*& executes)
      : delegate_(make_xnnpack_delegate(source)), executes_(executes) {}

  std::size_t inputs() const override { return delegate_->inputs(); }
  std::size_t outputs() const override { return delegate_->outputs(); }
  void execute(std::span<Value> arguments) override {
    executes_ = delegate_.get();
    const auto ends = [this](auto) { executes_ = nullptr; };
    const std::unique_ptr<void, decltype(ends)> guard(this, ends);
    delegate_->execute(arguments);
  }

 private:
  std::unique_ptr<Delegate> delegate_;
  const Delegate*& executes_;
};

}  // namespace

LibraryHost::LibraryHost(const ValidProgram& program, RuntimeOptions options, Listener* listener, ChildLibrary& library,
                         Substituted& substituted)
    : library_(library),
      substituted_(substituted),
      host_(program, with(std::move(options), [this](const auto&... call) { return answer(call...); }), listener) {}

// Throws a Fault for a violation, so that the runtime adds the place. call() turns the Fault into a Violation again.
sandbox::Observation LibraryHost::asked(const Operator& op, std::span<const Value> arguments, const Budget& budget) {
  sandbox::Observation seen;
  try {
    seen = library_.observe(op, arguments, budget);
    if (seen.conduct != verdict::Class::none) violation_ = {verdict::Verdict::fail, seen.conduct, seen.violation};
  } catch (const Violation& violation) {
    violation_ = violation;
  }
  if (violation_) throw Fault(Outcome::fault, "testee", violation_->message);
  return seen;
}

Answer LibraryHost::answer(const Operator& op, std::span<Value> arguments, const Budget& budget) {
  const Answer expected = assay::call(op, arguments, budget);
  if (expected.outcome != Outcome::ok) return expected;
  const testee::KernelLibrary& library = library_.library();
  if (!library.has(op)) {
    substituted_.try_emplace(std::string(op.name), "it has no kernel");
    return expected;
  }
  sandbox::Observation seen = asked(op, arguments, budget);
  if (seen.reply.outcome == Outcome::unsupported) {
    substituted_.try_emplace(std::string(op.name), seen.reply.message);
    return expected;
  }
  if (seen.reply.outcome != Outcome::ok)
    return {seen.reply.outcome, "testee", concat(library.name(), " says: ", seen.reply.message), {}};
  put(arguments.last(op.outs()), std::move(seen.outs));
  return expected;
}

std::vector<Value> LibraryHost::call(const std::string& method, std::vector<Value> inputs) {
  violation_.reset();
  try {
    return host_.call(method, std::move(inputs));
  } catch (const Fault& fault) {
    if (!violation_) throw;
    throw Violation{violation_->verdict, violation_->failure, concat(fault.place, ": ", violation_->message)};
  }
}

std::string sentence(const WrongInstruction& w) {
  const judge::Judgement& j = w.judgement;
  const std::string delegated = w.name == w.operator_name ? "" : concat(" (", w.name, ")"),
                    node = w.node.empty() ? "" : concat(", ", w.node);
  const std::string far =
      j.distance > 0 && std::isfinite(j.distance) ? fmt::format("{:.3g} of the bound", j.distance) : "";
  return concat("instruction ", w.instruction, delegated, " of ", w.method, node, ", ", w.operator_name, ": ",
                sentence(Violation{j.verdict, j.failure, j.message + (far.empty() ? "" : ", " + far)}));
}

JudgedHost::JudgedHost(const ValidProgram& program, RuntimeOptions options, ChildLibrary& library,
                       judge::ArithmeticMode arithmetic, std::optional<WrongInstruction>& wrong)
    : library_(library), arithmetic_(arithmetic), wrong_(wrong), host_(program, watched(std::move(options)), this) {}

RuntimeOptions JudgedHost::watched(RuntimeOptions options) {
  options.backends[std::string(format::xnnpack::backend)] = [this](const DelegateSource& source) {
    return std::make_unique<Watched>(source, executes_);
  };
  return with(std::move(options), [this](const auto&... call) { return answer(call...); });
}

judge::Judgement JudgedHost::judged(const Operator& op, std::span<const Value> arguments,
                                    const judge::Expectation& expected, const Budget& budget) {
  try {
    const sandbox::Observation seen = library_.observe(op, expected.arguments, budget);
    if (seen.reply.outcome == Outcome::unsupported) return {};
    return runner::judge(op, arguments, expected, seen, arithmetic_);
  } catch (const Violation& m) {
    return {m.verdict, m.failure, HUGE_VAL, {}, m.message, {}, {}, {}};
  }
}

Answer JudgedHost::answer(const Operator& op, std::span<Value> arguments, const Budget& budget) {
  judge::Expectation expected = judge::expect(op, arguments, budget);
  if (expected.answer.outcome != Outcome::ok) return expected.answer;
  if (!wrong_ && !found_ && library_.library().has(op))
    if (judge::Judgement j = judged(op, arguments, expected, budget); verdict::is_failure(j.verdict))
      found_ = {{}, {}, executes_ ? executes_->place() : "", std::string(op.name), 0, std::move(j)};
  std::ranges::move(expected.arguments, arguments.begin());
  return expected.answer;
}

void JudgedHost::instruction_done(const Method& method, const Event& event) {
  if (!found_) return;
  found_->method = format::text_of(method.plan().name());
  found_->name = event.name, found_->instruction = event.instruction;
  wrong_ = std::move(found_);
  found_.reset();
}

std::vector<Value> JudgedHost::call(const std::string& method, std::vector<Value> inputs) {
  return host_.call(method, std::move(inputs));
}

}  // namespace assay::hosts
