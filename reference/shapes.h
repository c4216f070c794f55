#pragma once

#include "reference/call.h"

// The words in which spec/operators gives the sizes, dim orders and work of results; spec/rules.md defines each.
namespace assay::shapes {

// The sizes to which all broadcast, aligned at the last dimension: equal, or 1.
class Broadcasting {
 public:
  void add(std::string_view name, const Dims& sizes);
  const Dims& sizes() const { return sizes_; }

 private:
  Dims sizes_;
};

// The sizes that the tensors broadcast to; a None does not count.
template <class... T>
Dims broadcast(const T&... tensor) {
  Broadcasting b;
  ((tensor ? b.add(tensor.name, tensor->sizes) : void()), ...);
  return b.sizes();
}

inline Dims same(TensorArgument tensor) { return tensor->sizes; }
inline Dims scalar() { return {}; }
Dims sizes(Argument<const Ints*> list);  // each at least 0

// The dimensions named by dim, from 0 on; None or an empty list names all.
Dims dims(TensorArgument tensor, Argument<const Ints*> dim);
Dims dims(TensorArgument tensor, Argument<Int> dim);
Dims dims(TensorArgument tensor, Argument<std::optional<Int>> dim);
inline Dims dims(TensorArgument tensor) { return Dims::counting(tensor->rank()); }

// The same, but an empty list names none.
inline Dims named_dims(TensorArgument tensor, Argument<const Ints*> dim) { return dim && dim->empty() ? Dims{} : dims(tensor, dim); }

// The sizes without those dimensions, or with 1 in their place.
Dims without(const Dims& sizes, const Dims& dims, bool keepdim);
inline Dims without(TensorArgument tensor, const Dims& dims, Argument<bool> keepdim) { return without(tensor->sizes, dims, keepdim.value); }
template <class D>
Dims reduced(TensorArgument tensor, const D& dim, Argument<bool> keepdim) { return without(tensor->sizes, dims(tensor, dim), keepdim.value); }

Dims permuted(TensorArgument tensor, Argument<const Ints*> dims);
std::vector<Dims> split(TensorArgument tensor, Argument<Int> split_size, Argument<Int> dim);
// The sizes of tensor, but `size` along dim; a scalar stays one.
Dims resized(TensorArgument tensor, Argument<Int> dim, Argument<Int> size);

// The sizes of tensor, with 1 for each of the last dimensions that `last` names.
Dims ones_at_end(TensorArgument tensor, Argument<const Ints*> last);

inline Dims matrix(Argument<Int> rows, Argument<Int> columns) { return {rows.value, columns.value}; }
inline Dims vector(Int length) { return {length}; }
inline Dims product(TensorArgument a, TensorArgument b) { return {a->sizes[0], b->sizes[1]}; }

}  // namespace assay::shapes

namespace assay::layouts {

// The dim order of the first operand that has the result's sizes, else contiguous.
template <class... T>
Dims like(const Dims& sizes, const T&... tensor) {
  Dims order = Dims::counting(sizes.size());
  bool found = false;
  ((tensor && !found && tensor->sizes == sizes ? void((order = tensor->dim_order, found = true)) : void()), ...);
  return order;
}

// Channels last where tensor, of rank 4 or 5, is, else contiguous: the memory format that ATen suggests.
Dims channels_last_as(const Dims& sizes, TensorArgument tensor);

}  // namespace assay::layouts

namespace assay::terms {

// How many elements of the tensor make one result over those dimensions.
template <class... D>
Int reduced(TensorArgument tensor, const D&... dim) {
  Int n = 1;
  for (Int d : shapes::dims(tensor, dim...)) n *= tensor->sizes[d];
  return n;
}
inline Int size(TensorArgument tensor, Int dim) { return tensor->rank() == 0 ? 1 : tensor->sizes[wrap_dim(dim, tensor->rank())]; }
Int product(Argument<const Ints*> sizes);
Int quotient(TensorArgument tensor, Argument<Int> a, Argument<Int> b);  // the tensor's elements, divided among a * b results
inline Int size(TensorArgument tensor, Argument<Int> dim) { return size(tensor, dim.value); }
constexpr Int number(Int n) { return n; }

}  // namespace assay::terms
