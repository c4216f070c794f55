#pragma once

#include <pthreadpool.h>

#include <cstddef>

namespace assay::optimized {

// A function for `run` of assay_options if `pool` is a pthreadpool_t. XNNPACK's operators then use the same threads.
inline void run_on_pthreadpool(void* pool, void (*task)(void* context, std::size_t i), void* context,
                               std::size_t tasks) {
  pthreadpool_parallelize_1d(static_cast<pthreadpool_t>(pool), task, context, tasks, 0);
}

}  // namespace assay::optimized
