#pragma once

#include <cmath>

#include "format/xnnpack/nodes.h"

// Parts of the check of a payload.
namespace assay::format::xnnpack {

inline constexpr std::size_t most_dims = 6;
inline bool is_scale(float x) { return std::isnormal(x) && x > 0; }

// Whether exporters of the versions 1.0.1 to 1.5.1 can write nodes of this kind (rule X29).
bool is_known_kind(xnn::Operation kind);
// Checks the parameters of a node, and the datatypes, ranks and dims of its operands: the rules X23, X24 and X35 to
// X41. Requires that the ids of the operands are those of values. If `fixed` is false, dims are upper bounds, and dims
// of different values are not compared.
void check_node(const xnn::Node& node, const Values& values, bool fixed, const Place& place, Findings& findings);

using Dims = std::array<std::uint64_t, most_dims>;
struct Shape {
  Dims dims{};
  std::size_t rank = 0;
};
Shape shape_of(const xnn::Tensor& t);  // requires at most `most_dims` dims
bool equal(const Shape& a, const Shape& b);
// The dims of a node's first output, computed from the dims of its inputs and its parameters. Returns nothing if they
// do not fit each other. Requires a node that meets the rules X36 to X38.
std::optional<Shape> output_shape(const xnn::Node& node, const Values& values);

// How a value is written: a mark for each value of a payload.
inline constexpr std::uint32_t not_written = 0, as_numbers = 1, as_positions = 2;  // positions: of ArgMaxPooling2d

// The rules X26 and X27: calls of the delegate `related.delegate` of the plan `related.plan`. `written` has a mark for
// each value.
void check_calls(const Values& values, const Related& related, std::uint32_t externals,
                 std::span<const std::uint32_t> written, Findings& findings);
// Whether every argument of the delegate's calls has fixed sizes. True if the payload is checked alone.
bool has_fixed_sizes(const Related& related);

// Calls take(arguments, place) for each call of the delegate.
template <class TakeCall>
void each_call(const pte::ExecutionPlan& plan, std::uint32_t delegate, TakeCall take) {
  for (std::uint32_t c = 0; c < size_of(plan.chains()); ++c) {
    const auto& instructions = *plan.chains()->Get(c)->instructions();
    const Place chain{nullptr, "chain", c};
    for (std::uint32_t i = 0; i < instructions.size(); ++i)
      if (const auto* call = instructions.Get(i)->instr_args_as_DelegateCall())
        if (call->delegate_index() == static_cast<std::int64_t>(delegate))
          take(items(call->args()), chain.in("instruction", i));
  }
}
// The tensor that an argument of a call is, or null.
inline const pte::Tensor* tensor_of(const pte::ExecutionPlan& plan, std::int32_t argument) {
  return plan.values()->Get(static_cast<std::uint32_t>(argument))->val_as_Tensor();
}

}  // namespace assay::format::xnnpack
