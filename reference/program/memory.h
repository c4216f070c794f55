#pragma once

#include <cstddef>
#include <span>

#include "reference/budget.h"

namespace assay {

// Bytes at a multiple of 16, as tables and workspaces need them, charged to the budget.
class AlignedMemory {
 public:
  AlignedMemory(std::size_t size, const Budget& budget, std::string_view what)
      : units_(allocated((size + sizeof(Unit) - 1) / sizeof(Unit), budget, what)), size_(size) {}

  std::span<std::byte> bytes() { return {reinterpret_cast<std::byte*>(units_.data()), size_}; }

 private:
  struct alignas(16) Unit {
    std::byte bytes[16];
  };
  static_assert(alignof(Unit) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  static Buffer<Unit> allocated(std::size_t units, const Budget& budget, std::string_view what) {
    const Budget::Scope scope(budget, what);
    return Buffer<Unit>(units);
  }

  Buffer<Unit> units_;
  std::size_t size_;
};

}  // namespace assay
