#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/defects/hypothesis.h"
#include "reference/families.h"

// Hypotheses that foretell all results of a call.
namespace assay::defects {

// Few units of work, because a hypothesis is tried with many calls.
inline constexpr Budget::Limits cheap{.bytes = Int{1} << 20, .work = Int{1} << 24};

// What a faulty kernel answers; none if it answers as is right, or if its answer is not known.
using Predicted = std::function<std::optional<judge::Expectation>(const cases::HostCall&)>;
Hypothesis answering(const Operator& op, std::string does, Predicted answer);

// A kernel that answers as if the call were another. A kernel may still give results the sizes of the right ones; it
// then computes a part of the other call's results. `change` returns false if it does not apply to the call.
using Change = std::function<bool(std::vector<Value>&)>;
Hypothesis as_if(const Operator& op, std::string does, Change change);

// A kernel that spoils right results. `spoil` returns false if there is nothing to spoil.
using Spoil = std::function<bool(Tensor& out, const cases::HostCall&)>;
Hypothesis spoiling(const Operator& op, std::string does, Spoil spoil);

// The expectation with other results of the same sizes. A floating result is judged with the bound of the right one.
judge::Expectation with_results(judge::Expectation e, std::vector<Tensor> outs);

// The only result of a call of the named operator without its out; none if the reference refuses the call.
std::optional<Tensor> result_of(std::string_view op, std::vector<Value> arguments);

// The position of the named argument; none if the operator has no such argument.
std::optional<std::size_t> argument_of(const Operator& op, std::string_view name);

bool is_whole(DType dtype);           // an integer dtype or bool
bool is_same_number(Real a, Real b);  // NaN is the same as NaN, and 0 is not -0

// The numbers that each result of a reduction combines, or none if the call is no reduction of self.
std::optional<families::Rows> rows_of(const Operator& op, const cases::HostCall& call);

// The mistakes of single families of operators; empty for the others.
std::vector<Hypothesis> mistakes_of_norms(const Operator& op);
std::vector<Hypothesis> mistakes_of_indices(const Operator& op);

}  // namespace assay::defects
