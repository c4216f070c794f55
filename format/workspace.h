#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

namespace assay::format {

// The caller's memory for checks, handed out from its beginning; what was taken is given back by going back to a mark.
// Without memory it only counts, which is how its size is found first: the same code takes the same pieces.
class Workspace {
 public:
  Workspace() = default;
  explicit Workspace(std::span<std::byte> memory) : memory_(memory) {}

  // n zeroed elements; empty where there is no room, or when only counting.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  std::span<T> take(std::uint64_t n) {
    std::byte* at = bytes(n * sizeof(T), alignof(T));
    if (!at) return {};
    T* first = reinterpret_cast<T*>(at);
    std::uninitialized_value_construct_n(first, n);
    return {first, static_cast<std::size_t>(n)};
  }

  bool counts_only() const { return memory_.empty(); }
  std::uint64_t mark() const { return used_; }
  void back_to(std::uint64_t mark) { used_ = mark; }
  std::uint64_t most() const { return most_; }  // bytes that were in use at once

 private:
  std::byte* bytes(std::uint64_t n, std::uint64_t alignment) {
    used_ = (used_ + alignment - 1) / alignment * alignment + n;
    most_ = most_ > used_ ? most_ : used_;
    return used_ <= memory_.size() ? memory_.data() + (used_ - n) : nullptr;
  }

  std::span<std::byte> memory_;
  std::uint64_t used_ = 0, most_ = 0;
};

}  // namespace assay::format
