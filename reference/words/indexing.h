#pragma once

#include <optional>
#include <vector>

#include "reference/array.h"
#include "reference/value.h"

namespace assay {

// A slice of a dimension of `size` elements: negative bounds count from the end; bounds outside are clamped.
struct Slice {
  Int start, length;
};
Slice slice(Int size, std::optional<Int> start, std::optional<Int> end, Int step);

// The indices of the elements that are not zero, in row-major order. NaN counts as not zero. The result has a row for
// each such element and a column for each dimension.
template <class T>
Array<Int> nonzero_indices(const Array<T>& x) {
  Buffer<Int> found;
  Int flat = 0, number = 0;
  for (const Dims& i : indices(x.sizes)) {
    if (x[flat++] == T{0}) continue;
    found.insert(found.end(), i.begin(), i.end());
    ++number;
  }
  Array<Int> rows(Dims{number, x.sizes.size()});
  rows.data = std::move(found);
  return rows;
}

// The sizes of a tensor indexed by a list of tensors, as self[indices] does.
struct IndexedSizes {
  Dims block;  // the sizes of the indices after they are broadcast to each other
  // The first dimension of the block in the result. The block replaces the indexed dimensions if they are adjacent;
  // else it comes first.
  int first = 0;
  Dims sizes;  // the sizes of the result
  Dims whole;  // the dimensions of self that are not indexed
};

struct Indexing : IndexedSizes {
  // For each dimension of self, the index along it. Empty for a dimension that is not indexed.
  std::vector<std::optional<Array<Int>>> at;

  Dims source(const Dims& i) const;  // the index in self of element i of the result
};

// Whether the tensor is a mask, which marks elements. Other tensors hold indices. A uint8 tensor is a mask, because
// PyTorch once had no bool.
inline bool is_mask(const Tensor& index) { return index.dtype == DType::boolean || index.dtype == DType::uint8; }

// The number of dimensions of self that an entry of the list indexes: the rank of a mask, and 1 for other entries.
inline int indexed_dims(const std::optional<Tensor>& index) { return index && is_mask(*index) ? index->rank() : 1; }

// The sizes of a tensor with `sizes` when it is indexed by a list of int32, int64 or mask tensors. A mask is replaced
// by the indices of its true elements. Requires that the list indexes at most as many dimensions as `sizes` has. Throws
// Broken if the indices do not broadcast. Reads only the elements of masks.
IndexedSizes indexed_sizes(const Tensors& indices, const Dims& sizes);
// The same, with the indices. Reads the elements of all tensors. A negative index counts from the end.
Indexing indexing(const Tensors& indices, const Dims& sizes);

}  // namespace assay
