#pragma once

#include <xnnpack.h>

#include <cstddef>
#include <limits>
#include <span>

#include "optimized/runtime/kernel.h"

// Makes operators of XNNPACK in memory of the client. XNNPACK has one allocator for the whole process. An operator owns
// nothing except memory, so it needs no destruction: it ends when its memory is freed.
namespace assay::optimized::xnnpack {

// During the lifetime of this object, XNNPACK takes the memory that it needs in this thread from the object. In the
// first pass the prepared memory is only counted; XNNPACK then gets pages, which the object frees.
class Memory {
 public:
  explicit Memory(format::Workspace& prepared);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Returns n zeroed floats, valid for the lifetime of this object, or an empty span if the system has no more pages.
  std::span<float> floats(std::size_t n);
  bool is_counting() const { return prepared_.counts_only(); }
  // Whether XNNPACK took memory from this object. False if other code in this process has initialized XNNPACK with
  // another allocator.
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

// Initializes XNNPACK. Returns false if this machine cannot run it.
bool is_ready();

// XNNPACK may read up to XNN_EXTRA_BYTES bytes after the end of an input. It ignores these bytes.
static_assert(XNN_EXTRA_BYTES <= most_beyond);

// The limits to which an operator clamps its results, from the call's fusion. limits_of returns false if XNNPACK cannot
// compute the fusion.
struct Limits {
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
};
bool limits_of(const Call& call, Limits& limits);

// Whether XNNPACK can read a tensor: the tensor must be in the arena, and its sizes must not change.
bool is_readable(const Tensor& input);

// The client's pthreadpool, or null if its threads are not those of a pthreadpool.
pthreadpool_t pool_of(const kernels::Threads& threads);

// Sets up an operator for these threads and runs it. This takes no memory, because the sizes are the same as when the
// operator was made.
template <class SetUp>
bool run_operator(xnn_operator_t op, const kernels::Threads& threads, const SetUp& set_up) {
  const pthreadpool_t pool = pool_of(threads);
  return set_up(pool) == xnn_status_success && xnn_run_operator(op, pool) == xnn_status_success;
}

}  // namespace assay::optimized::xnnpack
