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

// Returns the elements in row-major order. T may be
// - Real, for floating, integer, bool and complex tensors; of a complex element, only the real part is returned,
// - Complex, for complex tensors,
// - Int, for integer and bool tensors,
// - Element, for all tensors.
template <class T>
Array<T> read(const Tensor& tensor);

// Converts the tensor to `dtype` and then returns its elements.
template <class T>
Array<T> read(const Tensor& tensor, DType dtype);

// Stores values in the tensor. Requires values of the tensor's sizes. A floating dtype rounds Real values, Int values
// and the parts of Complex values. An integer dtype truncates Real values as ATen's cast does, and wraps Int values.
// bool stores whether a value is not 0. An Element is stored unchanged. If the tensor is not complex, a Complex value
// is stored as its real part. If the tensor is complex, a Real or Int value changes only the real part of an element.
template <class T>
void write(const Array<T>& values, Tensor& tensor);

// Returns the bit patterns of the numbers in row-major order. If the tensor is complex, the result has one dimension,
// in which the two parts of each element are adjacent. Otherwise, the result has the tensor's sizes.
Array<Bits> read_parts(const Tensor& tensor);
void write_parts(const Array<Bits>& parts, Tensor& tensor);

// Returns the tensor in another dtype. Each element is converted as ATen's copy converts it. A float64 is rounded to
// float32 before it is rounded to a half type. If `dtype` is bool, a complex element becomes true if it is not zero. If
// `dtype` is neither bool nor complex, only the real part of a complex element is converted.
Tensor cast(const Tensor& tensor, DType dtype);

// Returns the tensor with the same values in another dim order.
Tensor arranged(const Tensor& tensor, const Dims& dim_order);

}  // namespace assay
