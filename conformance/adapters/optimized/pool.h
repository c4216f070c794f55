#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace assay::adapters {

// Threads for `assay_options.run`. A call waits for tasks that are running, and never for a thread: the caller runs all
// tasks that no helper thread takes because it sleeps or has no processor. (The pthreadpool of Debian 12 waits until
// every thread of the pool reports for every call. Where other programs compete for the processors, each of its calls
// takes as long as a thread waits for a processor.) If the machine has exactly one processor for each thread, each
// helper is bound to its own; the first processor is the caller's. The reason: some systems let a woken thread wait up
// to 4 ms for the processor of the thread that woke it, while another processor is idle. If there are more processors
// than threads, helpers are not bound, because other processes would bind theirs to the same processors.
class Pool {
 public:
  explicit Pool(std::size_t threads);  // the number of threads that run at once, including the caller
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  using Task = void(void* context, std::size_t i);
  // Calls task(context, i) once for each i < tasks < 2^24, on any thread, and returns when all calls are done. Only one
  // thread at a time may call this function, and no task may. `pool` is a Pool.
  static void run(void* pool, Task* task, void* context, std::size_t tasks);

 private:
  enum class End { first, last };
  bool take(End end);
  void help();

  // Three numbers: the number of the call, the first task that is not taken (24 bits), and the end of these tasks (24
  // bits). The caller takes tasks from the front and helpers from the back, so that in each call every thread gets
  // about the same tasks.
  std::atomic<std::uint64_t> open_{0};
  // The task and the context of the call that `open_` numbers. The caller writes them first.
  std::atomic<Task*> task_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<std::size_t> done_{0};
  std::atomic<bool> ends_{false};
  std::vector<std::jthread> helpers_;
};

}  // namespace assay::adapters
