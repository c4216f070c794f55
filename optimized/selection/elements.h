#pragma once

#include <cstddef>
#include <optional>

#include "optimized/kernels/pointwise.h"
#include "optimized/runtime/value.h"

// The types in which kernels compute, and the dtypes of tensors.
namespace assay::optimized {

using kernels::Element;

// The type in which elements of the dtype are computed. None: kernels do not compute with the dtype.
std::optional<Element> element_of(DType dtype);
bool holds(DType dtype, DType from);  // `dtype` can hold each number of `from`; floats hold rounded integers
DType dtype_of(Element element);      // the dtype whose elements are stored so

// Reads n elements with a stride as elements of type `to`, one after another. Null: there is no such conversion.
using Gather = void (*)(const void* from, std::ptrdiff_t stride, void* to, std::size_t n);
Gather find_gather(DType from, Element to);
// Stores the low bits of elements as elements of a dtype, one after another. Null: there is no such conversion.
using Store = void (*)(const void* from, void* to, std::size_t n);
Store find_store(Element from, DType to);

// Reads a number of the program as an element for a computation in the dtype. False: it is not a number, or does not
// fit.
bool number_as(DType common, const Value& number, void* to);
// The same, rounded as the dtype stores it.
bool rounded_number_as(DType dtype, const Value& number, void* to);

// The common dtype of tensors and numbers, by PyTorch's promotion.
class Promotion {
 public:
  void add(const Value& operand);
  std::optional<DType> result() const;  // none: there is none, or kernels do not know it

 private:
  int of_[3] = {-1, -1, -1};  // tensors with dimensions, tensors without, numbers
  bool known_ = true;
};

}  // namespace assay::optimized
