#pragma once

#include <optional>

#include "optimized/draft/flow.h"
#include "optimized/selection/layout.h"

// Which sizes of tensors are equal in every execution, although they may differ from one execution to the next. Two
// sizes are equal if operators make both of them from the same size. Equal upper bounds do not make sizes equal.
namespace assay::optimized {

// The sizes of a tensor: numbers, symbols or `unknown`. Symbols are negative. If an instruction runs, all sizes with
// the same symbol are equal, because the instructions before it have succeeded.
constexpr std::int32_t unknown_size = INT32_MIN;
// Whether the sizes are equal in every execution.
bool are_equal(const Shape& a, const Shape& b);

class SymbolicSizes {
 public:
  // Returns nothing if there is too little memory.
  static std::optional<SymbolicSizes> of(const Source& source, const Flow& flow, format::Workspace& workspace);
  // The most bytes of the workspace that `of` takes for a value. `rank` is 1 if the value is not a tensor.
  static constexpr std::uint64_t workspace_of_value(std::uint64_t rank) { return 48 + 56 * rank; }

  // The sizes of a value's tensor while instructions read it. Returns nothing if they may read different sizes.
  std::optional<Shape> of(std::uint32_t value) const;
  // The instruction that sets the sizes of a value, or Flow::none.
  std::uint32_t setter(std::uint32_t value) const { return known_[value].setter; }
  // Whether no execution gives a tensor that moves sizes that it cannot have.
  bool always_fit(std::uint32_t value) const;
  // Whether two tensors that move have equally many elements and refuse the same sizes, whenever an instruction reads
  // one of them after both have got their sizes. Only `a` may have a size that is 1 unless there are no elements.
  bool have_equal_counts(std::uint32_t a, std::uint32_t b) const;
  // The sizes to which the operands of an elementwise call broadcast. Returns nothing if an operand's are not known.
  std::optional<Shape> broadcast_operands(const Call& call) const;

  // The rest is for the rules of operators.
  bool sizes_of(const Value& tensor, Shape& sizes) const;
  std::int32_t integer_of(const Value& value) const;  // a size that a list or a number names
  bool is_at_most(std::int32_t size, std::int32_t most) const;
  // The size (base + offset) / stride + 1, rounded down: the places of a window along a dimension.
  std::int32_t places(std::int32_t base, std::int64_t offset, std::int64_t stride);

 private:
  struct Known {                    // a value
    std::span<std::int32_t> sizes;  // a value that is an integer has one
    std::uint32_t block = Flow::none;
    std::uint32_t setter = Flow::none;  // the instruction that sets the sizes
    bool is_known = false;
    bool is_set = false;     // whether an instruction sets the sizes
    bool is_spread = false;  // whether instructions of several blocks, or the client, use the value
    bool is_open = false;    // whether instructions may read different sizes
  };
  struct Symbol {
    std::int32_t most;          // an upper bound
    std::int32_t base, stride;  // if stride is not 0, the symbol is the places of a window along `base`
    std::int64_t offset;
    // After this instruction and in its block, either the symbol is 1, or `beside` is 0, or the instruction has failed.
    // `beside` is 0 if the symbol is 1 in any case.
    std::uint32_t unit_from = Flow::none;
    std::int32_t beside = 0;
  };

  SymbolicSizes(const Source& source, const Flow& flow) : source_(&source), flow_(&flow) {}
  bool take(format::Workspace& workspace);
  void use(std::uint32_t instruction);
  void follow(std::uint32_t instruction);
  bool is_unit(std::int32_t symbol, bool has_beside, std::uint32_t value) const;
  void learn_unit(std::uint32_t instruction, const Shape& tensor, const Shape& view);
  void set(std::uint32_t value, const Shape* sizes);
  std::int32_t add(const Symbol& symbol);

  const Source* source_;
  const Flow* flow_;
  std::span<Known> known_;     // indexed by value
  std::span<Symbol> symbols_;  // symbol -1 is the first
  std::size_t count_ = 0;
  std::uint64_t lookups_left_ = Flow::most_steps;
};

}  // namespace assay::optimized
