#pragma once

#include "reference/call.h"

// The words that give the dim orders of results; spec/rules.md defines each.
namespace assay::layouts {

Dims like(const Dims& sizes, const std::vector<const Tensor*>& operands);
template <class... T>
Dims like(const Dims& sizes, const T&... tensor) {
  std::vector<const Tensor*> operands;
  ((tensor ? operands.push_back(&*tensor.value) : void()), ...);
  return like(sizes, operands);
}

Dims like_unless_complex(const Dims& sizes, TensorArgument tensor);

// The dim order, replaced by the contiguous one if both give each element the same position in memory.
Dims normal(const Dims& sizes, const Dims& order);

inline Dims contiguous(const Dims& sizes) { return Dims::counting(sizes.size()); }
inline Dims columns_first(const Dims& sizes) { return normal(sizes, {1, 0}); }

Dims format(const Dims& sizes, Argument<std::optional<Int>> memory_format, TensorArgument tensor);
Dims format(const Dims& sizes, Argument<std::optional<Int>> memory_format);

// The dim order that the argument states. A `dim_order` that is 0, 1, 2, ... may have another length than `sizes`.
Dims ordered(const Dims& sizes, Argument<const Ints*> dim_order, TensorArgument tensor);
Dims ordered(const Dims& sizes, Argument<const Ints*> dim_order);

inline Dims permuted(const Dims& sizes, Argument<const Ints*> order) { return normal(sizes, Dims(*order.value)); }
Dims strided(const Dims& sizes, Argument<const Ints*> stride);

Dims suggested(const Dims& sizes, TensorArgument tensor);
Dims suggested(const Dims& sizes, Argument<const Tensors*> tensors);
Dims suggested(const Dims& sizes, TensorArgument input, TensorArgument weight);
Dims suggested_1d(const Dims& sizes, TensorArgument tensor);
Dims stacked(const Dims& sizes, Argument<const Tensors*> tensors, Argument<Int> dim);

Dims innermost(const Dims& sizes, TensorArgument tensor, Argument<const Ints*> dim);
Dims last_innermost(const Dims& sizes, TensorArgument tensor, Argument<const Ints*> dim);

Dims indexed(const Dims& sizes, TensorArgument tensor, Argument<const Tensors*> indices);

}  // namespace assay::layouts
