#pragma once

#include <cstddef>
#include <optional>

#include "optimized/kernels/pointwise.h"
#include "optimized/runtime/value.h"

// The types that kernels compute in, and the dtypes of tensors.
namespace assay::optimized {

using kernels::Element;

// What the elements of a dtype are computed as; none: no kernel knows the dtype.
std::optional<Element> element_of(DType dtype);
bool holds(DType dtype, DType from);  // each number of the other, but that floats round integers
DType dtype_of(Element element);      // whose elements are such as they lie

// n elements, so many from one to the next, as those of `to`, one after another. Null: these are not converted.
using Gather = void (*)(const void* from, std::ptrdiff_t stride, void* to, std::size_t n);
Gather find_gather(DType from, Element to);
// The low bits of elements as those of a dtype, one after another. Null as above.
using Store = void (*)(const void* from, void* to, std::size_t n);
Store find_store(Element from, DType to);

// A number of the program as an element of computations in a dtype. False: it is none, or does not fit.
bool number_as(DType common, const Value& number, void* to);
// As the dtype stores it, too.
bool rounded_number_as(DType dtype, const Value& number, void* to);

// Of tensors and numbers together, as PyTorch promotes them.
class Promotion {
 public:
  void add(const Value& operand);
  std::optional<DType> result() const;  // none: there is none, or no kernel knows it

 private:
  int of_[3] = {-1, -1, -1};  // tensors with dimensions, tensors without, numbers
  bool known_ = true;
};

}  // namespace assay::optimized
