#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace assay {

// Bytes at a multiple of 16, as tables and workspaces need them.
class AlignedMemory {
 public:
  explicit AlignedMemory(std::size_t size)
      : units_(std::make_unique_for_overwrite<Unit[]>((size + sizeof(Unit) - 1) / sizeof(Unit))), size_(size) {}

  std::span<std::byte> bytes() const { return {reinterpret_cast<std::byte*>(units_.get()), size_}; }

 private:
  struct alignas(16) Unit {
    std::byte bytes[16];
  };
  std::unique_ptr<Unit[]> units_;
  std::size_t size_;
};

}  // namespace assay
