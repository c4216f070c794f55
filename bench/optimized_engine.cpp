#include <algorithm>
#include <chrono>
#include <optional>

#include "bench/engines.h"
#include "bench/replied.h"
#include "conformance/adapters/optimized/c_value.h"
#include "conformance/adapters/optimized/client.h"
#include "conformance/testee/binaries.h"

namespace assay::bench {
namespace {

// What a client deploys where that can run the program; else with the backends of the reference.
class OptimizedEngine final : public testee::Engine {
 public:
  explicit OptimizedEngine(adapters::OptimizedTestee testee) : testee_(std::move(testee)) {}

  std::string version() const override { return ASSAY_VERSION; }

  testee::Reply load(const testee::EngineSettings& settings) override {
    const auto open = [&](bool deployable) {
      return replied([&] {
        const adapters::OptimizedClient::Options options{
            .deployable = deployable, .threads = static_cast<std::size_t>(settings.threads), .testee = testee_};
        client_.emplace(settings.program, settings.data, options);
        method_ = &client_->method(settings.method);
      });
    };
    const testee::Reply reply = open(true);
    return reply.outcome == Outcome::unsupported ? open(false) : reply;
  }

  testee::Reply set_inputs(std::span<const Value> inputs) override {
    inputs_.clear();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      inputs_.push_back(std::make_unique<Input>(inputs[i]));
      inputs_[i]->aliased = inputs_[i]->memory && alias(i);
    }
    return {};
  }

  testee::Reply run() override {
    return replied([&] {
      for (std::size_t i = 0; i < inputs_.size(); ++i)
        if (!inputs_[i]->aliased || !alias(i)) adapters::OptimizedClient::set_input(*method_, i, inputs_[i]->value);
      adapters::OptimizedClient::execute(*method_);
    });
  }

  testee::Reply run_steps(std::vector<testee::EngineStep>& steps) override {
    steps.clear();
    last_ = Clock::now();
    steps_ = &steps;
    assay_listen(method_->method, &OptimizedEngine::note, this);
    const testee::Reply reply = run();
    assay_listen(method_->method, nullptr, nullptr);
    return reply;
  }

  std::vector<Value> outputs() const override { return adapters::OptimizedClient::outputs(*method_); }

  std::vector<std::string> binaries() const override { return {testee::executable}; }

 private:
  using Clock = std::chrono::steady_clock;

  // The runtime reads a tensor from aligned memory of this client. An input that it wants as a copy, such as one that
  // the program writes to, is copied in each run.
  struct Input {
    explicit Input(const Value& from) : value(from), memory(copied(from)), given(from, data()) {}

    static std::optional<sandbox::ClientMemory> copied(const Value& from) {
      const Tensor* tensor = std::get_if<Tensor>(&from);
      if (!tensor) return std::nullopt;
      sandbox::ClientMemory memory(tensor->bytes.size());
      std::ranges::copy(tensor->bytes, memory.bytes().begin());
      return memory;
    }
    std::byte* data() const { return memory ? memory->bytes().data() : nullptr; }

    const Value& value;
    std::optional<sandbox::ClientMemory> memory;
    adapters::CValue given;
    bool aliased = false;
  };

  bool alias(std::size_t i) const {
    assay_fault fault;
    return assay_alias_input(method_->method, i, &inputs_[i]->given.value, &fault) == ASSAY_OK;
  }

  static bool note(void* context, const assay_method* method, std::size_t step) {
    auto& self = *static_cast<OptimizedEngine*>(context);
    const assay_step_info info = assay_step_at(method, step);
    const std::chrono::duration<double> taken = Clock::now() - self.last_;
    self.steps_->push_back({info.instruction, {info.op, info.op_length}, info.kernel, taken.count()});
    self.last_ = Clock::now();
    return true;
  }

  adapters::OptimizedTestee testee_;
  Clock::time_point last_;
  std::vector<testee::EngineStep>* steps_ = nullptr;
  std::optional<adapters::OptimizedClient> client_;
  const adapters::OptimizedClient::Method* method_ = nullptr;
  std::vector<std::unique_ptr<Input>> inputs_;
};

}  // namespace

std::unique_ptr<testee::Engine> make_optimized(const adapters::OptimizedTestee& testee) {
  return std::make_unique<OptimizedEngine>(testee);
}

}  // namespace assay::bench
