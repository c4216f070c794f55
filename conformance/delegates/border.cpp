#include "conformance/delegates/border.h"

#include <algorithm>

#include "reference/runtime/delegate.h"
#include "reference/xnnpack/translate.h"

namespace assay::delegates {
namespace {

bool is_ours(const pte::BackendDelegate& d) { return format::text_of(d.id()) == format::xnnpack::backend; }

// Whether an argument of a call of the delegate is not static.
bool is_dynamic(const pte::ExecutionPlan& plan, std::uint32_t delegate) {
  const auto is_static = [&](std::int32_t i) {
    const pte::Tensor* t = plan.values()->Get(static_cast<std::uint32_t>(i))->val_as_Tensor();
    return !t || t->shape_dynamism() == pte::TensorShapeDynamism::STATIC;
  };
  for (const pte::Chain* chain : *plan.chains())
    for (const pte::Instruction* instruction : *chain->instructions())
      if (const pte::DelegateCall* call = instruction->instr_args_as_DelegateCall())
        if (call->delegate_index() == static_cast<std::int32_t>(delegate))
          return !std::ranges::all_of(*call->args(), is_static);
  return false;
}

// Notes the calls of the delegates of one program, in the order in which they are made.
class Log {
 public:
  explicit Log(const ValidProgram& program) : program_(program) {}

  // Delegates that are made from now on belong to this method. A method makes its delegates in the plan's order.
  void enter(const std::string& method) { method_ = method, plan_ = program_.plan(method), next_ = 0; }
  std::vector<DelegateCall> take() { return std::exchange(calls_, {}); }

  // The next delegate of the method, without inputs.
  DelegateCall made(const DelegateSource& source) {
    while (!is_ours(*plan_->delegates()->Get(next_))) ++next_;
    const std::uint32_t delegate = next_++;
    auto payload = std::make_shared<const Payload>(copied(source.payload, source.named_data));
    return {method_, delegate, std::move(payload), is_dynamic(*plan_, delegate), {}};
  }
  void add(DelegateCall call) { calls_.push_back(std::move(call)); }

 private:
  const ValidProgram& program_;
  std::string method_;
  const pte::ExecutionPlan* plan_ = nullptr;
  std::uint32_t next_ = 0;
  std::vector<DelegateCall> calls_;
};

class Watched final : public Delegate {
 public:
  Watched(const DelegateSource& source, Log& log)
      : delegate_(make_xnnpack_delegate(source)), call_(log.made(source)), log_(log) {}

  std::size_t inputs() const override { return delegate_->inputs(); }
  std::size_t outputs() const override { return delegate_->outputs(); }
  void execute(std::span<Value> arguments) override {
    DelegateCall call = call_;
    for (const Value& input : arguments.first(inputs()))
      call.inputs.push_back(xnnpack::as_value(std::get<Tensor>(input)));
    log_.add(std::move(call));
    delegate_->execute(arguments);
  }

 private:
  std::unique_ptr<Delegate> delegate_;
  DelegateCall call_;
  Log& log_;
};

}  // namespace

std::vector<std::vector<DelegateCall>> delegate_calls(const ValidProgram& program,
                                                      std::span<const hosts::ProgramCall> calls) {
  Log log(program);
  RuntimeOptions options;
  options.backends[std::string(format::xnnpack::backend)] = [&](const DelegateSource& source) {
    const bool is_nested = source.options.nested.depth > 1;  // in a program that is a payload itself
    return is_nested ? make_xnnpack_delegate(source) : std::make_unique<Watched>(source, log);
  };
  hosts::Host host(program, std::move(options));
  std::vector<std::vector<DelegateCall>> all;
  for (const hosts::ProgramCall& call : calls) {
    log.enter(call.method);
    try {
      host.call(call.method, call.inputs);
    } catch (const Fault&) {
      if (call.fails.empty()) throw;  // else the delegate calls up to the refusal count
    }
    all.push_back(log.take());
  }
  return all;
}

}  // namespace assay::delegates
