#include "reference/words/rules.h"

#include <algorithm>

#include "reference/words/dtypes.h"
#include "reference/words/layouts.h"

namespace assay {
namespace rules {

void is_contiguous(TensorArgument tensor) {
  require(layouts::normal(tensor->sizes, tensor->dim_order) == layouts::contiguous(tensor->sizes), tensor.name,
          " has the dim order ", tensor->dim_order, ", but must be contiguous");
}

void has_pairs(TensorArgument tensor) {
  const auto* inner = tensor->dim_order.end();
  while (inner[-1] != tensor->rank() - 1 && tensor->sizes[inner[-1]] == 1) --inner;
  require(inner[-1] == tensor->rank() - 1, tensor.name, " has sizes ", tensor->sizes, " and dim order ",
          tensor->dim_order, ", in which the last dimension is not the innermost");
}

// Rows and steps along other dimensions are of whole elements of the wider dtype, also in a tensor without elements.
void reinterprets(TensorArgument tensor, Argument<Int> dtype) {
  const Int from = info(tensor->dtype).bytes, to = info(types::named(dtype)).bytes, last = tensor->rank() - 1;
  if (from == to) return;
  bool fits = last >= 0;
  Int step = 1;
  for (int k = tensor->rank() - 1; k >= 0; --k) {
    const Int d = tensor->dim_order[k], n = tensor->sizes[d];
    fits = fits && (d != last || step == 1) && count({d == last ? n : step, from}) % to == 0;
    step = count({step, std::max<Int>(n, 1)});
  }
  require(fits, dtype.name, " is ", types::named(dtype), ", but ", tensor.name, " of sizes ", tensor->sizes,
          ", dim order ", tensor->dim_order, " and dtype ", tensor->dtype,
          " has no whole elements of that width side by side along its last dimension");
}

void has_memory_format(TensorArgument tensor) {
  const Dims order = layouts::normal(tensor->sizes, layouts::suggested(tensor->sizes, tensor));
  require(layouts::normal(tensor->sizes, tensor->dim_order) == order, tensor.name, " has the dim order ",
          tensor->dim_order, ", but must be contiguous or channels last");
}

void is_order(Argument<const Ints*> order, Argument<const Ints*> size) {
  Ints sorted = *order.value;
  std::ranges::sort(sorted);
  Int next = 0;
  const bool counts = std::ranges::all_of(sorted, [&](Int d) { return d == next++; });
  require(counts && order->size() == size->size(), order.name, " is ", *order.value,
          ", but must name each dimension of sizes ", *size.value, " once");
}

void not_channels_last(TensorArgument tensor, Int rank) {
  Dims channels_last = Dims::counting(static_cast<int>(rank));
  std::rotate(channels_last.begin() + 1, channels_last.begin() + 2, channels_last.end());
  require(tensor->dim_order != channels_last, tensor.name, " has dim order ", tensor->dim_order,
          ", channels last, which is not supported");
}

}  // namespace rules
}  // namespace assay
