#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace assay {

// Threads for `assay_options.run`. A call waits for tasks that are under way and never for a thread: what a helper does
// not take, as it sleeps or has no processor, the caller does. (The pthreadpool of Debian 12 lets every thread of a
// pool report for every call; where other programs want the processors, each call takes as long as they let a thread
// wait.) Where there is a processor for each thread and no more, helpers stay on one each, the caller's being the
// first: some systems let a thread that is woken wait up to 4 ms for the processor of who woke it, while another has
// nothing to do. Where there are more, other processes would keep theirs on the same.
class Pool {
 public:
  explicit Pool(std::size_t threads);  // that run at once, the caller's among them
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  using Task = void(void* context, std::size_t i);
  // Calls task(context, i) once for each i < tasks < 2^24, on any thread, and returns when all are done. By one thread
  // at a time, and not by tasks. `pool` is a Pool.
  static void run(void* pool, Task* task, void* context, std::size_t tasks);

 private:
  enum class End { first, last };
  bool take(End end);
  void help();

  // The number of the call, the first task that nobody has taken, and the one behind the last, of 24 bits each but for
  // the number: the caller takes from the front, helpers from behind, so that in each call much the same falls to each.
  std::atomic<std::uint64_t> open_{0};
  std::atomic<Task*> task_{nullptr};  // this and the next as the caller of that number wrote them
  std::atomic<void*> context_{nullptr};
  std::atomic<std::size_t> done_{0};
  std::atomic<bool> ends_{false};
  std::vector<std::jthread> helpers_;
};

}  // namespace assay
