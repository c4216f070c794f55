#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "optimized/runtime/kernel.h"

// A method in the form that preparation reads, independent of the file format. A front end makes a Source: prepare/pte
// makes one from an execution plan of a .pte file. Nothing else in prepare and rewrite depends on the format.
namespace assay::optimized {

// A call of an operator, or another instruction.
struct Instruction {
  enum class Kind : std::uint8_t { call, delegate, move, jump, free };
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  // The arguments of `call` are the operands: for a delegate its arguments, for a move `from` and `to`, for a jump the
  // condition; a free has none. Only a call of an operator has roles.
  Call call{};
  Kind kind = Kind::call;
  // Whether it is a call whose operands always have the types that the operator's schema states.
  bool is_typed = false;
  bool dead = false;  // whether no step executes it
  // Whether its result is a constant that it computes while the method is made. It is dead, too.
  bool is_folded = false;
  // For a dead instruction, the instruction that does its work, or `none` if no work is left.
  std::uint32_t into = none;
  // For a folded call, its number. For a delegate, its number. For a jump, the instruction that follows if the
  // condition is false. For a free, the value.
  std::uint32_t target = 0;
  std::uint32_t index = 0;  // the index of the instruction in its chain, for messages
  Reason left = Reason::none;
};

// Where the source places the bytes of a tensor, and the contents of these bytes before the first execution.
struct Storage {
  std::uint32_t memory = 0;  // the planned memory, or 0 if the tensor has memory of its own
  bool is_missing = false;   // whether it is external content that no data file has
  bool has_initial = false;  // whether it is state that begins as `content`, not as zeros
  // Whether it is state in shared memory to which another method has already given its initial value.
  bool is_begun = false;
  std::uint64_t offset = 0;            // the offset in the planned memory
  std::uint64_t bytes = 0;             // the largest number of bytes, if the tensor is not unbounded
  std::span<const std::byte> content;  // the bytes of a constant, or the initial value of state
  std::string_view name;               // the name of external content
};

struct PlannedMemory {
  std::uint64_t bytes = 0;
  bool is_shared = false;  // whether the methods of the program share it
};

struct Source {
  std::string_view name{};
  std::span<Value> values{};
  std::span<Tensor> tensors{};   // indexed by value
  std::span<Storage> storage{};  // by value
  std::span<Instruction> instructions{};
  std::span<const std::int32_t> inputs{}, outputs{};  // values
  std::span<PlannedMemory> memories{};                // indexed by number; number 0 is unused
  std::uint32_t delegates = 0;
  std::uint32_t methods = 1, method = 0;  // the number of methods that share memories, and the index of this method

  std::uint32_t index_of(const Value& v) const { return static_cast<std::uint32_t>(&v - values.data()); }
  bool is_tensor(std::uint32_t v) const { return values[v].kind == ValueKind::tensor; }
  bool is_shared(std::uint32_t v) const { return memories[storage[v].memory].is_shared; }
  // The position in messages about this method.
  format::Place place() const { return {nullptr, name, -1, true}; }
};

}  // namespace assay::optimized
