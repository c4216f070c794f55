#include "conformance/testees/runtime.h"

#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/extension/threadpool/threadpool_guard.h>
#include <executorch/runtime/platform/runtime.h>

#include "conformance/testees/executorch/outcome.h"

// Programs on ExecuTorch's own runtime, through its Module.
namespace assay::executorch_kernels {
namespace {

using executorch::extension::Module;
using executorch::runtime::EValue;
using executorch::runtime::Tag;

class LoadedModule final : public TesteeProgram {
 public:
  explicit LoadedModule(std::unique_ptr<Module> module) : module_(std::move(module)) {}

  Reply call(const std::string& method, std::span<const Value> inputs, std::vector<Value>& outputs) override {
    const executorch::extension::threadpool::NoThreadPoolGuard one_thread;
    log::clear();
    held_.clear();
    std::vector<EValue> arguments;
    try {
      for (const Value& v : inputs) arguments.push_back(input(v));
    } catch (const Fault& f) {
      return {f.outcome, f.message};
    }
    const auto results = module_->execute(method, arguments);
    if (!results.ok()) return reply_of(results.error());
    outputs.clear();
    for (const EValue& v : results.get()) outputs.push_back(output(v));
    return {};
  }

 private:
  EValue input(const Value& value) {
    return std::visit(
        [&]<class T>(const T& v) -> EValue {
          if constexpr (std::is_same_v<T, Tensor>)
            return tensor(v);
          else if constexpr (std::is_same_v<T, Int> || std::is_same_v<T, double> || std::is_same_v<T, bool>)
            return v;
          else if constexpr (std::is_same_v<T, std::monostate>)
            return {};
          else
            throw Fault(Outcome::unsupported, "executorch.input", "the module takes no lists and strings");
        },
        value);
  }

  EValue tensor(const Tensor& t) {
    const auto* raw = reinterpret_cast<const std::uint8_t*>(t.bytes.data());
    held_.push_back(executorch::extension::make_tensor_ptr(
        {t.sizes.begin(), t.sizes.end()}, std::vector<std::uint8_t>(raw, raw + t.bytes.size()),
        {t.dim_order.begin(), t.dim_order.end()}, {}, static_cast<executorch::aten::ScalarType>(t.dtype)));
    return *held_.back();
  }

  static Value output(const EValue& value) {
    switch (value.tag) {
      case Tag::Tensor:
        return tensor(value.toTensor());
      case Tag::Int:
        return Int{value.toInt()};
      case Tag::Double:
        return value.toDouble();
      case Tag::Bool:
        return value.toBool();
      case Tag::String:
        return std::string(value.toString().data(), value.toString().size());
      default:
        return {};
    }
  }

  static Value tensor(const executorch::aten::Tensor& t) {
    Dims sizes, order;
    for (const auto n : t.sizes()) sizes.push_back(n);
    for (const auto d : t.dim_order()) order.push_back(d);
    Tensor copy{*dtype_numbered(static_cast<Int>(t.scalar_type())), sizes, order, {}};
    const auto* raw = static_cast<const std::byte*>(t.const_data_ptr());
    if (t.nbytes() > 0) copy.bytes.assign(raw, raw + t.nbytes());
    return copy;
  }

  std::unique_ptr<Module> module_;
  std::vector<executorch::extension::TensorPtr> held_;  // inputs of the present call
};

class ModuleRuntime final : public Runtime {
 public:
  ModuleRuntime() {
    log::capture();
    executorch::runtime::runtime_init();
  }

  std::string_view name() const override { return "executorch"; }

  std::unique_ptr<TesteeProgram> load(const std::filesystem::path& program,
                                      const std::vector<std::filesystem::path>& data, Reply& reply) override {
    log::clear();
    std::vector<std::string> files(data.begin(), data.end());
    auto module = std::make_unique<Module>(program.string(), std::move(files), Module::LoadMode::File, nullptr, nullptr,
                                           nullptr, true);
    reply = reply_of(module->load(executorch::runtime::Program::Verification::InternalConsistency));
    return reply.outcome == Outcome::ok ? std::make_unique<LoadedModule>(std::move(module)) : nullptr;
  }
};

}  // namespace
}  // namespace assay::executorch_kernels

extern "C" __attribute__((visibility("default"))) assay::Runtime* assay_runtime() {
  return new assay::executorch_kernels::ModuleRuntime;
}
