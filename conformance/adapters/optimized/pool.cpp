#include "conformance/adapters/optimized/pool.h"

#include "conformance/sandbox/processors.h"

namespace assay::adapters {
namespace {

constexpr int bits = 24;
constexpr std::uint64_t mask = (std::uint64_t{1} << bits) - 1, one_first = std::uint64_t{1} << bits;
constexpr std::uint64_t one_call = std::uint64_t{1} << 2 * bits;

constexpr std::size_t first(std::uint64_t open) { return open >> bits & mask; }
constexpr std::size_t last(std::uint64_t open) { return open & mask; }  // the end of the tasks that are not taken

// The number of times that a helper looks for the next call before it sleeps. They take about a millisecond, longer
// than the time between two calls of a method. Meanwhile, the helper yields its processor to other threads.
constexpr int looks = 4'000;

}  // namespace

Pool::Pool(std::size_t threads) {
  const std::vector<int> all = sandbox::processors();
  for (std::size_t i = 1; i < threads; ++i)
    helpers_.emplace_back([this, i, threads, all] {
      if (all.size() == threads) sandbox::keep_on(std::span(all).subspan(i, 1));
      help();
    });
}

Pool::~Pool() {
  ends_ = true;
  open_ += one_call;
  open_.notify_all();
}

void Pool::run(void* pool, Task* task, void* context, std::size_t tasks) {
  Pool& p = *static_cast<Pool*>(pool);
  p.task_.store(task, std::memory_order_relaxed), p.context_.store(context, std::memory_order_relaxed);
  p.done_.store(0, std::memory_order_relaxed);
  const std::uint64_t before = p.open_.load(std::memory_order_relaxed);
  p.open_.store((before / one_call + 1) * one_call + tasks, std::memory_order_release);
  p.open_.notify_all();
  while (p.take(End::first)) {
  }
  while (p.done_.load(std::memory_order_acquire) < tasks) std::this_thread::yield();
}

bool Pool::take(End end) {
  std::uint64_t open = open_.load(std::memory_order_acquire);
  while (first(open) < last(open)) {
    Task* task = task_.load(std::memory_order_relaxed);
    void* context = context_.load(std::memory_order_relaxed);
    const std::uint64_t rest = end == End::first ? open + one_first : open - 1;
    // if this still is the same call, `task` and `context` belong to it
    if (!open_.compare_exchange_weak(open, rest, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
    task(context, end == End::first ? first(open) : last(open) - 1);
    done_.fetch_add(1, std::memory_order_release);
    return true;
  }
  return false;
}

void Pool::help() {
  for (;;) {
    const std::uint64_t seen = open_.load(std::memory_order_acquire);  // loaded before `ends_` is checked
    if (ends_) return;
    if (take(End::last)) continue;
    int look = 0;
    while (look < looks && open_.load(std::memory_order_relaxed) == seen) std::this_thread::yield(), ++look;
    if (look == looks) open_.wait(seen);
  }
}

}  // namespace assay::adapters
