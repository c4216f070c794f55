#pragma once

#include <array>
#include <optional>

#include "reference/tensor.h"
#include "reference/value.h"

// Sizes and dim orders that come from a text, checked before a tensor gets them.
namespace assay::text {

// A tensor without bytes, contiguous if dim_order is missing. Throws a Fault: malformed call.tensor if a size is
// negative, if the tensor's bytes (or its strides, if a size is zero) exceed int64, or if dim_order is not a
// permutation; exhausted limits.rank.
Tensor layout(DType dtype, const Ints& sizes, const std::optional<Ints>& dim_order = std::nullopt);

// The number of bytes that the elements of a tensor take.
std::size_t byte_count(const Tensor& tensor);

// Stores the elements, in row-major order, in a tensor without bytes.
void fill(Tensor& tensor, Array<Element> elements);

// Finds the sizes of nested lists while they are read, and refuses ragged ones with a malformed Fault of call.tensor.
class Nesting {
 public:
  void element(int depth);           // a number was read inside `depth` lists
  void list(int depth, Int length);  // a list was read inside `depth` lists
  Ints sizes() const;

 private:
  std::array<std::optional<Int>, max_rank> lengths_;
  std::optional<int> rank_;
};

}  // namespace assay::text
