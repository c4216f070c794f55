#pragma once

#include <string_view>

#include "conformance/sandbox/guarded_memory.h"

namespace assay::sandbox {

// While it lives, a read outside of a buffer of these regions and a write to a read-only buffer do not end the process
// but are recorded. Any other segmentation fault writes its cause to stderr where it is known. At most one lives at a
// time.
class FaultHandler {
 public:
  explicit FaultHandler(GuardedRegions& regions);
  ~FaultHandler();
  FaultHandler(const FaultHandler&) = delete;
  FaultHandler& operator=(const FaultHandler&) = delete;
};

// The texts that it writes: the call used memory of an earlier call, or memory that the library had freed.
inline constexpr std::string_view uses_memory_of_earlier_call = "memory that was given for an earlier call is used\n",
                                  uses_freed_memory = "memory that was freed is used\n";

}  // namespace assay::sandbox
