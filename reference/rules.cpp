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

// Whether c10 converts the scalar without overflow.
bool converts(const Scalar& scalar, DType dtype) {
  const Real v = real(scalar);
  if (dtype == DType::boolean) return true;
  if (assay::is_floating(dtype)) return !std::isfinite(v) || std::fabs(v) <= largest(dtype);
  const bool wraps = !is_floating(scalar) && least_integer(dtype) == 0;
  return v >= (wraps ? -largest_integer(dtype) : least_integer(dtype)) && v <= largest_integer(dtype);
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

void same_dtype(TensorArgument a, TensorArgument b) {
  require(a->dtype == b->dtype, b.name, " is ", b->dtype, ", but must be ", a->dtype, " as ", a.name, " is");
}

void scalar_fits(Argument<Scalar> scalar, DType dtype) { scalar_converts(scalar, compute_dtype(dtype)); }

void scalar_converts(Argument<Scalar> scalar, DType dtype) { require(converts(scalar.value, dtype), scalar.name, " is ", scalar.value, ", which does not fit ", dtype); }

void scalar_converts(Argument<Scalar> scalar, DType dtype, DTypeSet set) {
  if (holds(set, dtype)) scalar_converts(scalar, dtype);
}

void scalar_is_number(Argument<Scalar> scalar) { require(!is_bool(scalar.value), scalar.name, " is ", scalar.value, ", but must be a number"); }

void limit_fits(Argument<Scalar> limit, DType dtype) {
  if (!assay::is_integer(dtype)) return scalar_converts(limit, dtype);
  const Real v = std::trunc(real(limit.value));
  require(v >= least_integer(dtype) && v <= largest_integer(dtype), limit.name, " is ", limit.value, ", which is no limit of ", dtype);
}

void no_negative_power(TensorArgument self, Argument<Scalar> exponent) {
  const bool integers = !assay::is_floating(self->dtype) && !is_floating(exponent.value);
  require(!integers || real(exponent.value) >= 0, exponent.name, " is ", exponent.value, ", but ", self.name, " is ", self->dtype, " and has no negative integer powers");
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

void no_zero(TensorArgument divisor, DType common, TensorArgument dividend) {
  if (assay::is_floating(common) || dividend->count() == 0) return;
  const std::vector<Int> values = read<Int>(*divisor.value, common).data;
  require(std::ranges::find(values, 0) == values.end(), divisor.name, " has a zero element in ", common, ", but the division is of integers");
}

void no_zero(Argument<Scalar> divisor, DType common, TensorArgument dividend) {
  const bool fine = assay::is_floating(common) || dividend->count() == 0 || number<Int>(divisor.value, common) != 0;
  require(fine, divisor.name, " is ", divisor.value, ", which is 0 in ", common, ", but the division is of integers");
}

}  // namespace rules
}  // namespace assay
