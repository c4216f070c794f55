#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "reference/array.h"
#include "reference/dtype.h"

namespace assay {

// A dense tensor. `dim_order` lists the dimensions outermost first; `bytes` holds the elements in that order, little
// endian, without gaps. One of which only dtype, sizes and dim order are known has no bytes; who reads its elements
// throws Unknown.
struct Tensor {
  DType dtype = DType::float32;
  Dims sizes;
  Dims dim_order;
  Buffer<std::byte> bytes;

  int rank() const { return sizes.size(); }
  Int count() const { return assay::count(sizes); }
};

// A zeroed tensor; without dim_order, contiguous.
Tensor make(DType dtype, const Dims& sizes);
Tensor make(DType dtype, const Dims& sizes, const Dims& dim_order);

// True when dim_order names each of `rank` dimensions once.
bool is_dim_order(const Dims& dim_order, int rank);

// The elements in row-major order. T is Real (of a floating, integer or bool tensor; the real part of a complex
// one), Complex (of a complex one), Int (of an integer or bool tensor) or Element (of any).
template <class T>
Array<T> read(const Tensor& tensor);

// The same, of the tensor converted to `dtype` first.
template <class T>
Array<T> read(const Tensor& tensor, DType dtype);

// Stores values of the tensor's own sizes: Real and the parts of Complex are rounded (or truncated, as ATen casts), Int
// wraps or is rounded, an Element stays as it is. Where value or element alone is complex, only real parts are stored.
template <class T>
void write(const Array<T>& values, Tensor& tensor);

// The bit patterns of the numbers in row-major order, the parts of a complex element one after another: a row of those,
// else of the tensor's sizes.
Array<Bits> read_parts(const Tensor& tensor);
void write_parts(const Array<Bits>& parts, Tensor& tensor);

// The tensor in another dtype, element by element as ATen's copy converts (float64 to a half type goes through
// float32; of a complex element the real part stays, and bool is whether it is not zero).
Tensor cast(const Tensor& tensor, DType dtype);

// The same values in another dim order.
Tensor arranged(const Tensor& tensor, const Dims& dim_order);

}  // namespace assay
