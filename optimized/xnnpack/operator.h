#pragma once

#include <xnnpack.h>

#include <cstddef>
#include <limits>
#include <span>

#include "optimized/runtime/kernel.h"

// Operators of XNNPACK in memory of the client. XNNPACK has one allocator for the process. Its operators release
// nothing but memory, so that they end with the memory that they live in.
namespace assay::optimized::xnnpack {

// While it lives, XNNPACK takes memory from here, in this thread. In the first pass the prepared memory is only
// counted; the contents are then in pages that are given back.
class Memory {
 public:
  explicit Memory(format::Workspace& prepared);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Pages for n zeroed floats, as long as it lives. Empty: there are no more pages.
  std::span<float> floats(std::size_t n);
  bool is_counting() const { return prepared_.counts_only(); }
  // False: another user of XNNPACK in this process has initialized it with another allocator.
  bool was_asked() const { return asked_; }

 private:
  friend struct Hook;
  void* allocate(std::size_t bytes);
  std::byte* pages(std::size_t bytes);

  static constexpr std::size_t most_pieces = 8;
  format::Workspace& prepared_;
  std::span<std::byte> pieces_[most_pieces];
  std::size_t count_ = 0;
  bool asked_ = false;
  Memory* outer_;
};

// Initializes XNNPACK. False: this machine cannot run it.
bool is_ready();

// XNNPACK may read this many bytes behind an input; it ignores them.
static_assert(XNN_EXTRA_BYTES <= most_beyond);

// The limits that an operator clamps its results to, from the call's fusion. False: XNNPACK cannot do the fusion.
struct Limits {
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
};
bool limits_of(const Call& call, Limits& limits);

// Whether XNNPACK can read a tensor: it is in the arena, and its sizes do not change.
bool is_readable(const Tensor& input);

// The client's threads, if they are those of a pthreadpool.
pthreadpool_t pool_of(const kernels::Threads& threads);

// Sets an operator up for these threads and runs it. That takes no memory, as the sizes are those that the operator was
// made with.
template <class SetUp>
bool run_operator(xnn_operator_t op, const kernels::Threads& threads, const SetUp& set_up) {
  const pthreadpool_t pool = pool_of(threads);
  return set_up(pool) == xnn_status_success && xnn_run_operator(op, pool) == xnn_status_success;
}

}  // namespace assay::optimized::xnnpack
