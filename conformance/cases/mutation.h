#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/operator.h"
#include "reference/value.h"

namespace assay::cases {

// One change of a call. Every kind takes three numbers, each taken modulo what there is to choose from, so that any
// numbers make a mutation and smaller numbers a simpler one.
struct Mutation {
  enum class Kind : std::uint8_t {
    dtype,   // tensor n0 is converted to the n1-th dtype
    dtypes,  // every tensor with the dtype of tensor n0 is converted to the n1-th dtype
    sizes,   // every dimension of the n0-th distinct size gets size n1, in all tensors but not in lists
    size,    // dimension n1 of tensor n0 gets size n2
    rank,    // tensor n0 loses its first dimension, gets a leading one of size 1, or becomes a scalar
    layout,  // tensor n0 gets its n1-th dim order
    values,  // tensor n0 is filled from the n1-th palette of values, drawn by n2
    // Integer argument n0 becomes the n1-th special integer, bool argument n0 its opposite, dtype argument n0 the n1-th
    // dtype.
    integer,
    scalar,    // Scalar or float argument n0 becomes the n1-th special number
    list,      // element n1 of integer list n0 becomes the n2-th special integer
    length,    // list n0 gets length n1 by repetition of its last element
    text,      // string argument n0 becomes the n1-th word
    none,      // optional argument n0 becomes None
    out,       // out argument n0 is given, of the n1-th dtype
    number,    // number argument n0, or an entry of list n0, becomes a number of at most n1 bits, drawn by n2
    numbers,   // tensor n0 is filled with numbers of at most n1 bits, drawn by n2
    elements,  // tensor n0 is filled with elements that it has, drawn by n2
    scale,     // tensor n0 is multiplied by a power of two, by n1 and n2
    exponent,  // Scalar or float argument n0, or an entry of list n0, is multiplied by a power of two
    extents,   // every dimension of the n0-th distinct size becomes exactly n1 long, in all tensors and, unless n2 is
               // 0, in integers of the call; new elements are drawn from those that the tensor has
    plain,     // tensor n0 gets plain numbers in place of the n1-th special ones (special_numbers.h)
    // In a call that quantizes floating numbers, the scale becomes 2^n1 and the zero point n0, or n0, n0 + 1 and so on
    // in a tensor. The numbers become k + 1/2 times the scale, with k near 0 and near both ends of the range.
    halves,
  };
  Kind kind = Kind::dtype;
  std::array<Int, 3> n{};
  bool operator==(const Mutation&) const = default;
};

inline constexpr int mutation_kinds = 19;  // the first kinds, from which drawn calls choose
// The first kinds, which choose from values that often break functions.
inline constexpr int special_mutation_kinds = 14;

// The text of a mutation, such as "dtype:0:5", and the mutation of a text. Parsing throws Fault (malformed,
// "case.mutation").
std::string to_text(const Mutation& mutation);
Mutation mutation_from(std::string_view text);

// Whether an argument of this schema type takes one number, as "int?" and "Scalar" do. A list, a bool and a dtype are
// not numbers.
bool takes_number(std::string_view type);

// Returns the changed call, or the same call if the mutation finds nothing to change.
std::vector<Value> mutated(const Operator& op, std::vector<Value> arguments, const Mutation& mutation);

// The mutations of the kind `plain` that change tensors of one argument, those that change the fewest numbers first.
std::vector<Mutation> plain_numbers_of(const Operator& op, std::span<const Value> arguments, std::size_t argument);

// The mutation that makes a tensor argument contiguous; none if it is contiguous, or no tensor.
std::optional<Mutation> made_contiguous(const Operator& op, std::span<const Value> arguments, std::size_t argument);

// The tensor with other sizes. Its elements are repeated in order.
Tensor resized(const Tensor& tensor, const Dims& sizes);

// The mutations that change one argument of the schema in one small way, simplest first. Such changes break rules about
// that argument.
std::vector<Mutation> changes_of(const Operator& op, std::span<const Value> arguments, std::size_t argument);

}  // namespace assay::cases
