#pragma once

#include <cstddef>
#include <span>

#include "format/workspace.h"
#include "reference/budget.h"

namespace assay {

// Memory that is aligned to 16 bytes, as tables and workspaces need it. It is charged to the budget of the scope.
class AlignedMemory {
 public:
  explicit AlignedMemory(std::size_t size) : units_((size + sizeof(Unit) - 1) / sizeof(Unit)), size_(size) {}

  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(units_)).first(size_); }

 private:
  struct alignas(16) Unit {
    std::byte bytes[16];
  };
  static_assert(alignof(Unit) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  Buffer<Unit> units_;
  std::size_t size_;
};

// Calls `use` twice: first with a workspace that only counts bytes, then with a workspace that has this number of
// bytes. Returns the memory of the second workspace.
template <class Use>
AlignedMemory with_workspace(Use use) {
  format::Workspace counting;
  use(counting);
  AlignedMemory memory(counting.most());
  format::Workspace workspace(memory.bytes());
  use(workspace);
  return memory;
}

}  // namespace assay
