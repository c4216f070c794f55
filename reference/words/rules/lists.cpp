#include "reference/words/rules.h"

#include <algorithm>

#include "reference/words/dtypes.h"
#include "reference/words/shapes.h"
#include "reference/words/terms.h"

namespace assay {
namespace rules {

void at_least(Argument<Int> n, Int least) {
  require(n.value >= least, n.name, " is ", n.value, ", but must be at least ", least);
}

void at_least(Argument<double> x, Int least) {
  require(x.value >= static_cast<double>(least), x.name, " is ", x.value, ", but must be at least ", least);
}

void between(Argument<Int> n, Int least, Int most) {
  require(n.value >= least && n.value <= most, n.name, " is ", n.value, ", but must be between ", least, " and ", most);
}

void between(Argument<double> x, Int least, Int most) {
  const bool inside = x.value >= static_cast<double>(least) && x.value <= static_cast<double>(most);
  require(inside, x.name, " is ", x.value, ", but must be between ", least, " and ", most);
}

void each_at_least(Argument<const Ints*> list, Int least) {
  require(std::ranges::all_of(*list.value, [&](Int n) { return n >= least; }), list.name, " is ", *list.value,
          ", but each must be at least ", least);
}

void each_between(Argument<const Ints*> list, Int least, Int most) {
  require(std::ranges::all_of(*list.value, [&](Int n) { return n >= least && n <= most; }), list.name, " is ",
          *list.value, ", but each must be between ", least, " and ", most);
}

void nonzero(Argument<Int> n) { require(n.value != 0, n.name, " must not be 0"); }
void nonzero(Argument<Scalar> n) { require(real(n.value) != 0, n.name, " must not be 0"); }
void nonzero(Argument<double> n) { require(n.value != 0, n.name, " must not be 0"); }

void differs(Argument<Int> n, Int value) { require(n.value != value, n.name, " must not be ", value); }

void differ(Argument<Int> a, Argument<Int> b) {
  require(a.value != b.value, a.name, " and ", b.name, " are both ", a.value, ", but must differ");
}

void counts_to(Argument<Int> n, DType dtype, DTypeSet set) {
  if (!sets::has(set, dtype)) return;
  const Real most = assay::is_floating(dtype) ? std::ldexp(1.0, info(dtype).precision) : largest_integer(dtype);
  require(static_cast<Real>(n.value - 1) <= most, n.name, " is ", n.value, ", but ", dtype, " counts to ", most,
          " only");
}

void ordered(Argument<Int> a, Argument<Int> b) {
  require(a.value <= b.value, a.name, " is ", a.value, ", but must be at most ", b.name, ", ", b.value);
}

void in_range_of(Argument<Int> n, TensorArgument tensor) {
  require(wrap_to(tensor->dtype, n.value) == n.value, n.name, " is ", n.value, ", but ", tensor.name, " is ",
          tensor->dtype);
}

void at_least_lowest(Argument<Int> n, Argument<Int> dtype) {
  const DType named = types::named(dtype);
  require(static_cast<Real>(n.value) >= least_integer(named), n.name, " is ", n.value, ", which is less than any ",
          named);
}

void at_most_largest(Argument<Int> n, Argument<Int> dtype) {
  const DType named = types::named(dtype);
  require(static_cast<Real>(n.value) <= largest_integer(named), n.name, " is ", n.value, ", which is more than any ",
          named);
}

void length_is(Argument<const Ints*> list, Int length) { length_between(list, length, length); }

void length_is(Argument<const Doubles*> list, Int length) {
  require(static_cast<Int>(list->size()) == length, list.name, " has ", list->size(), " entries, but must have ",
          length);
}

void length_at_least(Argument<const Tensors*> tensors, Int least) {
  require(static_cast<Int>(tensors->size()) >= least, tensors.name, " must have at least ", least,
          least == 1 ? " entry" : " entries", ", but has ", tensors->size());
}

void length_at_least(Argument<const Ints*> list, Int least) {
  require(static_cast<Int>(list->size()) >= least, list.name, " is ", *list.value, ", but must have at least ", least,
          least == 1 ? " entry" : " entries");
}

void length_at_most(Argument<const Ints*> list, Int most) {
  require(static_cast<Int>(list->size()) <= most, list.name, " is ", *list.value, ", but must have at most ", most,
          most == 1 ? " entry" : " entries");
}

void length_between(Argument<const Ints*> list, Int least, Int most) {
  const Int length = static_cast<Int>(list->size());
  require(length >= least && length <= most, list.name, " is ", *list.value, ", but must have ", least, " to ", most,
          " entries");
}

void even_length(Argument<const Ints*> list) {
  require(list->size() % 2 == 0, list.name, " is ", *list.value, ", but must have an even number of entries");
}

void same_length_or_flat(Argument<const Ints*> list, Argument<const Ints*> dims) {
  require(list->size() == dims->size() || (list->size() == 1 && dims->empty()), list.name, " is ", *list.value,
          ", but must have an entry for each of ", dims.name, ", ", *dims.value);
}

void sums_to_size(Argument<const Ints*> list, TensorArgument tensor, Argument<Int> dim) {
  const Int n = terms::size(tensor, dim.value);
  Int left = n;
  for (Int k : *list.value) left = k > left ? -1 : left - k;
  require(left == 0, list.name, " is ", *list.value, ", which must sum to ", n, ", the size of dimension ", dim.value,
          " of ", tensor.name);
}

void is_half_spectrum(TensorArgument tensor, Argument<const Ints*> dim, Argument<Int> last_dim_size) {
  const Int size = tensor->sizes[dim->back()];
  require(size == last_dim_size.value / 2 + 1, tensor.name, " has size ", size, " along dimension ", dim->back(),
          ", but half the spectrum of ", last_dim_size.value, " numbers has ", last_dim_size.value / 2 + 1);
}

void is_expansion(Argument<const Ints*> size, TensorArgument tensor) {
  const Dims wanted = shapes::expanded(tensor, size);
  const bool kept = std::ranges::all_of(wanted, [](Int n) { return n >= 0; });
  require(kept && shapes::expands(tensor->sizes, wanted), size.name, " is ", *size.value, ", to which sizes ",
          tensor->sizes, " of ", tensor.name, " do not expand");
}

void is_view(Argument<const Ints*> size, TensorArgument tensor) {
  const Dims view = shapes::viewed(tensor, size);
  require(std::ranges::all_of(view, [](Int n) { return n >= 0; }), size.name, " is ", *size.value,
          ", but at most one size may be -1, and not beside a 0");
  Int left = tensor->count();
  const bool has_none = std::ranges::find(view, 0) != view.end();
  for (Int n : view) left = has_none ? left : left % n == 0 ? left / n : 0;
  require(left == (has_none ? 0 : 1), size.name, " is ", *size.value, ", which does not have the ", tensor->count(),
          " elements of ", tensor.name, " of sizes ", tensor->sizes);
}

void repeats(Argument<const Ints*> repeats, TensorArgument tensor) {
  const Int lead = static_cast<Int>(repeats->size()) - tensor->rank();
  require(lead >= 0, repeats.name, " is ", *repeats.value, ", but must have an entry for each dimension of ",
          tensor.name, " of sizes ", tensor->sizes);
  for (Int d = 0; d < lead + tensor->rank(); ++d)
    require((*repeats.value)[static_cast<std::size_t>(d)] >= 0 || (d >= lead && tensor->sizes[d - lead] == 0),
            repeats.name, " is ", *repeats.value, ", but none may be negative");
}

void crops_within(Argument<const Ints*> pad, TensorArgument tensor) {
  const std::size_t pairs = pad->size() / 2;
  require(static_cast<Int>(pairs) <= tensor->rank(), pad.name, " is ", *pad.value,
          ", which is more than two entries for each dimension of ", tensor.name, " of sizes ", tensor->sizes);
  for (std::size_t k = 0; k < pairs; ++k) {
    const Int n = tensor->sizes[tensor->rank() - 1 - static_cast<Int>(k)],
              before = std::min<Int>((*pad.value)[2 * k], 0), after = std::min<Int>((*pad.value)[2 * k + 1], 0);
    require(before >= -n && after >= -n - before, pad.name, " is ", *pad.value, ", which takes more from ", tensor.name,
            " of sizes ", tensor->sizes, " than there is");
  }
}

void fills_slice(TensorArgument src, TensorArgument tensor, Argument<Int> dim, Argument<std::optional<Int>> start,
                 Argument<std::optional<Int>> end, Argument<Int> step) {
  const Dims wanted = shapes::sliced(tensor, dim, start, end, step);
  require(src->sizes == wanted, src.name, " has sizes ", src->sizes, ", but must have those of the slice of ",
          tensor.name, ", ", wanted);
}

void fills_selection(TensorArgument src, TensorArgument tensor, Argument<Int> dim) {
  const Dims wanted = shapes::selected(tensor, dim);
  require(src->sizes == wanted, src.name, " has sizes ", src->sizes, ", but must have those of a selection of ",
          tensor.name, ", ", wanted);
}

void same_length(Argument<const Ints*> a, Argument<const Ints*> b) {
  require(a->size() == b->size(), a.name, " is ", *a.value, " and ", b.name, " is ", *b.value,
          ", but both must have as many entries");
}

void strides_within(TensorArgument tensor, Argument<const Ints*> size, Argument<const Ints*> stride,
                    Argument<std::optional<Int>> offset) {
  if (std::ranges::find(*size.value, 0) != size->end()) return;
  Int last = offset.value.value_or(0), step = 0;
  bool within = true;
  for (std::size_t k = 0; k < size->size(); ++k)
    within = within && !__builtin_mul_overflow((*size.value)[k] - 1, (*stride.value)[k], &step) &&
             !__builtin_add_overflow(last, step, &last);
  require(within && last < tensor->count(), size.name, " ", *size.value, " with ", stride.name, " ", *stride.value,
          " from ", offset.value.value_or(0), " on leads beyond the ", tensor->count(), " elements of ", tensor.name);
}

void no_negative_stride(Argument<const Ints*> size, Argument<const Ints*> stride) {
  if (std::ranges::find(*size.value, 0) != size->end()) return;
  for (std::size_t k = 0; k < size->size(); ++k)
    require((*size.value)[k] == 1 || (*stride.value)[k] >= 0, stride.name, " is ", *stride.value,
            ", but must not be negative along dimension ", k, " of size ", (*size.value)[k]);
}

void pads_below_sizes(Argument<const Ints*> pad, TensorArgument tensor) {
  for (std::size_t k = 0; k < pad->size(); ++k) {
    const Int n = tensor->sizes[tensor->rank() - 1 - static_cast<Int>(k / 2)];
    require((*pad.value)[k] < n, pad.name, " is ", *pad.value,
            ", but each must be less than the size of its dimension of ", tensor.name, ", whose sizes are ",
            tensor->sizes);
  }
}

void pads_to_something(Argument<const Ints*> pad, TensorArgument tensor) {
  bool leaves = false;
  for (std::size_t k = 0; k < pad->size(); k += 2) {
    Int n = tensor->sizes[tensor->rank() - 1 - static_cast<Int>(k / 2)];
    const bool exact =
        !__builtin_add_overflow(n, (*pad.value)[k], &n) && !__builtin_add_overflow(n, (*pad.value)[k + 1], &n);
    leaves = leaves || (exact && n >= 1);
  }
  require(leaves, pad.name, " is ", *pad.value, ", which leaves nothing of ", tensor.name, " of sizes ", tensor->sizes);
}

void concatenable(Argument<const Tensors*> tensors, Argument<Int> dim) {
  const Tensor* first = shapes::first_counted(*tensors.value);
  if (!first) return;
  is_dim(dim, {tensors.name, first});
  for (const auto& t : *tensors.value) {
    if (shapes::is_nothing(*t)) continue;
    Dims sizes = t->sizes;
    if (sizes.size() == first->rank())
      sizes[wrap_dim(dim.value, sizes.size())] = terms::size({tensors.name, first}, dim.value);
    require(sizes == first->sizes, tensors.name, " has tensors of sizes ", first->sizes, " and ", t->sizes,
            ", but all must be equal apart from dimension ", dim.value);
  }
}

}  // namespace rules
}  // namespace assay
