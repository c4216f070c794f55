#pragma once

#include <cstddef>
#include <optional>

#include "conformance/sandbox/quarantine.h"

// The heap of the process, watched while a testee is called: what malloc and its kin, and with them new, hand out then
// are blocks of an arena of their own. What a sanitizer watches anyway is left to it.
namespace assay::heap {

inline constexpr bool is_watched = ASSAY_WATCHED_HEAP;

// While it lives, the heap is watched, and what it hands out holds `fill`; the library's allocation of this number,
// from 1 on, gets nothing. One at a time.
class Watch {
 public:
  explicit Watch(std::byte fill, std::size_t refused = 0);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
};

bool has_refused();  // under the last watch

// While it lives, allocations are the library's own, or the host's.
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

std::optional<Damage> damage();         // of all that was handed out under any watch of this process
std::size_t used();                     // bytes that were handed out under them
void retire_freed();                    // what damage() has looked at and is not in use, see QuarantineHeap
bool was_retired(const void* address);  // for having been freed

}  // namespace assay::heap
