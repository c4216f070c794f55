#include "reference/rules.h"

#include <algorithm>
#include <cmath>

#include "reference/distance.h"
#include "reference/indexing.h"
#include "reference/shapes.h"
#include "reference/types.h"
#include "reference/window.h"

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

Int size_along(const Tensor& t, Int dim) { return t.rank() == 0 ? 1 : t.sizes[wrap_dim(dim, t.rank())]; }

void check_dim(std::string_view name, Int dim, Int rank, std::string_view of, const Dims& sizes) {
  require(-rank <= dim && dim < rank, name, " is ", dim, ", but ", of, " has sizes ", sizes, ", so it must be between ", -rank, " and ", rank - 1);
}

void check_format(Argument<Int> format, Int rank) {
  constexpr Int channels_last = 2, channels_last_3d = 3;
  require(format.value >= 0 && format.value <= channels_last_3d, format.name, " is ", format.value, ", which is the number of no memory format");
  require(format.value != channels_last || rank == 4, format.name, " is channels_last, which needs 4 dimensions, not ", rank);
  require(format.value != channels_last_3d || rank == 5, format.name, " is channels_last_3d, which needs 5 dimensions, not ", rank);
}

// PyTorch has no memory format for any other order, and does not look at how long a contiguous one is.
void check_order(Argument<const Ints*> order, Int rank) {
  const bool contiguous = std::ranges::equal(*order.value, Dims::counting(static_cast<int>(std::min<std::size_t>(order->size(), max_rank))));
  require(contiguous || (rank == 4 && *order.value == Ints{0, 2, 3, 1}), order.name, " is ", *order.value, ", but must be 0, 1, 2... or for 4 dimensions (0, 2, 3, 1)");
}

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

void same_dtype_or_float32(TensorArgument a, TensorArgument b) {
  const bool wide = is_half(a->dtype) && b->dtype == DType::float32;
  require(wide || a->dtype == b->dtype, b.name, " is ", b->dtype, ", but must be ", a->dtype, " as ", a.name, " is", is_half(a->dtype) ? ", or float32" : "");
}

void same_dtype(TensorArgument a, TensorArgument b) {
  require(a->dtype == b->dtype, b.name, " is ", b->dtype, ", but must be ", a->dtype, " as ", a.name, " is");
}

void promote_to(TensorArgument a, TensorArgument b, DTypeSet set) { computes_in(types::promote(a->dtype, b->dtype), set); }

void scalar_fits(Argument<Scalar> scalar, DType dtype, DTypeSet set) {
  if (holds(set, dtype)) scalar_fits(scalar, dtype);
}

void negated_scalar_fits(Argument<Scalar> scalar, DType dtype) {
  require(fits(negated(scalar.value), dtype), scalar.name, " is ", scalar.value, ", whose opposite does not fit ", dtype);
}

void scalar_is_number(Argument<Scalar> scalar) { require(!is_bool(scalar.value), scalar.name, " is ", scalar.value, ", but must be a number"); }

void limit_fits(Argument<Scalar> limit, DType dtype) {
  if (!assay::is_integer(dtype)) return scalar_fits(limit, dtype);
  const Real v = std::trunc(real(limit.value));
  require(v >= least_integer(dtype) && v <= largest_integer(dtype), limit.name, " is ", limit.value, ", which is no limit of ", dtype);
}

void no_negative_power(TensorArgument self, Argument<Scalar> exponent) {
  const bool integers = !assay::is_floating(self->dtype) && !is_floating(exponent.value);
  require(!integers || real(exponent.value) >= 0, exponent.name, " is ", exponent.value, ", but ", self.name, " is ", self->dtype, " and has no negative integer powers");
}

void scalar_fits(Argument<Scalar> scalar, DType dtype) {
  require(fits(scalar.value, dtype), scalar.name, " is ", scalar.value, ", which does not fit ", dtype);
}

void scalar_kind(Argument<Scalar> scalar, DType dtype) {
  require(!is_floating(scalar.value) || is_floating(dtype), scalar.name, " is ", scalar.value, ", but the result is ", dtype, " and needs an integer");
  require(!is_bool(scalar.value) || dtype == DType::boolean, scalar.name, " is ", scalar.value, ", but the result is ", dtype, " and needs a number");
}

