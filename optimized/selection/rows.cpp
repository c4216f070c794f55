#include "optimized/selection/rows.h"

namespace assay::optimized {

Rows rows_of(int dim, std::initializer_list<const Tensor*> tensors) {
  const Tensor& first = **tensors.begin();
  Strides strides[most_operands];
  Rows rows;
  Shape shape = shape_of(first);
  for (const Tensor* t : tensors) {
    strides[rows.tensors] = strides_of(*t);
    rows.step[rows.tensors] = t->rank > 0 ? strides[rows.tensors].of[dim] : 1;
    ++rows.tensors;
  }
  if (first.rank > 0) rows.n = first.size(dim), shape.sizes[dim] = 1;
  rows.nest = nest_of(shape, first.dim_order, {strides, static_cast<std::size_t>(rows.tensors)});
  return rows;
}

}  // namespace assay::optimized
