#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string_view>

#include "reference/budget.h"

namespace assay {

// Memory for the optimized runtime, at a multiple of 64, as a client gives it; charged where there is a budget.
class ClientMemory {
 public:
  explicit ClientMemory(std::size_t size, const std::optional<Budget>& budget = {}, std::string_view what = {})
      : charge_(charge(static_cast<Int>(size), budget, what)),
        bytes_(static_cast<std::byte*>(::operator new[](size ? size : 1, alignment(size))), Free{alignment(size)}),
        size_(size) {
    if (size >= large_page) madvise(bytes_.get(), size, MADV_HUGEPAGE);  // where there are none, it stays as it is
  }
  std::span<std::byte> bytes() const { return {bytes_.get(), size_}; }

 private:
  // Gives back what it took when it goes.
  static std::shared_ptr<void> charge(Int size, const std::optional<Budget>& budget, std::string_view what) {
    if (!budget) return {};
    budget->take(size, what);
    return {nullptr, [taken = *budget, size](void*) { taken.give_back(size); }};
  }
  // Weights in small pages have more of them than a processor knows places of: products with 9 MB took half as long
  // again.
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

}  // namespace assay
