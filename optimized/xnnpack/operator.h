#pragma once

#include <xnnpack.h>

#include <cstddef>
#include <limits>
#include <span>

#include "optimized/runtime/kernel.h"

// Operators of XNNPACK in memory of the client's. It has one allocator for the process, and gives its operators nothing
// back that is not memory: they end with the memory they lie in.
namespace assay::optimized::xnnpack {

// Where XNNPACK takes memory from while this lives, in this thread: prepared memory, whose pieces are counted the first
// time. What they would hold is then in pages that are given back.
class Memory {
 public:
  explicit Memory(format::Workspace& prepared);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Pages for n floats, zeros, while this lives; none: there are no more.
  std::span<float> floats(std::size_t n);
  bool is_counting() const { return prepared_.counts_only(); }
  // Never, where another user of XNNPACK in this process came first, with an allocator that stays.
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

// Whether this machine can run it; begins it.
bool is_ready();

// So many bytes behind an input may be read; they do not count.
static_assert(XNN_EXTRA_BYTES <= most_beyond);

// The limits that an operator clamps its results to, as the call's fusion has them; false: it cannot do what is merged.
struct Limits {
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
};
bool limits_of(const Call& call, Limits& limits);

// Whether a tensor can be read by XNNPACK: in the arena, of sizes that stay.
bool is_readable(const Tensor& input);

// The client's threads, if they are a pthreadpool's.
pthreadpool_t pool_of(const kernels::Threads& threads);

// Sets an operator up for these threads, which takes no memory as its sizes are those that it was made with, and runs
// it.
template <class SetUp>
bool run_operator(xnn_operator_t op, const kernels::Threads& threads, const SetUp& set_up) {
  const pthreadpool_t pool = pool_of(threads);
  return set_up(pool) == xnn_status_success && xnn_run_operator(op, pool) == xnn_status_success;
}

}  // namespace assay::optimized::xnnpack
