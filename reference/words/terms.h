#pragma once

#include "reference/words/shapes.h"

// The words for K, the number of terms that are added up to one result element. spec/rules.md defines each word.
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
// The number of elements that are normalised together, plus 8 for the roundings of one term of their gradient: x -
// mean, three products, the cube of rstd, the division by the length and a difference. A term of the gradient of a
// weight has two products and a difference.
inline Int norm_gradient(TensorArgument input, TensorArgument mean) {
  return input->count() / std::max<Int>(mean->count(), 1) + 8;
}
inline Int weight_gradient(Int summed) { return summed + 4; }
inline Int weight_gradient(TensorArgument mean) { return weight_gradient(mean->count()); }
inline Int weight_gradient(TensorArgument input, Int dim) { return weight_gradient(beside(input, dim)); }
inline Int elements(TensorArgument tensor) { return tensor->count(); }

// count({n}) limits a size to 2^56, which is more than any memory holds.
inline Int linear(TensorArgument input) { return count({input->sizes[input->rank() - 1]}) + 1; }
inline Int blended(TensorArgument mat1) { return count({mat1->sizes[1]}) + 2; }
inline Int attended(TensorArgument query, TensorArgument key, Argument<bool> heads_first = {}) {
  return count({query->sizes[3]}) + count({key->sizes[heads_first.value ? 2 : 1]});
}

Int window(Int spatial, Argument<const Ints*> kernel_size);
Int adaptive_window(TensorArgument self, Argument<const Ints*> output_size);
Int adaptive_gradient(TensorArgument grad_output, TensorArgument self);
Int convolved(TensorArgument weight, Argument<bool> transposed, Argument<Int> groups);
Int convolution_gradient(TensorArgument weight, Argument<bool> transposed, Argument<Int> groups);
Int resampled(TensorArgument self, Argument<const Ints*> output_size, Argument<bool> align_corners,
              Argument<std::optional<double>> scales_h, Argument<std::optional<double>> scales_w);

Int product(Argument<const Ints*> sizes);
Int quotient(TensorArgument tensor, Argument<Int> a, Argument<Int> b);

// `shares` is the number of windows that contain a cell, plus 1 for the division. `meeting` is the number of products
// that are added in a cell.
Int shares(Argument<const Ints*> kernel_size, Argument<const Ints*> stride);
Int meeting(Argument<const Ints*> kernel_size, Argument<const Ints*> stride, Argument<const Ints*> dilation);

// The largest number of indices that refer to the same element: of indices along `dim`, of a list of index tensors, or
// of indices in a plane. named_or_self, named_rows and largest_bag add 1: for the element of self, or for a factor.
Int named(TensorArgument index, Argument<Int> dim);
Int named(TensorArgument self, Argument<const Tensors*> indices);
Int named_in_plane(TensorArgument indices);
Int named_or_self(TensorArgument index, Argument<Int> dim);
Int named_rows(TensorArgument indices);
Int largest_bag(TensorArgument indices, TensorArgument offsets);

// The work of all results together, for operators where it differs from the number of results times their terms.
Int transforms(TensorArgument tensor, Argument<const Ints*> dim);
inline Int rows(TensorArgument indices, TensorArgument weight) { return count({indices->count(), weight->sizes[1]}); }
Int convolution_products(TensorArgument grad_output, TensorArgument weight);
Int resampling(TensorArgument self, Argument<const Ints*> output_size, Argument<bool> align_corners,
               Argument<std::optional<double>> scales_h, Argument<std::optional<double>> scales_w);

}  // namespace assay::terms
