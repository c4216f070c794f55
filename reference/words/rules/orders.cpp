#include "reference/words/rules.h"

#include <algorithm>

#include "reference/words/dtypes.h"
#include "reference/words/layouts.h"

namespace assay {
namespace {

void check_format(Argument<Int> format, Int rank) {
  constexpr Int channels_last = 2, channels_last_3d = 3;
  require(format.value >= 0 && format.value <= channels_last_3d, format.name, " is ", format.value,
          ", which is the number of no memory format");
  require(format.value != channels_last || rank == 4, format.name, " is channels_last, which needs 4 dimensions, not ",
          rank);
  require(format.value != channels_last_3d || rank == 5, format.name,
          " is channels_last_3d, which needs 5 dimensions, not ", rank);
}

// PyTorch has no memory format for any other order, and does not look at how long a contiguous one is.
void check_order(Argument<const Ints*> order, Int rank) {
  const bool contiguous = std::ranges::equal(
      *order.value, Dims::counting(static_cast<int>(std::min<std::size_t>(order->size(), max_rank))));
  require(contiguous || (rank == 4 && *order.value == Ints{0, 2, 3, 1}), order.name, " is ", *order.value,
          ", but must be 0, 1, 2... or for 4 dimensions (0, 2, 3, 1)");
}

}  // namespace

namespace rules {

void format_fits(Argument<Int> memory_format, TensorArgument tensor) { check_format(memory_format, tensor->rank()); }

void format_fits(Argument<Int> memory_format, Argument<const Ints*> size) {
  check_format(memory_format, static_cast<Int>(size->size()));
}

void same_order(TensorArgument a, TensorArgument b) {
  require(a->dim_order == b->dim_order, b.name, " has dim order ", b->dim_order, ", but must have that of ", a.name,
          ", ", a->dim_order);
}

void is_contiguous(TensorArgument tensor) {
  require(layouts::normal(tensor->sizes, tensor->dim_order) == layouts::contiguous(tensor->sizes), tensor.name,
          " has the dim order ", tensor->dim_order, ", but must be contiguous");
}

// Rows of a wider dtype's elements, and steps along other dimensions, are of whole ones, also where there is no
// element.
void has_pairs(TensorArgument tensor) {
  const auto* inner = tensor->dim_order.end();
  while (inner[-1] != tensor->rank() - 1 && tensor->sizes[inner[-1]] == 1) --inner;
  require(inner[-1] == tensor->rank() - 1, tensor.name, " has sizes ", tensor->sizes, " and dim order ",
          tensor->dim_order, ", in which the last dimension is not the innermost");
}

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

void is_format_order(Argument<const Ints*> dim_order, TensorArgument tensor) { check_order(dim_order, tensor->rank()); }

void is_format_order(Argument<const Ints*> dim_order, Argument<const Ints*> size) {
  check_order(dim_order, static_cast<Int>(size->size()));
}

void is_order(Argument<const Ints*> order, Argument<const Ints*> size) {
  Ints sorted = *order.value;
  std::ranges::sort(sorted);
  Int next = 0;
  const bool counts = std::ranges::all_of(sorted, [&](Int d) { return d == next++; });
  require(counts && order->size() == size->size(), order.name, " is ", *order.value,
          ", but must name each dimension of sizes ", *size.value, " once");
}

void none_with_out(Argument<std::optional<Int>> memory_format, TensorArgument out) {
  require(!memory_format.value || !out, memory_format.name, " must be None where ", out.name, " is given");
}

void not_channels_last(TensorArgument tensor, Int rank) {
  Dims channels_last = Dims::counting(static_cast<int>(rank));
  std::rotate(channels_last.begin() + 1, channels_last.begin() + 2, channels_last.end());
  require(tensor->dim_order != channels_last, tensor.name, " has dim order ", tensor->dim_order,
          ", channels last, which is not supported");
}

}  // namespace rules
}  // namespace assay
