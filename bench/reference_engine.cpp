#include <limits>
#include <optional>

#include "bench/engines.h"
#include "bench/replied.h"
#include "conformance/files/file.h"
#include "conformance/hosts/host.h"
#include "conformance/testee/binaries.h"

namespace assay::bench {
namespace {

class ReferenceEngine final : public testee::Engine {
 public:
  std::string version() const override { return ASSAY_VERSION; }

  testee::Reply load(const testee::EngineSettings& settings) override {
    return replied([&] {
      method_ = settings.method;
      host_.emplace(hosts::valid_program(files::open_file(settings.program), files::open_data_files(settings.data)),
                    unlimited());
    });
  }

  testee::Reply set_inputs(std::span<const Value> inputs) override {
    inputs_.assign(inputs.begin(), inputs.end());
    return {};
  }

  testee::Reply run() override {
    return replied([&] { outputs_ = host_->call(method_, inputs_); });
  }

  std::vector<Value> outputs() const override { return outputs_; }

  std::vector<std::string> binaries() const override { return {testee::executable}; }

 private:
  static RuntimeOptions unlimited() {
    constexpr Int most = std::numeric_limits<Int>::max();
    RuntimeOptions options;
    options.budget = Budget({.bytes = most, .work = most, .output = most});
    return options;
  }

  std::string method_;
  std::optional<hosts::Host> host_;
  std::vector<Value> inputs_, outputs_;
};

}  // namespace

std::unique_ptr<testee::Engine> make_reference() { return std::make_unique<ReferenceEngine>(); }

}  // namespace assay::bench
