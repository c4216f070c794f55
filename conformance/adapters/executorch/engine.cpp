#include "conformance/testee/engine.h"

#include <dlfcn.h>
#include <executorch/extension/module/module.h>
#include <executorch/runtime/platform/runtime.h>

#include "conformance/adapters/executorch/binaries.h"
#include "conformance/adapters/executorch/kernels/threads.h"
#include "conformance/adapters/executorch/outcome.h"
#include "conformance/adapters/executorch/values.h"

// ExecuTorch's own runtime as its users use it: a Module with default settings, and the packaged XNNPACK.
namespace assay::executorch_kernels {
namespace {

using executorch::extension::Module;
using executorch::runtime::Error;
using executorch::runtime::EValue;

constexpr const char* xnnpack_backend = "XnnpackBackend";

class ModuleEngine final : public testee::Engine {
 public:
  ModuleEngine() {
    log::capture();
    executorch::runtime::runtime_init();
    // If the library is missing, programs that need it fail to load.
    dlopen(file_of(xnnpack).c_str(), RTLD_NOW | RTLD_LOCAL);
  }

  std::string version() const override { return ASSAY_EXECUTORCH_VERSION; }

  testee::Reply load(const testee::EngineSettings& settings) override {
    log::clear();
    set_threads(settings.threads);
    method_ = settings.method;
    module_ = std::make_unique<Module>(settings.program.string(),
                                       std::vector<std::string>(settings.data.begin(), settings.data.end()));
    return reply_of(module_->load_method(method_));
  }

  testee::Reply set_inputs(std::span<const Value> inputs) override {
    values_.assign(inputs.begin(), inputs.end());
    inputs_.clear(), held_.clear();
    try {
      for (std::size_t i = 0; i < values_.size(); ++i) {
        arrange(i);
        inputs_.push_back(input(values_[i], held_));
      }
    } catch (const Fault& f) {
      return {f.outcome, f.message};
    }
    return {};
  }

  testee::Reply run() override {
    log::clear();
    auto results = module_->execute(method_, inputs_);
    if (!results.ok()) return reply_of(results.error());
    outputs_ = std::move(*results);
    return {};
  }

  std::vector<Value> outputs() const override {
    std::vector<Value> copies;
    for (const EValue& v : outputs_) copies.push_back(output(v));
    return copies;
  }

  std::vector<std::string> binaries() const override {
    std::vector<std::string> files = package_binaries();
    const auto meta = module_->method_meta(method_);
    if (meta.ok() && meta->uses_backend(xnnpack_backend)) files.push_back(file_of(xnnpack));
    return files;
  }

 private:
  // Arranges an input in the dim order that the program declares.
  void arrange(std::size_t i) {
    Tensor* tensor = std::get_if<Tensor>(&values_[i]);
    if (!tensor) return;
    const auto meta = module_->method_meta(method_)->input_tensor_meta(i);
    if (!meta.ok()) return;  // execute() refuses this input
    Dims order;
    for (const auto d : meta->dim_order()) order.push_back(d);
    if (order.size() == tensor->rank()) *tensor = arranged(*tensor, order);
  }

  std::string method_;
  std::unique_ptr<Module> module_;
  std::vector<Value> values_;  // the inputs refer to their bytes
  std::vector<executorch::extension::TensorPtr> held_;
  std::vector<EValue> inputs_, outputs_;
};

}  // namespace
}  // namespace assay::executorch_kernels

extern "C" __attribute__((visibility("default"))) assay::testee::Engine* assay_engine() {
  return new assay::executorch_kernels::ModuleEngine;
}