void scales_within(Argument<Scalar> factor, DType dtype) {
  const DType own = types::of(factor);
  require(real(factor.value) == 0 || info(own).kind <= info(dtype).kind, factor.name, " is ", factor.value, ", which makes a result ", own, ", but it must be ", dtype);
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

void size_is(TensorArgument tensor, Int dim, Int size) {
  require(size_along(*tensor.value, dim) == size, tensor.name, " has size ", size_along(*tensor.value, dim), " along dimension ", dim, ", but must have ", size);
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
  const bool enough = static_cast<Int>(sizes->size()) <= tensor->rank();
  require(enough && std::equal(sizes->rbegin(), sizes->rend(), std::reverse_iterator(tensor->sizes.end())), tensor.name, " has sizes ", tensor->sizes, ", but the last must be ", sizes.name, ", ", *sizes.value);
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

void rank_at_least(TensorArgument tensor, Int least) {
  require(tensor->rank() >= least, tensor.name, " has sizes ", tensor->sizes, ", but must have at least ", least, least == 1 ? " dimension" : " dimensions");
}

void each_rank_at_least(Argument<const Tensors*> tensors, Int least) {
  for (const auto& t : *tensors.value) rank_at_least({tensors.name, &*t}, least);
}

void same_rank_or_scalar(TensorArgument a, TensorArgument b) {
  require(dims_of(*a.value) == dims_of(*b.value), b.name, " has sizes ", b->sizes, ", but must have as many dimensions as ", a.name, " of sizes ", a->sizes);
}

void sizes_within(TensorArgument a, TensorArgument b) {
  same_rank_or_scalar(b, a);
  for (Int d = 0; d < dims_of(*a.value); ++d)
    require(size_along(*a.value, d) <= size_along(*b.value, d), a.name, " has sizes ", a->sizes, ", which must be at most those of ", b.name, ", ", b->sizes);
}

void sizes_within(TensorArgument a, Argument<Int> dim, TensorArgument b) {
  same_rank_or_scalar(b, a);
  for (Int d = 0; d < dims_of(*a.value); ++d)
    require(d == wrap_dim(dim.value, b->rank()) || size_along(*a.value, d) <= size_along(*b.value, d), a.name, " has sizes ", a->sizes, ", which apart from dimension ", dim.value, " must be at most those of ",
            b.name, ", ", b->sizes);
}

void broadcasts_to(TensorArgument tensor, TensorArgument to) {
  require(shapes::expands(tensor->sizes, to->sizes), tensor.name, " has sizes ", tensor->sizes, ", which do not broadcast to those of ", to.name, ", ", to->sizes);
}

void square_divides(Argument<Int> factor, TensorArgument tensor, Int dim) {
  require(size_along(*tensor.value, dim) % (factor.value * factor.value) == 0, tensor.name, " has sizes ", tensor->sizes, ", but the square of ", factor.name, ", ", factor.value, ", must divide that of dimension ", dim);
}

void is_new_dim(Argument<Int> dim, TensorArgument tensor) { check_dim(dim.name, dim.value, tensor->rank() + 1, tensor.name, tensor->sizes); }
void is_new_dim(Argument<Int> dim, Argument<const Tensors*> tensors) { is_new_dim(dim, TensorArgument{tensors.name, &*tensors->front()}); }

void each_is_dim(Argument<const Ints*> dims, TensorArgument tensor) {
  for (Int d : *dims.value) {
    require(tensor->rank() > 0, dims.name, " is ", *dims.value, ", but ", tensor.name, " is a scalar");
    is_dim({dims.name, d}, tensor);
  }
}

void is_index(Argument<Int> index, TensorArgument tensor, Argument<Int> dim) {
  const Int n = size_along(*tensor.value, dim.value);
  require(-n <= index.value && index.value < n, index.name, " is ", index.value, ", but ", tensor.name, " has sizes ", tensor->sizes, " and so ", n, " elements along dimension ", dim.value);
}

void length_at_least(Argument<const Tensors*> tensors, Int least) {
  require(static_cast<Int>(tensors->size()) >= least, tensors.name, " must have at least ", least, least == 1 ? " entry" : " entries", ", but has ", tensors->size());
}

void all_same_sizes(Argument<const Tensors*> tensors) {
  const Dims& first = tensors->front()->sizes;
  for (const auto& t : *tensors.value) require(t->sizes == first, tensors.name, " has tensors of sizes ", first, " and ", t->sizes, ", but all must be equal");
}

void concatenable(Argument<const Tensors*> tensors, Argument<Int> dim) {
  const Tensor* first = shapes::first_counted(*tensors.value);
  if (!first) return;
  is_dim(dim, {tensors.name, first});
  for (const auto& t : *tensors.value) {
    if (shapes::is_nothing(*t)) continue;
    Dims sizes = t->sizes;
    if (sizes.size() == first->rank()) sizes[wrap_dim(dim.value, sizes.size())] = size_along(*first, dim.value);
    require(sizes == first->sizes, tensors.name, " has tensors of sizes ", first->sizes, " and ", t->sizes, ", but all must be equal apart from dimension ", dim.value);
  }
}

void at_least(Argument<Int> n, Int least) { require(n.value >= least, n.name, " is ", n.value, ", but must be at least ", least); }

void at_least(Argument<double> x, Int least) { require(x.value >= static_cast<double>(least), x.name, " is ", x.value, ", but must be at least ", least); }

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

void length_at_least(Argument<const Ints*> list, Int least) {
  require(static_cast<Int>(list->size()) >= least, list.name, " is ", *list.value, ", but must have at least ", least, least == 1 ? " entry" : " entries");
}

void has_memory_format(TensorArgument tensor) {
  const Dims order = layouts::normal(tensor->sizes, layouts::suggested(tensor->sizes, tensor));
  require(layouts::normal(tensor->sizes, tensor->dim_order) == order, tensor.name, " has the dim order ", tensor->dim_order, ", but must be contiguous or channels last");
}

void even_along(TensorArgument tensor, Argument<Int> dim) {
  const Int n = size_along(*tensor.value, dim.value);
  require(n % 2 == 0, tensor.name, " has size ", n, " along ", dim.name, " ", dim.value, ", but must have an even one");
}

void even_length(Argument<const Ints*> list) { require(list->size() % 2 == 0, list.name, " is ", *list.value, ", but must have an even number of entries"); }

void same_length_or_flat(Argument<const Ints*> list, Argument<const Ints*> dims) {
  require(list->size() == dims->size() || (list->size() == 1 && dims->empty()), list.name, " is ", *list.value, ", but must have an entry for each of ", dims.name, ", ", *dims.value);
}

void differs(Argument<Int> n, Int value) { require(n.value != value, n.name, " must not be ", value); }

void sums_to_size(Argument<const Ints*> list, TensorArgument tensor, Argument<Int> dim) {
  const Int n = size_along(*tensor.value, dim.value);
  Int left = n;
  for (Int k : *list.value) left = k > left ? -1 : left - k;
  require(left == 0, list.name, " is ", *list.value, ", which must sum to ", n, ", the size of dimension ", dim.value, " of ", tensor.name);
}

void is_expansion(Argument<const Ints*> size, TensorArgument tensor) {
  const Dims wanted = shapes::expanded(tensor, size);
  const bool kept = std::ranges::all_of(wanted, [](Int n) { return n >= 0; });
  require(kept && shapes::expands(tensor->sizes, wanted), size.name, " is ", *size.value, ", to which sizes ", tensor->sizes, " of ", tensor.name, " do not expand");
}

void is_view(Argument<const Ints*> size, TensorArgument tensor) {
  const Dims view = shapes::viewed(tensor, size);
  require(std::ranges::all_of(view, [](Int n) { return n >= 0; }), size.name, " is ", *size.value, ", but at most one size may be -1, and not beside a 0");
  Int left = tensor->count();
  const bool has_none = std::ranges::find(view, 0) != view.end();
  for (Int n : view) left = has_none ? left : left % n == 0 ? left / n : 0;
  require(left == (has_none ? 0 : 1), size.name, " is ", *size.value, ", which does not have the ", tensor->count(), " elements of ", tensor.name, " of sizes ", tensor->sizes);
}

void repeats(Argument<const Ints*> repeats, TensorArgument tensor) {
  const Int lead = static_cast<Int>(repeats->size()) - tensor->rank();
  require(lead >= 0, repeats.name, " is ", *repeats.value, ", but must have an entry for each dimension of ", tensor.name, " of sizes ", tensor->sizes);
  for (Int d = 0; d < lead + tensor->rank(); ++d)
    require((*repeats.value)[static_cast<std::size_t>(d)] >= 0 || (d >= lead && tensor->sizes[d - lead] == 0), repeats.name, " is ", *repeats.value, ", but none may be negative");
}

void crops_within(Argument<const Ints*> pad, TensorArgument tensor) {
  const std::size_t pairs = pad->size() / 2;
  require(static_cast<Int>(pairs) <= tensor->rank(), pad.name, " is ", *pad.value, ", which is more than two entries for each dimension of ", tensor.name, " of sizes ", tensor->sizes);
  for (std::size_t k = 0; k < pairs; ++k) {
    const Int n = tensor->sizes[tensor->rank() - 1 - static_cast<Int>(k)], before = std::min<Int>((*pad.value)[2 * k], 0), after = std::min<Int>((*pad.value)[2 * k + 1], 0);
    require(before >= -n && after >= -n - before, pad.name, " is ", *pad.value, ", which takes more from ", tensor.name, " of sizes ", tensor->sizes, " than there is");
  }
}

void fills_slice(TensorArgument src, TensorArgument tensor, Argument<Int> dim, Argument<std::optional<Int>> start, Argument<std::optional<Int>> end, Argument<Int> step) {
  const Dims wanted = shapes::sliced(tensor, dim, start, end, step);
  require(src->sizes == wanted, src.name, " has sizes ", src->sizes, ", but must have those of the slice of ", tensor.name, ", ", wanted);
}

void format_fits(Argument<Int> memory_format, TensorArgument tensor) { check_format(memory_format, tensor->rank()); }
void format_fits(Argument<Int> memory_format, Argument<const Ints*> size) { check_format(memory_format, static_cast<Int>(size->size())); }
void not_channels_last(TensorArgument tensor, Int rank) {
  Dims channels_last = Dims::counting(static_cast<int>(rank));
  std::rotate(channels_last.begin() + 1, channels_last.begin() + 2, channels_last.end());
  require(tensor->dim_order != channels_last, tensor.name, " has dim order ", tensor->dim_order, ", channels last, which is not supported");
}

void is_given(Argument<const Ints*> list) { require(bool(list), list.name, " is None, but must be given"); }
void between(Argument<double> x, Int least, Int most) {
  const bool inside = x.value >= static_cast<double>(least) && x.value <= static_cast<double>(most);
  require(inside, x.name, " is ", x.value, ", but must be between ", least, " and ", most);
}

void counts_to(Argument<Int> n, DType dtype, DTypeSet set) {
  if (!assay::holds(set, dtype)) return;
  const Real most = assay::is_floating(dtype) ? std::ldexp(1.0, info(dtype).precision) : largest_integer(dtype);
  require(static_cast<Real>(n.value - 1) <= most, n.name, " is ", n.value, ", but ", dtype, " counts to ", most, " only");
}

void is_given(Argument<std::optional<Int>> n) { require(n.value.has_value(), n.name, " is None, but must be given"); }

void ordered(Argument<Int> a, Argument<Int> b) { require(a.value <= b.value, a.name, " is ", a.value, ", but must be at most ", b.name, ", ", b.value); }

void in_range_of(Argument<Int> n, TensorArgument tensor) {
  require(wrap_to(tensor->dtype, n.value) == n.value, n.name, " is ", n.value, ", but ", tensor.name, " is ", tensor->dtype);
}

void is_format_order(Argument<const Ints*> dim_order, TensorArgument tensor) { check_order(dim_order, tensor->rank()); }
void is_format_order(Argument<const Ints*> dim_order, Argument<const Ints*> size) { check_order(dim_order, static_cast<Int>(size->size())); }

void none_with_out(Argument<std::optional<Int>> memory_format, TensorArgument out) {
  require(!memory_format.value || !out, memory_format.name, " must be None where ", out.name, " is given");
}

void moves(Argument<Scalar> step, DType dtype) {
  const Real v = real(step.value);
  require((v < 0 || v > 0) && (dtype != DType::int64 || exact<Int>(step.value) != 0), step.name, " is ", step.value, ", but must not be zero as ", dtype);
}

void is_finite(Argument<Scalar> n) { require(std::isfinite(real(n.value)), n.name, " is ", n.value, ", but must be finite"); }

void reaches(Argument<Scalar> start, Argument<Scalar> end, Argument<Scalar> step) {
  const Real from = real(start.value), to = real(end.value);
  require(real(step.value) > 0 ? to >= from : to <= from, step.name, " is ", step.value, ", which does not lead from ", start.name, ", ", start.value, ", to ", end.name, ", ", end.value);
}

void scalar_computes(Argument<Scalar> scalar, DType dtype) { scalar_fits(scalar, compute_dtype(dtype)); }

void index_count(Argument<const Tensors*> indices, TensorArgument self) {
  Int taken = 0;
  for (const auto& index : *indices.value) taken += indexed_dims(index);
  require(taken <= self->rank(), indices.name, " takes ", taken, taken == 1 ? " dimension" : " dimensions", ", but ", self.name, " has sizes ", self->sizes);
}

void takes_dims(Argument<const Tensors*> indices) {
  const bool taken = std::ranges::any_of(*indices.value, [](const auto& index) { return index && indexed_dims(index) > 0; });
  require(taken, indices.name, " has neither an index nor a mask with dimensions");
}

void masks_fit(Argument<const Tensors*> indices, TensorArgument self) {
  Int at = 0;
  for (const auto& index : *indices.value) {
    if (index && is_mask(*index)) {
      const Dims taken(std::span(self->sizes.begin() + at, static_cast<std::size_t>(index->rank())));
      require(index->sizes == taken, indices.name, " has a mask of sizes ", index->sizes, ", but the dimensions of ", self.name, " that it takes have sizes ", taken);
    }
    at += indexed_dims(index);
  }
}

void indices_broadcast(Argument<const Tensors*> indices, TensorArgument self) { static_cast<void>(indexing(*indices.value, self->sizes)); }

void broadcasts_to_indexed(TensorArgument values, TensorArgument self, Argument<const Tensors*> indices) {
  const Dims sizes = indexing(*indices.value, self->sizes).sizes;
  require(shapes::expands(values->sizes, sizes), values.name, " has sizes ", values->sizes, ", which do not broadcast to the indexed sizes ", sizes);
}

void single_of_scalar(TensorArgument index, TensorArgument self) {
  require(self->rank() > 0 || index->count() == 1, index.name, " has ", index->count(), " elements, but ", self.name, " is a scalar and takes one");
}

void indices_within(TensorArgument index, TensorArgument self, Int dim) {
  const Int n = size_along(*self.value, dim);
  for (Int i : read<Int>(*index.value).data)
    require(0 <= i && i < n, index.name, " has the element ", i, ", but must be between 0 and ", n - 1, ", as dimension ", dim, " of ", self.name, " has size ", n);
}

void indices_within(TensorArgument index, TensorArgument self, Argument<Int> dim) { indices_within(index, self, dim.value); }

void indices_within(Argument<const Tensors*> indices, TensorArgument self) {
  const Indexing x = indexing(*indices.value, self->sizes);
  for (Int d = 0; d < self->rank(); ++d) {
    const auto& index = x.at[static_cast<std::size_t>(d)];
    const Int n = self->sizes[d];
    if (!index || (n > 0 && count(x.sizes) == 0)) continue;
    for (Int i : index->data)
      require(0 <= i && i < n, indices.name, " has the index ", i < 0 ? i - n : i, ", but dimension ", d, " of ", self.name, " has size ", n);
  }
}

void named_dtype_of(Argument<Int> dtype, DTypeSet set) { check_dtype(dtype.name, types::named(dtype), set); }

void has_dtype(TensorArgument tensor, Argument<Int> dtype) {
  require(tensor->dtype == types::named(dtype), tensor.name, " is ", tensor->dtype, ", but must be ", types::named(dtype), " as ", dtype.name, " says");
}

void at_least_lowest(Argument<Int> n, Argument<Int> dtype) {
  const DType named = types::named(dtype);
  require(static_cast<Real>(n.value) >= least_integer(named), n.name, " is ", n.value, ", which is less than any ", named);
}

void at_most_largest(Argument<Int> n, Argument<Int> dtype) {
  const DType named = types::named(dtype);
  require(static_cast<Real>(n.value) <= largest_integer(named), n.name, " is ", n.value, ", which is more than any ", named);
}

void sizes_from_at_least(TensorArgument tensor, Int dim, Int least) {
  for (Int d = wrap_dim(dim, tensor->rank()); d < tensor->rank(); ++d)
    require(tensor->sizes[d] >= least, tensor.name, " has sizes ", tensor->sizes, ", but dimension ", d, " must be at least ", least);
}

void divides(Argument<Int> n, TensorArgument tensor, Int dim) {
  const Int size = tensor->sizes[wrap_dim(dim, tensor->rank())];
  require(n.value != 0 && size % n.value == 0, n.name, " is ", n.value, ", which does not divide dimension ", dim, " of ", tensor.name, ", which has sizes ", tensor->sizes);
}

void one_element(TensorArgument tensor) { require(tensor->count() == 1, tensor.name, " has sizes ", tensor->sizes, ", but must have one element"); }

void count_is_size(TensorArgument a, TensorArgument b, Int dim) {
  const Int wanted = b->sizes[wrap_dim(dim, b->rank())];
  require(a->count() == wanted, a.name, " has sizes ", a->sizes, ", but must have ", wanted, " elements, as ", b.name, " has sizes ", b->sizes);
}

void one_for_each_row(TensorArgument a, TensorArgument b) {
  const Int wanted = count(shapes::without(b->sizes, shapes::dims(b, Argument<Int>{"", -1}), false));
  require(a->count() == wanted, a.name, " has sizes ", a->sizes, ", but must have an element for each of the ", wanted, " rows of ", b.name, ", which has sizes ", b->sizes);
}

void one_or_as_many(TensorArgument a, TensorArgument b) {
  require(a->count() == 1 || a->count() == b->count(), a.name, " has sizes ", a->sizes, ", but must have one element or as many as ", b.name, ", which has sizes ", b->sizes);
}

void is_contiguous(TensorArgument tensor) {
  require(layouts::normal(tensor->sizes, tensor->dim_order) == layouts::contiguous(tensor->sizes), tensor.name, " has the dim order ", tensor->dim_order, ", but must be contiguous");
}

void positions_within(Argument<Int> start, TensorArgument value, TensorArgument cache, Int dim) {
  const Int length = value->sizes[dim], room = cache->sizes[dim];
  require(start.value >= 0 && length <= room && start.value <= room - length, value.name, " has ", length, " positions, which from ", start.name, " ", start.value, " on are not within the ", room, " of ", cache.name);
}

void quantizes_rows(TensorArgument scales, TensorArgument zero_points, TensorArgument codes) {
  Dims rows = codes->sizes;
  rows[rows.size() - 1] = 1;
  for (const auto& [parameter, dtype] : {std::pair(scales, DType::float32), std::pair(zero_points, DType::int8)}) {
    require(static_cast<bool>(parameter), parameter.name, " is None, but ", codes.name, " are codes");
    require(parameter->dtype == dtype && parameter->sizes == rows, parameter.name, " is ", describe(*parameter.value), ", but must be ", dtype, " ", rows);
  }
}

void divides_size(TensorArgument a, Int i, TensorArgument b, Int j) {
  const Int divisor = a->sizes[i], n = b->sizes[j];
  require(divisor > 0 && n % divisor == 0, a.name, " has size ", divisor, " along dimension ", i, ", which does not divide size ", n, " of ", b.name);
}

void has_hadamard_matrix(TensorArgument tensor) {
  const Int n = tensor->sizes[tensor->rank() - 1];
  const auto power = [](Int k) { return (k & (k - 1)) == 0; };
  require(power(n) || (n % 28 == 0 && power(n / 28)), tensor.name, " has rows of ", n, " elements, but that must be a power of two or 28 times one");
}

void groups_fit(TensorArgument scales, TensorArgument weight, Int codes) {
  const Int columns = weight->sizes[1] * codes, groups = scales->rank() == 2 ? scales->sizes[1] : 1;
  require(groups > 0 && columns % groups == 0 && columns / groups > 1, scales.name, " has sizes ", scales->sizes, ", but the ", columns, " columns of ", weight.name, " must split into as many groups of at least two");
}

void one_for_each_column(TensorArgument bias, TensorArgument input, TensorArgument weight) {
  const Dims row{1, weight->sizes[0]};
  const bool expands = weight->rank() == 1 ? bias->rank() == 0 && input->rank() != 2 : bias->rank() <= 2 && shapes::expands(bias->sizes, row);
  require(expands, bias.name, " has sizes ", bias->sizes, ", which do not broadcast to one element for each row of ", weight.name, ", which has sizes ", weight->sizes);
}

void expands_to_product(TensorArgument tensor, TensorArgument a, TensorArgument b) {
  const Dims product = shapes::product(a, b);
  shapes::Broadcasting both;
  both.add(a.name, product);
  both.add(tensor.name, tensor->sizes);
  require(both.sizes() == product, tensor.name, " has sizes ", tensor->sizes, ", which do not broadcast to those of the product, ", product);
}

void each_between(Argument<const Ints*> list, Int least, Int most) {
  require(std::ranges::all_of(*list.value, [&](Int n) { return n >= least && n <= most; }), list.name, " is ", *list.value, ", but each must be between ", least, " and ", most);
}

void exactly_one(Argument<const Ints*> a, Argument<const Doubles*> b) {
  require((a.value != nullptr) != (b.value != nullptr), "exactly one of ", a.name, " and ", b.name, " must be given, but ", a ? "both are" : "neither is");
}

void length_is(Argument<const Ints*> list, Int length) { length_between(list, length, length); }
void one_or_each(Argument<const Ints*> list, Int dims) {
  require(list->size() == 1 || static_cast<Int>(list->size()) == dims, list.name, " has ", list->size(), " entries, but must have one, or ", dims);
}

void length_is(Argument<const Doubles*> list, Int length) {
  require(static_cast<Int>(list->size()) == length, list.name, " has ", list->size(), " entries, but must have ", length);
}

void last_size_at_least(TensorArgument tensor, Int least) {
  require(terms::size(tensor, -1) >= least, tensor.name, " has sizes ", tensor->sizes, ", but the last must be at least ", least);
}

void differ(Argument<Int> a, Argument<Int> b) { require(a.value != b.value, a.name, " and ", b.name, " are both ", a.value, ", but must differ"); }

void none_negative(TensorArgument tensor) {
  const std::vector<Int> values = read<Int>(*tensor.value).data;
  const auto found = std::ranges::find_if(values, [](Int n) { return n < 0; });
  require(found == values.end(), tensor.name, " has the element ", found == values.end() ? 0 : *found, ", but none may be negative");
}

void sum_is(TensorArgument tensor, Argument<Int> sum) {
  const Int total = shapes::repeated_each(tensor)[0];
  require(total == sum.value, sum.name, " is ", sum.value, ", but the sum of ", tensor.name, " is ", total);
}

void source_suffices(TensorArgument source, TensorArgument tensor, TensorArgument mask) {
  const Int wanted = shapes::marked(tensor, mask);
  require(source->count() >= wanted, source.name, " has ", source->count(), " elements, but ", mask.name, " asks for ", wanted);
}

void is_start(Argument<Int> start, TensorArgument tensor, Argument<Int> dim) {
  const Int n = size_along(*tensor.value, dim.value);
  require(-n <= start.value && start.value <= n, start.name, " is ", start.value, ", but ", tensor.name, " has size ", n, " along ", dim.name, " ", dim.value);
}

void is_length_from(Argument<Int> length, Argument<Int> start, TensorArgument tensor, Argument<Int> dim) {
  const Int n = size_along(*tensor.value, dim.value), left = start.value < 0 ? -start.value : n - start.value;
  require(0 <= length.value && length.value <= left, length.name, " is ", length.value, ", but from ", start.name, " ", start.value, " on ", tensor.name, " has ", left, " elements along ", dim.name, " ", dim.value);
}

void distinct_dims(Argument<Int> a, Argument<Int> b, TensorArgument tensor) {
  require(wrap_dim(a.value, tensor->rank()) != wrap_dim(b.value, tensor->rank()), a.name, " is ", a.value, " and ", b.name, " is ", b.value, ", the same dimension of ", tensor.name, " of sizes ", tensor->sizes);
}

void fills_selection(TensorArgument src, TensorArgument tensor, Argument<Int> dim) {
  const Dims wanted = shapes::selected(tensor, dim);
  require(src->sizes == wanted, src.name, " has sizes ", src->sizes, ", but must have those of a selection of ", tensor.name, ", ", wanted);
}

void same_length(Argument<const Ints*> a, Argument<const Ints*> b) {
  require(a->size() == b->size(), a.name, " is ", *a.value, " and ", b.name, " is ", *b.value, ", but both must have as many entries");
}

void strides_within(TensorArgument tensor, Argument<const Ints*> size, Argument<const Ints*> stride, Argument<std::optional<Int>> offset) {
  if (std::ranges::find(*size.value, 0) != size->end()) return;
  Int last = offset.value.value_or(0), step = 0;
  bool within = true;
  for (std::size_t k = 0; k < size->size(); ++k)
    within = within && !__builtin_mul_overflow((*size.value)[k] - 1, (*stride.value)[k], &step) && !__builtin_add_overflow(last, step, &last);
  require(within && last < tensor->count(), size.name, " ", *size.value, " with ", stride.name, " ", *stride.value, " from ", offset.value.value_or(0), " on leads beyond the ", tensor->count(), " elements of ", tensor.name);
}

void maybe_batch(TensorArgument tensor, Int rank) {
  const Dims& sizes = tensor->sizes;
  const bool holds = sizes.size() == rank || sizes.size() == rank + 1;
  require(holds && std::ranges::find(sizes.begin() + (sizes.size() > rank), sizes.end(), 0) == sizes.end(), tensor.name, " has sizes ", sizes, ", but must have ", rank, " dimensions with elements, and maybe a batch in front");
}

void pads_below_sizes(Argument<const Ints*> pad, TensorArgument tensor) {
  for (std::size_t k = 0; k < pad->size(); ++k) {
    const Int n = tensor->sizes[tensor->rank() - 1 - static_cast<Int>(k / 2)];
    require((*pad.value)[k] < n, pad.name, " is ", *pad.value, ", but each must be less than the size of its dimension of ", tensor.name, ", whose sizes are ", tensor->sizes);
  }
}

void pads_to_something(Argument<const Ints*> pad, TensorArgument tensor) {
  bool leaves = false;
  for (std::size_t k = 0; k < pad->size(); k += 2) {
    Int n = tensor->sizes[tensor->rank() - 1 - static_cast<Int>(k / 2)];
    const bool exact = !__builtin_add_overflow(n, (*pad.value)[k], &n) && !__builtin_add_overflow(n, (*pad.value)[k + 1], &n);
    leaves = leaves || (exact && n >= 1);
  }
  require(leaves, pad.name, " is ", *pad.value, ", which leaves nothing of ", tensor.name, " of sizes ", tensor->sizes);
}

void no_mean_of_bool(Argument<std::string_view> reduce, TensorArgument tensor) {
  require(reduce.value != "mean" || tensor->dtype != DType::boolean, reduce.name, " is mean, but ", tensor.name, " is bool, which has none");
}

void holds_windows(TensorArgument columns, Argument<const Ints*> output_size, Argument<const Ints*> kernel_size, Argument<const Ints*> dilation, Argument<const Ints*> padding, Argument<const Ints*> stride) {
  const Dims& sizes = columns->sizes;
  Int cells = 1, places = 1;
  for (Int d = 0; d < 2; ++d) {
    const WindowAxis axis = window_axis(d, *kernel_size.value, *stride.value, *padding.value, *dilation.value);
    const Int size = std::clamp<Int>(entry(*output_size.value, d), -1, Int{1} << 30);
    cells *= axis.kernel;
    places *= std::clamp<Int>(axis.places(size, false), 0, Int{1} << 30);
  }
  require(sizes[sizes.size() - 2] % cells == 0, columns.name, " has sizes ", sizes, ", but must have a multiple of ", cells, " rows, one for each cell of the ", kernel_size.name, " ", *kernel_size.value);
  require(sizes[sizes.size() - 1] == places, columns.name, " has sizes ", sizes, ", but must have ", places, " columns, one for each place of a window in ", output_size.name, " ", *output_size.value);
}

void nonzero(Argument<Int> n) { require(n.value != 0, n.name, " must not be 0"); }
void nonzero(Argument<Scalar> n) { require(real(n.value) != 0, n.name, " must not be 0"); }

void has_integer(Argument<Scalar> n) {
  constexpr Real end = 0x1p63;
  const bool holds = !is_floating(n.value) || (-end <= real(n.value) && real(n.value) < end);
  require(holds, n.name, " is ", n.value, ", which is beyond the integers of 64 bits");
}

void scalar_is_bool(Argument<Scalar> flag) { require(is_bool(flag.value), flag.name, " is ", flag.value, ", but must be true or false"); }

void same_kind(Argument<Scalar> a, Argument<Scalar> b) {
  require(a.value.index() == b.value.index(), a.name, " is ", a.value, " and ", b.name, " is ", b.value, ", but both must be bools, both integers or both floats");
}

void nonzero(Argument<double> n) { require(n.value != 0, n.name, " must not be 0"); }

void bags_cover(TensorArgument offsets, TensorArgument indices, Argument<bool> include_last) {
  std::vector<Int> bounds = read<Int>(*offsets.value).data;
  const Int end = indices->count();
  if (!include_last.value) bounds.push_back(end);
  require(bounds.front() == 0 && bounds.back() == end && std::ranges::is_sorted(bounds), offsets.name, " are ", bounds, ", but must lead from 0 to the ", end, " elements of ", indices.name, " without falling");
}

void nonzero(TensorArgument tensor) {
  const std::vector<Real> values = read<Real>(*tensor.value).data;
  require(std::ranges::find(values, Real{0}) == values.end(), tensor.name, " has a zero element");
}

namespace {
const Ints one{1};
}

void padding_at_most_half(Argument<const Ints*> padding, Argument<const Ints*> kernel_size) {
  padding_at_most_half(padding, kernel_size, Argument<const Ints*>{"dilation", &one});
}

void padding_at_most_half(Argument<const Ints*> padding, Argument<const Ints*> kernel_size, Argument<const Ints*> dilation) {
  const std::size_t dims = std::max({padding->size(), kernel_size->size(), dilation->size()});
  for (Int d = 0; d < static_cast<Int>(dims); ++d) {
    const WindowAxis axis = window_axis(d, *kernel_size.value, {}, *padding.value, *dilation.value);
    require(axis.padding <= axis.extent() / 2, padding.name, " is ", *padding.value, ", but must be at most half of the window's ", axis.extent(), " cells");
  }
}

void window_fits(TensorArgument self, Int spatial, Argument<const Ints*> kernel_size, Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<bool> ceil_mode) {
  window_fits(self, spatial, kernel_size, stride, padding, Argument<const Ints*>{"dilation", &one}, ceil_mode);
}

void window_fits(TensorArgument self, Int spatial, Argument<const Ints*> kernel_size, Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<const Ints*> dilation, Argument<bool> ceil_mode) {
  const Dims result = shapes::pooled(self, spatial, kernel_size, stride, padding, dilation, ceil_mode);
  require(std::all_of(result.end() - spatial, result.end(), [](Int places) { return places > 0; }), kernel_size.name, " is ", *kernel_size.value, ", but ", self.name, " has sizes ", self->sizes, ", too few for one window");
}

void has_sizes(TensorArgument tensor, const Dims& wanted) {
  require(tensor->sizes == wanted, tensor.name, " has sizes ", tensor->sizes, ", but must have ", wanted);
}

void is_pooled(TensorArgument grad_output, TensorArgument self, Int spatial, Argument<const Ints*> kernel_size, Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<bool> ceil_mode) {
  has_sizes(grad_output, shapes::pooled(self, spatial, kernel_size, stride, padding, ceil_mode));
}

void is_pooled(TensorArgument grad_output, TensorArgument self, Int spatial, Argument<const Ints*> kernel_size, Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<const Ints*> dilation, Argument<bool> ceil_mode) {
  has_sizes(grad_output, shapes::pooled(self, spatial, kernel_size, stride, padding, dilation, ceil_mode));
}

void is_convolved(TensorArgument grad_output, TensorArgument input, TensorArgument weight, Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<const Ints*> dilation,
                  Argument<bool> transposed, Argument<const Ints*> output_padding, Argument<Int> groups) {
  has_sizes(grad_output, shapes::convolved(input, weight, stride, padding, dilation, transposed, output_padding, groups));
}

void same_order(TensorArgument a, TensorArgument b) {
  require(a->dim_order == b->dim_order, b.name, " has dim order ", b->dim_order, ", but must have that of ", a.name, ", ", a->dim_order);
}

void sizes_equal_up_to(TensorArgument a, TensorArgument b, Int dim) {
  const auto leading = [dim](const Dims& sizes) { return Dims(std::span(sizes.begin(), sizes.end() + dim)); };
  require(a->rank() == b->rank() && leading(a->sizes) == leading(b->sizes), a.name, " has sizes ", a->sizes, ", but must have those of ", b.name, ", ", b->sizes, ", before dimension ", dim);
}

void begins_with(TensorArgument tensor, TensorArgument beginning) {
  const Dims& sizes = beginning->sizes;
  const bool begins = tensor->rank() == sizes.size() + 1 && std::equal(sizes.begin(), sizes.end(), tensor->sizes.begin());
  require(begins, tensor.name, " has sizes ", tensor->sizes, ", but must have those of ", beginning.name, ", ", sizes, ", and one more");
}

void statistics_of(TensorArgument statistics, TensorArgument input, Argument<const Ints*> normalized_shape) {
  const Int rows = count(Dims(std::span(input->sizes.begin(), input->sizes.end() - std::ssize(*normalized_shape.value))));
  require(statistics->count() == rows, statistics.name, " has sizes ", statistics->sizes, ", but must have ", rows, " elements, as many as are normalised together in ", input.name);
}

void has_elements(TensorArgument tensor, Argument<Int> a, Argument<Int> b) {
  require(a.value >= 0 && b.value >= 0 && tensor->count() == wrapping_multiply(a.value, b.value), tensor.name, " has sizes ", tensor->sizes, ", but must have ", a.name, " * ", b.name, " = ", a.value, " * ", b.value, " elements");
}

void asked_only_with(Argument<const Bools*> output_mask, Int k, TensorArgument tensor) {
  require(tensor || !(*output_mask.value)[static_cast<std::size_t>(k)], "result ", k, " is asked for, but ", tensor.name, " is None");
}

void places_within(TensorArgument indices, TensorArgument self) {
  const Int plane = self->sizes[self->rank() - 2] * self->sizes[self->rank() - 1];
  for (const Int i : read<Int>(*indices.value).data) require(i >= 0 && i < plane, indices.name, " has element ", i, ", but a plane of ", self.name, " has ", plane);
}

void windows_reach(TensorArgument self, Argument<const Ints*> output_size, Argument<bool> align_corners, Argument<std::optional<double>> scales_h, Argument<std::optional<double>> scales_w) {
  const auto check = [&](Int size, Int places, std::optional<double> scale, std::string_view name) {
    const TriangleAxis axis{size, places, resampling_step(size, places, align_corners.value, scale)};
    require(axis.reaches(), name, " makes ", places, " places stand ", axis.step, " cells apart, where ", self.name, " has ", size);
  };
  check(self->sizes[2], (*output_size.value)[0], scales_h.value, scales_h.name);
  check(self->sizes[3], (*output_size.value)[1], scales_w.value, scales_w.name);
}

void scales_to_at_least(TensorArgument input, Argument<const Doubles*> scale_factors, Int least) {
  const int first = input->rank() - static_cast<int>(scale_factors->size());
  for (int d = first; d < input->rank(); ++d) {
    const double factor = (*scale_factors.value)[static_cast<std::size_t>(d - first)];
    const double scaled = std::floor(static_cast<double>(input->sizes[d]) * factor);
    require(scaled >= static_cast<double>(least) && scaled < 0x1p62, scale_factors.name, " has ", factor, ", which makes ", scaled, " of the size ", input->sizes[d], ", but it must be at least ", least);
  }
}

void one_or_each_spatial(Argument<const Ints*> list, TensorArgument input) {
  const Int spatial = input->rank() - 2, length = static_cast<Int>(list->size());
  require(length == 1 || length == spatial, list.name, " is ", *list.value, ", but must have 1 or ", spatial, " entries");
}

void channels_fit(TensorArgument input, TensorArgument weight, Argument<bool> transposed, Argument<Int> groups) {
  const Int wanted = transposed.value ? weight->sizes[0] : weight->sizes[1] * groups.value;
  require(input->sizes[1] == wanted, input.name, " has sizes ", input->sizes, ", but must have ", wanted, " channels, as ", weight.name, " has sizes ", weight->sizes, " in ", groups.value, " groups");
}

void bias_fits(TensorArgument bias, TensorArgument weight, Argument<bool> transposed, Argument<Int> groups) {
  const Int wanted = transposed.value ? weight->sizes[1] * groups.value : weight->sizes[0];
  require(bias->sizes == Dims{wanted}, bias.name, " has sizes ", bias->sizes, ", but must have ", Dims{wanted}, ", one element for each output channel");
}

void convolution_fits(TensorArgument input, TensorArgument weight, Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<const Ints*> dilation,
                      Argument<bool> transposed, Argument<const Ints*> output_padding) {
  const Dims result = shapes::convolved(input, weight, stride, padding, dilation, transposed, output_padding, {"groups", 1});
  for (Int d = 2; d < result.size(); ++d)
    require(result[d] > 0, input.name, " has sizes ", input->sizes, " and ", weight.name, " has sizes ", weight->sizes, ", which leave no result along dimension ", d);
}

void output_padding_fits(Argument<const Ints*> output_padding, Argument<const Ints*> stride, Argument<const Ints*> dilation) {
  const Int spatial = static_cast<Int>(std::max({output_padding->size(), stride->size(), dilation->size()}));
  for (Int d = 0; d < spatial; ++d)
    require(entry(*output_padding.value, d) < std::max(entry(*stride.value, d), entry(*dilation.value, d)), output_padding.name, " is ", *output_padding.value, ", but must be less than ", stride.name, ", ", *stride.value, ", or than ", dilation.name, ", ", *dilation.value);
}

void no_zero(TensorArgument divisor, DType common) {
  if (assay::is_floating(common)) return;
  const std::vector<Int> values = read<Int>(*divisor.value, common).data;
  require(std::ranges::find(values, 0) == values.end(), divisor.name, " has a zero element in ", common, ", but the division is of integers");
}

void no_zero(Argument<Scalar> divisor, DType common) {
  const bool fine = assay::is_floating(common) || number<Int>(divisor.value, common) != 0;
  require(fine, divisor.name, " is ", divisor.value, ", which is 0 in ", common, ", but the division is of integers");
}

}  // namespace rules

namespace conditions {

bool one_of(Argument<Scalar> scalar, std::initializer_list<Scalar> literals) {
  return std::ranges::any_of(literals, [&](const Scalar& l) { return is_bool(l) == is_bool(scalar.value) && real(l) == real(scalar.value); });
}

bool rank_at_least(TensorArgument tensor, Int least) { return tensor->rank() >= least; }
bool half(DType dtype) { return is_half(dtype); }
bool is_nan(Argument<std::optional<Scalar>> scalar) { return scalar && std::isnan(real(*scalar.value)); }
bool one_half(TensorArgument tensor, DType dtype) { return is_half(dtype) && tensor->count() == 1; }
bool one_half(Argument<const Ints*> size, DType dtype) { return is_half(dtype) && std::ranges::all_of(*size.value, [](Int n) { return n == 1; }); }

bool keeps_innermost(Argument<const Ints*> dims, TensorArgument tensor) {
  if (tensor->count() <= 1) return true;
  Int innermost = tensor->rank() - 1;
  while (tensor->sizes[tensor->dim_order[innermost]] == 1) --innermost;
  return std::ranges::none_of(*dims.value, [&](Int d) { return wrap_dim(d, tensor->rank()) == tensor->dim_order[innermost]; });
}

bool empty(TensorArgument tensor) { return tensor->count() == 0; }
bool empty(Argument<const Ints*> list) { return list->empty(); }
bool flag_is(Argument<bool> flag, bool value) { return flag.value == value; }
bool all_ones(Argument<const Ints*> list, bool value) { return std::ranges::all_of(*list.value, [](Int n) { return n == 1; }) == value; }
bool scalar(TensorArgument tensor) { return tensor->rank() == 0; }

bool trivial(TensorArgument tensor) { return empty(tensor) || scalar(tensor); }

bool none_positive(Argument<const Ints*> list) { return std::ranges::all_of(*list.value, [](Int n) { return n <= 0; }); }


bool fills_mask(TensorArgument values, Argument<const Tensors*> indices, Argument<bool> accumulate) {
  const auto given = std::ranges::count_if(*indices.value, [](const auto& t) { return t.has_value(); });
  const bool masked = std::ranges::any_of(*indices.value, [](const auto& t) { return t && is_mask(*t); });
  return !accumulate.value && given == 1 && masked && values->count() == 1;
}

bool no_products(TensorArgument a, TensorArgument b) { return a->count() == 0 || b->count() == 0; }
bool products_or_nothing(TensorArgument a, TensorArgument b) { return a->sizes[1] > 0 || count(shapes::product(a, b)) == 0; }
bool makes_nothing(Argument<const Ints*> size) { return std::ranges::find(*size.value, 0) != size->end(); }
bool drops_nothing(TensorArgument input, Argument<std::optional<Int>> train) { return input->count() == 0 || train.value == 0; }
bool multiplies_or_nothing(TensorArgument input, TensorArgument weight) { return input->sizes[input->rank() - 1] > 0 || count(shapes::linear(input, weight)) == 0; }
bool absent(TensorArgument tensor) { return !tensor; }
bool no_batch(TensorArgument input) { return input->sizes[0] == 0 || input->sizes[1] == 0; }

bool plain_convolution(TensorArgument input, Argument<const Ints*> dilation, Argument<bool> transposed) {
  return plain_or_no_batch(input, transposed) && (no_batch(input) || !dilated(dilation, transposed));
}

bool dilated(Argument<const Ints*> dilation, Argument<bool> transposed) {
  return !transposed.value && std::ranges::any_of(*dilation.value, [](Int n) { return n != 1; });
}

bool plain_or_no_batch(TensorArgument input, Argument<bool> transposed) { return !transposed.value || no_batch(input); }
bool selects_nothing(TensorArgument self, TensorArgument mask) {
  return empty(self) || std::ranges::none_of(read<Int>(*mask.value).data, [](Int marked) { return marked != 0; });
}

bool compares_nothing(TensorArgument tensor, Argument<std::optional<Int>> dim) {
  return empty(tensor) || (dim && !scalar(tensor) && size_along(*tensor.value, *dim.value) == 1);
}

bool names_no_row(TensorArgument indices, Argument<Int> rows, Argument<Int> without) {
  return std::ranges::none_of(read<Int>(*indices.value).data, [&](Int i) { return i >= 0 && i < rows.value && i != without.value; });
}

bool pools_nothing(TensorArgument self, Argument<const Ints*> output_size) { return self->count() == 0 || std::ranges::find(*output_size.value, 0) != output_size->end(); }

bool keeps_sizes(TensorArgument self, Argument<const Ints*> output_size) { return shapes::with_last(self, output_size) == self->sizes; }
bool samples_nothing(TensorArgument input, TensorArgument grid) { return count(shapes::sampled(input, grid)) == 0; }
bool compares_nothing(TensorArgument x1, TensorArgument x2) { return x1->sizes[x1->rank() - 1] == 0 || count(shapes::distances(x1, x2)) == 0; }
bool compares_nothing(TensorArgument self) { return self->sizes[0] < 2 || self->sizes[1] == 0; }
bool multiplies_or_nothing(TensorArgument x1, TensorArgument x2, Argument<double> p, Argument<std::optional<Int>> compute_mode) {
  return compares_nothing(x1, x2) || by_products(x1->sizes, x2->sizes, p.value, compute_mode.value);
}

}  // namespace conditions
}  // namespace assay
