#include "conformance/sandbox/heap.h"

#include <dlfcn.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

// glibc's allocator, under the names that it keeps for programs that replace malloc.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace assay::sandbox::heap {
namespace {

// Never destroyed, because blocks may be freed until the process ends.
QuarantineHeap* arena = nullptr;
std::atomic<bool> watched = false;
std::byte filling{};
Owner::Who owner = Owner::host;
std::size_t until_refused = 0;  // the number of allocations up to and including the one that fails
bool refused = false;
std::atomic_flag busy;  // a testee may have threads

class Lock {
 public:
  Lock() {
    while (busy.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~Lock() { busy.clear(std::memory_order_release); }
};

bool is_ours(const void* block) { return arena && arena->contains(block); }

void* allocate(std::size_t bytes, std::byte fill, std::size_t alignment = promised_alignment) {
  const Lock lock;
  const bool refuses = owner == Owner::library && until_refused > 0 && --until_refused == 0;
  refused |= refuses;
  const bool is_over = owner == Owner::library && arena->is_nearly_used_up();
  void* const block = refuses || is_over ? nullptr : arena->allocate(bytes, fill, alignment);
  if (!block) errno = ENOMEM;
  return block;
}

std::size_t usable_size(void* block) {
  static const auto libc = reinterpret_cast<std::size_t (*)(void*)>(dlsym(RTLD_NEXT, "malloc_usable_size"));
  return is_ours(block) ? arena->size_of(block) : libc(block);
}

}  // namespace

Watch::Watch(std::byte fill, std::size_t nth) {
  if (!arena) arena = new QuarantineHeap;
  filling = fill, until_refused = nth, refused = false, owner = Owner::host;
  watched = true;
}

Watch::~Watch() { watched = false; }

bool has_refused() { return refused; }

Owner::Owner(Who who) : before_(std::exchange(owner, who)) {}
Owner::~Owner() { owner = before_; }

std::optional<Damage> damage() { return arena ? arena->damage() : std::nullopt; }
std::size_t used() { return arena ? arena->used() : 0; }
std::size_t blocks_used() { return arena ? arena->blocks_used() : 0; }
std::size_t live() { return arena ? arena->live() : 0; }

void retire_freed() {
  const Lock lock;
  if (arena) arena->retire_freed();
}

bool was_retired(const void* address) { return arena && arena->was_retired(address); }

}  // namespace assay::sandbox::heap

using namespace assay::sandbox::heap;

extern "C" {

void* malloc(std::size_t bytes) { return watched ? allocate(bytes, filling) : __libc_malloc(bytes); }

void free(void* block) {
  if (!is_ours(block)) return __libc_free(block);
  const Lock lock;
  arena->release(block);
}

void* calloc(std::size_t count, std::size_t size) {
  if (!watched) return __libc_calloc(count, size);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) bytes = assay::sandbox::QuarantineHeap::most + 1;
  return allocate(bytes, std::byte{0});
}

void* realloc(void* block, std::size_t bytes) {
  if (!watched && !is_ours(block)) return __libc_realloc(block, bytes);
  void* const moved = malloc(bytes);
  if (!block || !moved) return moved;
  std::memcpy(moved, block, std::min(bytes, usable_size(block)));
  free(block);
  return moved;
}

void* memalign(std::size_t alignment, std::size_t bytes) {
  return watched ? allocate(bytes, filling, alignment) : __libc_memalign(alignment, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  const int before = errno;
  void* const made = memalign(alignment, bytes);
  errno = before;
  if (!made) return ENOMEM;
  *block = made;
  return 0;
}

std::size_t malloc_usable_size(void* block) { return block ? usable_size(block) : 0; }

}  // extern "C"
