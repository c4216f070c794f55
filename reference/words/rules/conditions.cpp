#include "reference/words/rules.h"

#include <algorithm>
#include <cmath>

#include "reference/numerics/distance.h"
#include "reference/words/indexing.h"
#include "reference/words/shapes.h"
#include "reference/words/terms.h"

namespace assay::conditions {

bool one_of(Argument<Scalar> scalar, std::initializer_list<Scalar> literals) {
  return std::ranges::any_of(
      literals, [&](const Scalar& l) { return is_bool(l) == is_bool(scalar.value) && real(l) == real(scalar.value); });
}

bool rank_at_least(TensorArgument tensor, Int least) { return tensor->rank() >= least; }
bool half(DType dtype) { return is_half(dtype); }
bool is_nan(Argument<std::optional<Scalar>> scalar) { return scalar && std::isnan(real(*scalar.value)); }
bool one_half(TensorArgument tensor, DType dtype) { return is_half(dtype) && tensor->count() == 1; }
bool one_half(Argument<const Ints*> size, DType dtype) {
  return is_half(dtype) && std::ranges::all_of(*size.value, [](Int n) { return n == 1; });
}

bool keeps_innermost(Argument<const Ints*> dims, TensorArgument tensor) {
  if (tensor->count() <= 1) return true;
  Int innermost = tensor->rank() - 1;
  while (tensor->sizes[tensor->dim_order[innermost]] == 1) --innermost;
  return std::ranges::none_of(*dims.value,
                              [&](Int d) { return wrap_dim(d, tensor->rank()) == tensor->dim_order[innermost]; });
}

bool empty(TensorArgument tensor) { return tensor->count() == 0; }
bool empty(Argument<const Ints*> list) { return list->empty(); }
bool flag_is(Argument<bool> flag, bool value) { return flag.value == value; }
bool all_ones(Argument<const Ints*> list, bool value) {
  return std::ranges::all_of(*list.value, [](Int n) { return n == 1; }) == value;
}
bool scalar(TensorArgument tensor) { return tensor->rank() == 0; }

bool trivial(TensorArgument tensor) { return empty(tensor) || scalar(tensor); }

bool none_positive(Argument<const Ints*> list) {
  return std::ranges::all_of(*list.value, [](Int n) { return n <= 0; });
}

bool fills_mask(TensorArgument values, Argument<const Tensors*> indices, Argument<bool> accumulate) {
  const auto given = std::ranges::count_if(*indices.value, [](const auto& t) { return t.has_value(); });
  const bool masked = std::ranges::any_of(*indices.value, [](const auto& t) { return t && is_mask(*t); });
  return !accumulate.value && given == 1 && masked && values->count() == 1;
}

bool no_products(TensorArgument a, TensorArgument b) { return a->count() == 0 || b->count() == 0; }
bool products_or_nothing(TensorArgument a, TensorArgument b) {
  return a->sizes[1] > 0 || count(shapes::product(a, b)) == 0;
}
bool makes_nothing(Argument<const Ints*> size) { return std::ranges::find(*size.value, 0) != size->end(); }
bool drops_nothing(TensorArgument input, Argument<std::optional<Int>> train) {
  return input->count() == 0 || train.value == 0;
}
bool multiplies_or_nothing(TensorArgument input, TensorArgument weight) {
  return input->sizes[input->rank() - 1] > 0 || count(shapes::linear(input, weight)) == 0;
}
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
  return empty(tensor) || (dim && !scalar(tensor) && terms::size(tensor, *dim.value) == 1);
}

bool names_no_row(TensorArgument indices, Argument<Int> rows, Argument<Int> without) {
  return std::ranges::none_of(read<Int>(*indices.value).data,
                              [&](Int i) { return i >= 0 && i < rows.value && i != without.value; });
}

bool pools_nothing(TensorArgument self, Argument<const Ints*> output_size) {
  return self->count() == 0 || std::ranges::find(*output_size.value, 0) != output_size->end();
}

bool pools_nothing_or_all(TensorArgument self, Argument<const Ints*> output_size) {
  return pools_nothing(self, output_size) || all_ones(output_size, true);
}

bool keeps_sizes(TensorArgument self, Argument<const Ints*> output_size) {
  return shapes::with_last(self, output_size) == self->sizes;
}
bool samples_nothing(TensorArgument input, TensorArgument grid) { return count(shapes::sampled(input, grid)) == 0; }
bool compares_nothing(TensorArgument x1, TensorArgument x2) {
  return x1->sizes[x1->rank() - 1] == 0 || count(shapes::distances(x1, x2)) == 0;
}
bool compares_nothing(TensorArgument self) { return self->sizes[0] < 2 || self->sizes[1] == 0; }
bool multiplies_or_nothing(TensorArgument x1, TensorArgument x2, Argument<double> p,
                           Argument<std::optional<Int>> compute_mode) {
  return compares_nothing(x1, x2) || by_products(x1->sizes, x2->sizes, p.value, compute_mode.value);
}

}  // namespace assay::conditions
