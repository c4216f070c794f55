#include "conformance/api/loader.h"

#include <dlfcn.h>
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>
#include <executorch/extension/named_data_map/merged_data_map.h>
#include <executorch/extension/tensor/tensor_ptr.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/adapters/executorch/binaries.h"
#include "conformance/adapters/executorch/kernels/log.h"
#include "conformance/adapters/executorch/kernels/threads.h"

// ExecuTorch's own loader, used as by a client without a Module.
namespace assay::executorch_kernels {
namespace {

namespace et = executorch::runtime;
using executorch::extension::BufferDataLoader;
using executorch::extension::FlatTensorDataMap;
using executorch::extension::merged_data_map::MergedDataMap;

std::string sentence;  // the reason of the last refusal

int32_t refused(et::Error error) {
  sentence = std::string(et::to_string(error)) + ": " + log::errors();
  const bool exhausted = error == et::Error::MemoryAllocationFailed || error == et::Error::OutOfResources;
  return exhausted ? ASSAY_LOADER_EXHAUSTED : ASSAY_LOADER_REFUSED;
}

// Allocates blocks of the heap, up to a limit.
class LimitedAllocator final : public et::MemoryAllocator {
 public:
  explicit LimitedAllocator(std::uint64_t& left) : MemoryAllocator(0, nullptr), left_(left) {}
  ~LimitedAllocator() override { release(); }

  void* allocate(size_t size, size_t alignment) override {
    if (size > left_) return nullptr;
    left_ -= size;
    const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
    void* const block = std::aligned_alloc(std::max(alignment, sizeof(void*)), std::max(rounded, alignment));
    if (block) blocks_.push_back(block);
    return block;
  }
  void reset() override { release(); }

 private:
  void release() {
    for (void* block : blocks_) std::free(block);
    blocks_.clear();
  }

  std::uint64_t& left_;
  std::vector<void*> blocks_;
};

// A method with its memory.
struct ReadyMethod {
  explicit ReadyMethod(std::uint64_t& left) : allocator(left), temporary(left) {}

  LimitedAllocator allocator, temporary;
  std::vector<std::vector<std::uint8_t>> buffers;
  std::vector<et::Span<std::uint8_t>> spans;
  std::optional<et::HierarchicalAllocator> planned;
  std::optional<et::MemoryManager> memory;
  std::optional<et::Method> method;
  std::vector<std::vector<std::uint8_t>> inputs;
};

struct Loaded {
  Loaded(assay_loader_bytes file, const assay_loader_limits& limits)
      : loader(file.data, file.size), left(limits.bytes) {}

  BufferDataLoader loader;
  std::uint64_t left;
  std::vector<std::unique_ptr<BufferDataLoader>> data_loaders;
  std::vector<FlatTensorDataMap> data;
  std::optional<MergedDataMap> merged;
  std::optional<et::Program> program;
  std::vector<std::unique_ptr<ReadyMethod>> methods;

