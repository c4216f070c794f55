#pragma once

#include "dtype_sets.gen.h"
#include "reference/call.h"
#include "words.gen.h"

// The words in which spec/operators states its rules, and the conditions under which a rule is skipped. spec/rules.md
// defines each word. The function of a rule returns if the call meets the rule. Otherwise it throws Broken with a
// sentence that states the required and the actual value. Most words are expressions in spec/rules.md, which
// words.gen.h declares. This header declares those that are computations.
namespace assay {

namespace rules {

// Words about Scalars and flags
void limit_fits(Argument<Scalar> limit, DType dtype);
template <class... Value>
void any_given(const Value&... value) {
  std::string names;
  ((names += (names.empty() ? "" : " or ") + std::string(value.name)), ...);
  require((static_cast<bool>(value) || ...), "all are None, but ", names, " must be given");
}

// Words about ranks and sizes
void quantizes_rows(TensorArgument scales, TensorArgument zero_points, TensorArgument codes);
void has_hadamard_matrix(TensorArgument tensor);

// Words about integers and lists
void counts_to(Argument<Int> n, DType dtype, DTypeSet set);
void in_range_of(Argument<Int> n, TensorArgument tensor);
void sums_to_size(Argument<const Ints*> list, TensorArgument tensor, Argument<Int> dim);
void is_view(Argument<const Ints*> size, TensorArgument tensor);
void strides_within(TensorArgument tensor, Argument<const Ints*> size, Argument<const Ints*> stride,
                    Argument<std::optional<Int>> offset);
void pads_to_something(Argument<const Ints*> pad, TensorArgument tensor);
void concatenable(Argument<const Tensors*> tensors, Argument<Int> dim);

// Words about dim orders
void is_contiguous(TensorArgument tensor);
void reinterprets(TensorArgument tensor, Argument<Int> dtype);
void has_pairs(TensorArgument tensor);
void has_memory_format(TensorArgument tensor);
void is_order(Argument<const Ints*> order, Argument<const Ints*> size);
void not_channels_last(TensorArgument tensor, Int rank);

// Words about windows over the last n dimensions. A list has one entry for each of these dimensions, or one entry for
// all. An empty stride means the kernel's size.
void padding_at_most_half(Argument<const Ints*> padding, Argument<const Ints*> kernel_size);
void windows_reach(TensorArgument self, Argument<const Ints*> output_size, Argument<bool> align_corners,
                   Argument<std::optional<double>> scales_h, Argument<std::optional<double>> scales_w);
void scales_to_at_least(TensorArgument input, Argument<const Doubles*> scale_factors, Int least);
void holds_windows(TensorArgument columns, Argument<const Ints*> output_size, Argument<const Ints*> kernel_size,
                   Argument<const Ints*> dilation, Argument<const Ints*> padding, Argument<const Ints*> stride);

// Words about index lists and data
void index_count(Argument<const Tensors*> indices, TensorArgument self);
void takes_dims(Argument<const Tensors*> indices);
void masks_fit(Argument<const Tensors*> indices, TensorArgument self);
void indices_broadcast(Argument<const Tensors*> indices, TensorArgument self);
void indices_within(TensorArgument index, TensorArgument self, Int dim);
void indices_within(TensorArgument index, TensorArgument self, Argument<Int> dim);
void indices_within(Argument<const Tensors*> indices, TensorArgument self);
void places_within(TensorArgument indices, TensorArgument self);
void no_zero(TensorArgument divisor, DType common);
void no_zero(Argument<Scalar> divisor, DType common);
void bags_cover(TensorArgument offsets, TensorArgument indices, Argument<bool> include_last);
void nonzero(TensorArgument tensor);
void none_negative(TensorArgument tensor);
void source_suffices(TensorArgument source, TensorArgument tensor, TensorArgument mask);

}  // namespace rules

// Conditions under which a rule is skipped. An entry writes `word(...) unless condition(...)`.
namespace conditions {

bool one_of(Argument<Scalar> scalar, std::initializer_list<Scalar> literals);
template <class... V>
bool any_none(const V&... value) {
  return (!static_cast<bool>(value) || ...);
}
bool keeps_innermost(Argument<const Ints*> dims, TensorArgument tensor);
bool fills_mask(TensorArgument values, Argument<const Tensors*> indices, Argument<bool> accumulate);
bool selects_nothing(TensorArgument self, TensorArgument mask);
bool names_no_row(TensorArgument indices, Argument<Int> rows, Argument<Int> without);

}  // namespace conditions
}  // namespace assay
