#pragma once

#include <executorch/runtime/core/evalue.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <memory_resource>
#include <span>
#include <utility>
#include <vector>

#include "conformance/testees/library.h"

namespace assay::executorch_kernels {

// The arguments of one call as ExecuTorch's boxed kernels take them: an EValue for every argument of the schema, out
// arguments last, and one more for what the kernel returns; a number is only returned. A mutated argument is a copy of
// its tensor in the memory of the out argument for its new value. Made from the schema's types alone.
class CallStack {
 public:
  // Throws Fault with outcome unsupported where a tensor has sizes that ExecuTorch's 32 bits cannot hold.
  CallStack(const Operator& op, std::span<const HostValue> arguments);
  CallStack(const CallStack&) = delete;
  CallStack& operator=(const CallStack&) = delete;

  std::span<executorch::runtime::EValue*> values() { return stack_; }

  // Hands the sizes that the kernel gave the outs, and the number that it returned, back to the host.
  void read_back(const Operator& op, std::span<HostValue> arguments) const;

 private:
  using EValue = executorch::runtime::EValue;

  // Everything that EValues point to lives in the arena, and nothing of it needs a destructor.
  template <class T>
  T* room(std::integral auto count) {
    return static_cast<T*>(
        arena_.allocate(std::max<std::size_t>(static_cast<std::size_t>(count), 1) * sizeof(T), alignof(T)));
  }
  template <class T, class... Parts>
  T* made(Parts&&... parts) {
    return new (room<T>(1)) T(std::forward<Parts>(parts)...);
  }
  template <class T, class Items>
  T* copied(const Items& items) {
    T* copy = room<T>(items.size());
    std::copy(items.begin(), items.end(), copy);
    return copy;
  }

  EValue value(std::string_view type, const HostValue& from);
  EValue mutated(const TensorView& old, const TensorView& new_value);
  EValue tensor(const TensorView& view);
  // A list as ExecuTorch boxes it: pointers to its EValues, and room for the unboxed elements.
  template <class T, class Items, class Box>
  EValue boxed(const Items& items, const T& unset, Box box);
  template <class T, class Items>
  EValue plain(const Items& items);

  std::array<std::byte, 4096> first_{};
  std::pmr::monotonic_buffer_resource arena_{first_.data(), first_.size()};
  std::vector<EValue*> stack_;
};

}  // namespace assay::executorch_kernels
