#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/fault.h"
#include "reference/operator.h"
#include "reference/value.h"

namespace assay {

// A floating or complex result before it is rounded. `values` are in row-major order, with the two parts of a complex
// element adjacent. `dtype` is the dtype of the result, which may differ from the dtype of the out that stores it. The
// error bound of the result depends on `dtype`.
struct Unrounded {
  DType dtype = DType::float64;
  Buffer<Real> values;
  Int terms = 1;  // the number of products or addends in one result element
};

// The result of calling an operator.
struct Answer {
  Outcome outcome = Outcome::ok;
  std::string rule;     // the id of the broken rule, or empty if the outcome is ok
  std::string message;  // one sentence, or empty if the outcome is ok
  // One item for each result. A result is an out tensor or an out number. The item of an out number has no values. The
  // item of an out tensor has values if the elements are computed as Real or Complex. Otherwise it has no values.
  Buffer<Unrounded> unrounded;
  // In Mode::rules, the id of the first rule that needs unknown facts about the arguments. This rule and the rules
  // after it were not checked. If all rules were checked, the text is empty.
  std::string unknown = {};
};

// What a call computes.
// - value: the results.
// - magnitude: for each result, the sum of magnitudes against which rounding errors are measured. If the operator has a
//   magnitude function, the call runs this function on the same arguments. Otherwise, the call runs the operator itself
//   on absolute values.
// - rules: nothing. The call only checks the rules. Tensors need no bytes, and their sizes may be Dims::unknown. The
//   out tensors get the dtype, sizes and dim order of the results, but no bytes.
enum class Mode : std::uint8_t { value, magnitude, rules };

// Calls an operator. Requires one value for each argument of `op.arguments`, in that order; out arguments are last. An
// out argument that is None becomes a tensor with the dtype, sizes and dim order that the operator's entry states. Any
// other out tensor keeps its dtype and is resized; it keeps its dim order if its rank does not change. An out number is
// overwritten. Only the out arguments change, and only if the outcome is ok. Arrays, results and loops are charged to
// the budget. Never throws: every fault is in the answer.
Answer call(const Operator& op, std::span<Value> arguments, const Budget& budget = {}, Mode mode = Mode::value);

// Whether the value has the kind that the argument's schema type requires. An out argument may be None.
bool is_of_type(const Value& value, const SchemaArgument& argument);

// An argument with its name. The functions that implement the words of spec/rules.md take arguments in this form, so
// that their messages can name the arguments.
template <class T>
struct Argument {
  std::string_view name;
  T value;

  auto operator->() const { return value; }
  explicit operator bool() const { return static_cast<bool>(value); }
};
using TensorArgument = Argument<const Tensor*>;
template <class T>
Argument<T> some(const Argument<std::optional<T>>& a) {
  return {a.name, *a.value};
}
inline TensorArgument some(const TensorArgument& a) { return a; }

// If `dtype` is floating or complex and T is Real or Complex, rounds the value to `dtype` itself, not to its compute
// dtype. Otherwise, returns the value unchanged.
template <class T>
T rounded(DType dtype, T value) {
  if constexpr (std::is_same_v<T, Real> || std::is_same_v<T, Complex>)
    return is_floating(dtype) || is_complex(dtype) ? round_to(dtype, value) : value;
  else
    return value;
}
template <class T>
std::optional<T> rounded(DType dtype, std::optional<T> value) {
  return value ? std::optional(rounded(dtype, *value)) : std::nullopt;
}

// The state of a call. tools/specgen generates a wrapper for each operator: a function that checks the rules and
// computes the results with the functions of this class.
class Call {
 public:
  Call(const Operator& op, std::span<Value> arguments, Mode mode) : op_(op), arguments_(arguments), mode_(mode) {}

  // Sets the rule to which the next checks belong. A check that fails breaks this rule.
  void rule(std::string_view id, Outcome outcome = Outcome::invalid) { rule_ = id, outcome_ = outcome; }
  std::string_view rule() const { return rule_; }
  Outcome outcome() const { return outcome_; }

  // Each function returns argument i. Requires that the argument has the kind of its schema type. The function `call`
  // checks this before the wrapper runs. If the out of an in-place form is None, tensor() returns the argument that the
  // form changes.
  TensorArgument tensor(std::size_t i) const;
  Argument<const Tensors*> tensors(std::size_t i) const { return {name(i), &std::get<Tensors>(arguments_[i])}; }
  Argument<Int> integer(std::size_t i) const { return {name(i), std::get<Int>(arguments_[i])}; }
  Argument<double> real(std::size_t i) const;
  Argument<bool> boolean(std::size_t i) const { return {name(i), std::get<bool>(arguments_[i])}; }
  Argument<Scalar> scalar(std::size_t i) const;
  Argument<std::string_view> string(std::size_t i) const { return {name(i), std::get<std::string>(arguments_[i])}; }
  Argument<const Ints*> ints(std::size_t i) const { return {name(i), std::get_if<Ints>(&arguments_[i])}; }
  Argument<const Bools*> bools(std::size_t i) const { return {name(i), std::get_if<Bools>(&arguments_[i])}; }
  Argument<const Doubles*> doubles(std::size_t i) const { return {name(i), std::get_if<Doubles>(&arguments_[i])}; }
  Argument<std::optional<Int>> optional_integer(std::size_t i) const;
  Argument<std::optional<double>> optional_real(std::size_t i) const;
  Argument<std::optional<Scalar>> optional_scalar(std::size_t i) const;
  Argument<std::optional<std::string_view>> optional_string(std::size_t i) const;

