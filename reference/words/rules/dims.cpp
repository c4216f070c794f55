#include "reference/words/rules.h"

#include <algorithm>

#include "reference/words/terms.h"

namespace assay {
namespace {

void check_dim(std::string_view name, Int dim, Int rank, std::string_view of, const Dims& sizes) {
  require(-rank <= dim && dim < rank, name, " is ", dim, ", but ", of, " has sizes ", sizes, ", so it must be between ",
          -rank, " and ", rank - 1);
}

}  // namespace

namespace rules {

void is_dim(Argument<Int> dim, TensorArgument tensor) {
  const Int rank = std::max(tensor->rank(), 1);
  require(-rank <= dim.value && dim.value < rank, dim.name, " is ", dim.value, ", but ", tensor.name, " has sizes ",
          tensor->sizes, ", so it must be between ", -rank, " and ", rank - 1);
}

void are_dims(Argument<const Ints*> dims, TensorArgument tensor) {
  std::vector<bool> seen(static_cast<std::size_t>(std::max(tensor->rank(), 1)));
  for (Int d : *dims.value) {
    is_dim({dims.name, d}, tensor);
    const auto at = static_cast<std::size_t>(wrap_dim(d, tensor->rank()));
    require(!seen[at], dims.name, " is ", *dims.value, ", which names dimension ", at, " twice");
    seen[at] = true;
  }
}

void each_is_dim(Argument<const Ints*> dims, TensorArgument tensor) {
  for (Int d : *dims.value) {
    require(tensor->rank() > 0, dims.name, " is ", *dims.value, ", but ", tensor.name, " is a scalar");
    is_dim({dims.name, d}, tensor);
  }
}

void is_new_dim(Argument<Int> dim, TensorArgument tensor) {
  check_dim(dim.name, dim.value, tensor->rank() + 1, tensor.name, tensor->sizes);
}

void is_new_dim(Argument<Int> dim, Argument<const Tensors*> tensors) {
  is_new_dim(dim, TensorArgument{tensors.name, &*tensors->front()});
}

void is_permutation(Argument<const Ints*> dims, TensorArgument tensor) {
  require(static_cast<int>(dims->size()) == tensor->rank(), dims.name, " is ", *dims.value,
          ", but must name every dimension of ", tensor.name, ", which has sizes ", tensor->sizes);
  are_dims(dims, tensor);
}

void is_index(Argument<Int> index, TensorArgument tensor, Argument<Int> dim) {
  const Int n = terms::size(tensor, dim.value);
  require(-n <= index.value && index.value < n, index.name, " is ", index.value, ", but ", tensor.name, " has sizes ",
          tensor->sizes, " and so ", n, " elements along dimension ", dim.value);
}

void at_most_size(Argument<Int> n, TensorArgument tensor, Argument<Int> dim) {
  const Int size = tensor->rank() == 0 ? 1 : tensor->sizes[wrap_dim(dim.value, tensor->rank())];
  require(n.value >= 0 && n.value <= size, n.name, " is ", n.value, ", but must be between 0 and ", size,
          ", the size of ", tensor.name, " along ", dim.name, " ", dim.value);
}

void is_start(Argument<Int> start, TensorArgument tensor, Argument<Int> dim) {
  const Int n = terms::size(tensor, dim.value);
  require(-n <= start.value && start.value <= n, start.name, " is ", start.value, ", but ", tensor.name, " has size ",
          n, " along ", dim.name, " ", dim.value);
}

void is_length_from(Argument<Int> length, Argument<Int> start, TensorArgument tensor, Argument<Int> dim) {
  const Int n = terms::size(tensor, dim.value), left = start.value < 0 ? -start.value : n - start.value;
  require(0 <= length.value && length.value <= left, length.name, " is ", length.value, ", but from ", start.name, " ",
          start.value, " on ", tensor.name, " has ", left, " elements along ", dim.name, " ", dim.value);
}

void distinct_dims(Argument<Int> a, Argument<Int> b, TensorArgument tensor) {
  require(wrap_dim(a.value, tensor->rank()) != wrap_dim(b.value, tensor->rank()), a.name, " is ", a.value, " and ",
          b.name, " is ", b.value, ", the same dimension of ", tensor.name, " of sizes ", tensor->sizes);
}

void nonzero_unless_empty(Argument<Int> n, TensorArgument tensor, Argument<Int> dim) {
  require(n.value != 0 || tensor->sizes[wrap_dim(dim.value, tensor->rank())] == 0, n.name, " is 0, but ", tensor.name,
          " has sizes ", tensor->sizes);
}

}  // namespace rules
}  // namespace assay
