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

// A floating or complex result before its rounding, row-major, the parts of a complex element one after another; and
// the dtype in which it is to be judged.
struct Unrounded {
  DType dtype = DType::float64;
  Buffer<Real> values;
  Int terms = 1;  // how many products or addends make one result
};

// What an operator says to a call.
struct Answer {
  Outcome outcome = Outcome::ok;
  std::string rule;             // broken rule, empty when ok
  std::string message;          // one sentence, empty when ok
  Buffer<Unrounded> unrounded;  // one for each out tensor or number; without values where it is Int, Bits or a number
  // Of Mode::rules: the first rule that takes more than is known of the arguments; it and those behind it were not
  // asked. Empty when all were.
  std::string unknown = {};
};

// `magnitude` runs an operator's magnitude function on the same arguments, or the operator itself on absolute values:
// the sum of magnitudes against which rounding errors are measured. `rules` only asks the rules: tensors may come
// without bytes, and with Dims::unknown for sizes; the out tensors become what the results would be, without bytes too;
// nothing is read or computed.
enum class Mode : std::uint8_t { value, magnitude, rules };

// Calls an operator. `arguments` follow the schema, out arguments last; an out argument that is None gets the dtype,
// sizes and dim order that the entry gives it, any other keeps its dtype, is resized, and keeps its dim order when its
// rank fits; an out number is overwritten, whatever it was. Nothing but the out arguments changes, and those only when
// the outcome is ok. Arrays, results and loops are charged to the budget. Never throws.
Answer call(const Operator& op, std::span<Value> arguments, const Budget& budget = {}, Mode mode = Mode::value);

// Whether a value is of the kind that an argument's schema type asks for. An out argument may be None.
bool is_of_type(const Value& value, const SchemaArgument& argument);

// A named argument, as the words of rules, dtypes and shapes see it.
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

// A Scalar rounded to a floating or complex dtype itself, not to the one in which PyTorch computes.
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

// A call on its way through an operator's generated wrapper.
class Call {
 public:
  Call(const Operator& op, std::span<Value> arguments, Mode mode) : op_(op), arguments_(arguments), mode_(mode) {}

  // From here on, what does not hold breaks this rule.
  void rule(std::string_view id, Outcome outcome = Outcome::invalid) { rule_ = id, outcome_ = outcome; }
  std::string_view rule() const { return rule_; }
  Outcome outcome() const { return outcome_; }

  // Argument i, of the kind its schema type has (checked before the wrapper runs).
  TensorArgument tensor(std::size_t i) const { return {name(i), std::get_if<Tensor>(&arguments_[i])}; }
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

  // The elements of a tensor converted to dtype; absolute values where magnitudes are asked of an operator that has no
  // magnitude function of its own.
  template <class T>
  Array<T> read(const TensorArgument& tensor, DType dtype) const;
  template <class T>
  Array<T> read_storage(const TensorArgument& tensor, DType dtype) const {  // one after another as they lie in memory
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
  T read_exact(const Argument<Scalar>& scalar) const;  // not yet seen through a dtype
  template <class T>
  std::optional<T> read_optional(const Argument<std::optional<Scalar>>& scalar, DType dtype) const;
  void read_absolute_values() { absolute_ = magnitude(); }

  // Which dtypes an out may have: the result's, one of the same or a higher kind, that if it holds each result, or any
  // that a copy casts to.
  enum class Stored : std::uint8_t { same, cast, fits, any };

  // Checks the out argument at position i and promises a result of these sizes to it. `computed` is the dtype of the
  // result.
  void promise(std::size_t i, DType computed, Stored stored, const Dims& sizes, const Dims& dim_order);
  void promise_list(std::size_t i, DType computed, Stored stored, const Buffer<Dims>& sizes);
  void terms(std::initializer_list<Int> counts) { terms_ = counts; }  // for each result of all outs, or of each out
  Int elements() const;                                               // of all results
  Int products() const {
    Int most = 1;
    for (const Int n : terms_) most = std::max(most, n);
    return count({elements(), most});
  }

  // The result for the k-th promise.
  template <class T>
  void write(std::size_t k, Array<T> values);
  template <class T>
  void write_list(std::size_t k, const Arrays<T>& values);

  // The number that is the result for out argument i.
  void give(std::size_t i, const Scalar& number) { numbers_.emplace_back(i, number); }

  // Hands over: what was promised and written, or given, becomes the out arguments.
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
  Buffer<Int> terms_;  // none: one each
};

}  // namespace assay
