#include "operators/convolution.gen.h"

#include <algorithm>
#include <cmath>

#include "reference/dtype.h"
#include "reference/numerics/bounds.h"
#include "reference/words/window.h"

namespace assay {
namespace {

// The terms of a result are products of a cell and a weight.
struct Products {
  static constexpr int outside = 0;  // the value of a cell of the padding
  template <class T>
  static T start(T bias) {
    return bias;
  }
  static void add(Sum<Real>& sum, Real cell, Real weight) { sum += cell * weight; }
  static void add(Int& sum, Int cell, Int weight) { sum = wrapping_add(sum, wrapping_multiply(cell, weight)); }
};

// The terms are magnitudes of finite cells and weights. There is no bound where a weight over the padding is not
// finite: a kernel may multiply it by 0 or leave it out.
struct Magnitudes {
  static constexpr int outside = -1;
  static Real start(Real bias) { return std::isfinite(bias) ? std::fabs(bias) : 0; }
  static void add(Sum<Real>& sum, Real cell, Real weight) {
    if (cell < 0 && !std::isfinite(weight)) sum = unbounded;
    if (cell >= 0 && std::isfinite(weight) && sum != unbounded) sum += cell * std::fabs(weight);
  }
};

Dims spatial(const Dims& sizes) { return Dims(std::span(sizes.begin() + 2, sizes.end())); }

// A cell in the channels of a group (-1 in the padding), and the weight of the group's first output channel that
// multiplies it.
struct Meeting {
  Int cell, weight;
};

// Pairs the cells of the input with the taps of the kernel for one place of the result.
struct Geometry {
  Dims cells, kernel;  // spatial sizes of the input and of the weight
  const Ints &stride, &padding, &dilation;
  bool transposed;

  // The pairs in all channels of a group; weights of neighbouring channels are channel_step apart.
  Buffer<Meeting> meetings(const Dims& place, Int channels, Int channel_step) const {
    Buffer<Meeting> one, all;
    Int flat = 0;
    for (const Dims& tap : indices(kernel)) {
      if (const auto cell = cell_at(place, tap))
        one.push_back({inside(cells, *cell) ? offset(cells, *cell) : -1, flat});
      ++flat;
    }
    for (Int c = 0; c < channels; ++c)
      for (const auto& [cell, tap] : one)
        all.push_back({cell < 0 ? -1 : c * count(cells) + cell, c * channel_step + tap});
    return all;
  }

