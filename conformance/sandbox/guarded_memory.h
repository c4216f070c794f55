#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/sandbox/red_zone.h"
#include "reference/dtype.h"

namespace assay {

// What memory holds that a call finds before a first and a second run. An element of an out that holds the one after a
// first run and the other after a second was never written; a kernel that reads its out first gives two different
// results.
enum class FillPattern : std::uint8_t { first, second };
std::byte fill_byte(FillPattern pattern);  // where nobody knows a dtype: of no value that fill() gives a byte

// Drawn from a seed, the two differ in every byte, have opposite signs in every signed dtype, are of the size of 1 in
// floating ones, so that a sum shows them, and are true and false.
void fill(std::span<std::byte> memory, FillPattern pattern, DType dtype, std::uint64_t seed);

// Addresses for the memory that is given to calls, one island after the other in a sea that nobody may touch: an island
// sinks when its call is over, and no other rises in its place.
class GuardedRegions {
 public:
  GuardedRegions();  // reserves addresses, no memory. Throws std::system_error
  ~GuardedRegions();
  GuardedRegions(const GuardedRegions&) = delete;
  GuardedRegions& operator=(const GuardedRegions&) = delete;

  bool was_retired(const void* address) const;  // there was memory once, and is none now
  std::size_t used() const { return static_cast<std::size_t>(next_ - begin_); }

 private:
  friend class GuardedMemory;
  std::byte *begin_, *next_;  // no island was ever behind the second
  std::byte* standing_ = nullptr;
};

// The host memory of one call: buffers with red zones on an island. One at a time.
class GuardedMemory {
 public:
  GuardedMemory(GuardedRegions& regions, FillPattern pattern);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  // A buffer of exactly `bytes`, never null, aligned as promised and no better. It lives as long as this object. Throws
  // std::bad_alloc.
  std::byte* add(std::string name, std::size_t bytes);

  // What was written outside of the buffers, the first in the order in which they were added, in one sentence.
  std::optional<std::string> damage() const;

 private:
  struct Buffer {
    std::string name;
    std::byte* data;
    std::size_t bytes;
  };
  GuardedRegions& regions_;
  FillPattern pattern_;
  std::byte *begin_, *end_, *open_;  // the island, the end of what is taken of it and of what may be touched
  std::vector<Buffer> buffers_;
};

}  // namespace assay
