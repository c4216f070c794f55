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
}  // namespace sets

namespace rules {

// dtypes
void dtype_of(TensorArgument tensor, DTypeSet set);             // tensor's dtype is one of the set
void dtype_of(Argument<const Tensors*> tensors, DTypeSet set);  // likewise, each tensor's
void computes_in(DType dtype, DTypeSet set);                    // the common dtype is one of the set
void dtype_of_unless_empty(TensorArgument tensor, DTypeSet set);    // PyTorch looks for a kernel only where there are elements
void dtype_of_unless_scalar(TensorArgument tensor, DTypeSet set);   // a scalar is copied
void dtype_of_unless_trivial(TensorArgument tensor, DTypeSet set);  // neither
void computes_in_unless_empty(DType dtype, DTypeSet set, TensorArgument tensor);
void computes_in_unless_trivial(DType dtype, DTypeSet set, TensorArgument tensor);
void dtype_of_unless_given(TensorArgument tensor, DTypeSet set, Argument<std::optional<Int>> dtype);  // where no dtype is given, tensor's is one of the set
void same_dtype_or_float32(TensorArgument a, TensorArgument b);     // b has a's dtype, or is float32 where a is of a half type
void same_dtype(TensorArgument a, TensorArgument b);
void scalar_fits(Argument<Scalar> scalar, DType dtype);     // no overflow: |scalar| is at most the dtype's largest value; unsigned dtypes admit negatives
void scalar_kind(Argument<Scalar> scalar, DType dtype);     // a floating scalar needs a floating dtype, a bool scalar a bool dtype
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

void nonzero_along(TensorArgument tensor, Argument<Int> dim);           // the size along dim is at least 1
void nonzero_along(TensorArgument tensor, Argument<const Ints*> dim);   // along each of dims; None or an empty list names all
void nonzero_along(TensorArgument tensor, Argument<std::optional<Int>> dim);
void ends_with(TensorArgument tensor, Argument<const Ints*> sizes);     // the last sizes of tensor
void sizes_are(TensorArgument tensor, Argument<const Ints*> sizes);
void per_channel(TensorArgument vector, TensorArgument tensor);         // one element for each of tensor's channels, dimension 1
void vector_of(TensorArgument vector, Argument<Int> length);            // one dimension, of that size
void has_elements(TensorArgument tensor, Argument<Int> a, Argument<Int> b, Argument<Int> c);  // a * b * c elements, no factor negative
void at_most_size(Argument<Int> n, TensorArgument tensor, Argument<Int> dim);  // 0 <= n <= the size along dim; a scalar counts as size 1
void divides(Argument<Int> divisor, Argument<Int> n);                   // divisor > 0 and n is a multiple of it

// integers and lists
void at_least(Argument<Int> n, Int least);
void between(Argument<Int> n, Int least, Int most);
void nonzero_unless_empty(Argument<Int> n, TensorArgument tensor, Argument<Int> dim);  // n may be 0 only where tensor's size along dim is
void each_at_least(Argument<const Ints*> list, Int least);
void length_between(Argument<const Ints*> list, Int least, Int most);
void one_of(Argument<std::string_view> word, std::initializer_list<std::string_view> words);

// data
void no_zero(TensorArgument divisor, DType common);   // an integer divisor has no zero element
void no_zero(Argument<Scalar> divisor, DType common);

}  // namespace rules
}  // namespace assay