  // The cell of a tap, which may lie in the padding. Transposed, a tap has a cell only if the stride leads to one.
  std::optional<Dims> cell_at(const Dims& place, const Dims& tap) const {
    Dims cell = place;
    for (int d = 0; d < place.size(); ++d) {
      const Int step = entry(stride, d), pad = entry(padding, d), reach = tap[d] * entry(dilation, d);
      const Int moved = place[d] + pad - reach;
      cell[d] = transposed ? floor_div(moved, step) : place[d] * step - pad + reach;
      if (transposed && (moved % step != 0 || cell[d] < 0 || cell[d] >= cells[d])) return std::nullopt;
    }
    return cell;
  }
};

template <class Term, class T>
void gather(Buffer<T>& values, const T* channels, const Buffer<Meeting>& meetings) {
  values.clear();
  for (const Meeting& m : meetings) values.push_back(m.cell < 0 ? T{Term::outside} : channels[m.cell]);
}

template <class Term, class T>
T dot(T start, const Buffer<T>& values, const T* weight, const Buffer<Meeting>& meetings) {
  Sum<T> sum = start;
  for (std::size_t i = 0; i < values.size(); ++i) Term::add(sum, values[i], weight[meetings[i].weight]);
  return sum;
}

template <class Term, class T>
void convolve(Array<T>& out, const Array<T>& input, const Array<T>& weight, const std::optional<Array<T>>& bias,
              const Geometry& geometry, Int groups) {
  const Int taps = count(geometry.kernel), cells = count(geometry.cells), places = count(spatial(out.sizes));
  const Int ins = input.sizes[1] / groups, outs = out.sizes[1] / groups;  // channels of a group
  const Int channel_step = geometry.transposed ? outs * taps : taps,
            out_step = geometry.transposed ? taps : ins * taps;  // between weights
  Buffer<T> values;
  Int p = 0;
  for (const Dims& place : indices(spatial(out.sizes))) {
    const auto meetings = geometry.meetings(place, ins, channel_step);
    for (Int n = 0; n < input.sizes[0] * groups; ++n) {  // group g of image n / groups
      const Int g = n % groups;
      const T* weights = weight.data.data() + g * weight.count() / groups;
      gather<Term>(values, input.data.data() + n * ins * cells, meetings);
      for (Int o = 0; o < outs; ++o)
        out[(n * outs + o) * places + p] =
            dot<Term>(bias ? Term::start((*bias)[g * outs + o]) : T{0}, values, weights + o * out_step, meetings);
    }
    ++p;
  }
}

// f(position in out, in input, in weight) for every product; the position in input is -1 in the padding.
template <class F>
void each_product(const Dims& out, const Dims& input, const Dims& weight, const Geometry& geometry, Int groups, F f) {
  const Int taps = count(geometry.kernel), cells = count(geometry.cells), places = count(spatial(out));
  const Int ins = input[1] / groups, outs = out[1] / groups;
  const Int channel_step = geometry.transposed ? outs * taps : taps, out_step = geometry.transposed ? taps : ins * taps;
  Int p = 0;
  for (const Dims& place : indices(spatial(out))) {
    const auto meetings = geometry.meetings(place, ins, channel_step);
    for (Int n = 0; n < input[0] * groups; ++n)
      for (Int o = 0; o < outs; ++o)
        for (const Meeting& m : meetings)
          f((n * outs + o) * places + p, m.cell < 0 ? -1 : n * ins * cells + m.cell,
            n % groups * count(weight) / groups + o * out_step + m.weight);
    ++p;
  }
}

// Adds the gradient of each product to its cell of input, its weight and its bias.
template <class T>
void give_back(Array<T>& out0, Array<T>& out1, Array<T>& out2, const Array<T>& grad_output, const Array<T>& input,
               const Array<T>& weight, const Geometry& geometry, Int groups, const Bools& output_mask) {
  Array<Sum<T>> to_input(out0.sizes), to_weight(out1.sizes), to_bias(out2.sizes);
  each_product(grad_output.sizes, input.sizes, weight.sizes, geometry, groups, [&](Int o, Int i, Int w) {
    if (i < 0) return;
    if (output_mask[0]) Products::add(to_input[i], grad_output[o], weight[w]);
    if (output_mask[1]) Products::add(to_weight[w], grad_output[o], input[i]);
  });
  const Int places = count(spatial(grad_output.sizes));
  for (Int o = 0; output_mask[2] && o < grad_output.count(); ++o)
    Products::add(to_bias[o / places % grad_output.sizes[1]], grad_output[o], 1);
  std::ranges::copy(to_input.data, out0.data.begin());
  std::ranges::copy(to_weight.data, out1.data.begin());
  std::ranges::copy(to_bias.data, out2.data.begin());
}

}  // namespace

void operators::convolution(Array<Real>& out, const Array<Real>& input, const Array<Real>& weight,
                            const std::optional<Array<Real>>& bias, const Ints& stride, const Ints& padding,
                            const Ints& dilation, bool transposed, Int groups) {
  convolve<Products>(out, input, weight, bias,
                     {spatial(input.sizes), spatial(weight.sizes), stride, padding, dilation, transposed}, groups);
}
void operators::convolution(Array<Int>& out, const Array<Int>& input, const Array<Int>& weight,
                            const std::optional<Array<Int>>& bias, const Ints& stride, const Ints& padding,
                            const Ints& dilation, bool transposed, Int groups) {
  convolve<Products>(out, input, weight, bias,
                     {spatial(input.sizes), spatial(weight.sizes), stride, padding, dilation, transposed}, groups);
}

void operators::convolution_backward(Array<Real>& out0, Array<Real>& out1, Array<Real>& out2,
                                     const Array<Real>& grad_output, const Array<Real>& input,
                                     const Array<Real>& weight, const Ints& stride, const Ints& padding,
                                     const Ints& dilation, bool transposed, Int groups, const Bools& output_mask) {
  give_back(out0, out1, out2, grad_output, input, weight,
            {spatial(input.sizes), spatial(weight.sizes), stride, padding, dilation, transposed}, groups, output_mask);
}
void operators::convolution_backward(Array<Int>& out0, Array<Int>& out1, Array<Int>& out2,
                                     const Array<Int>& grad_output, const Array<Int>& input, const Array<Int>& weight,
                                     const Ints& stride, const Ints& padding, const Ints& dilation, bool transposed,
                                     Int groups, const Bools& output_mask) {
  give_back(out0, out1, out2, grad_output, input, weight,
            {spatial(input.sizes), spatial(weight.sizes), stride, padding, dilation, transposed}, groups, output_mask);
}

void operators::convolution_backward_magnitude(Array<Real>& out0, Array<Real>& out1, Array<Real>& out2,
                                               const Array<Real>& grad_output, const Array<Real>& input,
                                               const Array<Real>& weight, const Ints& stride, const Ints& padding,
                                               const Ints& dilation, bool transposed, Int groups,
                                               const Bools& output_mask) {
  convolution_backward(out0, out1, out2, magnitudes(grad_output), magnitudes(input), magnitudes(weight), stride,
                       padding, dilation, transposed, groups, output_mask);
  each_product(grad_output.sizes, input.sizes, weight.sizes,
               {spatial(input.sizes), spatial(weight.sizes), stride, padding, dilation, transposed}, groups,
               [&](Int o, Int i, Int w) {
                 if (i < 0 && output_mask[1] && !std::isfinite(grad_output[o]))
                   out1[w] = overflowing(std::fabs(out1[w]));
               });
  // Transposed, the roles are exchanged: cells of input meet the padding of grad_output.
  const Int weights = transposed ? weight.count() / weight.sizes[0] : 0, cells = count(spatial(input.sizes));
  for (Int i = 0; output_mask[1] && transposed && i < input.count(); ++i)
    for (Int w = i / cells % input.sizes[1] * weights, k = 0; k < weights && !std::isfinite(input[i]); ++k)
      out1[w + k] = overflowing(std::fabs(out1[w + k]));
  // A weight may meet zeros around grad_output.
  if (!std::ranges::all_of(weight.data, [](Real w) { return std::isfinite(w); }))
    for (Real& size : out0.data) size = overflowing(size);
}

void operators::convolution_magnitude(Array<Real>& out, const Array<Real>& input, const Array<Real>& weight,
                                      const std::optional<Array<Real>>& bias, const Ints& stride, const Ints& padding,
                                      const Ints& dilation, bool transposed, Int groups, const Arithmetic& a) {
  convolve<Magnitudes>(out, magnitudes(input), weight, bias,
                       {spatial(input.sizes), spatial(weight.sizes), stride, padding, dilation, transposed}, groups);
  if (transposed) stored_sums(out, a);
}

}  // namespace assay
