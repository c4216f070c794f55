#pragma once

#include "reference/call.h"

// The words in which spec/operators states its rules; spec/rules.md defines each. A word returns when the rule holds
// and else says in one sentence what was wanted and what came.
namespace assay {

// Sets of dtypes, named in rules.
using DTypeSet = std::uint32_t;
namespace sets {
constexpr DTypeSet of(DType d) { return DTypeSet{1} << static_cast<unsigned>(d); }
inline constexpr DTypeSet boolean = of(DType::boolean), uint8 = of(DType::uint8), int8 = of(DType::int8), int32 = of(DType::int32), int64 = of(DType::int64),
                          float16 = of(DType::float16), bfloat16 = of(DType::bfloat16), float32 = of(DType::float32), float64 = of(DType::float64);
inline constexpr DTypeSet integer = uint8 | int8 | of(DType::int16) | int32 | int64;
inline constexpr DTypeSet wide_unsigned = of(DType::uint16) | of(DType::uint32) | of(DType::uint64);
inline constexpr DTypeSet half = float16 | bfloat16;
inline constexpr DTypeSet floating = half | float32 | float64;
inline constexpr DTypeSet number = integer | floating;
inline constexpr DTypeSet real = boolean | number;  // the dtypes that PyTorch's operators are written for
inline constexpr DTypeSet any = ~DTypeSet{0};
inline constexpr DTypeSet readable = real | wide_unsigned;
inline constexpr DTypeSet quantized = uint8 | int8 | of(DType::int16) | of(DType::uint16) | int32;  // the codes of quantized_decomposed
}  // namespace sets

namespace rules {

// dtypes
void dtype_of(TensorArgument tensor, DTypeSet set);             // tensor's dtype is one of the set
void dtype_of(Argument<const Tensors*> tensors, DTypeSet set);  // likewise, each tensor's
void computes_in(DType dtype, DTypeSet set);                    // the common dtype is one of the set
// Likewise, unless the scalar equals one of the literals; true and false equal literals of their own kind only.
template <class... Literal>
void computes_in_unless(DType dtype, DTypeSet set, Argument<Scalar> scalar, Literal... literal);
void same_dtype_or_float32(TensorArgument a, TensorArgument b);     // b has a's dtype, or is float32 where a is of a half type
void same_dtype(TensorArgument a, TensorArgument b);
void promote_to(TensorArgument a, TensorArgument b, DTypeSet set);  // their common dtype is one of the set
void scalar_fits(Argument<Scalar> scalar, DType dtype);  // no overflow; a negative integer wraps in an unsigned dtype, an infinity is a floating value, bool takes all
inline void scalar_fits(Argument<double> x, DType dtype) { scalar_fits(Argument<Scalar>{x.name, x.value}, dtype); }
void scalar_fits(Argument<Scalar> scalar, DType dtype, DTypeSet set);  // likewise, where dtype is one of the set
void negated_scalar_fits(Argument<Scalar> scalar, DType dtype);  // minus the scalar does
void scalar_computes(Argument<Scalar> scalar, DType dtype);  // scalar_fits the type in which PyTorch computes dtype
void scalar_is_number(Argument<Scalar> scalar);              // not true or false
void limit_fits(Argument<Scalar> limit, DType dtype);       // scalar_fits; an integer dtype's limit drops its fraction first and never wraps
void no_negative_power(TensorArgument self, Argument<Scalar> exponent);    // an integer or bool has no power of a negative integer
void scalar_kind(Argument<Scalar> scalar, DType dtype);     // a floating scalar needs a floating dtype, a bool scalar a bool dtype
void scales_within(Argument<Scalar> factor, DType dtype);  // bool < integer < floating: the factor's kind is at most the dtype's, or it is 0
void flag_is(Argument<bool> flag, bool value);
template <class... Value>
void any_given(const Value&... value);  // not all are None

// ranks and sizes
void rank_is(TensorArgument tensor, Int rank);
void rank_between(TensorArgument tensor, Int least, Int most);
void same_rank(TensorArgument a, TensorArgument b);
void same_sizes(TensorArgument a, TensorArgument b);
void sizes_equal(TensorArgument a, Int dim_a, TensorArgument b, Int dim_b);  // the size of a's dimension is that of b's
void size_is(TensorArgument tensor, Int dim, Int size);
void size_at_least(TensorArgument tensor, Int dim, Int least);
void not_empty(TensorArgument tensor);                                  // has at least one element
void is_dim(Argument<Int> dim, TensorArgument tensor);                  // -rank <= dim < rank; a scalar counts as rank 1
void are_dims(Argument<const Ints*> dims, TensorArgument tensor);       // each is_dim, no dimension twice
void is_permutation(Argument<const Ints*> dims, TensorArgument tensor);  // every dimension once
void rank_at_least(TensorArgument tensor, Int least);
void each_rank_at_least(Argument<const Tensors*> tensors, Int least);
void same_rank_or_scalar(TensorArgument a, TensorArgument b);                // a scalar counts as rank 1
void sizes_within(TensorArgument a, TensorArgument b);                       // a's sizes are at most b's; a scalar counts as (1)
void sizes_within(TensorArgument a, Argument<Int> dim, TensorArgument b);    // likewise, apart from dimension dim
void broadcasts_to(TensorArgument tensor, TensorArgument to);                // to's sizes when broadcast with it
void square_divides(Argument<Int> factor, TensorArgument tensor, Int dim);   // factor * factor divides the size of the dimension
void is_new_dim(Argument<Int> dim, TensorArgument tensor);                   // a dimension of the tensor with one dimension more
void is_new_dim(Argument<Int> dim, Argument<const Tensors*> tensors);        // likewise of the first tensor
void each_is_dim(Argument<const Ints*> dims, TensorArgument tensor);         // may name a dimension twice; a scalar has none
void is_index(Argument<Int> index, TensorArgument tensor, Argument<Int> dim);  // -n <= index < n, the size of the dimension

// lists of tensors
void length_at_least(Argument<const Tensors*> tensors, Int least);
void all_same_sizes(Argument<const Tensors*> tensors);
void concatenable(Argument<const Tensors*> tensors, Argument<Int> dim);    // equal sizes apart from dim, not counting tensors of sizes (0)

void nonzero_along(TensorArgument tensor, Argument<Int> dim);           // the size along dim is at least 1
void nonzero_along(TensorArgument tensor, Argument<const Ints*> dim);   // along each of dims; None or an empty list names all
void nonzero_along(TensorArgument tensor, Argument<std::optional<Int>> dim);
void ends_with(TensorArgument tensor, Argument<const Ints*> sizes);     // the last sizes of tensor
void sizes_are(TensorArgument tensor, Argument<const Ints*> sizes);
void per_channel(TensorArgument vector, TensorArgument tensor);         // one element for each of tensor's channels, dimension 1
void vector_of(TensorArgument vector, Argument<Int> length);            // one dimension, of that size
void has_elements(TensorArgument tensor, Argument<Int> a, Argument<Int> b, Argument<Int> c);  // a * b * c elements, no factor negative
void at_most_size(Argument<Int> n, TensorArgument tensor, Argument<Int> dim);  // 0 <= n <= the size along dim; a scalar counts as size 1
void even_along(TensorArgument tensor, Argument<Int> dim);              // the size along dim is even
void divides(Argument<Int> divisor, Argument<Int> n);                   // divisor > 0 and n is a multiple of it

// integers and lists
void at_least(Argument<Int> n, Int least);
void at_least(Argument<double> x, Int least);
void between(Argument<Int> n, Int least, Int most);
void between(Argument<double> x, Int least, Int most);
void counts_to(Argument<Int> n, DType dtype, DTypeSet set);  // 0, 1, ... n - 1 are exact in dtype, where it is one of the set
void nonzero_unless_empty(Argument<Int> n, TensorArgument tensor, Argument<Int> dim);  // n may be 0 only where tensor's size along dim is
void each_at_least(Argument<const Ints*> list, Int least);
void length_between(Argument<const Ints*> list, Int least, Int most);
void one_of(Argument<std::string_view> word, std::initializer_list<std::string_view> words);
void length_at_least(Argument<const Ints*> list, Int least);
void has_memory_format(TensorArgument tensor);                    // contiguous, or channels last of 4 or 5 dimensions
void even_length(Argument<const Ints*> list);
void same_length_or_flat(Argument<const Ints*> list, Argument<const Ints*> dims);  // one entry for each of dims, or one entry and no dims
void differs(Argument<Int> n, Int value);
void sums_to_size(Argument<const Ints*> list, TensorArgument tensor, Argument<Int> dim);
void is_expansion(Argument<const Ints*> size, TensorArgument tensor);      // tensor's sizes broadcast to it; -1 keeps a size
void is_view(Argument<const Ints*> size, TensorArgument tensor);           // as many elements; one -1 is inferred
void repeats(Argument<const Ints*> repeats, TensorArgument tensor);        // a number for each dimension of the result; results in no negative size
void crops_within(Argument<const Ints*> pad, TensorArgument tensor);       // two entries for each of the last dimensions; negative ones take no more than there is
void fills_slice(TensorArgument src, TensorArgument tensor, Argument<Int> dim, Argument<std::optional<Int>> start, Argument<std::optional<Int>> end, Argument<Int> step);
void format_fits(Argument<Int> memory_format, TensorArgument tensor);      // channels_last has rank 4, channels_last_3d rank 5
void format_fits(Argument<Int> memory_format, Argument<const Ints*> size);
void not_channels_last(TensorArgument tensor, Int rank);
void is_given(Argument<const Ints*> list);
void is_given(Argument<std::optional<Int>> n);
void ordered(Argument<Int> a, Argument<Int> b);                           // a <= b
void in_range_of(Argument<Int> n, TensorArgument tensor);                  // n is a value of tensor's integer dtype
void is_format_order(Argument<const Ints*> dim_order, TensorArgument tensor);  // 0, 1, 2... or channels last
void is_format_order(Argument<const Ints*> dim_order, Argument<const Ints*> size);

// ranges
void moves(Argument<Scalar> step, DType dtype);                            // step is not zero; in int64, not after truncation
void is_finite(Argument<Scalar> n);
void reaches(Argument<Scalar> start, Argument<Scalar> end, Argument<Scalar> step);  // step leads from start towards end

// positions and pieces
void is_start(Argument<Int> start, TensorArgument tensor, Argument<Int> dim);  // -n <= start <= n, the size of the dimension
void is_length_from(Argument<Int> length, Argument<Int> start, TensorArgument tensor, Argument<Int> dim);  // 0 <= length, to the end of the dimension at most
void distinct_dims(Argument<Int> a, Argument<Int> b, TensorArgument tensor);
void fills_selection(TensorArgument src, TensorArgument tensor, Argument<Int> dim);  // src has tensor's sizes without dim
void same_length(Argument<const Ints*> a, Argument<const Ints*> b);
void strides_within(TensorArgument tensor, Argument<const Ints*> size, Argument<const Ints*> stride, Argument<std::optional<Int>> offset);  // none leads beyond tensor's memory
void maybe_batch(TensorArgument tensor, Int rank);  // rank dimensions, none of size 0, and maybe a batch, which may be of size 0
void pads_below_sizes(Argument<const Ints*> pad, TensorArgument tensor);   // each pad is less than the size of its dimension
void pads_to_something(Argument<const Ints*> pad, TensorArgument tensor);  // some padded size is at least 1
void no_mean_of_bool(Argument<std::string_view> reduce, TensorArgument tensor);
void holds_windows(TensorArgument columns, Argument<const Ints*> output_size, Argument<const Ints*> kernel_size, Argument<const Ints*> dilation, Argument<const Ints*> padding,
                   Argument<const Ints*> stride);  // as many columns as windows have places, as many rows as they have cells in some channels

// index lists
void index_count(Argument<const Tensors*> indices, TensorArgument self);   // the indices take no more dimensions than self has
void takes_dims(Argument<const Tensors*> indices);                         // some index takes a dimension; None and a scalar mask take none
void masks_fit(Argument<const Tensors*> indices, TensorArgument self);     // a mask has the sizes of the dimensions that it takes
void indices_broadcast(Argument<const Tensors*> indices, TensorArgument self);
void broadcasts_to_indexed(TensorArgument values, TensorArgument self, Argument<const Tensors*> indices);
void single_of_scalar(TensorArgument index, TensorArgument self);          // a scalar is indexed by exactly one index
void none_with_out(Argument<std::optional<Int>> memory_format, TensorArgument out);  // the format of an out cannot be asked for

// dtypes named by arguments
void named_dtype_of(Argument<Int> dtype, DTypeSet set);                     // the dtype's number is that of one of the set
void has_dtype(TensorArgument tensor, Argument<Int> dtype);        // tensor's dtype is the one named
void at_least_lowest(Argument<Int> n, Argument<Int> dtype);        // n is at least the smallest value of the integer dtype named
void at_most_largest(Argument<Int> n, Argument<Int> dtype);        // n is at most its largest

// more of sizes
void sizes_from_at_least(TensorArgument tensor, Int dim, Int least);  // each size from dimension dim on
void divides(Argument<Int> n, TensorArgument tensor, Int dim);        // n divides the size of the dimension
void one_element(TensorArgument tensor);
void count_is_size(TensorArgument a, TensorArgument b, Int dim);      // a has as many elements as b's dimension is long
void last_size_at_least(TensorArgument tensor, Int least);             // the last size; a scalar has one element along it
void one_for_each_row(TensorArgument a, TensorArgument b);            // a has as many elements as b has rows along its last dimension
void is_contiguous(TensorArgument tensor);                             // its dim order lays elements out as 0, 1, 2... does
void positions_within(Argument<Int> start, TensorArgument value, TensorArgument cache, Int dim);  // from start on, cache has room for value's positions, which are that dimension
void quantizes_rows(TensorArgument scales, TensorArgument zero_points, TensorArgument codes);   // both given, float32 and int8, an element for each row of codes
void divides_size(TensorArgument a, Int i, TensorArgument b, Int j);   // a's size i divides b's size j
void has_hadamard_matrix(TensorArgument tensor);                       // the last size is 0, a power of two or 28 times one
void one_or_as_many(TensorArgument a, TensorArgument b);              // a has one element, or as many as b
void groups_fit(TensorArgument scales, TensorArgument weight, Int codes);  // a row of weight, with so many codes in each element, splits into a group of at least two codes for each column of scales
void one_for_each_column(TensorArgument bias, TensorArgument input, TensorArgument weight);  // bias broadcasts to an element for each row of weight; to a single one, if weight has no rows and input is no matrix
void expands_to_product(TensorArgument tensor, TensorArgument a, TensorArgument b);  // tensor broadcasts to the sizes of the matrix product

// more of lists
void each_between(Argument<const Ints*> list, Int least, Int most);
void exactly_one(Argument<const Ints*> a, Argument<const Doubles*> b);  // one of both is given, the other is None
void length_is(Argument<const Ints*> list, Int length);
void length_is(Argument<const Doubles*> list, Int length);
void nonzero(Argument<Int> n);
void differ(Argument<Int> a, Argument<Int> b);
void nonzero(Argument<double> n);

// windows over the last `spatial` dimensions: a list has one entry for each of them or one for all; an empty stride is the kernel's size
void one_or_each(Argument<const Ints*> list, Int dims);  // one entry, or so many
void padding_at_most_half(Argument<const Ints*> padding, Argument<const Ints*> kernel_size);
void padding_at_most_half(Argument<const Ints*> padding, Argument<const Ints*> kernel_size, Argument<const Ints*> dilation);
void window_fits(TensorArgument self, Int spatial, Argument<const Ints*> kernel_size, Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<bool> ceil_mode);
void window_fits(TensorArgument self, Int spatial, Argument<const Ints*> kernel_size, Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<const Ints*> dilation, Argument<bool> ceil_mode);
void is_pooled(TensorArgument grad_output, TensorArgument self, Int spatial, Argument<const Ints*> kernel_size, Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<bool> ceil_mode);  // has the sizes of the result of the pool
void is_pooled(TensorArgument grad_output, TensorArgument self, Int spatial, Argument<const Ints*> kernel_size, Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<const Ints*> dilation, Argument<bool> ceil_mode);
void windows_reach(TensorArgument self, Argument<const Ints*> output_size, Argument<bool> align_corners, Argument<std::optional<double>> scales_h, Argument<std::optional<double>> scales_w);  // each place of the result has a cell in its window
void scales_to_at_least(TensorArgument input, Argument<const Doubles*> scale_factors, Int least);  // the scaled last dimensions, rounded down

// convolution
void one_or_each_spatial(Argument<const Ints*> list, TensorArgument input);  // one entry, or one for each dimension after the second
void channels_fit(TensorArgument input, TensorArgument weight, Argument<bool> transposed, Argument<Int> groups);
void bias_fits(TensorArgument bias, TensorArgument weight, Argument<bool> transposed, Argument<Int> groups);  // one element for each output channel
void convolution_fits(TensorArgument input, TensorArgument weight, Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<const Ints*> dilation,
                      Argument<bool> transposed, Argument<const Ints*> output_padding);  // every spatial size of the result is at least 1
void output_padding_fits(Argument<const Ints*> output_padding, Argument<const Ints*> stride, Argument<const Ints*> dilation);  // less than one of both

void is_convolved(TensorArgument grad_output, TensorArgument input, TensorArgument weight, Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<const Ints*> dilation,
                  Argument<bool> transposed, Argument<const Ints*> output_padding, Argument<Int> groups);  // has the sizes of the result of the convolution

// gradients
void same_order(TensorArgument a, TensorArgument b);  // equal dim orders
void sizes_equal_up_to(TensorArgument a, TensorArgument b, Int dim);  // apart from dimension dim, counted from the end, and those after it
void begins_with(TensorArgument tensor, TensorArgument beginning);    // its sizes are the other's and one more
void statistics_of(TensorArgument statistics, TensorArgument input, Argument<const Ints*> normalized_shape);  // an element for each run that is normalised
void has_elements(TensorArgument tensor, Argument<Int> a, Argument<Int> b);  // a * b elements, no factor negative
void asked_only_with(Argument<const Bools*> output_mask, Int k, TensorArgument tensor);  // the k-th result needs the tensor
void places_within(TensorArgument indices, TensorArgument self);  // places in a plane of self's last two dimensions

// data
void no_zero(TensorArgument divisor, DType common);   // an integer divisor has no zero element
void no_zero(Argument<Scalar> divisor, DType common);

template <class... Value>
void any_given(const Value&... value) {
  std::string names;
  ((names += (names.empty() ? "" : " or ") + std::string(value.name)), ...);
  require((static_cast<bool>(value) || ...), "all are None, but ", names, " must be given");
}
void indices_within(TensorArgument index, TensorArgument self, Int dim);   // 0 <= index < the size of self's dimension
void indices_within(TensorArgument index, TensorArgument self, Argument<Int> dim);
void indices_within(Argument<const Tensors*> indices, TensorArgument self);  // -size <= index < size; where the result has no element, only of dimensions without elements
void bags_cover(TensorArgument offsets, TensorArgument indices, Argument<bool> include_last);  // offsets begin with 0, never fall and stay within the indices; the last one, if included, is their end
void nonzero(TensorArgument tensor);                  // no element is zero
void none_negative(TensorArgument tensor);
void sum_is(TensorArgument tensor, Argument<Int> sum);
void source_suffices(TensorArgument source, TensorArgument tensor, TensorArgument mask);  // it has an element for each that is marked
void nonzero(Argument<Scalar> n);
void has_integer(Argument<Scalar> n);                 // it is finite, and without its fraction in the range of int64
void scalar_is_bool(Argument<Scalar> flag);           // true or false
void same_kind(Argument<Scalar> a, Argument<Scalar> b);  // both bools, both integers or both floats
void no_zero(TensorArgument divisor, DType common);   // an integer divisor has no zero element
void no_zero(Argument<Scalar> divisor, DType common);

}  // namespace rules

// When a rule is not asked: `word(...) unless condition(...)`.
namespace conditions {

bool one_of(Argument<Scalar> scalar, std::initializer_list<Scalar> literals);  // true and false equal literals of their own kind only
template <class... V>
bool any_none(const V&... value) { return (!static_cast<bool>(value) || ...); }
bool empty(TensorArgument tensor);                   // it has no element
bool empty(Argument<const Ints*> list);
bool all_ones(Argument<const Ints*> list, bool value);  // whether each entry is 1 has that value
bool flag_is(Argument<bool> flag, bool value);
bool rank_at_least(TensorArgument tensor, Int least);
bool half(DType dtype);
bool is_nan(Argument<std::optional<Scalar>> scalar);   // it is given and NaN: the other limit is not looked at
bool one_half(TensorArgument tensor, DType dtype);     // one element of a half type: PyTorch's fill of it does not look at the range
bool one_half(Argument<const Ints*> size, DType dtype);
bool keeps_innermost(Argument<const Ints*> dims, TensorArgument tensor);  // dims do not name the innermost dimension in memory, not counting those of size 1
bool none_positive(Argument<const Ints*> list);
bool scalar(TensorArgument tensor);                  // it has no dimension
bool trivial(TensorArgument tensor);                 // it has no element or no dimension: nothing is computed
inline bool given(Argument<std::optional<Int>> dtype) { return dtype.value.has_value(); }
bool fills_mask(TensorArgument values, Argument<const Tensors*> indices, Argument<bool> accumulate);  // one value is put where one mask is true
bool no_products(TensorArgument a, TensorArgument b);                    // their matrix product adds up nothing
bool products_or_nothing(TensorArgument a, TensorArgument b);            // it adds up something, or has no element
bool makes_nothing(Argument<const Ints*> size);                          // a tensor of that size has no element
bool drops_nothing(TensorArgument input, Argument<std::optional<Int>> train);  // it has no element, or train is false
bool multiplies_or_nothing(TensorArgument input, TensorArgument weight);  // linear adds up something, or has no element
bool absent(TensorArgument tensor);                                      // it is None
bool no_batch(TensorArgument input);                                     // its first or second size is 0
bool plain_convolution(TensorArgument input, Argument<const Ints*> dilation, Argument<bool> transposed);  // neither dilated nor transposed, or no_batch
bool dilated(Argument<const Ints*> dilation, Argument<bool> transposed);  // some entry is not 1, of a convolution that is not transposed
bool plain_or_no_batch(TensorArgument input, Argument<bool> transposed);  // not transposed, or no_batch
bool keeps_sizes(TensorArgument self, Argument<const Ints*> output_size);  // they are its last sizes
bool samples_nothing(TensorArgument input, TensorArgument grid);           // it has no planes, or no places in them
bool compares_nothing(TensorArgument x1, TensorArgument x2);               // the distances between their rows add up nothing
bool compares_nothing(TensorArgument self);                                // likewise, those between its own rows
bool multiplies_or_nothing(TensorArgument x1, TensorArgument x2, Argument<double> p, Argument<std::optional<Int>> compute_mode);  // PyTorch makes the distances of a product, or compares_nothing
bool selects_nothing(TensorArgument self, TensorArgument mask);            // the mask marks nothing, or self has no element
bool compares_nothing(TensorArgument tensor, Argument<std::optional<Int>> dim);  // it has no element, or one along dim
bool names_no_row(TensorArgument indices, Argument<Int> rows, Argument<Int> without);  // each is negative, at least rows, or without
bool pools_nothing(TensorArgument self, Argument<const Ints*> output_size);  // no element comes in or goes out

}  // namespace conditions
}  // namespace assay