  bool magnitude() const { return mode_ == Mode::magnitude; }
  bool rules_only() const { return mode_ == Mode::rules; }

  // Returns the elements of a tensor converted to `dtype`. In Mode::magnitude, if the operator has no magnitude
  // function, returns the absolute values of the elements.
  template <class T>
  Array<T> read(const TensorArgument& tensor, DType dtype) const;
  // Returns the elements in memory order, in one dimension.
  template <class T>
  Array<T> read_storage(const TensorArgument& tensor, DType dtype) const {
    const Tensor row{tensor->dtype, {tensor->count()}, {0}, tensor->bytes};
    return read<T>(TensorArgument{tensor.name, &row}, dtype);
  }
  template <class T>
  std::optional<Array<T>> read_optional(const TensorArgument& tensor, DType dtype) const;
  template <class T>
  Arrays<T> read_all(const Argument<const Tensors*>& tensors, DType dtype) const;
  template <class T>
  T read(const Argument<Scalar>& scalar, DType dtype) const;
  template <class T>
  T read_exact(const Argument<Scalar>& scalar) const;  // returns the number without conversion to a dtype
  template <class T>
  std::optional<T> read_optional(const Argument<std::optional<Scalar>>& scalar, DType dtype) const;
  void read_absolute_values() { absolute_ = magnitude(); }

  // The dtypes that an out may have.
  // - same: only the dtype of the result.
  // - cast: the dtype of the result, or a dtype of the same or a higher kind. The order of kinds is bool, integer,
  //   floating, complex.
  // - fits: the dtypes of `cast` that can hold each element of the result. Exception: an out of a half
  //   type need not hold the elements.
  // - any: every dtype to which a copy can cast the result.
  enum class Stored : std::uint8_t { same, cast, fits, any };

  // Checks the out argument at position i and records that it gets a result with these sizes and this dim order.
  // `computed` is the dtype of the result. promise_list does the same for an out argument that is a list of tensors.
  void promise(std::size_t i, DType computed, Stored stored, const Dims& sizes, const Dims& dim_order);
  void promise_list(std::size_t i, DType computed, Stored stored, const Buffer<Dims>& sizes);
  // Sets the number of terms (products or addends) in a result element. `counts` has one item for all outs or one item
  // for each out.
  void terms(std::initializer_list<Int> counts) { terms_ = counts; }
  Int elements() const;  // the number of result elements of all outs
  Int products() const {
    Int most = 1;
    for (const Int n : terms_) most = std::max(most, n);
    return count({elements(), most});
  }

  // Stores the elements of promised result k, counted from 0. Requires that `values` has the promised sizes. write_list
  // stores the elements of consecutive results, beginning with result k.
  template <class T>
  void write(std::size_t k, Array<T> values);
  template <class T>
  void write_list(std::size_t k, const Arrays<T>& values);

  // Sets the result for out argument i, which is a number.
  void give(std::size_t i, const Scalar& number) { numbers_.emplace_back(i, number); }

  // Moves the promised results and the numbers into the out arguments.
  Answer finish();

 private:
  struct Result {
    std::size_t argument;
    DType computed;
    Stored stored;
    bool in_list;
    Tensor tensor;
    Unrounded unrounded;
  };
  std::string_view name(std::size_t i) const { return op_.arguments[i].name; }
  const Tensor* changed(std::size_t out) const;  // the argument in which an in-place form stores this out, or null
  void add_result(std::size_t argument, const Tensor* out, DType computed, Stored stored, const Dims& sizes,
                  const Dims& dim_order, bool in_list);
  template <class T>
  void check_fit(const Result& result, const Array<T>& values) const;
  static bool must_fit(const Result& result);

  const Operator& op_;
  std::span<Value> arguments_;
  Mode mode_;
  bool absolute_ = false;
  std::string_view rule_;
  Outcome outcome_ = Outcome::invalid;
  Buffer<Result> results_;
  std::vector<std::pair<std::size_t, Scalar>> numbers_;
  Buffer<Int> terms_;  // empty if each result has one term
};

}  // namespace assay
