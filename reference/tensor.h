#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "reference/array.h"
#include "reference/dtype.h"

namespace assay {

// A dense tensor. `dim_order` lists the dimensions, outermost first. `bytes` holds the elements in that order,
// little-endian and without gaps. `bytes` is empty if the elements are not known; reading the elements then throws
// Unknown.
struct Tensor {
  DType dtype = DType::float32;
  Dims sizes;
  Dims dim_order;
  Buffer<std::byte> bytes;

  int rank() const { return sizes.size(); }
  Int count() const { return assay::count(sizes); }
};

// Makes a tensor of zeros. Without `dim_order` it is contiguous.
Tensor make(DType dtype, const Dims& sizes);
Tensor make(DType dtype, const Dims& sizes, const Dims& dim_order);

// Whether dim_order has each of the dimensions 0 to rank - 1 once.
bool is_dim_order(const Dims& dim_order, int rank);

// Returns the elements in row-major order. T may be Real (for floating, integer and bool tensors; for a complex tensor
// it gives the real parts), Complex (for complex tensors), Int (for integer and bool tensors) or Element (for all
// tensors).
template <class T>
Array<T> read(const Tensor& tensor);

// Converts the tensor to `dtype` and then returns its elements.
template <class T>
Array<T> read(const Tensor& tensor, DType dtype);

// Stores values in the tensor. Requires values of the tensor's sizes. Real values and the parts of Complex values are
// rounded to a floating dtype, or truncated to an integer dtype as ATen casts. Int values wrap or are rounded. An
// Element is stored unchanged. A Complex value in a tensor that is not complex loses its imaginary part; a real value
// in a complex tensor changes the real part alone.
template <class T>
void write(const Array<T>& values, Tensor& tensor);

// Returns the bit patterns of the numbers in row-major order. For a complex tensor the result has one dimension, in
// which the two parts of each element are adjacent; otherwise it has the tensor's sizes.
Array<Bits> read_parts(const Tensor& tensor);
void write_parts(const Array<Bits>& parts, Tensor& tensor);

// Returns the tensor in another dtype. Each element is converted as ATen's copy does it: float64 is rounded to float32
// before it is rounded to a half type; a complex element is converted to bool by whether it is zero, and to other
// dtypes that are not complex by its real part.
Tensor cast(const Tensor& tensor, DType dtype);

// Returns the tensor with the same values in another dim order.
Tensor arranged(const Tensor& tensor, const Dims& dim_order);

}  // namespace assay
