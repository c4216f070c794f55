#include "operators/indexing.gen.h"

#include <cmath>
#include <functional>

#include "operators/reduction.gen.h"
#include "reference/families.h"
#include "reference/words/shapes.h"

namespace assay {
namespace {

Real sum(Real a, Real b) { return a + b; }
Int sum(Int a, Int b) { return wrapping_add(a, b); }
Complex sum(Complex a, Complex b) { return a + b; }

// An element of x. The index may have rank 0 while x has rank 1, or the other way round.
template <class T>
const T& element(const Array<T>& x, const Dims& i) {
  return i.size() == x.sizes.size() ? x(i) : x[0];
}

// f(the element of self that index names at i, i) for every i.
template <class T, class F>
void each_target(Array<T>& self, Int dim, const Array<Int>& index, F f) {
  for (const Dims& i : indices(index.sizes)) f(self(operators::gather(i, self.sizes, dim, index)), i);
}

// f(the element of self that the indices name, the value put there) for every element of the indexed part.
template <class T, class F>
void each_put(Array<T>& self, const Indexing& indices, const Array<T>& values, F f) {
  const auto value = families::broadcast(values, indices.sizes);
  Int flat = 0;
  for (const Dims& i : assay::indices(indices.sizes))
    f(self(indices.source(i)), values.count() == 1 ? values[0] : value.at(i, flat)), ++flat;
}

template <class T>
void added(Array<T>& out, const Array<T>& self, Int dim, const Array<Int>& index, const Array<T>& src) {
  out = self;
  each_target(out, dim, index, [&](T& target, const Dims& i) { target = sum(target, element(src, i)); });
}

// Adds |self| where out holds magnitudes of what is added to it.
template <class T>
void add_self(Array<T>& out, const Array<T>& self) {
  for (Int k = 0; k < out.count(); ++k)
    if (std::abs(out[k]) > 0) out[k] += std::abs(self[k]);
}

// |self| + sum |src| where something is added, else 0.
template <class T>
void added_magnitude(Array<T>& out, const Array<T>& self, Int dim, const Array<Int>& index, const Array<T>& src) {
  each_target(out, dim, index, [&](T& target, const Dims& i) { target += std::abs(element(src, i)); });
  add_self(out, self);
}

// |self| + sum |values| where something is added, else 0.
template <class T>
void put_magnitude(Array<T>& out, const Array<T>& self, const Indexing& indices, const Array<T>& values,
                   bool accumulate) {
  if (!accumulate) return;
  each_put(out, indices, values, [](T& target, T value) { target += std::abs(value); });
  add_self(out, self);
}

template <class T>
void put(Array<T>& out, const Array<T>& self, const Indexing& indices, const Array<T>& values, bool accumulate) {
  out = self;
  each_put(out, indices, values, [&](T& target, T value) { target = accumulate ? sum(target, value) : value; });
}

// Adds each row of grad_output to the row of out that its index names: add(sum, element, number of equal indices).
template <class T, class Add>
void add_rows(Array<T>& out, const Array<T>& grad_output, const Array<Int>& indices, Int num_weights, Int padding_idx,
              Add add) {
  const Int columns = out.sizes[1];
  const auto named = [&](Int row) { return row != padding_idx && row >= 0 && row < num_weights; };
  Array<Int> number(Dims{num_weights});
  for (Int row : indices.data)
    if (named(row)) ++number[row];
  for (Int n = 0; n < indices.count(); ++n) {
    const Int row = indices[n];
    for (Int j = 0; named(row) && j < columns; ++j)
      out[row * columns + j] = add(out[row * columns + j], grad_output[n * columns + j], number[row]);
  }
}

// `larger` and `smaller` give NaN where either argument is NaN, and the first of equal zeros.
template <class T>
T larger(T a, T b) {
  return a != a || a >= b ? a : b;
}
template <class T>
T smaller(T a, T b) {
  return a != a || a <= b ? a : b;
}
template <class T>
T product(T a, T b) {
  return a * b;
}
Int product(Int a, Int b) { return wrapping_multiply(a, b); }
Real averaged(Real sum, Int count) { return sum / static_cast<Real>(count); }
Complex averaged(Complex sum, Int count) { return sum / Complex(static_cast<Real>(count)); }
Int averaged(Int sum, Int count) { return floor_div(sum, count); }

template <class T>
T reduced(T a, T b, std::string_view reduce) {
  if (reduce == "prod") return product(a, b);
  if constexpr (!std::is_same_v<T, Complex>) {  // complex numbers have no larger one
    if (reduce == "amax") return larger(a, b);
    if (reduce == "amin") return smaller(a, b);
  }
  return sum(a, b);
}

// Returns how many numbers make each element of the result.
template <class T, class Round>
Array<Int> scatter_reduced(Array<T>& out, const Array<T>& self, Int dim, const Array<Int>& index, const Array<T>& src,
                           std::string_view reduce, bool include_self, Round round) {
  out = self;
  Array<Int> counts(self.sizes);
  if (include_self) std::ranges::fill(counts.data, 1);
  for (const Dims& i : indices(index.sizes)) {
    const Dims at = operators::gather(i, self.sizes, dim, index);
    out(at) = counts(at)++ == 0 ? element(src, i) : reduced(out(at), element(src, i), reduce);
  }
  for (Int k = 0; k < out.count(); ++k)
    if (reduce == "mean" && counts[k] > 1) out[k] = averaged(round(out[k]), counts[k]);
  return counts;
}

// Sums of magnitudes; for a product as in prod; 0 where nothing is computed.
template <class T>
void scatter_reduced_magnitude(Array<T>& out, const Array<T>& self, Int dim, const Array<Int>& index,
                               const Array<T>& src, std::string_view reduce, bool include_self, const Arithmetic& a) {
  const Array<Int> counts =
      scatter_reduced(out, magnitudes(self), dim, index, magnitudes(src), reduce, include_self, std::identity());
  Array<Buffer<T>> factors(self.sizes);
  for (Int k = 0; include_self && k < out.count(); ++k) factors[k].push_back(self[k]);
  each_target(factors, dim, index, [&](Buffer<T>& target, const Dims& i) { target.push_back(element(src, i)); });
  for (Int k = 0; k < out.count(); ++k) {
    if (reduce == "prod") out[k] = operators::prod_magnitude(factors[k], a);
    if (reduce == "amax" || reduce == "amin" || counts[k] < 2) out[k] = 0;
  }
}

enum BagMode : Int { addition, mean, maximum };

// f(element of self, element of the mask) at every index of the sizes to which they broadcast.
template <class F>
void each_masked(const Array<Element>& self, const Array<Int>& mask, F f) {
  shapes::Broadcasting both;
  both.add("self", self.sizes), both.add("mask", mask.sizes);
  const auto x = families::broadcast(self, both.sizes());
  const auto marked = families::broadcast(mask, both.sizes());
  Int flat = 0;
  for (const Dims& i : indices(both.sizes())) f(x.at(i, flat), marked.at(i, flat)), ++flat;
}

}  // namespace

Dims operators::gather(const Dims& out, const Dims& sizes, Int dim, const Array<Int>& index) {
  if (sizes.size() == 0) return {};
  Dims in = out.size() == 0 ? Dims{0} : out;
  in[wrap_dim(dim, sizes.size())] = index(out);
  return in;
}

void operators::scatter(Array<Element>& out, const Array<Element>& self, Int dim, const Array<Int>& index,
                        const Array<Element>& src) {
  out = self;
  each_target(out, dim, index, [&](Element& target, const Dims& i) { target = element(src, i); });
}

void operators::scatter(Array<Element>& out, const Array<Element>& self, Int dim, const Array<Int>& index,
                        Element value) {
  out = self;
  each_target(out, dim, index, [&](Element& target, const Dims&) { target = value; });
}

void operators::scatter_add(Array<Real>& out, const Array<Real>& self, Int dim, const Array<Int>& index,
                            const Array<Real>& src) {
  added(out, self, dim, index, src);
}
void operators::scatter_add(Array<Int>& out, const Array<Int>& self, Int dim, const Array<Int>& index,
                            const Array<Int>& src) {
  added(out, self, dim, index, src);
}
void operators::scatter_add(Array<Complex>& out, const Array<Complex>& self, Int dim, const Array<Int>& index,
                            const Array<Complex>& src) {
  added(out, self, dim, index, src);
}

void operators::scatter_add_magnitude(Array<Real>& out, const Array<Real>& self, Int dim, const Array<Int>& index,
                                      const Array<Real>& src) {
  added_magnitude(out, self, dim, index, src);
}
void operators::scatter_add_magnitude(Array<Complex>& out, const Array<Complex>& self, Int dim, const Array<Int>& index,
                                      const Array<Complex>& src) {
  added_magnitude(out, self, dim, index, src);
}

void operators::scatter_reduce(Array<Real>& out, const Array<Real>& self, Int dim, const Array<Int>& index,
                               const Array<Real>& src, std::string_view reduce, bool include_self, const Rounding&) {
  scatter_reduced(out, self, dim, index, src, reduce, include_self, std::identity());
}
void operators::scatter_reduce(Array<Complex>& out, const Array<Complex>& self, Int dim, const Array<Int>& index,
                               const Array<Complex>& src, std::string_view reduce, bool include_self, const Rounding&) {
  scatter_reduced(out, self, dim, index, src, reduce, include_self, std::identity());
}
void operators::scatter_reduce(Array<Int>& out, const Array<Int>& self, Int dim, const Array<Int>& index,
                               const Array<Int>& src, std::string_view reduce, bool include_self,
                               const Rounding& round) {
  scatter_reduced(out, self, dim, index, src, reduce, include_self, round);
}

void operators::scatter_reduce_magnitude(Array<Real>& out, const Array<Real>& self, Int dim, const Array<Int>& index,
                                         const Array<Real>& src, std::string_view reduce, bool include_self,
                                         const Rounding&, const Arithmetic& a) {
  scatter_reduced_magnitude(out, self, dim, index, src, reduce, include_self, a);
}
void operators::scatter_reduce_magnitude(Array<Complex>& out, const Array<Complex>& self, Int dim,
                                         const Array<Int>& index, const Array<Complex>& src, std::string_view reduce,
                                         bool include_self, const Rounding&, const Arithmetic& a) {
  scatter_reduced_magnitude(out, self, dim, index, src, reduce, include_self, a);
}

Dims operators::index_select(const Dims& out, const Dims& sizes, Int dim, const Array<Int>& index) {
  Dims in = out;
  if (sizes.size() > 0) in[wrap_dim(dim, sizes.size())] = index[out[wrap_dim(dim, sizes.size())]];
  return in;
}

Dims operators::embedding(const Dims& out, const Dims&, const Array<Int>& indices) {
  const Dims at(std::span(out.begin(), out.end() - 1));
  return {indices(at), *(out.end() - 1)};
}

void operators::embedding_bag(Array<Real>& out0, Array<Int>& out1, Array<Int>& out2, Array<Int>& out3,
                              const Array<Real>& weight, const Array<Int>& indices, const Array<Int>& offsets, Int mode,
                              const std::optional<Array<Real>>& per_sample_weights, Int padding_idx) {
  const Int columns = weight.sizes[1];
  for (Int i = 0; i < indices.count(); ++i) {
    const Int bag = std::ranges::upper_bound(offsets.data, i) - offsets.data.begin() - 1;
    if (out1.count() > 0) out1[i] = bag;
    if (indices[i] == padding_idx) continue;
    for (Int j = 0; j < columns; ++j) {
      const Real x = weight[indices[i] * columns + j];
      Real& y = out0[bag * columns + j];
      if (mode != BagMode::maximum)
        y += per_sample_weights ? x * (*per_sample_weights)[i] : x;
      else if (out2[bag] == 0 || x > y)
        y = x, out3[bag * columns + j] = indices[i];
    }
    ++out2[bag];
  }
  for (Int k = 0; mode == BagMode::mean && k < out0.count(); ++k)
    out0[k] /= static_cast<Real>(std::max<Int>(out2[k / columns], 1));
  if (mode == BagMode::mean) out3 = out2;
  if (mode == BagMode::addition) std::ranges::fill(out2.data, 0);
}
// The sums of magnitudes; 0 where nothing is added.
void operators::embedding_bag_magnitude(Array<Real>& out0, Array<Int>& out1, Array<Int>& out2, Array<Int>& out3,
                                        const Array<Real>& weight, const Array<Int>& indices, const Array<Int>& offsets,
                                        Int mode, const std::optional<Array<Real>>& per_sample_weights,
                                        Int padding_idx) {
  const auto factors = per_sample_weights ? std::optional(magnitudes(*per_sample_weights)) : std::nullopt;
  if (mode != BagMode::maximum)
    embedding_bag(out0, out1, out2, out3, magnitudes(weight), indices, offsets, mode, factors, padding_idx);
}

void operators::embedding_dense_backward(Array<Real>& out, const Array<Real>& grad_output, const Array<Int>& indices,
                                         Int num_weights, Int padding_idx, bool scale_grad_by_freq, const Rounding&) {
  add_rows(out, grad_output, indices, num_weights, padding_idx, [&](Real sum, Real x, Int number) {
    return sum + x * (scale_grad_by_freq ? 1 / static_cast<Real>(number) : 1);
  });
}
void operators::embedding_dense_backward(Array<Complex>& out, const Array<Complex>& grad_output,
                                         const Array<Int>& indices, Int num_weights, Int padding_idx,
                                         bool scale_grad_by_freq, const Rounding&) {
  add_rows(out, grad_output, indices, num_weights, padding_idx, [&](Complex sum, Complex x, Int number) {
    return sum + x * Complex(scale_grad_by_freq ? 1 / static_cast<Real>(number) : 1);
  });
}
void operators::embedding_dense_backward(Array<Int>& out, const Array<Int>& grad_output, const Array<Int>& indices,
                                         Int num_weights, Int padding_idx, bool scale_grad_by_freq,
                                         const Rounding& round) {
  const auto factor = [&](Int number) {
    return scale_grad_by_freq ? truncated_to(round.dtype, 1 / static_cast<Real>(number)) : 1;
  };
  add_rows(out, grad_output, indices, num_weights, padding_idx,
           [&](Int sum, Int x, Int number) { return wrapping_add(sum, wrapping_multiply(x, factor(number))); });
}

Dims operators::index(const Dims& out, const Dims&, const Indexing& indices) { return indices.source(out); }

void operators::index_put(Array<Real>& out, const Array<Real>& self, const Indexing& indices, const Array<Real>& values,
                          bool accumulate) {
  put(out, self, indices, values, accumulate);
}
void operators::index_put(Array<Int>& out, const Array<Int>& self, const Indexing& indices, const Array<Int>& values,
                          bool accumulate) {
  put(out, self, indices, values, accumulate);
}
void operators::index_put(Array<Complex>& out, const Array<Complex>& self, const Indexing& indices,
                          const Array<Complex>& values, bool accumulate) {
  put(out, self, indices, values, accumulate);
}

void operators::index_put_magnitude(Array<Real>& out, const Array<Real>& self, const Indexing& indices,
                                    const Array<Real>& values, bool accumulate) {
  put_magnitude(out, self, indices, values, accumulate);
}
void operators::index_put_magnitude(Array<Complex>& out, const Array<Complex>& self, const Indexing& indices,
                                    const Array<Complex>& values, bool accumulate) {
  put_magnitude(out, self, indices, values, accumulate);
}

void operators::slice_scatter(Array<Element>& out, const Array<Element>& self, const Array<Element>& src, Int dim,
                              std::optional<Int> start, Int step) {
  const Int along = wrap_dim(dim, self.sizes.size());
  const Int first = slice(self.sizes[along], start, std::nullopt, step).start;
  out = self;
  Int flat = 0;
  for (Dims i : indices(src.sizes)) {
    i[along] = first + i[along] * step;
    out(i) = src[flat++];
  }
}

void operators::select_scatter(Array<Element>& out, const Array<Element>& self, const Array<Element>& src, Int dim,
                               Int index) {
  const Int along = wrap_dim(dim, self.sizes.size());
  out = self;
  Int flat = 0;
  for (Dims i : indices(src.sizes)) {
    i.insert(along, index < 0 ? index + self.sizes[along] : index);
    out(i) = src[flat++];
  }
}

void operators::masked_select(Array<Element>& out, const Array<Element>& self, const Array<Int>& mask) {
  Int taken = 0;
  each_masked(self, mask, [&](Element x, Int marked) {
    if (marked) out[taken++] = x;
  });
}

void operators::masked_scatter(Array<Element>& out, const Array<Element>& self, const Array<Int>& mask,
                               const Array<Element>& source) {
  Int at = 0, taken = 0;
  each_masked(self, mask, [&](Element x, Int marked) { out[at++] = marked ? source[taken++] : x; });
}

void operators::repeat_interleave(Array<Int>& out, const Array<Int>& repeats) {
  auto at = out.data.begin();
  for (Int k = 0; k < repeats.count(); ++k) at = std::fill_n(at, repeats[k], k);
}

void operators::nonzero(Array<Int>& out, const Array<Real>& self) { out = nonzero_indices(self); }
void operators::nonzero(Array<Int>& out, const Array<Complex>& self) { out = nonzero_indices(self); }
void operators::nonzero(Array<Int>& out, const Array<Int>& self) { out = nonzero_indices(self); }

}  // namespace assay
