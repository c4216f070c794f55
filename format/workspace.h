#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>

namespace assay::format {

// A stack allocator in the caller's memory. take() takes memory, and back_to() or a Scope gives back all memory that
// was taken since a mark. A workspace without memory only counts bytes: a caller runs its code with such a workspace
// first, to find the size that the code needs.
class Workspace {
 public:
  Workspace() = default;
  // Requires memory that is aligned to alignof(std::max_align_t).
  explicit Workspace(std::span<std::byte> memory) : memory_(memory), counts_only_(false) {}

  // Returns n zeroed elements, or an empty span if there is too little memory or the workspace only counts.
  template <class T>
  requires std::is_trivially_copyable_v<T> std::span<T> take(std::uint64_t n) {
    T* first = reinterpret_cast<T*>(zeroed(n * sizeof(T), alignof(T)));
    if (!first) return {};
    if constexpr (!std::is_trivially_default_constructible_v<T>) std::uninitialized_value_construct_n(first, n);
    return {first, static_cast<std::size_t>(n)};
  }

  // A scope gives back, when it is destroyed, the memory that was taken during its lifetime.
  class Scope {
   public:
    explicit Scope(Workspace& workspace) : workspace_(workspace), mark_(workspace.used_) {}
    ~Scope() { workspace_.used_ = mark_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Workspace& workspace_;
    std::uint64_t mark_;
  };

  std::uint64_t mark() const { return used_; }
  void back_to(std::uint64_t mark) { used_ = mark; }
  std::uint64_t most() const { return most_; }  // the largest number of bytes in use at one time
  bool counts_only() const { return counts_only_; }
  // Whether all memory that is in use now fits in the workspace.
  bool has_room() const { return used_ <= memory_.size(); }

 private:
  std::byte* zeroed(std::uint64_t n, std::uint64_t alignment) {
    used_ = (used_ + alignment - 1) / alignment * alignment + n;
    most_ = most_ > used_ ? most_ : used_;
    if (n == 0 || !has_room() || counts_only_) return nullptr;
    return static_cast<std::byte*>(std::memset(memory_.data() + (used_ - n), 0, static_cast<std::size_t>(n)));
  }

  std::span<std::byte> memory_;
  bool counts_only_ = true;
  std::uint64_t used_ = 0, most_ = 0;
};

}  // namespace assay::format
