#pragma once

#include <thread>
#include <vector>

#include "optimized/kernels/threads.h"

namespace assay::kernels {

// Threads that start with the last task and split work of any size.
inline Threads backwards(std::size_t count) {
  Threads threads;
  threads.count = count, threads.least_share = 1;
  threads.run = [](void*, void (*task)(void*, std::size_t), void* context, std::size_t tasks) {
    std::vector<std::jthread> all;
    for (std::size_t i = tasks; i-- > 0;) all.emplace_back(task, context, i);
  };
  return threads;
}

}  // namespace assay::kernels
