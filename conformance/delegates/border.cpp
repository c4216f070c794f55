#include "conformance/delegates/border.h"

#include <algorithm>

#include "reference/runtime/delegate.h"
#include "reference/xnnpack/translate.h"

namespace assay::delegates {
namespace {

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

struct ChargedPayload {
  explicit ChargedPayload(const DelegateSource& source)
      : memory(source.options.budget),
        payload(copied(source.payload, source.named_data, [this](std::size_t n) { memory.add(n, "a payload"); })) {}
  Reserved memory;
  Payload payload;
};

// A call of the delegate without inputs.
DelegateCall call_of(const DelegateSource& source) {
  const auto charged = std::make_shared<const ChargedPayload>(source);
  return {std::string(format::text_of(source.plan->name())),
          source.index,
          {charged, &charged->payload},
          is_dynamic(*source.plan, source.index),
          {}};
}

// Notes the calls of a delegate.
class Watched final : public Delegate {
 public:
  Watched(const DelegateSource& source, std::vector<DelegateCall>& calls)
      : delegate_(make_xnnpack_delegate(source)), call_(call_of(source)), calls_(calls) {}

  std::size_t inputs() const override { return delegate_->inputs(); }
  std::size_t outputs() const override { return delegate_->outputs(); }
  void execute(std::span<Value> arguments) override {
    DelegateCall call = call_;
    for (const Value& input : arguments.first(inputs()))
      call.inputs.push_back(xnnpack::as_value(std::get<Tensor>(input)));
    calls_.push_back(std::move(call));
    delegate_->execute(arguments);
  }

 private:
  std::unique_ptr<Delegate> delegate_;
  DelegateCall call_;
  std::vector<DelegateCall>& calls_;  // of all delegates, in the order in which they are made
};

}  // namespace

std::vector<std::vector<DelegateCall>> delegate_calls(const ValidProgram& program,
                                                      std::span<const hosts::ProgramCall> calls, const Budget& budget) {
  std::vector<DelegateCall> log;
  RuntimeOptions options;
  options.budget = budget;
  options.backends[std::string(format::xnnpack::backend)] = [&](const DelegateSource& source) {
    const bool is_nested = source.options.nested.depth > 1;  // in a program that is a payload itself
    return is_nested ? make_xnnpack_delegate(source) : std::make_unique<Watched>(source, log);
  };
  hosts::Host host(program, std::move(options));
  std::vector<std::vector<DelegateCall>> all;
  for (const hosts::ProgramCall& call : calls) {
    try {
      host.call(call.method, call.inputs);
    } catch (const Fault&) {
      if (call.fails.empty()) throw;  // else the delegate calls up to the refusal count
    }
    all.push_back(std::exchange(log, {}));
  }
  return all;
}

}  // namespace assay::delegates
