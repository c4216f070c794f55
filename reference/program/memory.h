#pragma once

#include <cstddef>
#include <span>

#include "format/workspace.h"
#include "reference/budget.h"

namespace assay {

// Bytes at a multiple of 16, as tables and workspaces need them, charged to the scope's budget.
class AlignedMemory {
 public:
  explicit AlignedMemory(std::size_t size) : units_((size + sizeof(Unit) - 1) / sizeof(Unit)), size_(size) {}

  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(units_)).first(size_); }

 private:
  struct alignas(16) Unit {
    std::byte bytes[16];
  };
  Buffer<Unit> units_;
  std::size_t size_;
};

// Calls `use` to count the bytes that it takes, and again with them, which are returned.
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
