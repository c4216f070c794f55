#pragma once

#include "dtype_sets.gen.h"
#include "reference/call.h"

// The words in which spec/operators states its rules; spec/rules.md defines each, in this order. A word returns when
// the rule holds and else says in one sentence what was wanted and what came.
namespace assay {

namespace rules {

// Of dtypes
void dtype_of(TensorArgument tensor, DTypeSet set);
void dtype_of(Argument<const Tensors*> tensors, DTypeSet set);
void computes_in(DType dtype, DTypeSet set);
void stays_complex(TensorArgument tensor, DType dtype);
void same_dtype(TensorArgument a, TensorArgument b);
void same_dtype_or_float32(TensorArgument a, TensorArgument b);
void promote_to(TensorArgument a, TensorArgument b, DTypeSet set);
void has_dtype(TensorArgument tensor, Argument<Int> dtype);
void named_dtype_of(Argument<Int> dtype, DTypeSet set);

// Of Scalars and flags
void scalar_fits(Argument<Scalar> scalar, DType dtype);
inline void scalar_fits(Argument<double> x, DType dtype) { scalar_fits(Argument<Scalar>{x.name, x.value}, dtype); }
void scalar_fits(Argument<Scalar> scalar, DType dtype, DTypeSet set);
void negated_scalar_fits(Argument<Scalar> scalar, DType dtype);
void scalar_computes(Argument<Scalar> scalar, DType dtype);
void scalar_is_number(Argument<Scalar> scalar);
void scalar_is_bool(Argument<Scalar> flag);
void same_kind(Argument<Scalar> a, Argument<Scalar> b);
void has_integer(Argument<Scalar> n);
void scalar_kind(Argument<Scalar> scalar, DType dtype);
void scales_within(Argument<Scalar> factor, DType dtype);
void limit_fits(Argument<Scalar> limit, DType dtype);
void no_negative_power(TensorArgument self, Argument<Scalar> exponent);
void moves(Argument<Scalar> step, DType dtype);
void is_finite(Argument<Scalar> n);
void reaches(Argument<Scalar> start, Argument<Scalar> end, Argument<Scalar> step);
void no_extreme_of_complex(Argument<std::string_view> reduce, TensorArgument tensor);
void has_mean(Argument<std::string_view> reduce, TensorArgument tensor);
void flag_is(Argument<bool> flag, bool value);
void one_of(Argument<std::string_view> word, std::initializer_list<std::string_view> words);
void asked_only_with(Argument<const Bools*> output_mask, Int k, TensorArgument tensor);
template <class... Value>
void any_given(const Value&... value) {
  std::string names;
  ((names += (names.empty() ? "" : " or ") + std::string(value.name)), ...);
  require((static_cast<bool>(value) || ...), "all are None, but ", names, " must be given");
}
void exactly_one(Argument<const Ints*> a, Argument<const Doubles*> b);
void is_given(Argument<const Ints*> list);
void is_given(Argument<std::optional<Int>> n);

// Of ranks and sizes
void rank_is(TensorArgument tensor, Int rank);
void rank_at_least(TensorArgument tensor, Int least);
void rank_at_most(TensorArgument tensor, Int most);
void rank_between(TensorArgument tensor, Int least, Int most);
void each_rank_at_least(Argument<const Tensors*> tensors, Int least);
void same_rank(TensorArgument a, TensorArgument b);
void same_sizes(TensorArgument a, TensorArgument b);
void all_same_sizes(Argument<const Tensors*> tensors);
void sizes_are(TensorArgument tensor, Argument<const Ints*> sizes);
void sizes_equal(TensorArgument a, Int dim_a, TensorArgument b, Int dim_b);
void sizes_within(TensorArgument a, TensorArgument b);
void sizes_within(TensorArgument a, Argument<Int> dim, TensorArgument b);
void sizes_from_at_least(TensorArgument tensor, Int dim, Int least);
void size_is(TensorArgument tensor, Int dim, Int size);
void size_at_least(TensorArgument tensor, Int dim, Int least);
void last_size_at_least(TensorArgument tensor, Int least);
void not_empty(TensorArgument tensor);
void one_element(TensorArgument tensor);
void has_elements(TensorArgument tensor, Argument<Int> a, Argument<Int> b, Argument<Int> c);
void has_elements(TensorArgument tensor, Argument<Int> a, Argument<Int> b);
void count_is_size(TensorArgument a, TensorArgument b, Int dim);
void one_or_as_many(TensorArgument a, TensorArgument b);
void positions_within(Argument<Int> start, TensorArgument value, TensorArgument cache, Int dim);
void quantizes_rows(TensorArgument scales, TensorArgument zero_points, TensorArgument codes);
void divides_size(TensorArgument a, Int i, TensorArgument b, Int j);
void has_hadamard_matrix(TensorArgument tensor);
void groups_fit(TensorArgument scales, TensorArgument weight, Int codes);
void one_for_each_column(TensorArgument bias, TensorArgument input, TensorArgument weight);
void one_for_each_row(TensorArgument a, TensorArgument b);
void nonzero_along(TensorArgument tensor, Argument<Int> dim);
void nonzero_along(TensorArgument tensor, Argument<const Ints*> dim);
void nonzero_along(TensorArgument tensor, Argument<std::optional<Int>> dim);
void maybe_batch(TensorArgument tensor, Int rank);
void ends_with(TensorArgument tensor, Argument<const Ints*> sizes);
void vector_of(TensorArgument vector, Argument<Int> length);
void sizes_equal_up_to(TensorArgument a, TensorArgument b, Int dim);
void row_for_each(TensorArgument rows, TensorArgument tensor);
void statistics_of(TensorArgument statistics, TensorArgument input, Argument<const Ints*> normalized_shape);
void per_channel(TensorArgument vector, TensorArgument tensor);
void broadcasts_to(TensorArgument tensor, TensorArgument to);
void expands_to_product(TensorArgument tensor, TensorArgument a, TensorArgument b);
void even_along(TensorArgument tensor, Argument<Int> dim);
void square_divides(Argument<Int> factor, TensorArgument tensor, Int dim);
void divides(Argument<Int> divisor, Argument<Int> n);
void divides(Argument<Int> n, TensorArgument tensor, Int dim);

// Of dimensions and positions
void is_dim(Argument<Int> dim, TensorArgument tensor);
void are_dims(Argument<const Ints*> dims, TensorArgument tensor);
void each_is_dim(Argument<const Ints*> dims, TensorArgument tensor);
void is_new_dim(Argument<Int> dim, TensorArgument tensor);
void is_new_dim(Argument<Int> dim, Argument<const Tensors*> tensors);
void is_permutation(Argument<const Ints*> dims, TensorArgument tensor);
void is_index(Argument<Int> index, TensorArgument tensor, Argument<Int> dim);
void at_most_size(Argument<Int> n, TensorArgument tensor, Argument<Int> dim);
void is_start(Argument<Int> start, TensorArgument tensor, Argument<Int> dim);
void is_length_from(Argument<Int> length, Argument<Int> start, TensorArgument tensor, Argument<Int> dim);
void distinct_dims(Argument<Int> a, Argument<Int> b, TensorArgument tensor);
void nonzero_unless_empty(Argument<Int> n, TensorArgument tensor, Argument<Int> dim);

// Of integers and lists
void at_least(Argument<Int> n, Int least);
void at_least(Argument<double> x, Int least);
void between(Argument<Int> n, Int least, Int most);
void between(Argument<double> x, Int least, Int most);
void each_at_least(Argument<const Ints*> list, Int least);
void each_between(Argument<const Ints*> list, Int least, Int most);
void nonzero(Argument<Int> n);
void nonzero(Argument<Scalar> n);
void nonzero(Argument<double> n);
void differs(Argument<Int> n, Int value);
void differ(Argument<Int> a, Argument<Int> b);
void counts_to(Argument<Int> n, DType dtype, DTypeSet set);
void ordered(Argument<Int> a, Argument<Int> b);
void in_range_of(Argument<Int> n, TensorArgument tensor);
void at_least_lowest(Argument<Int> n, Argument<Int> dtype);
void at_most_largest(Argument<Int> n, Argument<Int> dtype);
void length_is(Argument<const Ints*> list, Int length);
void length_is(Argument<const Doubles*> list, Int length);
void length_at_least(Argument<const Tensors*> tensors, Int least);
void length_at_least(Argument<const Ints*> list, Int least);
void length_at_most(Argument<const Ints*> list, Int most);
void length_between(Argument<const Ints*> list, Int least, Int most);
void even_length(Argument<const Ints*> list);
void same_length_or_flat(Argument<const Ints*> list, Argument<const Ints*> dims);
void sums_to_size(Argument<const Ints*> list, TensorArgument tensor, Argument<Int> dim);
void is_half_spectrum(TensorArgument tensor, Argument<const Ints*> dim, Argument<Int> last_dim_size);
void is_expansion(Argument<const Ints*> size, TensorArgument tensor);
void is_view(Argument<const Ints*> size, TensorArgument tensor);
void repeats(Argument<const Ints*> repeats, TensorArgument tensor);
void crops_within(Argument<const Ints*> pad, TensorArgument tensor);
void fills_slice(TensorArgument src, TensorArgument tensor, Argument<Int> dim, Argument<std::optional<Int>> start,
                 Argument<std::optional<Int>> end, Argument<Int> step);
void fills_selection(TensorArgument src, TensorArgument tensor, Argument<Int> dim);
void same_length(Argument<const Ints*> a, Argument<const Ints*> b);
void strides_within(TensorArgument tensor, Argument<const Ints*> size, Argument<const Ints*> stride,
                    Argument<std::optional<Int>> offset);
void no_negative_stride(Argument<const Ints*> size, Argument<const Ints*> stride);
void pads_below_sizes(Argument<const Ints*> pad, TensorArgument tensor);
void pads_to_something(Argument<const Ints*> pad, TensorArgument tensor);
void concatenable(Argument<const Tensors*> tensors, Argument<Int> dim);

// Of dim orders
void format_fits(Argument<Int> memory_format, TensorArgument tensor);
void format_fits(Argument<Int> memory_format, Argument<const Ints*> size);
void same_order(TensorArgument a, TensorArgument b);
void is_contiguous(TensorArgument tensor);
void reinterprets(TensorArgument tensor, Argument<Int> dtype);
void has_pairs(TensorArgument tensor);
void has_memory_format(TensorArgument tensor);
void is_format_order(Argument<const Ints*> dim_order, TensorArgument tensor);
void is_format_order(Argument<const Ints*> dim_order, Argument<const Ints*> size);
void is_order(Argument<const Ints*> order, Argument<const Ints*> size);
void none_with_out(Argument<std::optional<Int>> memory_format, TensorArgument out);
void not_channels_last(TensorArgument tensor, Int rank);

// Of windows: over the last n dimensions; a list has one entry for each of them or one for all; an empty stride is the
// kernel's size
void one_or_each(Argument<const Ints*> list, Int dims);
void padding_at_most_half(Argument<const Ints*> padding, Argument<const Ints*> kernel_size);
void window_fits(TensorArgument self, Int spatial, Argument<const Ints*> kernel_size, Argument<const Ints*> stride,
                 Argument<const Ints*> padding, Argument<bool> ceil_mode);
void window_fits(TensorArgument self, Int spatial, Argument<const Ints*> kernel_size, Argument<const Ints*> stride,
                 Argument<const Ints*> padding, Argument<const Ints*> dilation, Argument<bool> ceil_mode);
void window_inside(TensorArgument self, Int spatial, Argument<const Ints*> kernel_size);
void is_pooled(TensorArgument grad_output, TensorArgument self, Int spatial, Argument<const Ints*> kernel_size,
               Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<bool> ceil_mode);
void is_pooled(TensorArgument grad_output, TensorArgument self, Int spatial, Argument<const Ints*> kernel_size,
               Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<const Ints*> dilation,
               Argument<bool> ceil_mode);
void is_convolved(TensorArgument grad_output, TensorArgument input, TensorArgument weight, Argument<const Ints*> stride,
                  Argument<const Ints*> padding, Argument<const Ints*> dilation, Argument<bool> transposed,
                  Argument<const Ints*> output_padding, Argument<Int> groups);
void windows_reach(TensorArgument self, Argument<const Ints*> output_size, Argument<bool> align_corners,
                   Argument<std::optional<double>> scales_h, Argument<std::optional<double>> scales_w);
void scales_to_at_least(TensorArgument input, Argument<const Doubles*> scale_factors, Int least);
void one_or_each_spatial(Argument<const Ints*> list, TensorArgument input);
void holds_windows(TensorArgument columns, Argument<const Ints*> output_size, Argument<const Ints*> kernel_size,
                   Argument<const Ints*> dilation, Argument<const Ints*> padding, Argument<const Ints*> stride);
void channels_fit(TensorArgument input, TensorArgument weight, Argument<bool> transposed, Argument<Int> groups);
void bias_fits(TensorArgument bias, TensorArgument weight, Argument<bool> transposed, Argument<Int> groups);
void convolution_fits(TensorArgument input, TensorArgument weight, Argument<const Ints*> stride,
                      Argument<const Ints*> padding, Argument<const Ints*> dilation, Argument<bool> transposed,
                      Argument<const Ints*> output_padding);
void output_padding_fits(Argument<const Ints*> output_padding, Argument<const Ints*> stride,
                         Argument<const Ints*> dilation);

// Of index lists and data
void index_count(Argument<const Tensors*> indices, TensorArgument self);
void takes_dims(Argument<const Tensors*> indices);
void masks_fit(Argument<const Tensors*> indices, TensorArgument self);
void indices_broadcast(Argument<const Tensors*> indices, TensorArgument self);
void broadcasts_to_indexed(TensorArgument values, TensorArgument self, Argument<const Tensors*> indices);
void single_of_scalar(TensorArgument index, TensorArgument self);
void indices_within(TensorArgument index, TensorArgument self, Int dim);
void indices_within(TensorArgument index, TensorArgument self, Argument<Int> dim);
void indices_within(Argument<const Tensors*> indices, TensorArgument self);
void places_within(TensorArgument indices, TensorArgument self);
void no_zero(TensorArgument divisor, DType common);
void no_zero(Argument<Scalar> divisor, DType common);
void bags_cover(TensorArgument offsets, TensorArgument indices, Argument<bool> include_last);
void nonzero(TensorArgument tensor);
void none_negative(TensorArgument tensor);
void sum_is(TensorArgument tensor, Argument<Int> sum);
void source_suffices(TensorArgument source, TensorArgument tensor, TensorArgument mask);

}  // namespace rules

// When a rule is not asked: `word(...) unless condition(...)`.
namespace conditions {

bool one_of(Argument<Scalar> scalar, std::initializer_list<Scalar> literals);
template <class... V>
bool any_none(const V&... value) {
  return (!static_cast<bool>(value) || ...);
}
bool empty(TensorArgument tensor);
inline bool complex(TensorArgument tensor) { return is_complex(tensor->dtype); }
inline bool floating(TensorArgument tensor) { return is_floating(tensor->dtype); }
bool empty(Argument<const Ints*> list);
bool all_ones(Argument<const Ints*> list, bool value);
bool flag_is(Argument<bool> flag, bool value);
bool rank_at_least(TensorArgument tensor, Int least);
bool half(DType dtype);
bool is_nan(Argument<std::optional<Scalar>> scalar);
bool one_half(TensorArgument tensor, DType dtype);
bool one_half(Argument<const Ints*> size, DType dtype);
bool keeps_innermost(Argument<const Ints*> dims, TensorArgument tensor);
bool none_positive(Argument<const Ints*> list);
bool scalar(TensorArgument tensor);
bool trivial(TensorArgument tensor);
inline bool given(Argument<std::optional<Int>> dtype) { return dtype.value.has_value(); }
bool fills_mask(TensorArgument values, Argument<const Tensors*> indices, Argument<bool> accumulate);
bool no_products(TensorArgument a, TensorArgument b);
bool products_or_nothing(TensorArgument a, TensorArgument b);
bool makes_nothing(Argument<const Ints*> size);
bool drops_nothing(TensorArgument input, Argument<std::optional<Int>> train);
bool multiplies_or_nothing(TensorArgument input, TensorArgument weight);
bool absent(TensorArgument tensor);
bool no_batch(TensorArgument input);
bool plain_convolution(TensorArgument input, Argument<const Ints*> dilation, Argument<bool> transposed);
bool dilated(Argument<const Ints*> dilation, Argument<bool> transposed);
bool plain_or_no_batch(TensorArgument input, Argument<bool> transposed);
bool keeps_sizes(TensorArgument self, Argument<const Ints*> output_size);
bool samples_nothing(TensorArgument input, TensorArgument grid);
bool compares_nothing(TensorArgument x1, TensorArgument x2);
bool compares_nothing(TensorArgument self);
bool multiplies_or_nothing(TensorArgument x1, TensorArgument x2, Argument<double> p,
                           Argument<std::optional<Int>> compute_mode);
bool selects_nothing(TensorArgument self, TensorArgument mask);
bool compares_nothing(TensorArgument tensor, Argument<std::optional<Int>> dim);
bool names_no_row(TensorArgument indices, Argument<Int> rows, Argument<Int> without);
bool pools_nothing(TensorArgument self, Argument<const Ints*> output_size);
bool pools_nothing_or_all(TensorArgument self, Argument<const Ints*> output_size);

}  // namespace conditions
}  // namespace assay
