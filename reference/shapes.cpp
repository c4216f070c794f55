#include "reference/shapes.h"

#include <cmath>

#include "reference/window.h"

namespace assay::shapes {

void Broadcasting::add(std::string_view name, const Dims& sizes) {
  while (sizes_.size() < sizes.size()) sizes_.insert(0, 1);
  const int lead = sizes_.size() - sizes.size();
  for (int d = 0; d < sizes.size(); ++d) {
    Int& mine = sizes_[lead + d];
    require(sizes[d] == mine || sizes[d] == 1 || mine == 1, name, " has sizes ", sizes, ", which do not broadcast with ", sizes_);
    if (mine == 1) mine = sizes[d];
  }
}

Dims sizes(Argument<const Ints*> list) {
  for (Int n : *list.value) require(n >= 0, list.name, " is ", *list.value, ", but no size may be negative");
  return Dims(*list.value);
}

Dims dims(TensorArgument tensor, Argument<const Ints*> dim) {
  if (!dim || dim->empty()) return dims(tensor);
  Dims named;
  for (Int d : *dim.value)
    if (tensor->rank() > 0) named.push_back(wrap_dim(d, tensor->rank()));
  return named;
}

Dims dims(TensorArgument tensor, Argument<Int> dim) {
  return tensor->rank() == 0 ? Dims{} : Dims{wrap_dim(dim.value, tensor->rank())};
}

Dims dims(TensorArgument tensor, Argument<std::optional<Int>> dim) { return dim.value ? dims(tensor, some(dim)) : dims(tensor); }

Dims without(const Dims& sizes, const Dims& dims, bool keepdim) {
  Dims left;
  for (Int d = 0; d < sizes.size(); ++d) {
    const bool gone = std::ranges::find(dims, d) != dims.end();
    if (!gone || keepdim) left.push_back(gone ? 1 : sizes[d]);
  }
  return left;
}

Dims permuted(TensorArgument tensor, Argument<const Ints*> dims) {
  Dims sizes;
  for (Int d : *dims.value) sizes.push_back(tensor->sizes[wrap_dim(d, tensor->rank())]);
  return sizes;
}

std::vector<Dims> split(TensorArgument tensor, Argument<Int> split_size, Argument<Int> dim) {
  const Int along = wrap_dim(dim.value, tensor->rank()), whole = tensor->sizes[along];
  std::vector<Dims> pieces;
  Int start = 0;
  do {
    pieces.push_back(tensor->sizes);
    pieces.back()[along] = std::min(split_size.value, whole - start);
    start += split_size.value;
  } while (start < whole);
  return pieces;
}

Dims last_as_one(TensorArgument tensor) {
  Dims sizes = tensor->sizes;
  if (sizes.size() > 0) sizes[sizes.size() - 1] = 1;
  return sizes;
}

Dims per_channel(TensorArgument input, TensorArgument channels, Argument<Int> axis) {
  Dims along = Dims::filled(input->rank(), 1);
  along[wrap_dim(axis.value, input->rank())] = channels->sizes[0];
  Broadcasting both;
  both.add(input.name, input->sizes);
  both.add(channels.name, along);
  return both.sizes();
}

Dims pooled(TensorArgument self, Argument<const Ints*> kernel_size, Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<bool> ceil_mode) {
  static const Ints one{1};
  return pooled(self, kernel_size, stride, padding, Argument<const Ints*>{"dilation", &one}, ceil_mode);
}

Dims pooled(TensorArgument self, Argument<const Ints*> kernel_size, Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<const Ints*> dilation, Argument<bool> ceil_mode) {
  Dims sizes = self->sizes;
  const int first = sizes.size() - 2;
  for (Int d = 0; d < 2; ++d) sizes[first + d] = window_axis(d, *kernel_size.value, *stride.value, *padding.value, *dilation.value).places(sizes[first + d], ceil_mode.value);
  return sizes;
}

Dims with_last(TensorArgument self, Argument<const Ints*> sizes) {
  Dims result = self->sizes;
  std::ranges::copy_backward(*sizes.value, result.end());
  return result;
}

Dims resized(TensorArgument input, Argument<const Ints*> output_size, Argument<const Doubles*> scale_factors) {
  if (output_size) return with_last(input, output_size);
  Ints sizes;
  const int first = input->rank() - static_cast<int>(scale_factors->size());
  for (int d = first; d < input->rank(); ++d) sizes.push_back(static_cast<Int>(std::floor(static_cast<double>(input->sizes[d]) * (*scale_factors.value)[static_cast<std::size_t>(d - first)])));
  return with_last(input, {scale_factors.name, &sizes});
}

Dims convolved(TensorArgument input, TensorArgument weight, Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<const Ints*> dilation,
               Argument<bool> transposed, Argument<const Ints*> output_padding, Argument<Int> groups) {
  Dims sizes = input->sizes;
  if (input->sizes[1] > 0) sizes[1] = transposed.value ? weight->sizes[1] * groups.value : weight->sizes[0];
  for (Int d = 0; d + 2 < sizes.size(); ++d) {
    const WindowAxis axis{weight->sizes[d + 2], entry(*stride.value, d), entry(*padding.value, d), entry(*dilation.value, d)};
    Int& size = sizes[d + 2];
    size = transposed.value ? axis.start(size - 1) - axis.padding + axis.extent() + entry(*output_padding.value, d) : axis.places(size, false);
  }
  return sizes;
}

}  // namespace assay::shapes

namespace assay::terms {

Int window(Argument<const Ints*> kernel_size) { return entry(*kernel_size.value, 0) * entry(*kernel_size.value, 1); }

Int adaptive_window(TensorArgument self, Argument<const Ints*> output_size) {
  Int cells = 1;
  for (int d = 0; d < 2; ++d) {
    const Int out = (*output_size.value)[static_cast<std::size_t>(d)];
    cells *= out == 0 ? 1 : self->sizes[self->rank() - 2 + d] / out + 2;
  }
  return cells;
}

Int convolved(TensorArgument weight, Argument<bool> transposed, Argument<Int> groups) {
  const Int channels = transposed.value ? weight->sizes[1] * groups.value : weight->sizes[0];
  return weight->count() / std::max<Int>(channels, 1) + 1;
}

}  // namespace assay::terms
