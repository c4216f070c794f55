#include "reference/words/rules.h"

#include <algorithm>

#include "reference/words/indexing.h"
#include "reference/words/shapes.h"
#include "reference/words/terms.h"

namespace assay {
namespace rules {

void index_count(Argument<const Tensors*> indices, TensorArgument self) {
  Int taken = 0;
  for (const auto& index : *indices.value) taken += indexed_dims(index);
  require(taken <= self->rank(), indices.name, " takes ", taken, taken == 1 ? " dimension" : " dimensions", ", but ",
          self.name, " has sizes ", self->sizes);
}

void takes_dims(Argument<const Tensors*> indices) {
  const bool taken =
      std::ranges::any_of(*indices.value, [](const auto& index) { return index && indexed_dims(index) > 0; });
  require(taken, indices.name, " has neither an index nor a mask with dimensions");
}

void masks_fit(Argument<const Tensors*> indices, TensorArgument self) {
  Int at = 0;
  for (const auto& index : *indices.value) {
    if (index && is_mask(*index)) {
      const Dims taken(std::span(self->sizes.begin() + at, static_cast<std::size_t>(index->rank())));
      require(index->sizes == taken, indices.name, " has a mask of sizes ", index->sizes, ", but the dimensions of ",
              self.name, " that it takes have sizes ", taken);
    }
    at += indexed_dims(index);
  }
}

void indices_broadcast(Argument<const Tensors*> indices, TensorArgument self) {
  static_cast<void>(indexed_sizes(*indices.value, self->sizes));
}

void indices_within(TensorArgument index, TensorArgument self, Int dim) {
  const Int n = terms::size(self, dim);
  for (Int i : read<Int>(*index.value).data)
    require(0 <= i && i < n, index.name, " has the element ", i, ", but must be between 0 and ", n - 1,
            ", as dimension ", dim, " of ", self.name, " has size ", n);
}

void indices_within(TensorArgument index, TensorArgument self, Argument<Int> dim) {
  indices_within(index, self, dim.value);
}

void indices_within(Argument<const Tensors*> indices, TensorArgument self) {
  const Indexing x = indexing(*indices.value, self->sizes);
  for (Int d = 0; d < self->rank(); ++d) {
    const auto& index = x.at[static_cast<std::size_t>(d)];
    const Int n = self->sizes[d];
    if (!index || (n > 0 && count(x.sizes) == 0)) continue;
    for (Int i : index->data)
      require(0 <= i && i < n, indices.name, " has the index ", i < 0 ? i - n : i, ", but dimension ", d, " of ",
              self.name, " has size ", n);
  }
}

void places_within(TensorArgument indices, TensorArgument self) {
  const Int plane = count({self->sizes[self->rank() - 2], self->sizes[self->rank() - 1]});
  for (const Int i : read<Int>(*indices.value).data)
    require(i >= 0 && i < plane, indices.name, " has element ", i, ", but a plane of ", self.name, " has ", plane);
}

void no_zero(TensorArgument divisor, DType common) {
  if (info(common).kind > Kind::integer) return;
  const Buffer<Int> values = read<Int>(*divisor.value, common).data;
  require(std::ranges::find(values, 0) == values.end(), divisor.name, " has a zero element in ", common,
          ", but the division is of integers");
}

void no_zero(Argument<Scalar> divisor, DType common) {
  const bool fine = info(common).kind > Kind::integer || number<Int>(divisor.value, common) != 0;
  require(fine, divisor.name, " is ", divisor.value, ", which is 0 in ", common, ", but the division is of integers");
}

void bags_cover(TensorArgument offsets, TensorArgument indices, Argument<bool> include_last) {
  Buffer<Int> bounds = read<Int>(*offsets.value).data;
  const Int end = indices->count();
  if (!include_last.value) bounds.push_back(end);
  require(bounds.front() == 0 && bounds.back() == end && std::ranges::is_sorted(bounds), offsets.name, " are ", bounds,
          ", but must lead from 0 to the ", end, " elements of ", indices.name, " without falling");
}

void nonzero(TensorArgument tensor) {
  const Buffer<Real> values = read<Real>(*tensor.value).data;
  require(std::ranges::find(values, Real{0}) == values.end(), tensor.name, " has a zero element");
}

void none_negative(TensorArgument tensor) {
  const Buffer<Int> values = read<Int>(*tensor.value).data;
  const auto found = std::ranges::find_if(values, [](Int n) { return n < 0; });
  require(found == values.end(), tensor.name, " has the element ", found == values.end() ? 0 : *found,
          ", but none may be negative");
}

void source_suffices(TensorArgument source, TensorArgument tensor, TensorArgument mask) {
  const Int wanted = shapes::marked(tensor, mask);
  require(source->count() >= wanted, source.name, " has ", source->count(), " elements, but ", mask.name, " asks for ",
          wanted);
}

}  // namespace rules
}  // namespace assay
