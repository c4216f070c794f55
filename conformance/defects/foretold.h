#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "conformance/defects/hypothesis.h"
#include "reference/families.h"

// Hypotheses that foretell all results of a call.
namespace assay::defects {

// Few units of work, because a hypothesis is tried with many calls.
inline constexpr Budget::Limits cheap{.bytes = Int{1} << 20, .work = Int{1} << 24};

// What a faulty kernel answers; none if it answers as is right. The outcome is `exhausted` where the answer is not
// known.
using Predicted = std::function<std::optional<judge::Expectation>(const cases::HostCall&)>;
Hypothesis answering(const Operator& op, std::string does, Predicted answer);

// A kernel that answers as if the call were another. A kernel may still give results the sizes of the right ones; it
// then computes a part of the other call's results. `change` returns false if it does not apply to the call.
using Change = std::function<bool(std::vector<Value>&)>;
Hypothesis as_if(const Operator& op, std::string does, Change change);

// A kernel that answers as if tensors of the inputs were others. `change` returns whether it changed the tensor.
Hypothesis as_if_each(const Operator& op, std::string does, const std::function<bool(Tensor&)>& change);

// A kernel that spoils right results. `spoil` returns false if there is nothing to spoil.
using Spoil = std::function<bool(Tensor& out, const cases::HostCall&)>;
Hypothesis spoiling(const Operator& op, std::string does, Spoil spoil);

// The expectation with other results of the same sizes. A floating result is judged with the bound of the right one.
judge::Expectation with_results(judge::Expectation e, std::vector<Tensor> outs);

// Results of another call as those of a call, converted to the right dtypes; none if their sizes are not right.
std::optional<judge::Expectation> converted(const cases::HostCall& call, std::vector<Tensor> outs);

// The right results, but the first has at place i of each dimension the element `at(i)` of `from` in row-major order.
// Not known if `from` has no such element.
judge::Expectation with_elements(const cases::HostCall& call, const Tensor& from,
                                 const std::function<Int(const Dims& i)>& at);

// The elements of a tensor at `source(i)` for each index i along a dimension, which gets `size`; 0 where `source` is
// negative.
Tensor taken(const Tensor& t, int dim, Int size, const std::function<Int(Int i)>& source);

// For each element of a quantized tensor, the position of its scale or zero point among `number`: the element's index
// along the argument axis or, without this argument, the number of its row. Empty if there are more or fewer positions.
std::vector<Int> parameters_of(const Operator& op, std::span<const Value> arguments, const Tensor& quantized,
                               Int number);

// The only result of a call of the named operator without its out; none if the reference refuses the call.
std::optional<Tensor> result_of(std::string_view op, std::vector<Value> arguments);

// Whether the name of an operator has a part, as "::max.dim".
bool is_named(const Operator& op, std::string_view part);

// The position of the named argument; none if the operator has no such argument.
std::optional<std::size_t> argument_of(const Operator& op, std::string_view name);

std::size_t inputs_of(const Operator& op);     // the number of arguments before the outs
bool holds_tensors(const SchemaArgument& a);   // a tensor or a list of tensors
std::size_t first_tensor(const Operator& op);  // the position of the first input that holds tensors; else inputs_of
bool is_remainder(const Operator& op);         // whether results are remainders of divisions
bool rounds_quotients(const Operator& op);     // whether results are rounded quotients, or remainders
bool is_dimension(const SchemaArgument& a);    // a dimension or a list of dimensions
bool names_dtype(const SchemaArgument& a);     // a dtype, memory format, layout or device

// Sets a value. Returns whether that changes it.
template <class T>
bool changed_to(Value& value, T now) {
  if (value.index() == Value(now).index() && std::get<T>(value) == now) return false;
  value = std::move(now);
  return true;
}

// Calls change(tensor) for the argument's tensors. Returns whether any changed.
bool change_tensors(Value& value, const std::function<bool(Tensor&)>& change);

// Keeps the elements [first, second) of self along the one dimension that argument `dim` names, where `kept` gives both
// for its size. Returns false if the argument names no such dimension, or if all elements are kept.
bool cut_rows(std::vector<Value>& arguments, std::size_t dim, const std::function<std::pair<Int, Int>(Int size)>& kept);

// The numbers that each result of a reduction combines, or none if the call is no reduction of self.
std::optional<families::Rows> rows_of(const Operator& op, const cases::HostCall& call);

// The mistakes that the kernels of most operators can make: in arguments, in dtypes, and in results.
std::vector<Hypothesis> mistakes_of_arguments(const Operator& op);
std::vector<Hypothesis> mistakes_of_dtypes(const Operator& op);
std::vector<Hypothesis> mistakes_of_results(const Operator& op);

// The mistakes of single families of operators; empty for the others.
std::vector<Hypothesis> mistakes_of_arithmetic(const Operator& op);
std::vector<Hypothesis> mistakes_of_softmax(const Operator& op);
std::vector<Hypothesis> mistakes_of_norms(const Operator& op);
std::vector<Hypothesis> mistakes_of_indices(const Operator& op);
std::vector<Hypothesis> mistakes_of_windows(const Operator& op);
std::vector<Hypothesis> mistakes_of_reductions(const Operator& op);
std::vector<Hypothesis> mistakes_of_copies(const Operator& op);
std::vector<Hypothesis> mistakes_of_products(const Operator& op);
std::vector<Hypothesis> mistakes_of_quantization(const Operator& op);

// The mistakes that the kernel of any operator can make: it takes another number or other elements than an argument
// gives, computes another operator of the same arguments, or moves, multiplies or shifts its results.
std::vector<Hypothesis> mistakes_of_any_kernel(const Operator& op);

}  // namespace assay::defects
