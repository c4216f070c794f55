#pragma once

#include <filesystem>
#include <string>

#include "reference/runtime/delegate.h"

namespace assay::adapters {

// The backends that the library at `file` registers with ExecuTorch, by their ids. `name` is the testee's name, for
// messages. A delegate of these backends gets the memory, the named data and the arguments that ExecuTorch's runtime
// would give to it. Throws as open_with_adapter() does, and Fault with rule "testee" if the library registers nothing.
// An execution that writes outside of its arguments, or reads outside of its inputs, throws sandbox::Misconduct.
Backends load_backends(const std::string& name, const std::filesystem::path& file);

// XNNPACK may read so many bytes behind an input.
inline constexpr std::size_t xnnpack_extra_bytes = 16;

// The conditions under which this process calls such backends.
struct BackendConditions {
  bool guards_arguments = true;  // arguments are in guarded memory; otherwise several threads may execute delegates
  std::size_t readable_behind = xnnpack_extra_bytes;  // the bytes behind an input that a backend may read
  bool watches_heap = false;  // blocks of the heap are watched: an execution that damages one throws Misconduct
  std::size_t refused_allocation = 0;  // the number of the allocation of each function that fails; needs watches_heap
};

// Sets the conditions as long as it lives.
class WithConditions {
 public:
  explicit WithConditions(const BackendConditions& during);
  ~WithConditions();
  WithConditions(const WithConditions&) = delete;
  WithConditions& operator=(const WithConditions&) = delete;

 private:
  BackendConditions before_;
};

}  // namespace assay::adapters
