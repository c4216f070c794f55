#include "operators/convolution.gen.h"

#include <cmath>
#include <limits>

#include "reference/window.h"

namespace assay {
namespace {

// What is added up: products of a cell and a weight.
struct Products {
  static constexpr int outside = 0;  // the value of a cell of the padding
  static Real add(Real sum, Real cell, Real weight) { return sum + cell * weight; }
  static Int add(Int sum, Int cell, Int weight) { return wrapping_add(sum, wrapping_multiply(cell, weight)); }
};

// Magnitudes of finite cells and weights. A weight that is not finite over the padding bounds nothing: whether it is
// multiplied by 0 or left out is the kernel's choice.
struct Magnitudes {
  static constexpr int outside = -1;
  static Real add(Real sum, Real cell, Real weight) {
    if (!std::isfinite(weight)) return cell < 0 ? std::numeric_limits<Real>::infinity() : sum;
    return cell < 0 ? sum : sum + cell * std::fabs(weight);
  }
};


Dims spatial(const Dims& sizes) { return Dims(std::span(sizes.begin() + 2, sizes.end())); }

// Which cells of the input meet which taps of the kernel in one place of the result.
struct Geometry {
  Dims cells, kernel;  // spatial sizes of the input and of the weight
  const Ints &stride, &padding, &dilation;
  bool transposed;

  struct Meeting {
    Int tap, cell;  // row-major; a cell of the padding is -1
  };

  std::vector<Meeting> meetings(const Dims& place) const {
    std::vector<Meeting> all;
    Int flat = 0;
    for (const Dims& tap : indices(kernel)) {
      if (const auto cell = cell_at(place, tap)) all.push_back({flat, inside(cells, *cell) ? offset(cells, *cell) : -1});
      ++flat;
    }
    return all;
  }

  // The cell that a tap meets, padding included. Transposed, a tap meets a cell only if the input reaches the place.
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

// The values of one group's channels that meet the kernel, and the weights of the group's first output channel with
// which they do.
template <class T>
struct Patch {
  std::vector<T> values;
  std::vector<Int> weights;
};

template <class Term, class T>
Patch<T> patch(std::span<const T> channels, Int cells, std::span<const Geometry::Meeting> meetings, Int channel_step) {
  Patch<T> p;
  for (Int c = 0; c * cells < static_cast<Int>(channels.size()); ++c)
    for (const auto& [tap, cell] : meetings) {
      p.values.push_back(cell < 0 ? T{Term::outside} : channels[static_cast<std::size_t>(c * cells + cell)]);
      p.weights.push_back(c * channel_step + tap);
    }
  return p;
}

template <class Term, class T>
T dot(const Patch<T>& patch, std::span<const T> weight, T sum) {
  for (std::size_t i = 0; i < patch.values.size(); ++i) sum = Term::add(sum, patch.values[i], weight[static_cast<std::size_t>(patch.weights[i])]);
  return sum;
}

template <class Term, class T>
void convolve(Array<T>& out, const Array<T>& input, const Array<T>& weight, const std::optional<Array<T>>& bias, const Geometry& geometry, Int groups) {
  const Int taps = count(geometry.kernel), cells = count(geometry.cells), places = count(spatial(out.sizes));
  const Int ins = input.sizes[1] / groups, outs = out.sizes[1] / groups;  // channels of a group
  const Int channel_step = geometry.transposed ? outs * taps : taps, out_step = geometry.transposed ? taps : ins * taps;  // between weights
  const auto weights = std::span<const T>(weight.data);
  Int p = 0;
  for (const Dims& place : indices(spatial(out.sizes))) {
    const auto meetings = geometry.meetings(place);
    for (Int n = 0; n < input.sizes[0] * groups; ++n) {  // group g of image n / groups
      const Int g = n % groups;
      const auto channels = std::span<const T>(input.data).subspan(static_cast<std::size_t>(n * ins * cells), static_cast<std::size_t>(ins * cells));
      const Patch<T> met = patch<Term>(channels, cells, meetings, channel_step);
      for (Int o = 0; o < outs; ++o)
        out[(n * outs + o) * places + p] = dot<Term>(met, weights.subspan(static_cast<std::size_t>(g * weight.count() / groups + o * out_step)), bias ? (*bias)[g * outs + o] : T{0});
    }
    ++p;
  }
}

}  // namespace

void operators::convolution(Array<Real>& out, const Array<Real>& input, const Array<Real>& weight, const std::optional<Array<Real>>& bias, const Ints& stride, const Ints& padding, const Ints& dilation, bool transposed, Int groups) {
  convolve<Products>(out, input, weight, bias, {spatial(input.sizes), spatial(weight.sizes), stride, padding, dilation, transposed}, groups);
}
void operators::convolution(Array<Int>& out, const Array<Int>& input, const Array<Int>& weight, const std::optional<Array<Int>>& bias, const Ints& stride, const Ints& padding, const Ints& dilation, bool transposed, Int groups) {
  convolve<Products>(out, input, weight, bias, {spatial(input.sizes), spatial(weight.sizes), stride, padding, dilation, transposed}, groups);
}

void operators::convolution_magnitude(Array<Real>& out, const Array<Real>& input, const Array<Real>& weight, const std::optional<Array<Real>>& bias, const Ints& stride, const Ints& padding, const Ints& dilation, bool transposed, Int groups) {
  const auto offset = bias ? std::optional(magnitudes(*bias)) : std::nullopt;
  convolve<Magnitudes>(out, magnitudes(input), weight, offset, {spatial(input.sizes), spatial(weight.sizes), stride, padding, dilation, transposed}, groups);
}

}  // namespace assay
