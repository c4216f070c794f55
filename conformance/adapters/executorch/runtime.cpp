#include "conformance/testee/runtime.h"

#include <dlfcn.h>
#include <executorch/extension/module/module.h>
#include <executorch/runtime/platform/runtime.h>

#include <set>

#include "conformance/adapters/executorch/binaries.h"
#include "conformance/adapters/executorch/delegate_tracer.h"
#include "conformance/adapters/executorch/kernels/threads.h"
#include "conformance/adapters/executorch/outcome.h"
#include "conformance/adapters/executorch/values.h"
#include "conformance/testee/no_testee.h"

// Programs on ExecuTorch's own runtime, through its Module, with or without the packaged XNNPACK.
namespace assay::executorch_kernels {
namespace {

using executorch::extension::Module;
using executorch::runtime::EValue;

// Loads every method in the order of the file. Shared arenas require this: a method that is loaded after a call of
// another method writes its initial state over the state that the call changed. A method that cannot be loaded is
// skipped here: each call of it tries again and reports the error.
void load_methods(Module& module) {
  const auto program = module.program();
  for (std::size_t i = 0; i < program->num_methods(); ++i)
    if (const auto name = program->get_method_name(i); name.ok()) static_cast<void>(module.load_method(*name));
}

class LoadedModule final : public testee::TesteeProgram {
 public:
  LoadedModule(std::unique_ptr<Module> module, DelegateTracer* tracer) : module_(std::move(module)), tracer_(tracer) {}

  testee::Reply call(const std::string& method, std::span<const Value> inputs, std::vector<Value>& outputs) override {
    log::clear();
    if (remembers(method, inputs.size()))
      return {Outcome::invalid,
              concat("only ", inputs.size(), " inputs are set: a call forgets those of earlier ones")};
    held_.clear();
    inputs_.assign(inputs.begin(), inputs.end());
    std::vector<EValue> arguments;
    try {
      for (Value& v : inputs_) arguments.push_back(input(v, held_));
    } catch (const Fault& f) {
      return {f.outcome, f.message};
    }
    if (tracer_) tracer_->traced.clear();
    const auto results = module_->execute(method, arguments);
    if (!results.ok()) return reply_of(results.error());
    called_.insert(method);
    outputs.clear();
    for (const EValue& v : results.get()) outputs.push_back(output(v));
    return {};
  }

  std::vector<testee::TracedInstruction> traced() override {
    return tracer_ ? tracer_->traced : std::vector<testee::TracedInstruction>();
  }

 private:
  // A Module keeps the inputs of a method. If a second call has fewer inputs, it would use those of the first call. A
  // client that sets each input never sees this.
  bool remembers(const std::string& method, std::size_t inputs) const {
    if (!called_.contains(method)) return false;
    const auto about = module_->method_meta(method);
    return about.ok() && inputs < about->num_inputs();
  }

  std::unique_ptr<Module> module_;
  DelegateTracer* tracer_;        // of the module; null if nothing is traced
  std::set<std::string> called_;  // the called methods
  std::vector<Value> inputs_;     // of the current call
  std::vector<executorch::extension::TensorPtr> held_;
};

class ModuleRuntime final : public testee::Runtime {
 public:
  explicit ModuleRuntime(bool with_xnnpack) : with_xnnpack_(with_xnnpack) {
    log::capture();
    executorch::runtime::runtime_init();
    set_threads(1);
    if (with_xnnpack && !dlopen(file_of(xnnpack).c_str(), RTLD_NOW | RTLD_LOCAL))
      testee::no_testee(name(), " cannot be loaded: ", dlerror());
  }

  bool traces() const override { return true; }
  std::string_view name() const override { return with_xnnpack_ ? "executorch+xnnpack" : "executorch"; }
  std::vector<std::pair<std::string, std::string>> facts() const override { return {{"arenas", "shared"}}; }
  std::vector<std::string> binaries() const override {
    std::vector<std::string> files = package_binaries();
    if (with_xnnpack_) files.push_back(file_of(xnnpack));
    return files;
  }

  // Methods always share their arenas, because this runtime does not share state by name.
  std::unique_ptr<testee::TesteeProgram> load(const testee::LoadSettings& settings, testee::Reply& reply) override {
    log::clear();
    std::vector<std::string> files(settings.data.begin(), settings.data.end());
    auto tracer = settings.traces ? std::make_unique<DelegateTracer>() : nullptr;
    DelegateTracer* const traced = tracer.get();
    auto module = std::make_unique<Module>(settings.program.string(), std::move(files), Module::LoadMode::File,
                                           std::move(tracer), nullptr, nullptr, true);
    reply = reply_of(module->load(executorch::runtime::Program::Verification::InternalConsistency));
    if (reply.outcome != Outcome::ok) return nullptr;
    load_methods(*module);
    return std::make_unique<LoadedModule>(std::move(module), traced);
  }

 private:
  bool with_xnnpack_;
};

}  // namespace
}  // namespace assay::executorch_kernels

extern "C" __attribute__((visibility("default"))) assay::testee::Runtime* assay_runtime() {
  return new assay::executorch_kernels::ModuleRuntime(false);
}

extern "C" __attribute__((visibility("default"))) assay::testee::Runtime* assay_runtime_xnnpack() {
  return new assay::executorch_kernels::ModuleRuntime(true);
}
