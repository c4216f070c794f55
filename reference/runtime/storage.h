#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>

#include "format/view.h"
#include "reference/budget.h"
#include "reference/fault.h"
#include "reference/program/rule.h"
#include "reference/runtime/definedness.h"
#include "reference/tensor.h"

namespace assay {

// Copies sizes or a dim order from a list in a file.
Dims dims(const auto* list) {
  Dims d;
  for (const auto n : format::items(list)) d.push_back(n);
  return d;
}

// A block of bytes in which tensors are stored, with a record of the bytes that hold values. Allocations are charged to
// the budget of the thread's innermost scope. Methods in several threads may share a memory: each function is atomic.
// In the comment of a function, "Faults:" lists the rules of the Faults that the function may throw.
class Memory {
  enum class Kind : std::uint8_t { planned, own, supplied, constant };
  struct Key {};  // only this class can construct a key

 public:
  using By = Definedness::By;

  Memory(Key, Kind kind, std::span<std::byte> bytes) : kind_(kind), bytes_(bytes) {}

  // Makes memory of `size` bytes for many tensors, filled with the byte `fill`. Faults: limits.memory.
  static std::shared_ptr<Memory> planned(std::size_t size, std::byte fill);
  // Makes memory for one tensor. The first write allocates it.
  static std::shared_ptr<Memory> own();
  // Makes memory from bytes that the caller supplies. Requires that the bytes outlive the memory.
  static std::shared_ptr<Memory> supplied(std::span<std::byte> bytes);
  // Makes memory from constants in a file. Requires that the bytes outlive the memory.
  static std::shared_ptr<Memory> constant(std::span<const std::byte> bytes);

  bool is_planned() const { return kind_ == Kind::planned; }
  bool is_constant() const { return kind_ == Kind::constant; }

  // The number of bytes of the write that begins at `at`, or 0 if there is no such write or a later write overlaps it.
  std::size_t written(std::size_t at) const;
  // Copies the first n bytes of the write that begins at `at`. Faults: T16, limits.memory.
  Buffer<std::byte> read(std::size_t at, std::size_t n) const;

  // Prepares a write of n bytes at `at`, so that the write itself cannot fail. `writes` is the number of writes that
  // are prepared together. Faults: T15, limits.memory.
  void prepare(std::size_t at, std::size_t n, std::size_t writes);
  void write(std::size_t at, std::span<const std::byte> bytes, By by) noexcept;
  // Writes a part of the tensor that begins at byte `at` of the memory. The part begins at byte `from` of the tensor.
  // Requires that the tensor's bytes before `from` are written.
  void write_part(std::size_t at, std::size_t from, std::span<const std::byte> bytes) noexcept;
  void begin_as_zeros(std::size_t at, std::size_t n);  // sets n bytes of state to zero. Faults: T15, limits.memory
  // Forgets the write at `at`. If the memory is own() memory, also frees its bytes; the next write allocates bytes
  // again.
  void forget(std::size_t at) noexcept;
  void begin() noexcept;  // begins an execution: forgets the writes by instructions

 private:
  static std::shared_ptr<Memory> made(Kind kind, std::span<std::byte> bytes);
  std::size_t written_now(std::size_t at) const;

  mutable std::mutex busy_;
  const Kind kind_;
  std::span<std::byte> bytes_;
  Buffer<std::byte> allocated_;  // the bytes of planned() and own() memory; empty for other memory
  Definedness defined_;
};

// Whether the sizes, the dim order and the number of bytes of a tensor agree. They may disagree in a tensor from a
// caller.
bool is_whole(const Tensor& tensor);

// Where a tensor is stored. Aliases have equal storage.
struct Storage {
  std::shared_ptr<Memory> memory;
  std::size_t at = 0;
  std::size_t bound = 0;  // the number of bytes that are reserved for the tensor

  friend bool operator==(const Storage& a, const Storage& b) { return a.memory == b.memory && a.at == b.at; }
};

// A tensor of a running method: its declaration, its current sizes and its storage.
struct HeldTensor {
  DType dtype = DType::float32;
  // The sizes in the program. Their number is the rank. If `dynamism` is `fixed`, they are the exact sizes. If
  // `dynamism` is `bounded`, each size is the upper bound of its dimension.
  Dims declared;
  Dims sizes;
  Dims dim_order;
  enum class Dynamism : std::uint8_t { fixed, bounded, free } dynamism = Dynamism::fixed;
  Storage home;     // the tensor's own storage
  Storage storage;  // the storage in use; for a view in a running method, the viewed tensor's storage
  // Whether the tensor keeps its sizes from one execution to the next, as inputs and state do.
  bool lasts = false;

  std::size_t bytes() const { return static_cast<std::size_t>(count(sizes) * info(dtype).bytes); }
  bool is_written() const { return storage.memory->written(storage.at) >= bytes(); }
  void begin();  // begins an execution: resets the sizes and the storage

  // Checks that the tensor may have the sizes `to`. If not, throws a Fault with the rule `rule`.
  void check_sizes(const Dims& to, RuleId rule, const Place& place) const;
  Tensor read() const;  // returns a copy. Faults: T16, limits.memory
  // Returns `value` rearranged to the dim order of this tensor, and prepares the write of the returned tensor, so that
  // this write cannot fail. `writes` is the number of writes that are prepared together. Faults: T15, T24,
  // limits.memory.
  Tensor prepare(Tensor value, std::size_t writes = 1) const;
  void prepare(std::size_t n, std::size_t writes) const;  // prepares a write of n bytes
  void write(const Tensor& prepared, Memory::By by) noexcept;
};

}  // namespace assay
