#include "reference/rules.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

std::string names(DTypeSet set) {
  std::string list;
  for (Int n = 0; n < 32; ++n)
    if (const auto d = dtype_numbered(n); d && set & sets::of(*d)) list += (list.empty() ? "" : ", ") + std::string(info(*d).name);
  return list;
}

bool holds(DTypeSet set, DType dtype) { return (set & sets::of(dtype)) != 0; }

Int dims_of(const Tensor& t) { return std::max(t.rank(), 1); }

void check_dtype(std::string_view name, DType dtype, DTypeSet set) {
  if (!holds(set, dtype)) throw Broken{text(name, " is ", dtype, ", but must be one of ", names(set))};
}

}  // namespace

namespace rules {

void dtype_of(TensorArgument tensor, DTypeSet set) { check_dtype(tensor.name, tensor->dtype, set); }

void dtype_of(Argument<const Tensors*> tensors, DTypeSet set) {
  for (const auto& t : *tensors.value)
    if (t) check_dtype(tensors.name, t->dtype, set);
}

void computes_in(DType dtype, DTypeSet set) {
  if (!holds(set, dtype)) throw Broken{text("the operands' common dtype is ", dtype, ", but must be one of ", names(set))};
}

void dtype_of_unless_empty(TensorArgument tensor, DTypeSet set) {
  if (tensor->count() > 0) dtype_of(tensor, set);
}

void dtype_of_unless_scalar(TensorArgument tensor, DTypeSet set) {
  if (tensor->rank() > 0) dtype_of(tensor, set);
}

void dtype_of_unless_trivial(TensorArgument tensor, DTypeSet set) {
  if (tensor->count() > 0) dtype_of_unless_scalar(tensor, set);
}

void computes_in_unless_empty(DType dtype, DTypeSet set, TensorArgument tensor) {
  if (tensor->count() > 0) computes_in(dtype, set);
}

void computes_in_unless_trivial(DType dtype, DTypeSet set, TensorArgument tensor) {
  if (tensor->rank() > 0) computes_in_unless_empty(dtype, set, tensor);
}

void dtype_of_unless_given(TensorArgument tensor, DTypeSet set, Argument<std::optional<Int>> dtype) {
  require(dtype || holds(set, tensor->dtype), tensor.name, " is ", tensor->dtype, " and no ", dtype.name, " is given, but it must be one of ", names(set));
}

void same_dtype_or_float32(TensorArgument a, TensorArgument b) {
  const bool wide = is_half(a->dtype) && b->dtype == DType::float32;
  require(wide || a->dtype == b->dtype, b.name, " is ", b->dtype, ", but must be ", a->dtype, " as ", a.name, " is", is_half(a->dtype) ? ", or float32" : "");
}

void same_dtype(TensorArgument a, TensorArgument b) {
  require(a->dtype == b->dtype, b.name, " is ", b->dtype, ", but must be ", a->dtype, " as ", a.name, " is");
}

void scalar_fits(Argument<Scalar> scalar, DType dtype) {
  const Real v = real(scalar.value);
  const bool fits = assay::is_floating(dtype) ? !std::isfinite(v) || std::fabs(v) <= largest(compute_dtype(dtype))
                    : std::isfinite(v) && (dtype == DType::boolean || (v >= -largest_integer(dtype) - 1 && v <= largest_integer(dtype)));
  require(fits, scalar.name, " is ", scalar.value, ", which does not fit ", dtype);
}

void scalar_kind(Argument<Scalar> scalar, DType dtype) {
  require(!is_floating(scalar.value) || is_floating(dtype), scalar.name, " is ", scalar.value, ", but the result is ", dtype, " and needs an integer");
  require(!is_bool(scalar.value) || dtype == DType::boolean, scalar.name, " is ", scalar.value, ", but the result is ", dtype, " and needs a number");
}

void flag_is(Argument<bool> flag, bool value) { require(flag.value == value, flag.name, " must be ", value ? "true" : "false"); }

void rank_is(TensorArgument tensor, Int rank) { require(tensor->rank() == rank, tensor.name, " has sizes ", tensor->sizes, ", but must have ", rank, " dimensions"); }

void rank_between(TensorArgument tensor, Int least, Int most) {
  require(tensor->rank() >= least && tensor->rank() <= most, tensor.name, " has sizes ", tensor->sizes, ", but must have ", least, " to ", most, " dimensions");
}

void same_rank(TensorArgument a, TensorArgument b) {
  require(a->rank() == b->rank(), b.name, " has sizes ", b->sizes, ", but must have as many dimensions as ", a.name, " of sizes ", a->sizes);
}

void same_sizes(TensorArgument a, TensorArgument b) {
  require(a->sizes == b->sizes, b.name, " has sizes ", b->sizes, ", but must have those of ", a.name, ", ", a->sizes);
}

void sizes_equal(TensorArgument a, Int dim_a, TensorArgument b, Int dim_b) {
  const Int wanted = a->sizes[wrap_dim(dim_a, a->rank())], came = b->sizes[wrap_dim(dim_b, b->rank())];
  require(wanted == came, b.name, " has sizes ", b->sizes, ", but dimension ", dim_b, " must be ", wanted, " as dimension ", dim_a, " of ", a.name);
}

void size_at_least(TensorArgument tensor, Int dim, Int least) {
  require(tensor->sizes[wrap_dim(dim, tensor->rank())] >= least, tensor.name, " has sizes ", tensor->sizes, ", but dimension ", dim, " must be at least ", least);
}

void not_empty(TensorArgument tensor) { require(tensor->count() > 0, tensor.name, " has sizes ", tensor->sizes, ", but must have at least one element"); }

void nonzero_along(TensorArgument tensor, Argument<Int> dim) {
  if (tensor->rank() == 0) return;
  require(tensor->sizes[wrap_dim(dim.value, tensor->rank())] > 0, tensor.name, " has sizes ", tensor->sizes, ", but must have elements along ", dim.name, " ", dim.value);
}

void nonzero_along(TensorArgument tensor, Argument<const Ints*> dim) {
  if (!dim || dim->empty()) return not_empty(tensor);
  for (Int d : *dim.value) nonzero_along(tensor, Argument<Int>{dim.name, d});
}

void nonzero_along(TensorArgument tensor, Argument<std::optional<Int>> dim) {
  if (dim) nonzero_along(tensor, some(dim));
  else not_empty(tensor);
}

void ends_with(TensorArgument tensor, Argument<const Ints*> sizes) {
  const bool fits = static_cast<Int>(sizes->size()) <= tensor->rank();
  require(fits && std::equal(sizes->rbegin(), sizes->rend(), std::reverse_iterator(tensor->sizes.end())), tensor.name, " has sizes ", tensor->sizes, ", but the last must be ", sizes.name, ", ", *sizes.value);
}

void sizes_are(TensorArgument tensor, Argument<const Ints*> sizes) {
  require(std::ranges::equal(tensor->sizes, *sizes.value), tensor.name, " has sizes ", tensor->sizes, ", but must have ", sizes.name, ", ", *sizes.value);
}

void per_channel(TensorArgument vector, TensorArgument tensor) {
  require(vector->rank() == 1 && vector->sizes[0] == tensor->sizes[1], vector.name, " has sizes ", vector->sizes, ", but must have one element for each of the ", tensor->sizes[1], " channels of ", tensor.name);
}

void vector_of(TensorArgument vector, Argument<Int> length) {
  require(vector->rank() == 1 && vector->sizes[0] == length.value, vector.name, " has sizes ", vector->sizes, ", but must have ", length.name, " = ", length.value, " elements in one dimension");
}

void has_elements(TensorArgument tensor, Argument<Int> a, Argument<Int> b, Argument<Int> c) {
  for (const auto& n : {a, b, c}) at_least(n, 0);
  const Int product = wrapping_multiply(a.value, wrapping_multiply(b.value, c.value));
  require(product == tensor->count(), tensor.name, " has sizes ", tensor->sizes, ", but must have ", a.name, " * ", b.name, " * ", c.name, " = ", a.value, " * ", b.value, " * ", c.value, " elements");
}

void at_most_size(Argument<Int> n, TensorArgument tensor, Argument<Int> dim) {
  const Int size = tensor->rank() == 0 ? 1 : tensor->sizes[wrap_dim(dim.value, tensor->rank())];
  require(n.value >= 0 && n.value <= size, n.name, " is ", n.value, ", but must be between 0 and ", size, ", the size of ", tensor.name, " along ", dim.name, " ", dim.value);
}

void divides(Argument<Int> divisor, Argument<Int> n) {
  require(divisor.value > 0 && n.value % divisor.value == 0, divisor.name, " is ", divisor.value, ", but must be positive and divide ", n.name, ", which is ", n.value);
}

void is_dim(Argument<Int> dim, TensorArgument tensor) {
  const Int rank = dims_of(*tensor.value);
  require(-rank <= dim.value && dim.value < rank, dim.name, " is ", dim.value, ", but ", tensor.name, " has sizes ", tensor->sizes, ", so it must be between ", -rank, " and ", rank - 1);
}

void are_dims(Argument<const Ints*> dims, TensorArgument tensor) {
  std::vector<bool> seen(static_cast<std::size_t>(dims_of(*tensor.value)));
  for (Int d : *dims.value) {
    is_dim({dims.name, d}, tensor);
    const auto at = static_cast<std::size_t>(wrap_dim(d, tensor->rank()));
    require(!seen[at], dims.name, " is ", *dims.value, ", which names dimension ", at, " twice");
    seen[at] = true;
  }
}

void is_permutation(Argument<const Ints*> dims, TensorArgument tensor) {
  require(static_cast<int>(dims->size()) == tensor->rank(), dims.name, " is ", *dims.value, ", but must name every dimension of ", tensor.name, ", which has sizes ", tensor->sizes);
  are_dims(dims, tensor);
}

void at_least(Argument<Int> n, Int least) { require(n.value >= least, n.name, " is ", n.value, ", but must be at least ", least); }

void between(Argument<Int> n, Int least, Int most) { require(n.value >= least && n.value <= most, n.name, " is ", n.value, ", but must be between ", least, " and ", most); }

void nonzero_unless_empty(Argument<Int> n, TensorArgument tensor, Argument<Int> dim) {
  require(n.value != 0 || tensor->sizes[wrap_dim(dim.value, tensor->rank())] == 0, n.name, " is 0, but ", tensor.name, " has sizes ", tensor->sizes);
}

void each_at_least(Argument<const Ints*> list, Int least) {
  require(std::ranges::all_of(*list.value, [&](Int n) { return n >= least; }), list.name, " is ", *list.value, ", but each must be at least ", least);
}

void length_between(Argument<const Ints*> list, Int least, Int most) {
  const Int length = static_cast<Int>(list->size());
  require(length >= least && length <= most, list.name, " is ", *list.value, ", but must have ", least, " to ", most, " entries");
}

void one_of(Argument<std::string_view> word, std::initializer_list<std::string_view> words) {
  std::string all;
  for (std::string_view w : words) all += (all.empty() ? "\"" : ", \"") + std::string(w) + '"';
  require(std::ranges::find(words, word.value) != words.end(), word.name, " is \"", word.value, "\", but must be one of ", all);
}

void no_zero(TensorArgument divisor, DType common) {
  if (assay::is_floating(common)) return;
  const std::vector<Int> values = read<Int>(*divisor.value).data;
  require(std::ranges::find(values, 0) == values.end(), divisor.name, " has a zero element, but the division is of integers");
}

void no_zero(Argument<Scalar> divisor, DType common) {
  require(assay::is_floating(common) || number<Int>(divisor.value, common) != 0, divisor.name, " is ", divisor.value, ", but the division is of integers");
}

}  // namespace rules
}  // namespace assay
