#pragma once

#include <array>
#include <optional>

#include "reference/tensor.h"
#include "reference/value.h"

// Sizes and dim orders as they come from a text, checked before a tensor has them.
namespace assay {

// A tensor without bytes. Without dim_order, contiguous. Throws a Fault: malformed call.tensor where a size is
// negative, the tensor's bytes (or its strides, if a size is zero) exceed int64, or dim_order is no permutation;
// exhausted limits.rank.
Tensor layout(DType dtype, const Ints& sizes, const std::optional<Ints>& dim_order = std::nullopt);

// How many bytes the elements of a tensor take.
std::size_t byte_count(const Tensor& tensor);

// Stores the elements, row-major, in a tensor without bytes.
void fill(Tensor& tensor, Array<Element> elements);

// Finds the sizes of nested lists while they are read, and refuses ragged ones with a malformed Fault of call.tensor.
class Nesting {
 public:
  void element(int depth);           // a number was read inside of `depth` lists
  void list(int depth, Int length);  // a list was read inside of `depth` lists
  Ints sizes() const;

 private:
  std::array<std::optional<Int>, max_rank> lengths_;
  std::optional<int> rank_;
};

}  // namespace assay
