#include <dlfcn.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>
#include <kernel_library.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/adapters/executorch/kernels/call_stack.h"
#include "conformance/adapters/executorch/kernels/error.h"
#include "conformance/adapters/executorch/kernels/log.h"
#include "conformance/adapters/executorch/kernels/threads.h"

// The kernels that are in ExecuTorch's registry when the table is requested, as a kernel library without code for any
// single operator. If it is compiled with ASSAY_EXECUTORCH_LIBRARIES, the names of the release's libraries, it also has
// the kernels of the release. ASSAY_EXECUTORCH_VERSION is the version of the release, if known.
namespace assay::executorch_kernels {
namespace {

using executorch::runtime::Error;
using executorch::runtime::MemoryAllocator;
using executorch::runtime::OpFunction;

// Kernels get their temporary memory from the host.
class TemporaryMemory final : public MemoryAllocator {
 public:
  explicit TemporaryMemory(const assay_kernel_host& host) : MemoryAllocator(0, nullptr), host_(host) {}
  void* allocate(std::size_t size, std::size_t alignment) override {
    return host_.allocate(host_.context, size, alignment);
  }

 private:
  const assay_kernel_host& host_;
};

// The runtime's own library has the operators that the runtime cannot work without.
bool is_the_runtimes([[maybe_unused]] OpFunction kernel) {
#ifdef ASSAY_EXECUTORCH_LIBRARIES
  return false;
#else
  Dl_info library;
  return dladdr(reinterpret_cast<void*>(kernel), &library) != 0 &&
         std::string_view(library.dli_fname).ends_with("/libexecutorch.so");
#endif
}

class Registry {
 public:
  Registry() {
    log::capture();
    executorch::runtime::runtime_init();
    set_threads(1);
    for (const auto& kernel : executorch::runtime::get_registered_kernels())
      if (kernel.kernel_key_.is_fallback() && !is_the_runtimes(kernel.op_)) kernels_.emplace(kernel.name_, kernel.op_);
    for (const auto& [name, kernel] : kernels_) names_.push_back(name.c_str());
    count_ = std::to_string(kernels_.size());
#ifdef ASSAY_EXECUTORCH_VERSION
    facts_.push_back({"executorch", ASSAY_EXECUTORCH_VERSION});
#endif
#ifdef ASSAY_EXECUTORCH_LIBRARIES
    facts_.push_back({"libraries", ASSAY_EXECUTORCH_LIBRARIES});
#endif
    facts_.push_back({"kernels", count_.c_str()});
    facts_.push_back({"threads", "1"});
  }

  const std::vector<assay_kernel_fact>& facts() const { return facts_; }
  const char* name(std::size_t i) const { return i < names_.size() ? names_[i] : nullptr; }
  bool has(const char* op) const { return kernels_.contains(op); }

  assay_kernel_reply call(const char* op, const assay_kernel_host& host, std::span<assay_kernel_value> values) try {
    log::clear();
    const auto kernel = kernels_.find(op);
    if (kernel == kernels_.end()) return reply(ASSAY_KERNEL_UNSUPPORTED, "there is no such kernel");
    if (!host.schema) return reply(ASSAY_KERNEL_INTERNAL, "the host does not know the operator's schema");
    TemporaryMemory temporary(host);
    CallStack stack(host.schema, values);
    executorch::runtime::KernelRuntimeContext context(nullptr, &temporary);
    kernel->second(context, {stack.values().data(), stack.values().size()});
    const Error error = context.failure_state();
    // This error comes from the code that unpacks the stack, not from the kernel.
    if (error == Error::InvalidProgram)
      return reply(ASSAY_KERNEL_INTERNAL,
                   "it takes other arguments than " + std::string(host.schema) + ": " + log::errors());
    if (error != Error::Ok)
      return reply(outcome_of(error), std::string(executorch::runtime::to_string(error)) + ": " + log::errors());
    if (!stack.read_back(host)) return reply(ASSAY_KERNEL_INTERNAL, "a result does not fit in its out");
    return {ASSAY_KERNEL_OK, nullptr};
  } catch (const CallStack::TooLarge&) {
    return reply(ASSAY_KERNEL_UNSUPPORTED, "ExecuTorch holds sizes in 32 bits");
  }

 private:
  assay_kernel_reply reply(assay_kernel_outcome outcome, std::string message) {
    message_ = std::move(message);
    return {outcome, message_.c_str()};
  }

  std::map<std::string, OpFunction, std::less<>> kernels_;
  std::vector<const char*> names_;
  std::vector<assay_kernel_fact> facts_;
  std::string count_, message_;
};

Registry& in(void* context) { return *static_cast<Registry*>(context); }

}  // namespace
}  // namespace assay::executorch_kernels

const assay_kernel_library* assay_kernel_library_v1() {
  using namespace assay::executorch_kernels;
  static Registry registry;
  static const assay_kernel_library library{
      ASSAY_KERNEL_LIBRARY_VERSION,
      "executorch",
      &registry,
      registry.facts().data(),
      registry.facts().size(),
      [](void* context, std::size_t i) { return in(context).name(i); },
      [](void* context, const char* op) { return int{in(context).has(op)}; },
      [](void* context, const char* op, const assay_kernel_host* host, assay_kernel_value* values, std::size_t count) {
        return in(context).call(op, *host, {values, count});
      },
      nullptr,
      nullptr};
  return &library;
}
