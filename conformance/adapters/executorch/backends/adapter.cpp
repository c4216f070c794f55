#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/platform/runtime.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/adapters/executorch/backends/backends.h"
#include "conformance/adapters/executorch/kernels/error.h"
#include "conformance/adapters/executorch/kernels/log.h"
#include "conformance/adapters/executorch/kernels/threads.h"

// The backends in the registry of ExecuTorch. The adapter calls a backend as the runtime does.
namespace assay::executorch_backends {
namespace {

namespace et = executorch::runtime;
namespace log = executorch_kernels::log;
using executorch::aten::TensorImpl;

std::string sentence;  // the reason of the last refusal

std::int32_t outcome(et::Error error) {
  if (error != et::Error::Ok) sentence = std::string(et::to_string(error)) + ": " + log::errors();
  return executorch_kernels::outcome_of(error);
}

// Calls a function of the backend. ExecuTorch is compiled without exceptions: what the function throws ends a process.
template <class F>
std::int32_t call(const Services& services, F f) {
  services.enter(services.context, true);
  try {
    const et::Error error = f();
    services.enter(services.context, false);
    return outcome(error);
  } catch (const std::exception& e) {
    services.enter(services.context, false);
    sentence = std::string("throws an exception, which ExecuTorch does not catch: ") + e.what();
  } catch (...) {
    services.enter(services.context, false);
    sentence = "throws an exception, which ExecuTorch does not catch";
  }
  return ASSAY_KERNEL_INTERNAL;
}

class Memory final : public et::MemoryAllocator {
 public:
  Memory(const Services& services, bool is_temporary)
      : MemoryAllocator(0, nullptr), services_(services), is_temporary_(is_temporary) {}

  void* allocate(std::size_t bytes, std::size_t alignment) override {
    return services_.allocate(services_.context, bytes, alignment, is_temporary_);
  }
  void reset() override {
    if (is_temporary_) services_.release_temporary(services_.context);
  }

 private:
  const Services& services_;
  bool is_temporary_;
};

// The named data of a program. A backend finds data by key and cannot list the keys.
class NamedData final : public et::NamedDataMap {
 public:
  explicit NamedData(const Services& services) : services_(services) {}

  et::Result<const et::TensorLayout> get_tensor_layout(std::string_view) const override {
    return et::Error::NotSupported;
  }
  et::Result<et::FreeableBuffer> get_data(std::string_view key) const override {
    const auto found = find(key);
    if (!found) return et::Error::NotFound;
    return et::FreeableBuffer(found->data, found->size, nullptr);
  }
  et::Error load_data_into(std::string_view key, void* buffer, std::size_t size) const override {
    const auto found = find(key);
    if (!found) return et::Error::NotFound;
    if (size > found->size) return et::Error::InvalidArgument;
    std::copy_n(static_cast<const char*>(found->data), size, static_cast<char*>(buffer));
    return et::Error::Ok;
  }
  et::Result<std::uint32_t> get_num_keys() const override { return et::Error::NotSupported; }
  et::Result<const char*> get_key(std::uint32_t) const override { return et::Error::NotSupported; }

 private:
  std::optional<Bytes> find(std::string_view key) const {
    Bytes found{};
    return services_.find_named(services_.context, key.data(), key.size(), &found) ? std::optional(found)
                                                                                   : std::nullopt;
  }

  const Services& services_;
};

// A tensor that a backend gets, with its metadata.
struct Held {
  std::vector<TensorImpl::SizesType> sizes;
  std::vector<TensorImpl::DimOrderType> order;
  std::vector<TensorImpl::StridesType> strides;
  std::unique_ptr<TensorImpl> impl;

  explicit Held(const Argument& a)
      : sizes(a.sizes, a.sizes + a.rank), order(a.dim_order, a.dim_order + a.rank), strides(sizes.size()) {
    TensorImpl::StridesType stride = 1;
    for (std::size_t d = order.size(); d-- > 0;) strides[order[d]] = stride, stride *= std::max(sizes[order[d]], 1);
    impl = std::make_unique<TensorImpl>(static_cast<executorch::aten::ScalarType>(a.dtype), a.rank, sizes.data(),
                                        a.data, order.data(), strides.data(),
                                        a.may_be_resized ? executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND
                                                         : executorch::aten::TensorShapeDynamism::STATIC);
  }
};

struct Delegate {
  Delegate(const Services& of, const char* name, Bytes payload)
      : services(of),
        method(name),
        memory(of, false),
        temporary(of, true),
        named(of),
        processed(
            payload.data, payload.size,
            [](void* context, void*, std::size_t) {
              const auto& services = *static_cast<const Services*>(context);
              services.free_payload(services.context);
            },
            const_cast<Services*>(&of)) {}

