#pragma once

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
        bytes_(new (std::align_val_t{64}) std::byte[size ? size : 1]),
        size_(size) {}
  std::span<std::byte> bytes() const { return {bytes_.get(), size_}; }

 private:
  // Gives back what it took when it goes.
  static std::shared_ptr<void> charge(Int size, const std::optional<Budget>& budget, std::string_view what) {
    if (!budget) return {};
    budget->take(size, what);
    return {nullptr, [taken = *budget, size](void*) { taken.give_back(size); }};
  }
  struct Free {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };
  std::shared_ptr<void> charge_;
  std::unique_ptr<std::byte[], Free> bytes_;
  std::size_t size_;
};

}  // namespace assay
