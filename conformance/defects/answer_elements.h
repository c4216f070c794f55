#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "conformance/defects/hypothesis.h"
#include "reference/families.h"

// The elements of results, with what they are computed from.
namespace assay::defects {

inline constexpr Real infinite = std::numeric_limits<Real>::infinity(),
                      no_number = std::numeric_limits<Real>::quiet_NaN();

// An element of a result with what it was computed from.
struct Result {
  std::span<const Real> operands;  // the numbers of the operands at its place
  std::span<const Real> numbers;   // the number arguments of the call; NaN: None
  std::span<const Real> terms;     // the numbers that a reduction combines
  bool is_reduced;                 // whether the terms are known
  Real right;
  Int at, count, row;  // its place in memory, the number of elements and that of a row
  Int rows;            // of a plane; 0: the result has no planes
  DType dtype;         // of the result
};

// Whether the operator divides its operands: remainders are told by the signs of both.
bool divides(const Operator& op);

// The numbers of the operands at each element of a result, where each operand broadcasts to the result. A number that
// divides is an operand, too. Indices that choose several elements each are the only operand: they have the first sizes
// of the result.
class Operands {
 public:
  Operands(const Operator& op, const cases::HostCall& call, const Tensor& out);
  const std::vector<std::string_view>& names() const { return names_; }
  std::span<const Real> at(Int k) const {
    const std::size_t n = names_.size();
    return std::span(numbers_).subspan(n * static_cast<std::size_t>(k), n);
  }

 private:
  std::vector<std::string_view> names_;
  std::vector<Array<Real>> arrays_;
  std::vector<Real> numbers_;
  bool broadcast_ = true;
};

// The elements of one result of a call.
class ResultElements {
 public:
  ResultElements(const Operator& op, const cases::HostCall& call, std::size_t output);
  Int count() const { return right_.count(); }
  std::size_t operands() const { return operands_.names().size(); }
  Result at(Int k) const;
  const std::vector<std::string_view>& names() const { return operands_.names(); }

  // Whether the result can be compared with others as numbers.
  static bool are_known(const cases::HostCall& call, std::size_t output);

 private:
  const Tensor& out_;
  Operands operands_;
  Array<Real> right_;
  std::vector<Int> places_;
  std::vector<Real> numbers_, terms_;
  std::optional<families::Rows> rows_;
};

// A failing answer: which elements are wrong, and what they are.
struct Seen {
  const Answered* answer;
  ResultElements elements;
  std::vector<bool> right;
  Array<Real> got;
  std::vector<Int> compared;  // the elements that are compared with hypotheses

  bool is_right(Int k) const { return right[static_cast<std::size_t>(k)]; }
  DType dtype() const { return elements.at(0).dtype; }
};

// The answer's result `output`; none if all its elements are right, or if an earlier result has wrong ones.
std::optional<Seen> compared(const Operator& op, const Answered& a, std::size_t output);

Real stored(Real x, DType dtype);  // rounded to a floating dtype

}  // namespace assay::defects
