#include "reference/words/rules.h"

#include <algorithm>

#include "reference/words/shapes.h"
#include "reference/words/terms.h"

namespace assay {
namespace {

void same_rank_or_scalar(TensorArgument a, TensorArgument b) {
  require(std::max(a->rank(), 1) == std::max(b->rank(), 1), b.name, " has sizes ", b->sizes,
          ", but must have as many dimensions as ", a.name, " of sizes ", a->sizes);
}

}  // namespace

namespace rules {

void rank_is(TensorArgument tensor, Int rank) {
  require(tensor->rank() == rank, tensor.name, " has sizes ", tensor->sizes, ", but must have ", rank, " dimensions");
}

void rank_at_least(TensorArgument tensor, Int least) {
  require(tensor->rank() >= least, tensor.name, " has sizes ", tensor->sizes, ", but must have at least ", least,
          least == 1 ? " dimension" : " dimensions");
}

void rank_at_most(TensorArgument tensor, Int most) {
  require(tensor->rank() <= most, tensor.name, " has sizes ", tensor->sizes, ", but must have at most ", most,
          most == 1 ? " dimension" : " dimensions");
}

void rank_between(TensorArgument tensor, Int least, Int most) {
  require(tensor->rank() >= least && tensor->rank() <= most, tensor.name, " has sizes ", tensor->sizes,
          ", but must have ", least, " to ", most, " dimensions");
}

void each_rank_at_least(Argument<const Tensors*> tensors, Int least) {
  for (const auto& t : *tensors.value) rank_at_least({tensors.name, &*t}, least);
}

void same_rank(TensorArgument a, TensorArgument b) {
  require(a->rank() == b->rank(), b.name, " has sizes ", b->sizes, ", but must have as many dimensions as ", a.name,
          " of sizes ", a->sizes);
}

void same_sizes(TensorArgument a, TensorArgument b) {
  require(a->sizes == b->sizes, b.name, " has sizes ", b->sizes, ", but must have those of ", a.name, ", ", a->sizes);
}

void all_same_sizes(Argument<const Tensors*> tensors) {
  const Dims& first = tensors->front()->sizes;
  for (const auto& t : *tensors.value)
    require(t->sizes == first, tensors.name, " has tensors of sizes ", first, " and ", t->sizes,
            ", but all must be equal");
}

void sizes_are(TensorArgument tensor, Argument<const Ints*> sizes) {
  require(std::ranges::equal(tensor->sizes, *sizes.value), tensor.name, " has sizes ", tensor->sizes,
          ", but must have ", sizes.name, ", ", *sizes.value);
}

void sizes_equal(TensorArgument a, Int dim_a, TensorArgument b, Int dim_b) {
  const Int wanted = a->sizes[wrap_dim(dim_a, a->rank())], came = b->sizes[wrap_dim(dim_b, b->rank())];
  require(wanted == came, b.name, " has sizes ", b->sizes, ", but dimension ", dim_b, " must be ", wanted,
          " as dimension ", dim_a, " of ", a.name);
}

void sizes_within(TensorArgument a, TensorArgument b) {
  same_rank_or_scalar(b, a);
  for (Int d = 0; d < std::max(a->rank(), 1); ++d)
    require(terms::size(a, d) <= terms::size(b, d), a.name, " has sizes ", a->sizes,
            ", which must be at most those of ", b.name, ", ", b->sizes);
}

void sizes_within(TensorArgument a, Argument<Int> dim, TensorArgument b) {
  same_rank_or_scalar(b, a);
  for (Int d = 0; d < std::max(a->rank(), 1); ++d)
    require(d == wrap_dim(dim.value, b->rank()) || terms::size(a, d) <= terms::size(b, d), a.name, " has sizes ",
            a->sizes, ", which apart from dimension ", dim.value, " must be at most those of ", b.name, ", ", b->sizes);
}

void sizes_from_at_least(TensorArgument tensor, Int dim, Int least) {
  for (Int d = wrap_dim(dim, tensor->rank()); d < tensor->rank(); ++d)
    require(tensor->sizes[d] >= least, tensor.name, " has sizes ", tensor->sizes, ", but dimension ", d,
            " must be at least ", least);
}

void size_is(TensorArgument tensor, Int dim, Int size) {
  require(terms::size(tensor, dim) == size, tensor.name, " has size ", terms::size(tensor, dim), " along dimension ",
          dim, ", but must have ", size);
}

void size_at_least(TensorArgument tensor, Int dim, Int least) {
  require(tensor->sizes[wrap_dim(dim, tensor->rank())] >= least, tensor.name, " has sizes ", tensor->sizes,
          ", but dimension ", dim, " must be at least ", least);
}

void last_size_at_least(TensorArgument tensor, Int least) {
  require(terms::size(tensor, -1) >= least, tensor.name, " has sizes ", tensor->sizes,
          ", but the last must be at least ", least);
}

void not_empty(TensorArgument tensor) {
  require(tensor->count() > 0, tensor.name, " has sizes ", tensor->sizes, ", but must have at least one element");
}

void one_element(TensorArgument tensor) {
  require(tensor->count() == 1, tensor.name, " has sizes ", tensor->sizes, ", but must have one element");
}

void has_elements(TensorArgument tensor, Argument<Int> a, Argument<Int> b, Argument<Int> c) {
  for (const auto& n : {a, b, c}) at_least(n, 0);
  require(tensor->count() == count({a.value, b.value, c.value}), tensor.name, " has sizes ", tensor->sizes,
          ", but must have ", a.name, " * ", b.name, " * ", c.name, " = ", a.value, " * ", b.value, " * ", c.value,
          " elements");
}

void has_elements(TensorArgument tensor, Argument<Int> a, Argument<Int> b) {
  require(a.value >= 0 && b.value >= 0 && tensor->count() == count({a.value, b.value}), tensor.name, " has sizes ",
          tensor->sizes, ", but must have ", a.name, " * ", b.name, " = ", a.value, " * ", b.value, " elements");
}

void count_is_size(TensorArgument a, TensorArgument b, Int dim) {
  const Int wanted = b->sizes[wrap_dim(dim, b->rank())];
  require(a->count() == wanted, a.name, " has sizes ", a->sizes, ", but must have ", wanted, " elements, as ", b.name,
          " has sizes ", b->sizes);
}

void one_or_as_many(TensorArgument a, TensorArgument b) {
  require(a->count() == 1 || a->count() == b->count(), a.name, " has sizes ", a->sizes,
          ", but must have one element or as many as ", b.name, ", which has sizes ", b->sizes);
}

void positions_within(Argument<Int> start, TensorArgument value, TensorArgument cache, Int dim) {
  const Int length = value->sizes[dim], room = cache->sizes[dim];
  require(start.value >= 0 && length <= room && start.value <= room - length, value.name, " has ", length,
          " positions, which from ", start.name, " ", start.value, " on are not within the ", room, " of ", cache.name);
}

void quantizes_rows(TensorArgument scales, TensorArgument zero_points, TensorArgument codes) {
  Dims rows = codes->sizes;
  rows[rows.size() - 1] = 1;
  for (const auto& [parameter, dtype] : {std::pair(scales, DType::float32), std::pair(zero_points, DType::int8)}) {
    require(static_cast<bool>(parameter), parameter.name, " is None, but ", codes.name, " are codes");
    require(parameter->dtype == dtype && parameter->sizes == rows, parameter.name, " is ", describe(*parameter.value),
            ", but must be ", dtype, " ", rows);
  }
}

void divides_size(TensorArgument a, Int i, TensorArgument b, Int j) {
  const Int divisor = a->sizes[i], n = b->sizes[j];
  require(divisor > 0 && n % divisor == 0, a.name, " has size ", divisor, " along dimension ", i,
          ", which does not divide size ", n, " of ", b.name);
}

void has_hadamard_matrix(TensorArgument tensor) {
  const Int n = tensor->sizes[tensor->rank() - 1];
  const auto power = [](Int k) { return (k & (k - 1)) == 0; };
  require(power(n) || (n % 28 == 0 && power(n / 28)), tensor.name, " has rows of ", n,
          " elements, but that must be a power of two or 28 times one");
}

void groups_fit(TensorArgument scales, TensorArgument weight, Int codes) {
  const Int columns = count({weight->sizes[1], codes}), groups = scales->rank() == 2 ? scales->sizes[1] : 1;
  require(groups > 0 && columns % groups == 0 && columns / groups > 1, scales.name, " has sizes ", scales->sizes,
          ", but the ", columns, " columns of ", weight.name, " must split into as many groups of at least two");
}

void one_for_each_column(TensorArgument bias, TensorArgument input, TensorArgument weight) {
  const Dims row{1, weight->sizes[0]};
  const bool expands = weight->rank() == 1 ? bias->rank() == 0 && input->rank() != 2
                                           : bias->rank() <= 2 && shapes::expands(bias->sizes, row);
  require(expands, bias.name, " has sizes ", bias->sizes, ", which do not broadcast to one element for each row of ",
          weight.name, ", which has sizes ", weight->sizes);
}

void one_for_each_row(TensorArgument a, TensorArgument b) {
  const Int wanted = count(shapes::without(b->sizes, shapes::dims(b, Argument<Int>{"", -1}), false));
  require(a->count() == wanted, a.name, " has sizes ", a->sizes, ", but must have an element for each of the ", wanted,
          " rows of ", b.name, ", which has sizes ", b->sizes);
}

void nonzero_along(TensorArgument tensor, Argument<Int> dim) {
  if (tensor->rank() == 0) return;
  require(tensor->sizes[wrap_dim(dim.value, tensor->rank())] > 0, tensor.name, " has sizes ", tensor->sizes,
          ", but must have elements along ", dim.name, " ", dim.value);
}

void nonzero_along(TensorArgument tensor, Argument<const Ints*> dim) {
  if (!dim || dim->empty()) return not_empty(tensor);
  for (Int d : *dim.value) nonzero_along(tensor, Argument<Int>{dim.name, d});
}

void nonzero_along(TensorArgument tensor, Argument<std::optional<Int>> dim) {
  if (dim)
    nonzero_along(tensor, some(dim));
  else
    not_empty(tensor);
}

void maybe_batch(TensorArgument tensor, Int rank) {
  const Dims& sizes = tensor->sizes;
  const bool holds = sizes.size() == rank || sizes.size() == rank + 1;
  require(holds && std::ranges::find(sizes.begin() + (sizes.size() > rank), sizes.end(), 0) == sizes.end(), tensor.name,
          " has sizes ", sizes, ", but must have ", rank, " dimensions with elements, and maybe a batch in front");
}

void ends_with(TensorArgument tensor, Argument<const Ints*> sizes) {
  const bool enough = static_cast<Int>(sizes->size()) <= tensor->rank();
  require(enough && std::equal(sizes->rbegin(), sizes->rend(), std::reverse_iterator(tensor->sizes.end())), tensor.name,
          " has sizes ", tensor->sizes, ", but the last must be ", sizes.name, ", ", *sizes.value);
}

void vector_of(TensorArgument vector, Argument<Int> length) {
  require(vector->rank() == 1 && vector->sizes[0] == length.value, vector.name, " has sizes ", vector->sizes,
          ", but must have ", length.name, " = ", length.value, " elements in one dimension");
}

void sizes_equal_up_to(TensorArgument a, TensorArgument b, Int dim) {
  const auto leading = [dim](const Dims& sizes) { return Dims(std::span(sizes.begin(), sizes.end() + dim)); };
  require(a->rank() == b->rank() && leading(a->sizes) == leading(b->sizes), a.name, " has sizes ", a->sizes,
          ", but must have those of ", b.name, ", ", b->sizes, ", before dimension ", dim);
}

void row_for_each(TensorArgument rows, TensorArgument tensor) {
  require(rows->rank() > 0 && rows->count() == count({tensor->count(), rows->sizes[rows->rank() - 1]}), rows.name,
          " has sizes ", rows->sizes, ", but must have a row for each element of ", tensor.name, ", which has sizes ",
          tensor->sizes);
}

void statistics_of(TensorArgument statistics, TensorArgument input, Argument<const Ints*> normalized_shape) {
  const Int rows =
      count(Dims(std::span(input->sizes.begin(), input->sizes.end() - std::ssize(*normalized_shape.value))));
  require(statistics->count() == rows, statistics.name, " has sizes ", statistics->sizes, ", but must have ", rows,
          " elements, as many as are normalised together in ", input.name);
}

void per_channel(TensorArgument vector, TensorArgument tensor) {
  require(vector->rank() == 1 && vector->sizes[0] == tensor->sizes[1], vector.name, " has sizes ", vector->sizes,
          ", but must have one element for each of the ", tensor->sizes[1], " channels of ", tensor.name);
}

void broadcasts_to(TensorArgument tensor, TensorArgument to) {
  require(shapes::expands(tensor->sizes, to->sizes), tensor.name, " has sizes ", tensor->sizes,
          ", which do not broadcast to those of ", to.name, ", ", to->sizes);
}

void expands_to_product(TensorArgument tensor, TensorArgument a, TensorArgument b) {
  const Dims product = shapes::product(a, b);
  shapes::Broadcasting both;
  both.add(a.name, product);
  both.add(tensor.name, tensor->sizes);
  require(both.sizes() == product, tensor.name, " has sizes ", tensor->sizes,
          ", which do not broadcast to those of the product, ", product);
}

void even_along(TensorArgument tensor, Argument<Int> dim) {
  const Int n = terms::size(tensor, dim.value);
  require(n % 2 == 0, tensor.name, " has size ", n, " along ", dim.name, " ", dim.value, ", but must have an even one");
}

void square_divides(Argument<Int> factor, TensorArgument tensor, Int dim) {
  require(terms::size(tensor, dim) % (factor.value * factor.value) == 0, tensor.name, " has sizes ", tensor->sizes,
          ", but the square of ", factor.name, ", ", factor.value, ", must divide that of dimension ", dim);
}

void divides(Argument<Int> divisor, Argument<Int> n) {
  require(divisor.value > 0 && n.value % divisor.value == 0, divisor.name, " is ", divisor.value,
          ", but must be positive and divide ", n.name, ", which is ", n.value);
}

void divides(Argument<Int> n, TensorArgument tensor, Int dim) {
  const Int size = tensor->sizes[wrap_dim(dim, tensor->rank())];
  require(n.value != 0 && size % n.value == 0, n.name, " is ", n.value, ", which does not divide dimension ", dim,
          " of ", tensor.name, ", which has sizes ", tensor->sizes);
}

}  // namespace rules
}  // namespace assay
