#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace assay::runner {

// Calls make(i) for each i < count on `workers` threads, and take(result) on this thread, in order. An exception of
// either ends the work and is rethrown.
template <class Make, class Take>
void in_order(std::size_t count, int workers, Make make, Take take) {
  using Result = decltype(make(std::size_t{0}));
  std::mutex mutex;
  std::condition_variable arrived;
  std::map<std::size_t, Result> results;
  std::exception_ptr failure;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) {
        Result result = make(i);
        const std::lock_guard lock(mutex);
        results.emplace(i, std::move(result));
        arrived.notify_one();
      }
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      arrived.notify_one();
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < workers; ++i) threads.emplace_back(work);
  try {
    for (std::size_t i = 0; i < count; ++i) {
      std::unique_lock lock(mutex);
      arrived.wait(lock, [&] { return results.contains(i) || failure; });
      const auto result = results.extract(i);
      if (result.empty()) break;
      lock.unlock();
      take(std::move(result.mapped()));
    }
  } catch (...) {
    next = count;
    throw;
  }
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace assay::runner
