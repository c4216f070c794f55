#include <algorithm>
#include <cstring>

#include "optimized/prepare/build.h"

// Where the tensors of a method are in memory.
namespace assay::optimized {

// A constant stays where the source has it, unless no element of its dtype can begin there. A copy is made in prepared
// memory. While that is only counted, the constant stays where it is: kernels and rewrites may read its elements byte
// by byte, and decide now what they will decide again.
void Builder::place_constant(Tensor& tensor, const Storage& storage) {
  const std::span<const std::byte> content = storage.content;
  tensor.capacity = storage.bytes;
  tensor.data = const_cast<std::byte*>(content.data());  // which no instruction writes: T15
  if (reinterpret_cast<std::uintptr_t>(content.data()) % tensor.element_bytes() == 0) return;
  const auto copy = copies_.take<std::byte>(aligned(storage.bytes));
  if (copy.empty()) return;
  std::ranges::copy(content, copy.begin());
  tensor.data = copy.data();
}

bool Builder::place_constants() {
  for (std::uint32_t v = 0; v < source_.tensors.size(); ++v) {
    if (!source_.is_tensor(v) || !source_.tensors[v].constant) continue;
    if (source_.storage[v].is_missing) return refuse_missing(v);
    place_constant(source_.tensors[v], source_.storage[v]);
  }
  return true;
}

bool Builder::refuse_missing(std::uint32_t v) {
  return refuse(fault_, "T19", {&where_, "value", v}, "needs external data ", format::Quoted{source_.storage[v].name},
                ", which no data file has");
}

// Shared memory begins with a mark for each method that was made. Every method of the program has the same memories
// there.
void Builder::place_shared_memories(std::span<std::uint64_t> begins) {
  for (std::size_t i = 1; i < begins.size(); ++i) {
    if (!source_.memories[i].is_shared) continue;
    if (shared_ == 0) shared_ = aligned(source_.methods);
    begins[i] = shared_;
    shared_ += aligned(source_.memories[i].bytes);
  }
}

void Builder::place_memories(std::span<std::uint64_t> begins) {
  for (std::size_t i = 1; i < begins.size(); ++i) {
    if (source_.memories[i].is_shared) continue;
    begins[i] = arena_;
    arena_ += aligned(source_.memories[i].bytes);
  }
}

// Where data flow is known, the arena is planned by lifetime, and only shared memory is as the source plans it.
void Builder::place_tensor(std::uint32_t v, std::span<const std::uint64_t> begins) {
  const Storage& storage = source_.storage[v];
  const bool is_shared = source_.is_shared(v);
  Tensor& t = source_.tensors[v];
  t.capacity = storage.bytes;
  if (flow_ && !is_shared) return;
  std::uint64_t at = begins[storage.memory] + storage.offset;
  if (storage.memory == 0) at = arena_, arena_ += aligned(t.capacity);
  if (memories_) t.data = (is_shared ? memories_->shared : memories_->arena).data() + at;
}

bool Builder::place_tensors() {
  format::Workspace::Scope scope(workspace_);
  const auto begins = workspace_.take<std::uint64_t>(source_.memories.size());
  if (!has_room()) return false;
  place_shared_memories(begins);
  if (!flow_) place_memories(begins);
  for (std::uint32_t v = 0; v < source_.tensors.size(); ++v)
    if (source_.is_tensor(v) && !source_.tensors[v].constant) place_tensor(v, begins);
  if (flow_ && !place_by_lifetime()) return false;
  for (Tensor& t : source_.tensors) t.home = t.data;
  return true;
}

// State begins as zeros, or has its initial value. The client zeroes shared memory; the first method that has state
// there gives it its initial value.
bool Builder::begin_state(std::uint32_t v) {
  const Storage& storage = source_.storage[v];
  const bool is_shared = source_.is_shared(v);
  const Tensor& t = source_.tensors[v];
  const auto bytes = static_cast<std::size_t>(t.capacity);
  if (!is_shared && t.data) std::memset(t.data, 0, bytes);
  if (!storage.has_initial || bytes == 0 || (is_shared && storage.is_begun)) return true;
  if (storage.content.size() < bytes) return refuse_missing(v);
  std::memcpy(t.data, storage.content.data(), bytes);
  return true;
}

bool Builder::begin_state() {
  if (!memories_) return true;
  for (std::uint32_t v = 0; v < source_.tensors.size(); ++v)
    if (source_.is_tensor(v) && source_.tensors[v].lasts && !begin_state(v)) return false;
  if (shared_ > 0) memories_->shared[source_.method] = std::byte{1};
  return true;
}

}  // namespace assay::optimized
