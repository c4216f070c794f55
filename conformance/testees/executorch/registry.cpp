#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

#include <cstring>
#include <memory>
#include <unordered_map>

#include "conformance/testees/executorch/call_stack.h"
#include "conformance/testees/executorch/log.h"
#include "conformance/testees/executorch/outcome.h"
#include "conformance/testees/executorch/registry.h"
#include "conformance/testees/executorch/threads.h"
#include "conformance/testees/load.h"
#include "reference/fault.h"

namespace assay::executorch_kernels {
namespace {

using executorch::runtime::Error;
using executorch::runtime::OpFunction;

// Temporary memory of kernels, taken back before every call. What it hands out is filled, so that a kernel that reads
// it before writing gives two different results.
class TemporaryMemory : public executorch::runtime::MemoryAllocator {
 public:
  explicit TemporaryMemory(std::span<std::uint8_t> memory)
      : MemoryAllocator(static_cast<std::uint32_t>(memory.size()), memory.data()) {}

  void* allocate(std::size_t size, std::size_t alignment) override {
    void* memory = MemoryAllocator::allocate(size, alignment);
    if (memory) std::memset(memory, filling_, size);
    return memory;
  }

  void fill(std::byte byte) { filling_ = static_cast<int>(byte); }

 private:
  int filling_ = 0;
};

class Registry : public KernelLibrary {
 public:
  Registry(std::string name, std::vector<std::string> binaries, std::size_t without)
      : name_(std::move(name)), binaries_(std::move(binaries)) {
    log::capture();
    executorch::runtime::runtime_init();
    set_threads(1);
    const auto all = executorch::runtime::get_registered_kernels();
    for (const auto& kernel : std::span(all.data(), all.size()).subspan(without))
      if (kernel.kernel_key_.is_fallback()) kernels_.emplace(kernel.name_, kernel.op_);
  }

  std::string_view name() const override { return name_; }

  std::vector<std::pair<std::string, std::string>> facts() const override {
    return {{"executorch", ASSAY_EXECUTORCH_VERSION},
            {"libraries", ASSAY_EXECUTORCH_LIBRARIES},
            {"kernels", std::to_string(kernels_.size())},
            {"temporary memory", text(temporary_memory >> 20, " MiB")},
            {"threads", "1"}};
  }

  std::vector<std::string> binaries() const override { return binaries_; }

  std::vector<std::string> kernels() const override {
    std::vector<std::string> names;
    for (const auto& [name, kernel] : kernels_) names.emplace_back(name);
    return names;
  }

  bool has(const Operator& op) const override { return kernels_.contains(op.name); }

  void fill_memory(std::byte byte) override { temporary_.fill(byte); }

  Reply call(const Operator& op, std::span<HostValue> arguments) override {
    const auto kernel = kernels_.find(op.name);
    if (kernel == kernels_.end()) return {Outcome::unsupported, text("there is no kernel for ", op.name)};
    try {
      return call(kernel->second, op, arguments);
    } catch (const Fault& f) {
      if (f.outcome == Outcome::malformed) throw;
      return {f.outcome, f.message};
    }
  }

 private:
  static constexpr std::uint32_t temporary_memory = 16 << 20;

  Reply call(OpFunction kernel, const Operator& op, std::span<HostValue> arguments) {
    log::clear();
    temporary_.reset();
    CallStack stack(op, arguments);
    executorch::runtime::KernelRuntimeContext context(nullptr, &temporary_);
    kernel(context, {stack.values().data(), stack.values().size()});
    const Error error = context.failure_state();
    // The unboxing wrapper, not the kernel: the stack is not what the schema asks for.
    if (error == Error::InvalidProgram)
      throw Fault(Outcome::malformed, "executorch.stack",
                  text("the adapter made a wrong call of ", op.name, ": ", log::errors()));
    if (error == Error::Ok) stack.read_back(op, arguments);
    return reply_of(error);
  }

  std::string name_;
  std::vector<std::string> binaries_;
  std::unordered_map<std::string_view, OpFunction> kernels_;
  std::unique_ptr<std::uint8_t[]> memory_ = std::make_unique_for_overwrite<std::uint8_t[]>(temporary_memory);
  TemporaryMemory temporary_{{memory_.get(), temporary_memory}};
};

}  // namespace

KernelLibrary* make_registry(std::string name, std::vector<std::string> binaries, std::size_t without) {
  return new Registry(std::move(name), std::move(binaries), without);
}

}  // namespace assay::executorch_kernels
