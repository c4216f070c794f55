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

// Bytes in which tensors have their places, and which of them hold values. What is allocated is charged to the budget
// of the scope. Methods in several threads may share a memory: each access is one.
class Memory {
  enum class Kind : std::uint8_t { planned, own, supplied, constant };
  struct Key {};  // which only this class has

 public:
  using By = Definedness::By;

  Memory(Key, Kind kind, std::span<std::byte> bytes) : kind_(kind), bytes_(bytes) {}

  // Planned for many tensors, each of its bytes `fill`. Faults: limits.memory.
  static std::shared_ptr<Memory> planned(std::size_t size, std::byte fill);
  // Of one tensor, there from the first write on.
  static std::shared_ptr<Memory> own();
  static std::shared_ptr<Memory> supplied(std::span<std::byte> bytes);
  static std::shared_ptr<Memory> constant(std::span<const std::byte> bytes);  // in a file that outlives it

  bool is_planned() const { return kind_ == Kind::planned; }
  bool is_constant() const { return kind_ == Kind::constant; }

  // How many bytes were written as one from `at` on and are still so.
  std::size_t written(std::size_t at) const;
  // n bytes of these. Faults: T16, limits.memory.
  Buffer<std::byte> read(std::size_t at, std::size_t n) const;

  // For a write that is to come, one of `writes`: behind this it cannot fail. Faults: T15, limits.memory.
  void prepare(std::size_t at, std::size_t n, std::size_t writes);
  void write(std::size_t at, std::span<const std::byte> bytes, By by) noexcept;
  // A part of what begins at `at`, from byte `from` on, before which all is written.
  void write_part(std::size_t at, std::size_t from, std::span<const std::byte> bytes) noexcept;
  void begin_as_zeros(std::size_t at, std::size_t n);  // state. Faults: those of prepare
  void forget(std::size_t at) noexcept;                // own memory goes until the next write
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

// Whether its sizes, dim order and bytes agree, as those of a tensor from outside may not.
bool is_whole(const Tensor& tensor);

// Where a tensor is. Tensors that alias have the same place.
struct Storage {
  std::shared_ptr<Memory> memory;
  std::size_t at = 0;
  std::size_t bound = 0;  // bytes that it has there

  friend bool operator==(const Storage& a, const Storage& b) { return a.memory == b.memory && a.at == b.at; }
};

// A tensor of a running method: what the program declares, its present sizes, and where it is.
struct HeldTensor {
  DType dtype = DType::float32;
  Dims declared;  // sizes in the program: exact, or the bound of the number of elements
  Dims sizes;
  Dims dim_order;
  enum class Dynamism : std::uint8_t { fixed, bounded, free } dynamism = Dynamism::fixed;
  Storage home;        // its own place
  Storage storage;     // while a method runs, that of what it is a view of
  bool lasts = false;  // an input or state: it keeps its sizes from one execution to the next

  std::size_t bytes() const { return static_cast<std::size_t>(count(sizes) * info(dtype).bytes); }
  bool is_written() const { return storage.memory->written(storage.at) >= bytes(); }
  void begin();  // an execution begins

  // Whether it may have these sizes. Faults: the rule.
  void check_sizes(const Dims& to, RuleId rule, const Place& place) const;
  Tensor read() const;  // a copy. Faults: T16, limits.memory
  // The value as it will lie in memory, where it can then be written, as one of so many writes. Faults: T15, T24,
  // limits.memory.
  Tensor prepare(Tensor value, std::size_t writes = 1) const;
  void prepare(std::size_t n, std::size_t writes) const;  // for n bytes
  void write(const Tensor& prepared, Memory::By by) noexcept;
};

}  // namespace assay
