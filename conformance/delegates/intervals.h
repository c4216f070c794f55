#pragma once

#include <limits>
#include <optional>
#include <span>

#include "conformance/judge/judge.h"

// Intervals of right values, and their way through calls of operators. spec/delegates.md states the rules.
namespace assay::delegates {

inline constexpr Real float32_unit = 0x1p-24;  // unit roundoff

// For each element of a tensor, the smallest and the largest right number. -inf and inf are the bounds of an element
// for which any value is right; of an integer dtype, its least and its largest number. A bound is NaN if only NaN is
// right.
struct Interval {
  Tensor lowest, highest;
  // The largest common error of the elements that rounding explains, in unit roundoffs; infinite if it is not known.
  Real most_common_error = std::numeric_limits<Real>::infinity();

  bool is_point() const { return lowest.bytes == highest.bytes; }  // one value is right for each element
};

// An argument of a call with the interval of each of its tensors. A tensor without an interval has one right value.
struct Argument {
  Value value;
  std::vector<std::optional<Interval>> intervals = {};  // a tensor has one item, a list of tensors one for each tensor

  bool is_point() const;
};

// How the node computes to which a call belongs.
enum class Arithmetic {
  rounded,    // by the accuracy of the operators' entries
  half_sums,  // the same, and each partial sum of float16 numbers may be rounded to float16
  exact,      // the node computes codes: the operators of arithmetic.yaml round correctly
  hardswish,  // the node is a Hardswish, which may multiply by a rounded 1/6 before or after its sum
};

// The intervals of the outs of a call whose arguments may have any values in their intervals. `expected` is the answer
// to the call of the arguments' values, which are in their intervals.
std::vector<Interval> intervals_of(const Operator& op, std::span<const Argument> arguments,
                                   const judge::Expectation& expected, Arithmetic arithmetic,
                                   const Budget& budget = {});

}  // namespace assay::delegates
