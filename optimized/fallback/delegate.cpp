#include <memory>

#include "optimized/fallback/fallback.h"
#include "optimized/fallback/refusals.h"
#include "optimized/fallback/values.h"
#include "reference/runtime/runtime.h"

namespace assay::optimized {
namespace {

// The reference's delegate, with what it is made from.
struct Held {
  RuntimeOptions options;
  std::shared_ptr<Int> executed = std::make_shared<Int>(0);  // instructions of one execution
  std::unique_ptr<assay::Delegate> delegate;
};

void* begin(void*, const DelegateSource& from, Fault& fault) {
  auto held = std::make_unique<Held>();
  held->options.backends = {{"ProgramBackend", make_program_delegate}};
  const bool made = caught(fault, [&](const Budget& budget) {
    held->options.budget = budget;
    held->options.instructions = from.instructions;
    held->options.nested = {1, held->executed};
    std::vector<CompileSpec> specs;
    for (std::uint32_t i = 0; i < format::size_of(from.tables.compile_specs()); ++i) {
      const auto& spec = *from.tables.compile_specs()->Get(i);
      specs.push_back({format::text_of(spec.key()), std::as_bytes(format::items(spec.value()))});
    }
    const auto named = [&named = from.named](std::string_view key) -> std::optional<std::span<const std::byte>> {
      const auto found = named.find(key);
      return found ? std::optional(found->bytes) : std::nullopt;
    };
    held->delegate = make_program_delegate({from.payload, std::move(specs), held->options, named});
  });
  return made ? held.release() : nullptr;
}

bool execute(void* delegate, std::span<Value* const> arguments, std::int64_t& left, Fault& fault) {
  return caught(fault, [&](const Budget&) {
    const Held& held = *static_cast<Held*>(delegate);
    assay::Delegate& d = *held.delegate;
    *held.executed = held.options.instructions - left;
    if (arguments.size() != d.inputs() + d.outputs())
      throw broken("I14", {}, "has ", arguments.size(), " arguments, but the delegate takes ", d.inputs(),
                   " and gives ", d.outputs());
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

const Backend program_backend{"ProgramBackend", nullptr, begin, execute, end};

}  // namespace assay::optimized
