#include "reference/words/rules.h"

#include <algorithm>

#include "reference/words/dtypes.h"
#include "reference/words/shapes.h"
#include "reference/words/terms.h"

namespace assay {
namespace rules {

void counts_to(Argument<Int> n, DType dtype, DTypeSet set) {
  if (!sets::has(set, dtype)) return;
  const Real most = assay::is_floating(dtype) ? std::ldexp(1.0, info(dtype).precision) : largest_integer(dtype);
  require(static_cast<Real>(n.value - 1) <= most, n.name, " is ", n.value, ", but ", dtype, " counts to ", most,
          " only");
}

void in_range_of(Argument<Int> n, TensorArgument tensor) {
  require(wrap_to(tensor->dtype, n.value) == n.value, n.name, " is ", n.value, ", but ", tensor.name, " is ",
          tensor->dtype);
}

void sums_to_size(Argument<const Ints*> list, TensorArgument tensor, Argument<Int> dim) {
  const Int n = terms::size(tensor, dim.value);
  Int left = n;
  for (Int k : *list.value) left = k > left ? -1 : left - k;
  require(left == 0, list.name, " is ", *list.value, ", which must sum to ", n, ", the size of dimension ", dim.value,
          " of ", tensor.name);
}

void is_view(Argument<const Ints*> size, TensorArgument tensor) {
  const Dims view = shapes::viewed(tensor, size);
  require(std::ranges::all_of(view, [](Int n) { return n >= 0; }), size.name, " is ", *size.value,
          ", but at most one size may be -1, and not beside a 0");
  Int left = tensor->count();
  const bool has_none = std::ranges::find(view, 0) != view.end();
  for (Int n : view) left = has_none ? left : left % n == 0 ? left / n : 0;
  require(left == (has_none ? 0 : 1), size.name, " is ", *size.value, ", which does not have the ", tensor->count(),
          " elements of ", tensor.name, " of sizes ", tensor->sizes);
}

void strides_within(TensorArgument tensor, Argument<const Ints*> size, Argument<const Ints*> stride,
                    Argument<std::optional<Int>> offset) {
  if (std::ranges::find(*size.value, 0) != size->end()) return;
  Int last = offset.value.value_or(0), step = 0;
  bool within = true;
  for (std::size_t k = 0; k < size->size(); ++k)
    within = within && !__builtin_mul_overflow((*size.value)[k] - 1, (*stride.value)[k], &step) &&
             !__builtin_add_overflow(last, step, &last);
  require(within && last < tensor->count(), size.name, " ", *size.value, " with ", stride.name, " ", *stride.value,
          " from ", offset.value.value_or(0), " on leads beyond the ", tensor->count(), " elements of ", tensor.name);
}

void pads_to_something(Argument<const Ints*> pad, TensorArgument tensor) {
  bool leaves = false;
  for (std::size_t k = 0; k < pad->size(); k += 2) {
    Int n = tensor->sizes[tensor->rank() - 1 - static_cast<Int>(k / 2)];
    const bool exact =
        !__builtin_add_overflow(n, (*pad.value)[k], &n) && !__builtin_add_overflow(n, (*pad.value)[k + 1], &n);
    leaves = leaves || (exact && n >= 1);
  }
  require(leaves, pad.name, " is ", *pad.value, ", which leaves nothing of ", tensor.name, " of sizes ", tensor->sizes);
}

void concatenable(Argument<const Tensors*> tensors, Argument<Int> dim) {
  const Tensor* first = shapes::first_counted(*tensors.value);
  if (!first) return;
  is_dim(dim, {tensors.name, first});
  for (const auto& t : *tensors.value) {
    if (shapes::is_nothing(*t)) continue;
    Dims sizes = t->sizes;
    if (sizes.size() == first->rank())
      sizes[wrap_dim(dim.value, sizes.size())] = terms::size({tensors.name, first}, dim.value);
    require(sizes == first->sizes, tensors.name, " has tensors of sizes ", first->sizes, " and ", t->sizes,
            ", but all must be equal apart from dimension ", dim.value);
  }
}

}  // namespace rules
}  // namespace assay
