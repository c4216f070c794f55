#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "reference/array.h"
#include "reference/dtype.h"

namespace assay {

// A dense tensor. `dim_order` lists the dimensions outermost first; `bytes` holds the elements in that order, little
// endian, without gaps. A tensor whose dtype, sizes and dim order alone are known has no bytes; reading its elements
// throws Unknown.
struct Tensor {
  DType dtype = DType::float32;
  Dims sizes;
  Dims dim_order;
  Buffer<std::byte> bytes;

  int rank() const { return sizes.size(); }
  Int count() const { return assay::count(sizes); }
};

// A zeroed tensor. Without dim_order it is contiguous.
Tensor make(DType dtype, const Dims& sizes);
Tensor make(DType dtype, const Dims& sizes, const Dims& dim_order);

// Whether dim_order names each of `rank` dimensions once.
bool is_dim_order(const Dims& dim_order, int rank);

// The elements in row-major order. T is Real (for a floating, integer or bool tensor; for a complex tensor, the real
// part), Complex (for a complex tensor), Int (for an integer or bool tensor) or Element (for any).
template <class T>
Array<T> read(const Tensor& tensor);

// The same, after conversion of the tensor to `dtype`.
template <class T>
Array<T> read(const Tensor& tensor, DType dtype);

// Stores values, which have the tensor's own sizes. Real and the parts of Complex are rounded, or truncated as ATen
// casts. Int wraps or is rounded. An Element is stored unchanged. If only the value or only the element is complex,
// only real parts are stored.
template <class T>
void write(const Array<T>& values, Tensor& tensor);

// The bit patterns of the numbers in row-major order. For a complex tensor the result is a row of parts, the two parts
// of an element adjacent; otherwise it has the tensor's sizes.
Array<Bits> read_parts(const Tensor& tensor);
void write_parts(const Array<Bits>& parts, Tensor& tensor);

// The tensor in another dtype, each element converted as by ATen's copy. float64 reaches a half type through float32. A
// complex element keeps its real part, and as bool it is true if it is not zero.
Tensor cast(const Tensor& tensor, DType dtype);

// The same values in another dim order.
Tensor arranged(const Tensor& tensor, const Dims& dim_order);

}  // namespace assay
