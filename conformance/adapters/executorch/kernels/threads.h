#pragma once

#include <cstddef>
#include <cstdint>

// Of a header that the package lacks. Weak: who links kernels without threads links no pool.
namespace executorch::extension::threadpool {
class ThreadPool {
 public:
  [[gnu::weak]] std::size_t get_thread_count() const;
  [[gnu::weak]] bool _unsafe_reset_threadpool(std::uint32_t threads);
};
[[gnu::weak]] ThreadPool* get_threadpool();
}  // namespace executorch::extension::threadpool

namespace assay::executorch_kernels {

// Of parallel kernels, for the whole process and what is forked from it later. A pool of one is the calling thread: it
// has nothing to lose in a fork, while a pool that is first made in a child costs each child its threads, which wait
// busily.
inline void set_threads(int wanted) {
  using executorch::extension::threadpool::get_threadpool;
  if (!get_threadpool) return;
  auto& pool = *get_threadpool();
  const auto threads = static_cast<std::uint32_t>(wanted);
  if (pool.get_thread_count() != threads) pool._unsafe_reset_threadpool(threads);
}

}  // namespace assay::executorch_kernels
