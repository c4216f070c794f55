#include "reference/rules.h"

#include <algorithm>
#include <cmath>

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

void named_dtype_of(Argument<Int> dtype, DTypeSet set) { check_dtype(dtype.name, types::named(dtype), set); }

void has_dtype(TensorArgument tensor, Argument<Int> dtype) {
  require(tensor->dtype == types::named(dtype), tensor.name, " is ", tensor->dtype, ", but must be ", types::named(dtype), " as ", dtype.name, " says");
}

void at_least_lowest(Argument<Int> n, Argument<Int> dtype) {
  const DType named = types::named(dtype);
  require(static_cast<Real>(n.value) >= lowest_integer(named), n.name, " is ", n.value, ", which is less than any ", named);
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

void length_is(Argument<const Doubles*> list, Int length) {
  require(static_cast<Int>(list->size()) == length, list.name, " has ", list->size(), " entries, but must have ", length);
}

void last_size_at_least(TensorArgument tensor, Int least) {
  require(terms::size(tensor, -1) >= least, tensor.name, " has sizes ", tensor->sizes, ", but the last must be at least ", least);
}

void differ(Argument<Int> a, Argument<Int> b) { require(a.value != b.value, a.name, " and ", b.name, " are both ", a.value, ", but must differ"); }

void nonzero(Argument<Int> n) { require(n.value != 0, n.name, " must not be 0"); }
void nonzero(Argument<double> n) { require(n.value != 0, n.name, " must not be 0"); }

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
  for (Int d = 0; d < 2; ++d) {
    const WindowAxis axis = window_axis(d, *kernel_size.value, {}, *padding.value, *dilation.value);
    require(axis.padding <= axis.extent() / 2, padding.name, " is ", *padding.value, ", but must be at most half of the window's ", axis.extent(), " cells");
  }
}

void window_fits(TensorArgument self, Argument<const Ints*> kernel_size, Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<bool> ceil_mode) {
  window_fits(self, kernel_size, stride, padding, Argument<const Ints*>{"dilation", &one}, ceil_mode);
}

void window_fits(TensorArgument self, Argument<const Ints*> kernel_size, Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<const Ints*> dilation, Argument<bool> ceil_mode) {
  const Dims result = shapes::pooled(self, kernel_size, stride, padding, dilation, ceil_mode);
  require(result[result.size() - 2] > 0 && result[result.size() - 1] > 0, kernel_size.name, " is ", *kernel_size.value, ", but ", self.name, " has sizes ", self->sizes, ", too few for one window");
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
  const std::vector<Int> values = read<Int>(*divisor.value).data;
  require(std::ranges::find(values, 0) == values.end(), divisor.name, " has a zero element, but the division is of integers");
}

void no_zero(Argument<Scalar> divisor, DType common) {
  require(assay::is_floating(common) || number<Int>(divisor.value, common) != 0, divisor.name, " is ", divisor.value, ", but the division is of integers");
}

}  // namespace rules

namespace conditions {

bool no_products(TensorArgument a, TensorArgument b) { return a->count() == 0 || b->count() == 0; }
bool products_or_nothing(TensorArgument a, TensorArgument b) { return a->sizes[1] > 0 || count(shapes::product(a, b)) == 0; }
bool no_batch(TensorArgument input) { return input->sizes[0] == 0 || input->sizes[1] == 0; }

bool plain_convolution(TensorArgument input, Argument<const Ints*> dilation, Argument<bool> transposed) {
  return plain_or_no_batch(input, transposed) && (no_batch(input) || std::ranges::all_of(*dilation.value, [](Int n) { return n == 1; }));
}

bool plain_or_no_batch(TensorArgument input, Argument<bool> transposed) { return !transposed.value || no_batch(input); }
bool pools_nothing(TensorArgument self, Argument<const Ints*> output_size) { return self->count() == 0 || std::ranges::find(*output_size.value, 0) != output_size->end(); }

}  // namespace conditions
}  // namespace assay