  const Services& services;
  std::string method;
  Memory memory, temporary;
  NamedData named;
  et::FreeableBuffer processed;
  et::BackendInterface* backend = nullptr;
  et::DelegateHandle* handle = nullptr;
};

std::int32_t init(std::size_t backend, const Services* services, const char* method, Bytes payload, const Spec* specs,
                  std::size_t spec_count, void** delegate) {
  log::clear();
  auto made = std::make_unique<Delegate>(*services, method, payload);
  made->backend = et::get_backend_class(et::get_backend_name(backend).get());
  if (!made->backend->is_available())
    return sentence = "the backend says that it is not available", ASSAY_KERNEL_UNSUPPORTED;
  std::vector<et::CompileSpec> all;
  for (std::size_t i = 0; i < spec_count; ++i)
    all.push_back({specs[i].key, {const_cast<void*>(specs[i].value.data), specs[i].value.size}});
  et::BackendInitContext context(&made->memory, nullptr, made->method.c_str(), &made->named);
  const std::int32_t made_it = call(*services, [&] {
    const auto handle = made->backend->init(context, &made->processed, {all.data(), all.size()});
    if (handle.ok()) made->handle = *handle;
    return handle.error();
  });
  if (made_it == ASSAY_KERNEL_OK) *delegate = made.release();
  return made_it;
}

std::int32_t execute(void* of, Argument* arguments, std::size_t count) {
  log::clear();
  auto& delegate = *static_cast<Delegate*>(of);
  std::vector<std::unique_ptr<Held>> held;
  std::vector<et::EValue> values(count);
  std::vector<et::EValue*> pointers;
  for (std::size_t i = 0; i < count; ++i) {
    const Argument& a = arguments[i];
    using enum Argument::Kind;
    held.push_back(a.kind == tensor ? std::make_unique<Held>(a) : nullptr);
    if (a.kind == tensor) values[i] = et::EValue(executorch::aten::Tensor(held[i]->impl.get()));
    if (a.kind == integer) values[i] = et::EValue(a.integer);
    if (a.kind == floating) values[i] = et::EValue(a.floating);
    if (a.kind == boolean) values[i] = et::EValue(a.integer != 0);
    pointers.push_back(&values[i]);
  }
  et::BackendExecutionContext context(nullptr, &delegate.temporary, delegate.method.c_str());
  const std::int32_t executed = call(delegate.services, [&] {
    return delegate.backend->execute(context, delegate.handle, {pointers.data(), pointers.size()});
  });
  delegate.temporary.reset();
  for (std::size_t i = 0; i < count; ++i)
    if (held[i]) std::ranges::copy(held[i]->impl->sizes(), arguments[i].sizes);
  return executed;
}

void destroy(void* of) {
  const std::unique_ptr<Delegate> delegate(static_cast<Delegate*>(of));
  call(delegate->services, [&] {
    delegate->backend->destroy(delegate->handle);
    return et::Error::Ok;
  });
}

constexpr Table table{
    et::get_num_registered_backends,
    [](std::size_t i) { return i < et::get_num_registered_backends() ? *et::get_backend_name(i) : ""; },
    init,
    execute,
    destroy,
    [] { return sentence.c_str(); },
    ASSAY_EXECUTORCH_VERSION};

}  // namespace
}  // namespace assay::executorch_backends

extern "C" __attribute__((visibility("default"))) const assay::executorch_backends::Table* assay_executorch_backends() {
  using namespace assay;
  [[maybe_unused]] static const bool once = (executorch_kernels::log::capture(), executorch::runtime::runtime_init(),
                                             executorch_kernels::set_threads(1), true);
  return &executorch_backends::table;
}
