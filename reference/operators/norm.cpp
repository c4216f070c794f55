#include "operators/norm.gen.h"

#include <cmath>

#include "reference/moments.h"

namespace assay {
namespace {

using Parameter = std::optional<Array<Real>>;

Real at(const Parameter& parameter, Int i, Real otherwise) { return parameter ? (*parameter)[i] : otherwise; }

// The magnitude of a factor: what is lost of it below the smallest normal number is at most 2 u of that.
Real rounded(Real factor, const Arithmetic& a) { return std::fabs(factor) + 2 * a.least; }

// Consecutive elements that are normalised together. Each has a whole number of channels of `inner` elements, and `groups`
// runs have all channels.
struct Runs {
  const Array<Real>& input;
  Int length, groups, inner;

  Moments moments(Int r) const { return Moments(std::span(input.data).subspan(static_cast<std::size_t>(r * length), static_cast<std::size_t>(length))); }
  Int channel(Int r, Int k) const { return r % groups * (length / inner) + k / inner; }
};
Runs layers(const Array<Real>& input, const Ints& normalized_shape) { return {input, count(Dims(normalized_shape)), 1, 1}; }
Runs groups(const Array<Real>& input, Int C, Int HxW, Int group) { return {input, C / group * HxW, group, HxW}; }

// y = (x - mean) rstd weight + bias
void normalise(Array<Real>& out, Array<Real>& mean, Array<Real>& rstd, const Runs& runs, const Parameter& weight, const Parameter& bias, Real eps) {
  for (Int r = 0; r < mean.count(); ++r) {
    const Moments m = runs.moments(r);
    mean[r] = m.mean();
    rstd[r] = m.reciprocal_deviation(eps);
    for (Int k = 0; k < runs.length; ++k) {
      const Int i = r * runs.length + k, c = runs.channel(r, k);
      out[i] = (runs.input[i] - mean[r]) * rstd[r] * at(weight, c, 1) + at(bias, c, 0);
    }
  }
}

// x - mean is wrong by what x and the mean round, rstd by its magnitude; that of a product is no more than their sum.
void normalise_magnitude(Array<Real>& out, Array<Real>& mean, Array<Real>& rstd, const Runs& runs, const Parameter& weight, const Parameter& bias, Real eps, const Arithmetic& a) {
  const Arithmetic whole{a.unit, 1, a.least, a.largest};
  for (Int r = 0; r < mean.count(); ++r) {
    const Moments m = runs.moments(r);
    mean[r] = m.mean_magnitude(whole);
    rstd[r] = m.reciprocal_deviation_magnitude(eps, whole);
    for (Int k = 0; k < runs.length; ++k) {
      const Int i = r * runs.length + k, c = runs.channel(r, k);
      const Real x = runs.input[i], w = at(weight, c, 1), b = at(bias, c, 0), scale = m.reciprocal_deviation(eps) * w;
      const Real y = (x - m.mean()) * scale + b;
      const Real parts = (std::fabs(x) + m.size()) * rounded(scale, a) + std::fabs((x - m.mean()) * w) * rstd[r] + std::fabs(b);
      const bool in_range = rstd[r] < unbounded && std::fmax(parts, std::fabs(scale)) < a.largest;
      out[i] = std::isnan(y) && rstd[r] < unbounded ? 0 : in_range ? std::fabs(y) + a.share * parts : unbounded;
    }
  }
}

// Dimensions 0 and 1 swapped: the channels of a batch one after another.
Array<Real> swapped(const Array<Real>& x) {
  Dims sizes = x.sizes;
  std::swap(sizes[0], sizes[1]);
  Array<Real> y(sizes);
  for (const Dims& i : indices(sizes)) {
    Dims from = i;
    std::swap(from[0], from[1]);
    y(i) = x(from);
  }
  return y;
}
Runs channels(const Array<Real>& swapped) { return {swapped, swapped.count() / swapped.sizes[0], swapped.sizes[0], swapped.count() / swapped.sizes[0]}; }

// The parameters of batch norm for channel c, folded into y = scale x + shift.
struct Channel {
  Channel(const Parameter& weight, const Parameter& bias, const Array<Real>& running_mean, const Array<Real>& running_var, Real eps, Int c)
      : mean(running_mean[c]), variance(running_var[c]), b(at(bias, c, 0)), scale(at(weight, c, 1) / std::sqrt(variance + eps)), shift(b - scale * mean) {}
  Real mean, variance, b, scale, shift;
};

}  // namespace

void operators::layer_norm(Array<Real>& out, Array<Real>& mean, Array<Real>& rstd, const Array<Real>& input, const Ints& normalized_shape, const Parameter& weight, const Parameter& bias, Real eps) {
  normalise(out, mean, rstd, layers(input, normalized_shape), weight, bias, eps);
}
void operators::layer_norm_magnitude(Array<Real>& out, Array<Real>& mean, Array<Real>& rstd, const Array<Real>& input, const Ints& normalized_shape, const Parameter& weight, const Parameter& bias, Real eps, const Arithmetic& a) {
  normalise_magnitude(out, mean, rstd, layers(input, normalized_shape), weight, bias, eps, a);
}

void operators::group_norm(Array<Real>& out, Array<Real>& mean, Array<Real>& rstd, const Array<Real>& input, const Parameter& weight, const Parameter& bias, Int, Int C, Int HxW, Int group, Real eps) {
  normalise(out, mean, rstd, groups(input, C, HxW, group), weight, bias, eps);
}
void operators::group_norm_magnitude(Array<Real>& out, Array<Real>& mean, Array<Real>& rstd, const Array<Real>& input, const Parameter& weight, const Parameter& bias, Int, Int C, Int HxW, Int group, Real eps, const Arithmetic& a) {
  normalise_magnitude(out, mean, rstd, groups(input, C, HxW, group), weight, bias, eps, a);
}

void operators::batch_norm(Array<Real>& out, Array<Real>&, Array<Real>&, const Array<Real>& input, const Parameter& weight, const Parameter& bias, const Array<Real>& running_mean, const Array<Real>& running_var, Real eps) {
  for (const Dims& i : indices(out.sizes)) {
    const Channel c(weight, bias, running_mean, running_var, eps, i[1]);
    out(i) = c.scale * input(i) + c.shift;
  }
}

// The rounding of variance + eps counts relative to what is left of both; where that is little, nothing can be said.
void operators::batch_norm_magnitude(Array<Real>& out, Array<Real>&, Array<Real>&, const Array<Real>& input, const Parameter& weight, const Parameter& bias, const Array<Real>& running_mean, const Array<Real>& running_var, Real eps, const Arithmetic& a) {
  for (const Dims& i : indices(out.sizes)) {
    const Channel c(weight, bias, running_mean, running_var, eps, i[1]);
    const Real terms = std::fabs(c.variance) + std::fabs(eps), sum = std::fabs(c.variance + eps);
    const Real parts = (std::fabs(input(i)) + std::fabs(c.mean)) * rounded(c.scale, a) * (1 + terms / sum) + std::fabs(c.b);
    const bool in_range = 8 * a.unit * terms <= sum && std::fmax(parts, std::fabs(c.scale)) < a.largest;
    out(i) = std::isnan(parts) ? 0 : in_range ? parts : unbounded;
  }
}

void operators::batch_norm_of_batch(Array<Real>& out, Array<Real>& save_mean, Array<Real>& save_invstd, const Array<Real>& input, const Parameter& weight, const Parameter& bias, Real eps) {
  const Array<Real> x = swapped(input);
  Array<Real> y(x.sizes);
  normalise(y, save_mean, save_invstd, channels(x), weight, bias, eps);
  const Int length = y.count() / y.sizes[0];
  for (Int c = 0; c < save_invstd.count(); ++c) {
    if (!std::isinf(save_invstd[c])) continue;
    save_invstd[c] = 0;
    std::fill_n(y.data.begin() + c * length, length, at(bias, c, 0));
  }
  out = swapped(y);
}
void operators::batch_norm_of_batch_magnitude(Array<Real>& out, Array<Real>& save_mean, Array<Real>& save_invstd, const Array<Real>& input, const Parameter& weight, const Parameter& bias, Real eps, const Arithmetic& a) {
  const Array<Real> x = swapped(input);
  Array<Real> y(x.sizes);
  normalise_magnitude(y, save_mean, save_invstd, channels(x), weight, bias, eps, a);
  out = swapped(y);
}

}  // namespace assay
