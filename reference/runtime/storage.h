#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "reference/fault.h"
#include "reference/program/rule.h"
#include "reference/tensor.h"

namespace assay {

using Block = std::shared_ptr<std::byte>;  // may point into something larger, which it keeps alive

// Zeroed memory, charged until it goes. Faults: exhausted, limits.memory.
Block allocate(std::size_t bytes, const Budget& budget, std::string_view what);

// Where the bytes of a tensor are. Tensors that alias hold the same Storage.
class Storage {
 public:
  static Storage planned(Block place, std::size_t size) { return Storage(std::move(place), size, Kind::planned); }
  static Storage supplied(std::span<std::byte> memory) {
    return Storage(Block(Block(), memory.data()), memory.size(), Kind::planned);
  }
  static Storage constant(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner);
  // Memory of its own, there from the first write on, of at most `bound` bytes.
  static Storage own(std::size_t bound, const Budget& budget);

  bool is_own() const { return kind_ == Kind::own; }
  bool is_constant() const { return kind_ == Kind::constant; }
  std::size_t bound() const { return bound_; }

  // The first n bytes. Faults: not there yet; more than the bound.
  std::span<const std::byte> read(std::size_t n) const;
  std::span<std::byte> write(std::size_t n);
  void release();  // own memory goes until the next write; other stays

 private:
  enum class Kind : std::uint8_t { planned, constant, own };
  Storage(Block block, std::size_t size, Kind kind)
      : block_(std::move(block)), size_(size), bound_(size), kind_(kind) {}

  Block block_;
  std::size_t size_, bound_;
  Kind kind_;
  std::optional<Budget> budget_;  // of own memory
};

// A tensor of a running method: what the program declares, its present sizes, and its memory.
struct HeldTensor {
  DType dtype = DType::float32;
  Dims declared;  // sizes in the program: exact, or the bound of the number of elements
  Dims sizes;
  Dims dim_order;
  enum class Dynamism : std::uint8_t { fixed, bounded, free } dynamism = Dynamism::fixed;
  std::shared_ptr<Storage> storage;

  std::size_t bytes() const { return static_cast<std::size_t>(count(sizes) * info(dtype).bytes); }
  void check_sizes(const Dims& to, RuleId rule,
                   const Place& place) const;  // whether it may have them. Faults: the rule
  void resize(const Dims& to);                 // faults: T24
  Tensor read() const;                         // a copy
  void write(const Tensor& value);             // resizes; keeps its own dtype and dim order. Faults: T15, T24
};

}  // namespace assay
