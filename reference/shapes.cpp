#include "reference/shapes.h"

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

Dims resized(TensorArgument tensor, Argument<Int> dim, Argument<Int> size) {
  Dims sizes = tensor->sizes;
  if (sizes.size() > 0) sizes[wrap_dim(dim.value, sizes.size())] = size.value;
  return sizes;
}

Dims ones_at_end(TensorArgument tensor, Argument<const Ints*> last) {
  Dims sizes = tensor->sizes;
  std::fill_n(sizes.end() - last->size(), last->size(), 1);
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

}  // namespace assay::shapes

namespace assay::layouts {

Dims channels_last_as(const Dims& sizes, TensorArgument tensor) {
  const int rank = tensor->rank();
  Dims last = Dims::counting(rank);
  if (rank == 4 || rank == 5) std::rotate(last.begin() + 1, last.begin() + 2, last.end());
  return tensor->dim_order == last ? last : Dims::counting(sizes.size());
}

}  // namespace assay::layouts

namespace assay::terms {

Int product(Argument<const Ints*> sizes) { return std::accumulate(sizes->begin(), sizes->end(), Int{1}, wrapping_multiply); }

Int quotient(TensorArgument tensor, Argument<Int> a, Argument<Int> b) {
  return tensor->count() / std::max<Int>(wrapping_multiply(a.value, b.value), 1);
}

}  // namespace assay::terms
