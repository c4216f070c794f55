#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string_view>

#include "reference/budget.h"

namespace assay::sandbox {

// Memory that a client gives to the optimized runtime, aligned to 64 bytes, and charged to a budget if there is one.
class ClientMemory {
 public:
  explicit ClientMemory(std::size_t size, const std::optional<Budget>& budget = {}, std::string_view what = {})
      : charge_(charge(static_cast<Int>(size), budget, what)),
        bytes_(static_cast<std::byte*>(::operator new[](size ? size : 1, alignment(size))), Free{alignment(size)}),
        size_(size) {
    if (size >= large_page) madvise(bytes_.get(), size, MADV_HUGEPAGE);  // a hint: without large pages it has no effect
  }
  std::span<std::byte> bytes() const { return {bytes_.get(), size_}; }

 private:
  // The last copy of the pointer gives the bytes back to the budget.
  static std::shared_ptr<void> charge(Int size, const std::optional<Budget>& budget, std::string_view what) {
    if (!budget) return {};
    budget->take(size, what);
    return {nullptr, [taken = *budget, size](void*) { taken.give_back(size); }};
  }
  // Weights in 4 KiB pages exceed the processor's TLB: products with 9 MB of weights took half as long again.
  static constexpr std::size_t large_page = std::size_t{2} << 20;
  static constexpr std::align_val_t alignment(std::size_t size) {
    return std::align_val_t{size >= large_page ? large_page : 64};
  }
  struct Free {
    std::align_val_t alignment;
    void operator()(std::byte* p) const { ::operator delete[](p, alignment); }
  };
  std::shared_ptr<void> charge_;
  std::unique_ptr<std::byte[], Free> bytes_;
  std::size_t size_;
};

}  // namespace assay::sandbox
