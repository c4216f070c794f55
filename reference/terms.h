#pragma once

#include "reference/shapes.h"

// The words in which spec/operators says of how many terms a result is made; spec/rules.md defines each.
namespace assay::terms {

template <class... D>
Int reduced(TensorArgument tensor, const D&... dim) {
  Dims sizes;
  for (Int d : shapes::dims(tensor, dim...)) sizes.push_back(tensor->sizes[d]);
  return count(sizes);
}
inline Int size(TensorArgument tensor, Int dim) {
  return tensor->rank() == 0 ? 1 : tensor->sizes[wrap_dim(dim, tensor->rank())];
}
inline Int along(TensorArgument tensor, Argument<Int> dim) {
  return tensor->count() == 0 ? 1 : size(tensor, dim.value);
}
inline Int beside(TensorArgument tensor, Int dim) { return tensor->count() / std::max<Int>(size(tensor, dim), 1); }
inline Int normalised(TensorArgument input, Argument<bool> training) { return training.value ? beside(input, 1) : 7; }
inline Int one_more(TensorArgument tensor) { return tensor->count() + 1; }
constexpr Int number(Int n) { return n; }
// The longest sum of the gradients of a norm, over what is normalised together or over all that a weight has, and the
// roundings of one of its terms: x - mean, three products, the cube of rstd, the division by the length and a
// difference.
inline Int gradient_of(TensorArgument input, TensorArgument mean, Int of_weight) {
  return std::max(input->count() / std::max<Int>(mean->count(), 1), of_weight) + 8;
}
inline Int layer_gradient(TensorArgument input, TensorArgument mean) { return gradient_of(input, mean, mean->count()); }
inline Int group_gradient(TensorArgument input, TensorArgument mean) {
  return gradient_of(input, mean, beside(input, 1));
}

// count({n}): a size, of which 2^56 is enough.
inline Int linear(TensorArgument input) { return count({input->sizes[input->rank() - 1]}) + 1; }
inline Int blended(TensorArgument mat1) { return count({mat1->sizes[1]}) + 2; }
inline Int attended(TensorArgument query, TensorArgument key, Argument<bool> heads_first = {}) {
  return count({query->sizes[3]}) + count({key->sizes[heads_first.value ? 2 : 1]});
}

Int window(Int spatial, Argument<const Ints*> kernel_size);
Int adaptive_window(TensorArgument self, Argument<const Ints*> output_size);
Int adaptive_gradient(TensorArgument grad_output, TensorArgument self);
Int convolved(TensorArgument weight, Argument<bool> transposed, Argument<Int> groups);
Int convolution_gradient(TensorArgument grad_output, TensorArgument weight, Argument<bool> transposed);
Int resampled(TensorArgument self, Argument<const Ints*> output_size, Argument<bool> align_corners,
              Argument<std::optional<double>> scales_h, Argument<std::optional<double>> scales_w);

Int product(Argument<const Ints*> sizes);
Int quotient(TensorArgument tensor, Argument<Int> a, Argument<Int> b);
Int indexed(TensorArgument tensor, Argument<const Tensors*> indices);

// The work of all results together, where it is not that of their terms.
Int transforms(TensorArgument tensor, Argument<const Ints*> dim);
inline Int rows(TensorArgument indices, TensorArgument weight) { return count({indices->count(), weight->sizes[1]}); }
Int convolution_products(TensorArgument grad_output, TensorArgument weight);
Int resampling(TensorArgument self, Argument<const Ints*> output_size, Argument<bool> align_corners,
               Argument<std::optional<double>> scales_h, Argument<std::optional<double>> scales_w);

}  // namespace assay::terms
