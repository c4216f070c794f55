#pragma once

#include <stdexcept>
#include <type_traits>
#include <vector>

#include "reference/tensor.h"

// Tensors from lists of numbers, and back.
namespace assay {

// A contiguous tensor of these row-major values, rounded or wrapped to the dtype. tensor<Int> keeps integers beyond
// 2^53 exact; tensor<Bits> stores the values as bit patterns.
template <class T = Real>
Tensor tensor(DType dtype, const Dims& sizes, const std::type_identity_t<std::vector<T>>& values) {
  Array<T> array(sizes);
  if (array.data.size() != values.size()) throw std::invalid_argument("tensor: one value for each element is wanted");
  array.data.assign(values.begin(), values.end());
  Tensor made = make(dtype, sizes);
  if constexpr (std::is_same_v<T, Bits>)
    write_parts(array, made);
  else
    write(array, made);
  return made;
}

// A tensor of these row-major values in the given dim order.
template <class T = Real>
Tensor tensor(DType dtype, const Dims& sizes, const Dims& dim_order,
              const std::type_identity_t<std::vector<T>>& values) {
  return arranged(tensor<T>(dtype, sizes, values), dim_order);
}

// The elements in row-major order.
template <class T = Real>
std::vector<T> values_of(const Tensor& tensor) {
  Array<T> array;
  if constexpr (std::is_same_v<T, Bits>)
    array = read_parts(tensor);
  else
    array = read<T>(tensor);
  return {array.data.begin(), array.data.end()};
}

}  // namespace assay
