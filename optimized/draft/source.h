#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "optimized/runtime/kernel.h"

// A method as preparation reads it, whatever describes it. A front end fills a Source: prepare/pte does it from an
// execution plan of a .pte file. Nothing else in prepare and rewrite knows where a method comes from.
namespace assay::optimized {

// An operator's call, or another instruction.
struct Instruction {
  enum class Kind : std::uint8_t { call, delegate, move, jump, free };
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  // The operands are the arguments of `call`: of a delegate its arguments, of a move from and to, of a jump the
  // condition, none of a free. Only a call has roles.
  Call call{};
  Kind kind = Kind::call;
  bool is_typed = false;      // a call whose operands always have the types that the operator's schema states
  bool dead = false;          // no step executes it
  std::uint32_t into = none;  // of a dead instruction: the one that does its work; none: no work is left
  // Of a delegate its number, of a jump the instruction to go to where the condition is false, of a free the value.
  std::uint32_t target = 0;
  std::uint32_t index = 0;  // in its chain, for messages
};

// Where the bytes of a tensor are as the source places them, and what they are before the first execution.
struct Storage {
  std::uint32_t memory = 0;            // planned memory; 0: none, the tensor has its own
  bool is_missing = false;             // external content that no data file has
  bool has_initial = false;            // state that begins as `content`, not as zeros
  bool is_begun = false;               // state in shared memory that another method has given its initial value
  std::uint64_t offset = 0;            // in the planned memory
  std::uint64_t bytes = 0;             // at most, unless the tensor is unbounded
  std::span<const std::byte> content;  // of a constant, or of state
  std::string_view name;               // of external content
};

struct PlannedMemory {
  std::uint64_t bytes = 0;
  bool is_shared = false;  // between the methods of the program
};

struct Source {
  std::string_view name{};
  std::span<Value> values{};
  std::span<Tensor> tensors{};         // by value
  std::span<const Storage> storage{};  // by value
  std::span<Instruction> instructions{};
  std::span<const std::int32_t> inputs{}, outputs{};  // values
  std::span<const PlannedMemory> memories{};          // by number; number 0 is unused
  std::uint32_t delegates = 0;
  std::uint32_t methods = 1, method = 0;  // how many methods share memories, and which of them this one is
  bool has_one_chain = false;             // of instructions

  std::uint32_t index_of(const Value& v) const { return static_cast<std::uint32_t>(&v - values.data()); }
  bool is_tensor(std::uint32_t v) const { return values[v].kind == ValueKind::tensor; }
  bool is_shared(std::uint32_t v) const { return memories[storage[v].memory].is_shared; }
  // Where messages say that something is wrong.
  format::Place place() const { return {nullptr, name, -1, true}; }
};

}  // namespace assay::optimized
