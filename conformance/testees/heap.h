#pragma once

#include <cstddef>
#include <optional>

#include "conformance/testees/arena.h"

// The heap of the process, watched while a testee is called: what malloc and its kin, and with them new, hand out then
// are blocks of an arena of their own. What a sanitizer watches anyway is left to it.
namespace assay::heap {

inline constexpr bool is_watched = ASSAY_WATCHED_HEAP;

// While it lives, the heap is watched, and what it hands out holds `fill`. One at a time.
class Watch {
 public:
  explicit Watch(std::byte fill);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
};

std::optional<Damage> damage();  // of all that was handed out under any watch of this process
std::size_t used();              // bytes that were handed out under them

}  // namespace assay::heap
