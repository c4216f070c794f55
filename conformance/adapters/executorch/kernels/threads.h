#pragma once

#include <cstddef>
#include <cstdint>

// A part of ExecuTorch's thread pool header, which the package lacks. Weak: a program whose kernels use no threads
// links no pool.
namespace executorch::extension::threadpool {
class ThreadPool {
 public:
  [[gnu::weak]] std::size_t get_thread_count() const;
  [[gnu::weak]] bool _unsafe_reset_threadpool(std::uint32_t threads);
};
[[gnu::weak]] ThreadPool* get_threadpool();
}  // namespace executorch::extension::threadpool

namespace assay::executorch_kernels {

// Sets the threads of parallel kernels, for the whole process and the processes that are forked from it later. A pool
// of one is the calling thread, so a fork loses no thread. A pool that is first made in a worker costs each worker its
// own threads, which wait busily.
inline void set_threads(int wanted) {
  using executorch::extension::threadpool::get_threadpool;
  if (!get_threadpool) return;
  auto& pool = *get_threadpool();
  const auto threads = static_cast<std::uint32_t>(wanted);
  if (pool.get_thread_count() != threads) pool._unsafe_reset_threadpool(threads);
}

}  // namespace assay::executorch_kernels
