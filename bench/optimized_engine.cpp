#include <optional>

#include "bench/engines.h"
#include "bench/replied.h"
#include "conformance/testees/binaries.h"
#include "conformance/testees/optimized/client.h"

namespace assay::bench {
namespace {

// What a client deploys where that can run the program; else with the fallback.
class OptimizedEngine final : public Engine {
 public:
  std::string version() const override { return ASSAY_VERSION; }

  Reply load(const EngineSettings& settings) override {
    const auto open = [&](bool deployable) {
      return replied([&] {
        const OptimizedClient::Options options{.deployable = deployable,
                                               .threads = static_cast<std::size_t>(settings.threads)};
        client_.emplace(settings.program, settings.data, options);
        method_ = &client_->method(settings.method);
      });
    };
    const Reply reply = open(true);
    return reply.outcome == Outcome::unsupported ? open(false) : reply;
  }

  Reply set_inputs(std::span<const Value> inputs) override {
    inputs_ = inputs;
    return {};
  }

  Reply run() override {
    return replied([&] {
      for (std::size_t i = 0; i < inputs_.size(); ++i) OptimizedClient::set_input(*method_, i, inputs_[i]);
      OptimizedClient::execute(*method_);
    });
  }

  std::vector<Value> outputs() const override { return OptimizedClient::outputs(*method_); }

  std::vector<std::string> binaries() const override { return {executable}; }

 private:
  std::optional<OptimizedClient> client_;
  const OptimizedClient::Method* method_ = nullptr;
  std::span<const Value> inputs_;
};

}  // namespace

std::unique_ptr<Engine> make_optimized() { return std::make_unique<OptimizedEngine>(); }

}  // namespace assay::bench
