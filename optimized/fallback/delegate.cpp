#include <memory>

#include "optimized/fallback/fallback.h"
#include "optimized/fallback/refusals.h"
#include "optimized/fallback/values.h"
#include "reference/runtime/runtime.h"

namespace assay::optimized {
namespace {

// A delegate of the reference, with what it is made from.
struct Held {
  RuntimeOptions options;
  std::shared_ptr<Int> executed = std::make_shared<Int>(0);  // instructions of the current execution
  std::unique_ptr<assay::Delegate> delegate;
};

void* begin(void* maker, const DelegateSource& from, Fault& fault) {
  const auto& of = *static_cast<const ReferenceBackends::Maker*>(maker);
  auto held = std::make_unique<Held>();
  held->options.backends = of.all;
  const bool made = caught(fault, [&](const Budget& budget) {
    held->options.budget = budget;
    held->options.instructions = from.instructions;
    held->options.nested = {1, held->executed};
    std::vector<assay::CompileSpec> specs;
    for (std::uint32_t i = 0; i < from.compile_specs; ++i) {
      const CompileSpec spec = from.compile_spec(i);
      specs.push_back({spec.key, spec.value});
    }
    const auto named = [&](std::string_view key) { return from.named_data(key); };
    held->delegate = of.make({from.payload, std::move(specs), held->options, named});
  });
  return made ? held.release() : nullptr;
}

bool execute(void* delegate, std::span<Value* const> arguments, std::int64_t& left, Fault& fault) {
  return caught(fault, [&](const Budget&) {
    const Held& held = *static_cast<Held*>(delegate);
    assay::Delegate& d = *held.delegate;
    *held.executed = held.options.instructions - left;
    if (arguments.size() != d.inputs() + d.outputs())
      throw broken("I14", {}, "has ", arguments.size(), " arguments, but the delegate has ", d.inputs(), " inputs and ",
                   d.outputs(), " outputs");
    Buffer<assay::Value> values;
    for (std::size_t i = 0; i < arguments.size(); ++i) values.push_back(to_reference(*arguments[i], i < d.inputs()));
    d.execute(values);
    left = held.options.instructions - *held.executed;
    std::vector<Result> results;
    for (std::size_t i = d.inputs(); i < arguments.size(); ++i) results.push_back({std::move(values[i]), arguments[i]});
    store(results, "I14");
  });
}

void end(void* delegate) { delete static_cast<Held*>(delegate); }

}  // namespace

ReferenceBackends::ReferenceBackends(Backends backends) : backends_(std::move(backends)) {
  makers_.reserve(backends_.size());
  for (const auto& [id, make] : backends_) {
    makers_.push_back({make, backends_});
    all_.push_back({id, &makers_.back(), begin, execute, end});
  }
}

const ReferenceBackends& reference_backends() {
  static const ReferenceBackends all(own_backends());
  return all;
}

const assay_backend* ReferenceBackends::data() const { return reinterpret_cast<const assay_backend*>(all_.data()); }

}  // namespace assay::optimized
