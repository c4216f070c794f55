#include "reference/words/layouts.h"

#include "reference/words/indexing.h"

namespace assay::layouts {
namespace {

// PyTorch's numbers of memory formats; 0 is contiguous.
constexpr Int preserve = 1, channels_last = 2, channels_last_3d = 3;

// Channels last: dimension 1, the channels, moves to the end.
Dims channels_moved(int rank) {
  Dims order = Dims::counting(rank);
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

bool is_channels_last(const Tensor& t) {
  return (t.rank() == 4 || t.rank() == 5) && t.dim_order == channels_moved(t.rank());
}

// The strides of an operand along each dimension of a result; 0 where the operand is broadcast.
using Steps = Dims;

Steps steps(const Dims& sizes, const Tensor& operand) {
  Dims all = Dims::filled(sizes.size(), 0);
  Int step = 1;
  for (int k = operand.rank() - 1; k >= 0; --k) {
    const Int d = operand.dim_order[k], n = operand.sizes[d], at = d + sizes.size() - operand.rank();
    if (n == sizes[at] || n > 1) all[at] = step;
    step = count({step, std::max<Int>(n, 1)});
  }
  return all;
}

// Negative where dimension a lies inside b, positive where b lies inside a, 0 where no operand decides.
int compare(Int a, Int b, const Dims& sizes, const std::vector<Steps>& operands) {
  for (const Steps& step : operands) {
    if (step[a] == 0 || step[b] == 0) continue;
    if (step[a] != step[b]) return step[a] < step[b] ? -1 : 1;
    if (sizes[a] > sizes[b]) return 1;
  }
  return 0;
}

// Sorts the dimensions: each moves outwards, past dimensions that no operand compares it with, until it meets one that
// it lies inside.
Dims nested(const Dims& sizes, const std::vector<Steps>& operands) {
  Dims order = Dims::counting(sizes.size());
  std::reverse(order.begin(), order.end());  // innermost first
  for (int i = 1; i < order.size(); ++i)
    for (int at = i, k = i - 1; k >= 0; --k) {
      const int c = compare(order[k], order[at], sizes, operands);
      if (c < 0) break;
      if (c > 0) std::swap(order[k], order[at]), at = k;
    }
  std::reverse(order.begin(), order.end());
  return normal(sizes, order);
}

}  // namespace

Dims like(const Dims& sizes, const std::vector<const Tensor*>& tensors) {
  std::vector<Steps> operands;
  for (const Tensor* t : tensors)
    if (t->rank() <= sizes.size())  // a result that output_mask leaves out may have a lower rank
      operands.push_back(steps(sizes, *t));
  const Dims order = nested(sizes, operands);
  for (const Tensor* t : tensors)  // if several dim orders give the same layout, take the dim order of an operand
    if (t->sizes == sizes && normal(sizes, t->dim_order) == order) return t->dim_order;
  return order;
}

Dims normal(const Dims& sizes, const Dims& order) {
  Int before = -1;
  for (Int d : order) {
    if (sizes[d] == 1) continue;
    if (d < before && count(sizes) > 0) return order;
    before = d;
  }
  return contiguous(sizes);
}

Dims format(const Dims& sizes, Argument<std::optional<Int>> memory_format) {
  const Int format = memory_format.value.value_or(0);
  return format == channels_last || format == channels_last_3d ? normal(sizes, channels_moved(sizes.size()))
                                                               : contiguous(sizes);
}

Dims format(const Dims& sizes, Argument<std::optional<Int>> memory_format, TensorArgument tensor) {
  return memory_format.value.value_or(preserve) == preserve ? tensor->dim_order : format(sizes, memory_format);
}

Dims ordered(const Dims& sizes, Argument<const Ints*> dim_order) {
  return dim_order && dim_order->size() == 4 && (*dim_order.value)[1] == 2 ? Dims(*dim_order.value) : contiguous(sizes);
}

Dims ordered(const Dims& sizes, Argument<const Ints*> dim_order, TensorArgument tensor) {
  return dim_order ? ordered(sizes, dim_order) : tensor->dim_order;
}

Dims strided(const Dims& sizes, Argument<const Ints*> stride) {
  const auto step_of = [&](Int d) { return (*stride.value)[static_cast<std::size_t>(d)]; };
  Dims order = contiguous(sizes);
  std::stable_sort(order.begin(), order.end(), [&](Int a, Int b) { return step_of(a) > step_of(b); });
  Int step = 1;
  for (int k = order.size() - 1; k >= 0; --k) {
    if (sizes[order[k]] != 1 && step_of(order[k]) != step) return contiguous(sizes);
    step = count({step, sizes[order[k]]});
  }
  return normal(sizes, order);
}

Dims like_unless_complex(const Dims& sizes, TensorArgument tensor) {
  return is_complex(tensor->dtype) ? contiguous(sizes) : like(sizes, tensor);
}

Dims suggested(const Dims& sizes, TensorArgument tensor) {
  return is_channels_last(*tensor.value) ? channels_moved(sizes.size()) : contiguous(sizes);
}

Dims suggested(const Dims& sizes, TensorArgument input, TensorArgument weight) {
  switch (sizes.size()) {
    case 3:
      return suggested_1d(sizes, weight);
    case 4:
      return suggested(sizes, is_channels_last(*input.value) ? input : weight);
    default:
      return contiguous(sizes);
  }
}

Dims suggested_1d(const Dims& sizes, TensorArgument tensor) {
  const Dims moved = channels_moved(3);
  const bool moves = tensor->dim_order == moved && (tensor->sizes[1] != 1 || tensor->sizes[2] != 1);
  return moves ? moved : contiguous(sizes);
}

Dims suggested(const Dims& sizes, Argument<const Tensors*> tensors) {
  const bool all = std::ranges::all_of(*tensors.value, [](const auto& t) { return is_channels_last(*t); });
  return all ? channels_moved(sizes.size()) : contiguous(sizes);
}

// PyTorch concatenates channels last tensors along a dimension that they have, and then splits it in two.
Dims stacked(const Dims& sizes, Argument<const Tensors*> tensors, Argument<Int> dim) {
  const Tensor& first = *tensors->front();
  const Dims joined = suggested(first.sizes, tensors);
  const Int added = wrap_dim(dim.value, sizes.size());
  if (added == first.rank()) return contiguous(sizes);
  Dims order;
  for (const Int d : joined) {
    if (d == added) order.push_back(added);
    order.push_back(d < added ? d : d + 1);
  }
  return normal(sizes, order);
}

Dims innermost(const Dims& sizes, TensorArgument tensor, Argument<const Ints*> dim) {
  Dims order = tensor->dim_order;
  std::stable_partition(order.begin(), order.end(), [&](Int d) { return std::ranges::count(*dim.value, d) == 0; });
  return normal(sizes, order);
}

Dims last_innermost(const Dims& sizes, TensorArgument tensor, Argument<const Ints*> dim) {
  Dims order = innermost(tensor->sizes, tensor, dim);
  std::stable_partition(order.begin(), order.end(), [&](Int d) { return d != dim->back(); });
  return normal(sizes, order);
}

// The indexed tensor counts as an operand that is broadcast along the dimensions of the indices.
Dims indexed(const Dims& sizes, TensorArgument tensor, Argument<const Tensors*> indices) {
  const IndexedSizes x = indexed_sizes(*indices.value, tensor->sizes);
  const Steps own = steps(tensor->sizes, *tensor.value);
  std::vector<Steps> operands(1);
  for (const Int d : x.whole) operands[0].push_back(own[d]);
  for (int k = 0; k < x.block.size(); ++k) operands[0].insert(x.first, 0);
  for (const auto& index : *indices.value) {
    if (!index || is_mask(*index)) continue;
    const Steps in_block = steps(x.block, *index);
    operands.push_back(Steps::filled(sizes.size(), 0));
    std::ranges::copy(in_block, operands.back().begin() + x.first);
  }
  return nested(sizes, operands);
}

}  // namespace assay::layouts
