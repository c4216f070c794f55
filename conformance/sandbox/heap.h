#pragma once

#include <cstddef>
#include <optional>

#include "conformance/sandbox/quarantine.h"

// The heap of the process, watched while a testee is called: malloc and the functions like it, and so operator new,
// then return blocks of a quarantine heap. In a build with a sanitizer, the sanitizer watches the heap instead.
namespace assay::sandbox::heap {

inline constexpr bool is_watched = ASSAY_WATCHED_HEAP;

// While a Watch lives, the heap is watched and new blocks hold `fill`. The library's allocation with the number
// `refused`, counted from 1, fails. At most one Watch lives at a time.
class Watch {
 public:
  explicit Watch(std::byte fill, std::size_t refused = 0);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
};

bool has_refused();  // an allocation was refused under the last Watch

// While an Owner lives, allocations count as the library's, or as the host's.
class Owner {
 public:
  enum Who : bool { host, library };
  explicit Owner(Who who);
  ~Owner();
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

 private:
  Who before_;
};

std::optional<Damage> damage();         // over all blocks that were allocated under any Watch of this process
std::size_t used();                     // the bytes of these blocks
std::size_t blocks_used();              // the number of these blocks
std::size_t live();                     // the bytes of those that are not freed
void retire_freed();                    // QuarantineHeap::retire_freed()
bool was_retired(const void* address);  // the address lay in a freed block that is retired now

}  // namespace assay::sandbox::heap
