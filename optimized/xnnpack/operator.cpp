#include "optimized/xnnpack/operator.h"

#include <sys/mman.h>

#include "optimized/xnnpack/threads.h"

namespace assay::optimized::xnnpack {
namespace {

constexpr std::size_t line = 64;  // XNNPACK aligns vectors to it
struct alignas(line) Line {
  std::byte bytes[line];
};

constinit thread_local Memory* current = nullptr;

}  // namespace

// The allocator that XNNPACK calls. Outside of the lifetime of a Memory it has no memory.
struct Hook {
  static void* allocate(void*, std::size_t bytes) { return current ? current->allocate(bytes) : nullptr; }
  static void* aligned(void*, std::size_t alignment, std::size_t bytes) {
    return alignment <= line ? allocate(nullptr, bytes) : nullptr;
  }
  // Nothing is copied: the old size is unknown.
  static void* reallocate(void*, void* old, std::size_t bytes) { return old ? nullptr : allocate(nullptr, bytes); }
  static void free(void*, void*) {}
};

bool is_ready() {
  static constexpr xnn_allocator allocator{nullptr,    Hook::allocate, Hook::reallocate,
                                           Hook::free, Hook::aligned,  Hook::free};
  return xnn_initialize(&allocator) == xnn_status_success;
}

Memory::Memory(format::Workspace& prepared) : prepared_(prepared), outer_(current) { current = this; }

Memory::~Memory() {
  current = outer_;
  for (std::size_t i = 0; i < count_; ++i) munmap(pieces_[i].data(), pieces_[i].size());
}

std::byte* Memory::pages(std::size_t bytes) {
  if (count_ == most_pieces) return nullptr;
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  pieces_[count_++] = {static_cast<std::byte*>(at), bytes};
  return static_cast<std::byte*>(at);
}

std::span<float> Memory::floats(std::size_t n) {
  auto* at = reinterpret_cast<float*>(pages(n * sizeof(float)));
  return at ? std::span(at, n) : std::span<float>();
}

void* Memory::allocate(std::size_t bytes) {
  asked_ = true;
  const auto taken = prepared_.take<Line>((bytes + line - 1) / line);
  return is_counting() ? static_cast<void*>(pages(bytes)) : taken.data();
}

bool limits_of(const Call& call, Limits& limits) {
  limits = {};
  if (!call.fusion) return true;
  if (call.fusion->residual || call.fusion->activation > kernels::Activation::clamp) return false;
  if (call.fusion->activation == kernels::Activation::clamp) limits = {call.fusion->low, call.fusion->high};
  return limits.low < limits.high;
}

bool is_readable(const Tensor& input) { return !input.constant && !input.lasts && !input.moves && !input.unbounded; }

pthreadpool_t pool_of(const kernels::Threads& threads) {
  return threads.run == run_on_pthreadpool ? static_cast<pthreadpool_t>(threads.pool) : nullptr;
}

}  // namespace assay::optimized::xnnpack
