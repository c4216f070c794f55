#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

namespace assay {

// Memory for the optimized runtime, at a multiple of 64, as a client gives it.
class ClientMemory {
 public:
  explicit ClientMemory(std::size_t size)
      : bytes_(new (std::align_val_t{64}) std::byte[size ? size : 1]), size_(size) {}
  std::span<std::byte> bytes() const { return {bytes_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte[], Free> bytes_;
  std::size_t size_;
};

}  // namespace assay
