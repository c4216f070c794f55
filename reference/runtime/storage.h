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

// A list of a file: sizes or a dim order.
Dims dims(const auto* list) {
  Dims d;
  for (const auto n : format::items(list)) d.push_back(n);
  return d;
}

// Bytes in which tensors have their places, and which of them hold values. Allocations are charged to the budget of the
// scope. Methods in several threads may share a memory: each access is atomic.
class Memory {
  enum class Kind : std::uint8_t { planned, own, supplied, constant };
  struct Key {};  // only this class can make one

 public:
  using By = Definedness::By;

  Memory(Key, Kind kind, std::span<std::byte> bytes) : kind_(kind), bytes_(bytes) {}

  // Memory for many tensors, filled with `fill`. Faults: limits.memory.
  static std::shared_ptr<Memory> planned(std::size_t size, std::byte fill);
  // Memory of one tensor; its first write allocates it.
  static std::shared_ptr<Memory> own();
  static std::shared_ptr<Memory> supplied(std::span<std::byte> bytes);
  static std::shared_ptr<Memory> constant(std::span<const std::byte> bytes);  // in a file that outlives it

  bool is_planned() const { return kind_ == Kind::planned; }
  bool is_constant() const { return kind_ == Kind::constant; }

  // The bytes of the write that begins at `at`, if no later write overlaps them.
  std::size_t written(std::size_t at) const;
  // n of these bytes. Faults: T16, limits.memory.
  Buffer<std::byte> read(std::size_t at, std::size_t n) const;

  // Prepares one of `writes` writes: after this the write cannot fail. Faults: T15, limits.memory.
  void prepare(std::size_t at, std::size_t n, std::size_t writes);
  void write(std::size_t at, std::span<const std::byte> bytes, By by) noexcept;
  // Writes a part of the tensor at `at`, from byte `from` on; the bytes before it are written.
  void write_part(std::size_t at, std::size_t from, std::span<const std::byte> bytes) noexcept;
  void begin_as_zeros(std::size_t at, std::size_t n);  // state. Faults: those of prepare
  void forget(std::size_t at) noexcept;                // frees own memory until the next write
  void begin() noexcept;                               // an execution begins

 private:
  static std::shared_ptr<Memory> made(Kind kind, std::span<std::byte> bytes);
  std::size_t written_now(std::size_t at) const;

  mutable std::mutex busy_;
  const Kind kind_;
  std::span<std::byte> bytes_;
  Buffer<std::byte> allocated_;  // planned and own memory
  Definedness defined_;
};

// Whether the sizes, dim order and bytes agree. Those of a tensor from a caller may not.
bool is_whole(const Tensor& tensor);

// The place of a tensor. Aliases have the same place.
struct Storage {
  std::shared_ptr<Memory> memory;
  std::size_t at = 0;
  std::size_t bound = 0;  // the number of bytes there

  friend bool operator==(const Storage& a, const Storage& b) { return a.memory == b.memory && a.at == b.at; }
};

// A tensor of a running method: its declaration, its current sizes and its place.
struct HeldTensor {
  DType dtype = DType::float32;
  Dims declared;  // sizes in the program: exact, or an upper bound on the number of elements
  Dims sizes;
  Dims dim_order;
  enum class Dynamism : std::uint8_t { fixed, bounded, free } dynamism = Dynamism::fixed;
  Storage home;        // its own place
  Storage storage;     // while a method runs: the place of the viewed tensor
  bool lasts = false;  // an input or state: it keeps its sizes from one execution to the next

  std::size_t bytes() const { return static_cast<std::size_t>(count(sizes) * info(dtype).bytes); }
  bool is_written() const { return storage.memory->written(storage.at) >= bytes(); }
  void begin();  // an execution begins

  // Checks that the tensor may have these sizes. Faults: the rule.
  void check_sizes(const Dims& to, RuleId rule, const Place& place) const;
  Tensor read() const;  // a copy. Faults: T16, limits.memory
  // The value in the memory layout of this tensor; after this, one of `writes` writes of it cannot fail. Faults: T15,
  // T24, limits.memory.
  Tensor prepare(Tensor value, std::size_t writes = 1) const;
  void prepare(std::size_t n, std::size_t writes) const;  // for n bytes
  void write(const Tensor& prepared, Memory::By by) noexcept;
};

}  // namespace assay
