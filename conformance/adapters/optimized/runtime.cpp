#include "conformance/adapters/optimized/runtime.h"

#include "conformance/adapters/optimized/client.h"
#include "conformance/testee/binaries.h"
#include "reference/fault.h"

namespace assay {
namespace {

Reply reply_of(const Fault& fault) {
  return {fault.outcome, text(fault.rule, fault.place.empty() ? "" : ", ", fault.place, ": ", fault.message)};
}

class LoadedOptimized final : public TesteeProgram {
 public:
  LoadedOptimized(const LoadSettings& settings, const OptimizedTestee& testee)
      : client_(settings.program, settings.data,
                {.share_arenas = settings.share_arenas,
                 .testee = testee,
                 .instructions = settings.instructions,
                 .budget = settings.budget,
                 .packed_cache = settings.packed_cache}) {}

  Reply call(const std::string& name, std::span<const Value> inputs, std::vector<Value>& outputs) override {
    try {
      outputs = client_.call(name, inputs);
      return {};
    } catch (const Fault& f) {
      return reply_of(f);
    } catch (const std::bad_alloc&) {
      return {Outcome::exhausted, "limits.memory: there is not enough memory"};
    }
  }

  // The memories of the method. Their content is internal to the runtime, so no digest is reported.
  std::vector<StateEntry> kept(const std::string& method) override {
    std::vector<StateEntry> all;
    for (auto& [name, bytes] : memories(client_.method(method).sizes)) all.push_back({std::move(name), bytes});
    return all;
  }

 private:
  OptimizedClient client_;
};

class OptimizedRuntime final : public Runtime {
 public:
  explicit OptimizedRuntime(OptimizedTestee testee) : testee_(std::move(testee)) {}
  std::string_view name() const override { return "optimized"; }
  std::vector<std::string> binaries() const override { return {executable}; }
  bool shows_state() const override { return true; }
  bool charges_memory() const override { return true; }
  std::unique_ptr<TesteeProgram> load(const LoadSettings& settings, Reply& reply) override {
    try {
      reply = {};
      return std::make_unique<LoadedOptimized>(settings, testee_);
    } catch (const Fault& f) {
      reply = reply_of(f);
      return nullptr;
    }
  }

 private:
  OptimizedTestee testee_;
};

}  // namespace

std::unique_ptr<Runtime> make_optimized_runtime(const OptimizedTestee& testee) {
  return std::make_unique<OptimizedRuntime>(testee);
}

}  // namespace assay
