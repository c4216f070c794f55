#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/sandbox/red_zone.h"
#include "reference/dtype.h"

namespace assay::sandbox {

// The contents of memory before the first and before the second run of a call. An element of an out that holds the
// first pattern after the first run and the second pattern after the second run was never written. A kernel that reads
// its out before writing it gives two different results.
enum class FillPattern : std::uint8_t { first, second };
std::byte fill_byte(FillPattern pattern);  // for memory without a dtype; fill() never writes this byte

// The two patterns are drawn from `seed`. They differ in every byte and have opposite signs in every signed dtype. In
// floating dtypes their magnitude is about 1, so that they change a sum. As bool they are true and false.
void fill(std::span<std::byte> memory, FillPattern pattern, DType dtype, std::uint64_t seed);

// Address space for the memory of calls: one region after another, between protected pages. The region of a call is
// protected when the call is over, and its addresses are never used again.
class GuardedRegions {
 public:
  GuardedRegions();  // reserves address space, no memory. Throws std::system_error
  ~GuardedRegions();
  GuardedRegions(const GuardedRegions&) = delete;
  GuardedRegions& operator=(const GuardedRegions&) = delete;

  bool was_retired(const void* address) const;  // the address lay in the region of an earlier call
  std::size_t used() const { return static_cast<std::size_t>(next_ - begin_); }

 private:
  friend class GuardedMemory;
  std::byte *begin_, *next_;  // the next region begins at `next_`
  std::byte* standing_ = nullptr;
};

// The host memory of one call: buffers between red zones, in one region. At most one lives at a time.
class GuardedMemory {
 public:
  GuardedMemory(GuardedRegions& regions, FillPattern pattern);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  // A buffer of exactly `bytes` bytes, never null, with exactly the promised alignment. It lives as long as this
  // object. Throws std::bad_alloc.
  std::byte* add(std::string name, std::size_t bytes);

  // One sentence about the first buffer, in the order of add(), with a write outside of it; none if there is no such
  // write.
  std::optional<std::string> damage() const;

 private:
  struct Buffer {
    std::string name;
    std::byte* data;
    std::size_t bytes;
  };
  GuardedRegions& regions_;
  FillPattern pattern_;
  std::byte *begin_, *end_, *open_;  // the region, the end of its buffers, the end of its usable pages
  std::vector<Buffer> buffers_;
};

}  // namespace assay::sandbox
