#pragma once

#include <cstddef>
#include <optional>

#include "optimized/kernels/pointwise.h"
#include "optimized/runtime/value.h"

// The types in which kernels compute, and the dtypes of tensors.
namespace assay::optimized {

using kernels::Element;

// The type in which kernels compute with elements of the dtype, or nothing if kernels do not compute with the dtype.
std::optional<Element> element_of(DType dtype);
// The type that carries the elements of any real dtype: element_of(), and integers for the unsigned dtypes of 16 bits
// or more.
std::optional<Element> carrier_of(DType dtype);
// Whether `dtype` can hold each number of `from`. Floats count as holding integers, which are rounded.
bool holds(DType dtype, DType from);
DType dtype_of(Element element);  // the dtype whose elements are stored in this type

// Reads n elements with a stride and writes them contiguously in another type. find_gather returns null if there is no
// such conversion: from a floating dtype to integers, and from a dtype that is not real.
using Gather = void (*)(const void* from, std::ptrdiff_t stride, void* to, std::size_t n);
Gather find_gather(DType from, Element to);
// The same. The function converts half types to floats with the vectors of the set.
Gather find_gather(DType from, Element to, kernels::InstructionSet set);
// Stores elements contiguously as elements of a dtype: the low bits of integers, floats rounded, and the real parts of
// complex numbers whose imaginary parts are 0. find_store returns null if there is no such conversion.
using Store = void (*)(const void* from, void* to, std::size_t n);
Store find_store(Element from, DType to);
// The same. The function rounds floats to half types with the vectors of the set.
Store find_store(Element from, DType to, kernels::InstructionSet set);

// Converts one element between dtypes that are not opaque, as PyTorch does.
void convert(DType from, const void* element, DType to, void* converted);

// Reads a number of the program as an element for a computation in the dtype. Returns false if the value is not a
// number or does not fit. An operand always fits: an integer wraps, and a float may become infinite.
bool number_as(DType common, const Value& number, void* to, bool is_operand = false);
// The same, but the number is rounded to the dtype.
bool rounded_number_as(DType dtype, const Value& number, void* to, bool is_operand = false);

// Whether tensors have a common dtype whose elements can be converted to the dtype, which has the same or a higher
// kind.
bool casts_to(std::span<Value* const> tensors, DType dtype);
// The common dtype of tensors. Requires casts_to().
DType common_of(std::span<Value* const> tensors, DType otherwise);

// The common dtype of tensors and numbers, by PyTorch's promotion. The parts of a complex common dtype have the dtype
// of floats of a place that comes before the place of the complex operands: tensors with dimensions come before tensors
// of rank 0, and these before numbers.
class Promotion {
 public:
  void add(const Value& operand);
  std::optional<DType> result() const;  // empty if there is no common dtype or kernels do not support it

 private:
  // The dtypes of tensors with dimensions, of tensors of rank 0, and of numbers; -1 if there are none.
  int of_[3] = {-1, -1, -1};
  bool known_ = true;
};

}  // namespace assay::optimized
