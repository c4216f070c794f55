#pragma once

#include <executorch/runtime/core/evalue.h>
#include <kernel_library.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <memory_resource>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::executorch_kernels {

// The arguments of one call as ExecuTorch's boxed kernels take them: an EValue for every argument of the schema, out
// arguments last, and one more for what the kernel returns. Only numbers are returned. A mutated argument is a copy of
// its tensor in the memory of the out for its new value.
class CallStack {
 public:
  // `values` follow the schema. After them come an out for the new value of each mutated argument, and one for a
  // returned number. Throws TooLarge.
  CallStack(std::string_view schema, std::span<assay_kernel_value> values);
  CallStack(const CallStack&) = delete;
  CallStack& operator=(const CallStack&) = delete;

  struct TooLarge {};  // a tensor has sizes that do not fit into ExecuTorch's 32 bits

  std::span<executorch::runtime::EValue*> values() { return stack_; }

  // Passes the sizes of the outs and the returned number to the host. Returns false if the host refuses them.
  bool read_back(const assay_kernel_host& host) const;

 private:
  using EValue = executorch::runtime::EValue;

  // Everything that EValues point to is in the arena. None of it needs a destructor.
  template <class T>
  T* room(std::integral auto count) {
    return static_cast<T*>(
        arena_.allocate(std::max<std::size_t>(static_cast<std::size_t>(count), 1) * sizeof(T), alignof(T)));
  }
  template <class T, class... Parts>
  T* made(Parts&&... parts) {
    return new (room<T>(1)) T(std::forward<Parts>(parts)...);
  }
  template <class T, class Item>
  T* copied(const Item* items, std::size_t count) {
    T* copy = room<T>(count);
    std::copy_n(items, count, copy);
    return copy;
  }

  EValue value(std::string_view type, const assay_kernel_value& from, bool is_out);
  EValue mutated(const assay_kernel_tensor& old, const assay_kernel_tensor& new_value);
  EValue tensor(const assay_kernel_tensor& from, bool is_out);
  // A list as ExecuTorch boxes it: pointers to EValues, and memory for the unboxed elements.
  template <class T, class List, class Box>
  EValue boxed(const List& list, const T& unset, Box box);
  template <class T, class Item>
  EValue plain(const Item* items, std::size_t count);

  struct Result {  // the destination of an argument's value
    const EValue* from;
    assay_kernel_value* to;
  };

  std::array<std::byte, 4096> first_{};
  std::pmr::monotonic_buffer_resource arena_{first_.data(), first_.size()};
  std::vector<EValue*> stack_;
  std::vector<Result> results_;
  assay_kernel_value* number_ = nullptr;  // null if the kernel returns no number
};

}  // namespace assay::executorch_kernels
