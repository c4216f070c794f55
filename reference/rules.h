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
void same_dtype(TensorArgument a, TensorArgument b);
void scalar_fits(Argument<Scalar> scalar, DType dtype);     // no overflow: |scalar| is at most the dtype's largest value; unsigned dtypes admit negatives
void scalar_kind(Argument<Scalar> scalar, DType dtype);     // a floating scalar needs a floating dtype, a bool scalar a bool dtype
void scales_within(Argument<Scalar> factor, DType dtype);  // bool < integer < floating: the factor's kind is at most the dtype's, or it is 0
void flag_is(Argument<bool> flag, bool value);

// ranks and sizes
void rank_is(TensorArgument tensor, Int rank);
void rank_between(TensorArgument tensor, Int least, Int most);
void same_rank(TensorArgument a, TensorArgument b);
void same_sizes(TensorArgument a, TensorArgument b);
void sizes_equal(TensorArgument a, Int dim_a, TensorArgument b, Int dim_b);  // the size of a's dimension is that of b's
void size_at_least(TensorArgument tensor, Int dim, Int least);
void not_empty(TensorArgument tensor);                                  // has at least one element
void is_dim(Argument<Int> dim, TensorArgument tensor);                  // -rank <= dim < rank; a scalar counts as rank 1
void are_dims(Argument<const Ints*> dims, TensorArgument tensor);       // each is_dim, no dimension twice
void is_permutation(Argument<const Ints*> dims, TensorArgument tensor);  // every dimension once

// integers and lists
void at_least(Argument<Int> n, Int least);
void between(Argument<Int> n, Int least, Int most);
void nonzero_unless_empty(Argument<Int> n, TensorArgument tensor, Argument<Int> dim);  // n may be 0 only where tensor's size along dim is
void each_at_least(Argument<const Ints*> list, Int least);
void length_between(Argument<const Ints*> list, Int least, Int most);
void one_of(Argument<std::string_view> word, std::initializer_list<std::string_view> words);

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
void expands_to_product(TensorArgument tensor, TensorArgument a, TensorArgument b);  // tensor broadcasts to the sizes of the matrix product

// more of lists
void each_between(Argument<const Ints*> list, Int least, Int most);
void exactly_one(Argument<const Ints*> a, Argument<const Doubles*> b);  // one of both is given, the other is None
void length_is(Argument<const Ints*> list, Int length);
void length_is(Argument<const Doubles*> list, Int length);
void nonzero(Argument<Int> n);
void differ(Argument<Int> a, Argument<Int> b);
void nonzero(Argument<double> n);

// windows: a list has one entry for each spatial dimension or one for all; an empty stride is the kernel's size
void padding_at_most_half(Argument<const Ints*> padding, Argument<const Ints*> kernel_size);
void padding_at_most_half(Argument<const Ints*> padding, Argument<const Ints*> kernel_size, Argument<const Ints*> dilation);
void window_fits(TensorArgument self, Argument<const Ints*> kernel_size, Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<bool> ceil_mode);
void window_fits(TensorArgument self, Argument<const Ints*> kernel_size, Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<const Ints*> dilation, Argument<bool> ceil_mode);
void scales_to_at_least(TensorArgument input, Argument<const Doubles*> scale_factors, Int least);  // the scaled last dimensions, rounded down

// convolution
void one_or_each_spatial(Argument<const Ints*> list, TensorArgument input);  // one entry, or one for each dimension after the second
void channels_fit(TensorArgument input, TensorArgument weight, Argument<bool> transposed, Argument<Int> groups);
void bias_fits(TensorArgument bias, TensorArgument weight, Argument<bool> transposed, Argument<Int> groups);  // one element for each output channel
void convolution_fits(TensorArgument input, TensorArgument weight, Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<const Ints*> dilation,
                      Argument<bool> transposed, Argument<const Ints*> output_padding);  // every spatial size of the result is at least 1
void output_padding_fits(Argument<const Ints*> output_padding, Argument<const Ints*> stride, Argument<const Ints*> dilation);  // less than one of both

// data
void nonzero(TensorArgument tensor);                  // no element is zero
void no_zero(TensorArgument divisor, DType common);   // an integer divisor has no zero element
void no_zero(Argument<Scalar> divisor, DType common);

}  // namespace rules

// When a rule is not asked: `word(...) unless condition(...)`.
namespace conditions {

bool no_products(TensorArgument a, TensorArgument b);                    // their matrix product adds up nothing
bool products_or_nothing(TensorArgument a, TensorArgument b);            // it adds up something, or has no element
bool no_batch(TensorArgument input);                                     // its first or second size is 0
bool plain_convolution(TensorArgument input, Argument<const Ints*> dilation, Argument<bool> transposed);  // neither dilated nor transposed, or no_batch
bool plain_or_no_batch(TensorArgument input, Argument<bool> transposed);  // not transposed, or no_batch
bool pools_nothing(TensorArgument self, Argument<const Ints*> output_size);  // no element comes in or goes out

}  // namespace conditions
}  // namespace assay
