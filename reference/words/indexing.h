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

// The indices of the elements that are not zero (NaN is not), row-major: one row for each, one column for each
// dimension.
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
  Dims block;     // the sizes to which the indices broadcast
  int first = 0;  // position of the block in the result: in place of indexed dimensions that adjoin, else in front
  Dims sizes;     // the sizes of the result
  Dims whole;     // the dimensions that no index takes
};

struct Indexing : IndexedSizes {
  std::vector<std::optional<Array<Int>>>
      at;  // for each dimension of self: the index along it, or none where it stays whole

  Dims source(const Dims& i) const;  // the index in self of element i of the result
};

// Whether the tensor is a mask, which marks elements; else it holds indices. uint8 is PyTorch's old bool.
inline bool is_mask(const Tensor& index) { return index.dtype == DType::boolean || index.dtype == DType::uint8; }

// The number of dimensions of self that an entry of the list takes: for a mask its rank, else 1.
inline int indexed_dims(const std::optional<Tensor>& index) { return index && is_mask(*index) ? index->rank() : 1; }

// The sizes of a tensor indexed by a list of int32, int64 or mask tensors, which take at most as many dimensions as
// `sizes` has; a mask becomes the indices of its true elements. Throws Broken where the indices do not broadcast. Reads
// the elements of masks only.
IndexedSizes indexed_sizes(const Tensors& indices, const Dims& sizes);
// Reads the elements of indices too: a negative index counts from the end.
Indexing indexing(const Tensors& indices, const Dims& sizes);

}  // namespace assay