  const et::NamedDataMap* named() const { return merged ? &*merged : nullptr; }
};

et::Error load_data(Loaded& to, const assay_loader_bytes* data, size_t count) {
  std::vector<const et::NamedDataMap*> maps;
  to.data.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    to.data_loaders.push_back(std::make_unique<BufferDataLoader>(data[i].data, data[i].size));
    auto map = FlatTensorDataMap::load(to.data_loaders.back().get());
    if (!map.ok()) return map.error();
    to.data.push_back(std::move(*map));
  }
  for (const FlatTensorDataMap& map : to.data) maps.push_back(&map);
  if (maps.empty()) return et::Error::Ok;
  auto merged = MergedDataMap::load({maps.data(), maps.size()});
  if (!merged.ok()) return merged.error();
  to.merged.emplace(std::move(*merged));
  return et::Error::Ok;
}

template <et::Program::Verification verification>
int32_t load(assay_loader_bytes file, const assay_loader_bytes* data, size_t data_count,
             const assay_loader_limits* limits, void** loaded) {
  log::clear();
  auto made = std::make_unique<Loaded>(file, *limits);
  if (const et::Error error = load_data(*made, data, data_count); error != et::Error::Ok) return refused(error);
  auto program = et::Program::load(&made->loader, verification);
  if (!program.ok()) return refused(program.error());
  made->program.emplace(std::move(*program));
  *loaded = made.release();
  return ASSAY_LOADER_OK;
}

et::Error give_memory(const et::MethodMeta& meta, Loaded& loaded, ReadyMethod& method) {
  for (size_t i = 0; i < meta.num_memory_planned_buffers(); ++i) {
    const auto size = meta.memory_planned_buffer_size(i);
    if (!size.ok()) return size.error();
    const auto bytes = static_cast<std::uint64_t>(*size);
    if (bytes > loaded.left) return et::Error::MemoryAllocationFailed;
    loaded.left -= bytes;
    method.buffers.emplace_back(bytes);
  }
  for (auto& buffer : method.buffers) method.spans.push_back({buffer.data(), buffer.size()});
  method.planned.emplace(et::Span<et::Span<std::uint8_t>>(method.spans.data(), method.spans.size()));
  method.memory.emplace(&method.allocator, &*method.planned, &method.temporary);
  return et::Error::Ok;
}

int32_t init(void* of, size_t index) {
  log::clear();
  auto& loaded = *static_cast<Loaded*>(of);
  if (index >= loaded.program->num_methods()) return ASSAY_LOADER_NO_METHOD;
  const auto name = loaded.program->get_method_name(index);
  if (!name.ok()) return refused(name.error());
  const auto meta = loaded.program->method_meta(*name);
  if (!meta.ok()) return refused(meta.error());
  auto ready = std::make_unique<ReadyMethod>(loaded.left);
  if (const et::Error error = give_memory(*meta, loaded, *ready); error != et::Error::Ok) return refused(error);
  auto method = loaded.program->load_method(*name, &*ready->memory, nullptr, loaded.named());
  if (!method.ok()) return refused(method.error());
  ready->method.emplace(std::move(*method));
  loaded.methods.push_back(std::move(ready));
  return ASSAY_LOADER_OK;
}

// Sets an input to zeros. Their memory is separate, because the plan may have none for the input.
et::Error set_input(ReadyMethod& ready, const et::MethodMeta& meta, size_t i) {
  const auto tag = meta.input_tag(i);
  if (!tag.ok()) return tag.error();
  if (*tag != et::Tag::Tensor) return et::Error::Ok;
  const auto tensor = meta.input_tensor_meta(i);
  if (!tensor.ok()) return tensor.error();
  std::vector<std::uint8_t>& zeros = ready.inputs.emplace_back(tensor->nbytes());
  const auto x = executorch::extension::make_tensor_ptr({tensor->sizes().begin(), tensor->sizes().end()}, zeros.data(),
                                                        {tensor->dim_order().begin(), tensor->dim_order().end()}, {},
                                                        tensor->scalar_type());
  return ready.method->set_input(*x, i);
}

// ExecuTorch itself limits the instructions of an execution.
int32_t execute(void* of, size_t index) {
  log::clear();
  auto& loaded = *static_cast<Loaded*>(of);
  ReadyMethod& ready = *loaded.methods.at(index);
  const auto meta = ready.method->method_meta();
  for (size_t i = 0; i < meta.num_inputs(); ++i)
    if (const et::Error error = set_input(ready, meta, i); error != et::Error::Ok) return refused(error);
  const et::Error error = ready.method->execute();
  return error == et::Error::Ok ? ASSAY_LOADER_OK : refused(error);
}

void unload(void* of) { delete static_cast<Loaded*>(of); }

const char* message() { return sentence.c_str(); }

template <et::Program::Verification verification>
constexpr assay_loader table(const char* name) {
  return {ASSAY_LOADER_VERSION, name, load<verification>, init, execute, unload, message};
}
constexpr assay_loader consistent = table<et::Program::Verification::InternalConsistency>("executorch"),
                       minimal = table<et::Program::Verification::Minimal>("executorch:minimal"),
                       xnnpack_loader = table<et::Program::Verification::InternalConsistency>("executorch+xnnpack");

const assay_loader* loader_with_xnnpack() {
  return dlopen(file_of(xnnpack).c_str(), RTLD_NOW | RTLD_LOCAL) ? &xnnpack_loader : nullptr;
}

}  // namespace
}  // namespace assay::executorch_kernels

const assay_loader* assay_loader_v1(const char* variant) {
  using namespace assay::executorch_kernels;
  [[maybe_unused]] static const bool once = (log::capture(), executorch::runtime::runtime_init(), set_threads(1), true);
  const std::string_view wanted = variant;
  if (wanted == "xnnpack") return loader_with_xnnpack();
  return wanted.empty() ? &consistent : wanted == "minimal" ? &minimal : nullptr;
}
