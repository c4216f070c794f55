#include "operators/norm.gen.h"

#include <cmath>
#include <limits>

#include "reference/numerics/bounds.h"
#include "reference/numerics/moments.h"
#include "reference/numerics/steps.h"

namespace assay {
namespace {

using Parameter = std::optional<Array<Real>>;

Real at(const Parameter& parameter, Int i, Real otherwise) { return parameter ? (*parameter)[i] : otherwise; }

// The magnitude of a factor: a flush below the smallest normal number loses at most 2 u of that number.
Real rounded(Real factor, const Arithmetic& a) { return std::fabs(factor) + 2 * a.least; }

// Runs of consecutive elements that are normalised together. A run has a whole number of channels of `inner` elements;
// `groups` runs have all channels.
struct Runs {
  const Array<Real>& input;
  Int length, groups, inner;

  Moments moments(Int r) const {
    return Moments(
        std::span(input.data).subspan(static_cast<std::size_t>(r * length), static_cast<std::size_t>(length)));
  }
  Int channel(Int r, Int k) const { return r % groups * (length / inner) + k / inner; }
};
Runs layers(const Array<Real>& input, const Ints& normalized_shape) {
  return {input, count(Dims(normalized_shape)), 1, 1};
}
Runs groups(const Array<Real>& input, Int C, Int HxW, Int group) {
  return {input, count({C / group, HxW}), group, HxW};
}

// y = (x - mean) rstd weight + bias
void normalise(Array<Real>& out, Array<Real>& mean, Array<Real>& rstd, const Runs& runs, const Parameter& weight,
               const Parameter& bias, Real eps) {
  for (Int r = 0; r < mean.count(); ++r) {
    const Moments m = runs.moments(r);
    mean[r] = m.mean();
    rstd[r] = m.reciprocal_deviation(eps);
    for (Int k = 0; k < runs.length; ++k) {
      const Int i = r * runs.length + k, c = runs.channel(r, k);
      out[i] = steps::normal(runs.input[i], mean[r], rstd[r], at(weight, c, 1), at(bias, c, 0));
    }
  }
}

// The magnitude of one element. The mean has an error of its magnitude, unless it is the mean of one number; so has
// rstd. Rounded once are x - mean and its two products, or the scale, its products with x and mean, and the shift; and
// the last sum. An element that is not finite makes all elements that are normalised with it NaN.
Real normal_magnitude(Real x, Real weight, Real bias, const Moments& m, Real eps, Real largest_rstd,
                      Real rstd_magnitude, const Arithmetic& a) {
  const Real apart = x - m.mean(), y = apart * m.reciprocal_deviation(eps) * weight + bias;
  if (!std::isfinite(m.size()) || std::isnan(weight) || std::isnan(bias)) return 0;
  if (rstd_magnitude == unbounded) return unbounded;
  if (std::isinf(weight)) return overflowing(0);
  if (std::isnan(y)) return 0;
  const Real scale = largest_rstd * weight;
  const Real normal = std::fabs(apart) * rounded(scale, a), size = m.count() > 1 ? m.size() : 0,
             shifted = normal + (std::fabs(x) + 2 * m.size()) * rounded(scale, a) + std::fabs(bias),
             once = std::fmax(3 * normal, shifted) + std::fabs(y);
  const Real parts =
      size * rounded(scale, a) + std::fabs(apart * weight) * std::fabs(rstd_magnitude) + once / roundoffs(m.count());
  const bool in_range = rstd_magnitude >= 0 && std::fmax(parts, std::fabs(scale)) < a.largest;
  return in_range ? parts : overflowing(parts);
}

void normalise_magnitude(Array<Real>& out, Array<Real>& mean, Array<Real>& rstd, const Runs& runs,
                         const Parameter& weight, const Parameter& bias, Real eps, const Arithmetic& a) {
  for (Int r = 0; r < mean.count(); ++r) {
    const Moments m = runs.moments(r);
    mean[r] = m.mean_magnitude(a);
    rstd[r] = m.reciprocal_deviation_magnitude(eps, a);
    const Real largest_rstd = m.largest_reciprocal_deviation(eps, a);  // it reads the whole run
    for (Int k = 0; k < runs.length; ++k) {
      const Int i = r * runs.length + k, c = runs.channel(r, k);
      out[i] = normal_magnitude(runs.input[i], at(weight, c, 1), at(bias, c, 0), m, eps, largest_rstd, rstd[r], a);
    }
  }
}

// How the terms of gradients are added: with their signs, or as magnitudes.
struct Signed {
  Real minus(Real a, Real b) const { return a - b; }
  Real difference(Real x, Real mean, Real scale) const { return steps::difference(x, mean, scale); }
  Real value(Real a) const { return a; }
  Real partial(Real, Real) const { return 0; }
  Real result(Real a, Real) const { return a; }
};
struct Absolute {
  const Arithmetic& a;
  Real largest;  // a larger number is infinite
  Real minus(Real x, Real y) const { return value(std::fabs(x) + std::fabs(y)); }
  Real difference(Real x, Real mean, Real scale) const { return minus(x, mean) * scale; }
  Real value(Real x) const { return std::fabs(x) < largest ? rounded(x, a) : std::numeric_limits<Real>::infinity(); }
  Real partial(Real sum, Real product) const { return value(sum + product); }
  Real result(Real x, Real partial) const { return std::isinf(partial) ? partial : value(x); }
};

struct Gradients {
  Array<Real>&input, &weight, &bias;
  const Bools& asked;
};

// d = x - mean, h = grad_out weight: rstd (h - mean(h)) - rstd^3 d mean(h d); sums of grad_out d rstd and of grad_out.
template <class Sign>
void normalise_backward(Sign sign, const Gradients& to, const Runs& runs, const Array<Real>& grad_out,
                        const Array<Real>& mean, const Array<Real>& rstd, const Parameter& weight) {
  const Real n = static_cast<Real>(runs.length);
  for (Int r = 0; r < mean.count(); ++r) {
    const Int first = r * runs.length;
    const auto g = [&](Int k) { return sign.value(grad_out[first + k]); };
    const auto d = [&](Int k, Real scale) { return sign.difference(runs.input[first + k], mean[r], scale); };
    const auto h = [&](Int k) { return sign.value(grad_out[first + k] * at(weight, runs.channel(r, k), 1)); };
    const Real scale = sign.value(rstd[r]);
    Real sum = 0, products = 0, unweighted = 0;  // kernels may also make the products before they weight them
    for (Int k = 0; k < runs.length; ++k) {
      const Int c = runs.channel(r, k);
      sum = sign.value(sum + h(k)), products = sign.value(products + d(k, h(k))),
      unweighted = sign.partial(unweighted, d(k, g(k)));
      if (to.asked[1]) to.weight[c] = sign.result(to.weight[c] + g(k) * sign.value(d(k, scale)), unweighted);
      if (to.asked[2]) to.bias[c] = sign.result(to.bias[c] + g(k), g(k));
    }
    const Real slope = sign.value(sign.value(scale * scale * scale) * products / n);
    for (Int k = 0; to.asked[0] && k < runs.length; ++k)
      to.input[first + k] = sign.result(sign.minus(scale * sign.minus(h(k), sum / n), d(k, slope)), unweighted);
  }
}

// Where a partial result is beyond the range of the type in which a kernel computes, the magnitude is that of an
// unlimited type, and the result may be infinite or NaN. The arrangement of the formula decides which infinities meet,
// and with which signs: they are added and subtracted.
void normalise_backward_magnitude(const Gradients& to, const Runs& runs, const Array<Real>& grad_out,
                                  const Array<Real>& mean, const Array<Real>& rstd, const Parameter& weight,
                                  const Arithmetic& a) {
  Array<Real> input(to.input.sizes), weights(to.weight.sizes), bias(to.bias.sizes);
  normalise_backward(Absolute{a, std::numeric_limits<Real>::infinity()}, {input, weights, bias, to.asked}, runs,
                     grad_out, mean, rstd, weight);
  normalise_backward(Absolute{a, a.largest}, to, runs, grad_out, mean, rstd, weight);
  const auto within = [](Array<Real>& magnitude, const Array<Real>& endless) {
    for (Int k = 0; k < magnitude.count(); ++k)
      if (std::isinf(magnitude[k])) magnitude[k] = std::isinf(endless[k]) ? unbounded : overflowing(2 * endless[k]);
  };
  within(to.input, input), within(to.weight, weights), within(to.bias, bias);
}

// Swaps dimensions 0 and 1, so that each channel of a batch is contiguous.
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
Runs channels(const Array<Real>& swapped) {
  return {swapped, swapped.count() / swapped.sizes[0], swapped.sizes[0], swapped.count() / swapped.sizes[0]};
}

// f(channel, its moments, how many elements it has)
template <class F>
void each_channel(const Array<Real>& input, F f) {
  const Array<Real> x = swapped(input);
  const Runs runs = channels(x);
  for (Int c = 0; c < x.sizes[0]; ++c) f(c, runs.moments(c), static_cast<Real>(runs.length));
}

// The parameters of batch norm for channel c, folded into y = scale x + shift.
struct Channel {
  Channel(const Parameter& weights, const Parameter& bias, const Array<Real>& running_mean,
          const Array<Real>& running_var, Real eps, Int c)
      : mean(running_mean[c]),
        variance(running_var[c]),
        weight(at(weights, c, 1)),
        b(at(bias, c, 0)),
        scale(weight / std::sqrt(variance + eps)),
        shift(b - scale * mean) {}
  Real mean, variance, weight, b, scale, shift;
};

}  // namespace

void operators::layer_norm(Array<Real>& out, Array<Real>& mean, Array<Real>& rstd, const Array<Real>& input,
                           const Ints& normalized_shape, const Parameter& weight, const Parameter& bias, Real eps) {
  normalise(out, mean, rstd, layers(input, normalized_shape), weight, bias, eps);
}
void operators::layer_norm_magnitude(Array<Real>& out, Array<Real>& mean, Array<Real>& rstd, const Array<Real>& input,
                                     const Ints& normalized_shape, const Parameter& weight, const Parameter& bias,
                                     Real eps, const Arithmetic& a) {
  normalise_magnitude(out, mean, rstd, layers(input, normalized_shape), weight, bias, eps, a);
}

void operators::group_norm(Array<Real>& out, Array<Real>& mean, Array<Real>& rstd, const Array<Real>& input,
                           const Parameter& weight, const Parameter& bias, Int, Int C, Int HxW, Int group, Real eps) {
  normalise(out, mean, rstd, groups(input, C, HxW, group), weight, bias, eps);
}
void operators::group_norm_magnitude(Array<Real>& out, Array<Real>& mean, Array<Real>& rstd, const Array<Real>& input,
                                     const Parameter& weight, const Parameter& bias, Int, Int C, Int HxW, Int group,
                                     Real eps, const Arithmetic& a) {
  normalise_magnitude(out, mean, rstd, groups(input, C, HxW, group), weight, bias, eps, a);
}

void operators::layer_norm_backward(Array<Real>& out0, Array<Real>& out1, Array<Real>& out2,
                                    const Array<Real>& grad_out, const Array<Real>& input, const Ints& normalized_shape,
                                    const Array<Real>& mean, const Array<Real>& rstd, const Parameter& weight,
                                    const Bools& output_mask) {
  normalise_backward(Signed{}, {out0, out1, out2, output_mask}, layers(input, normalized_shape), grad_out, mean, rstd,
                     weight);
}
void operators::layer_norm_backward_magnitude(Array<Real>& out0, Array<Real>& out1, Array<Real>& out2,
                                              const Array<Real>& grad_out, const Array<Real>& input,
                                              const Ints& normalized_shape, const Array<Real>& mean,
                                              const Array<Real>& rstd, const Parameter& weight,
                                              const Bools& output_mask, const Arithmetic& a) {
  normalise_backward_magnitude({out0, out1, out2, output_mask}, layers(input, normalized_shape), grad_out, mean, rstd,
                               weight, a);
  stored_sums(out1, a);
  stored_sums(out2, a);
}
void operators::group_norm_backward(Array<Real>& out0, Array<Real>& out1, Array<Real>& out2,
                                    const Array<Real>& grad_out, const Array<Real>& input, const Array<Real>& mean,
                                    const Array<Real>& rstd, const Parameter& weight, Int, Int C, Int HxW, Int group,
                                    const Bools& output_mask) {
  normalise_backward(Signed{}, {out0, out1, out2, output_mask}, groups(input, C, HxW, group), grad_out, mean, rstd,
                     weight);
}
void operators::group_norm_backward_magnitude(Array<Real>& out0, Array<Real>& out1, Array<Real>& out2,
                                              const Array<Real>& grad_out, const Array<Real>& input,
                                              const Array<Real>& mean, const Array<Real>& rstd, const Parameter& weight,
                                              Int, Int C, Int HxW, Int group, const Bools& output_mask,
                                              const Arithmetic& a) {
  normalise_backward_magnitude({out0, out1, out2, output_mask}, groups(input, C, HxW, group), grad_out, mean, rstd,
                               weight, a);
}

void operators::batch_norm(Array<Real>& out, Array<Real>&, Array<Real>&, const Array<Real>& input,
                           const Parameter& weight, const Parameter& bias, const Array<Real>& running_mean,
                           const Array<Real>& running_var, Real eps) {
  for (const Dims& i : indices(out.sizes)) {
    const Channel c(weight, bias, running_mean, running_var, eps, i[1]);
    out(i) = c.scale * input(i) + c.shift;
  }
}

// The rounding of variance + eps counts relative to their sum; where the sum is small, there is no bound. A result that
// is not finite may come from two infinities, or from one.
void operators::batch_norm_magnitude(Array<Real>& out, Array<Real>&, Array<Real>&, const Array<Real>& input,
                                     const Parameter& weight, const Parameter& bias, const Array<Real>& running_mean,
                                     const Array<Real>& running_var, Real eps, const Arithmetic& a) {
  for (const Dims& i : indices(out.sizes)) {
    const Channel c(weight, bias, running_mean, running_var, eps, i[1]);
    const Real x = input(i), terms = std::fabs(c.variance) + std::fabs(eps), sum = std::fabs(c.variance + eps);
    const Real off = std::fabs(x) + std::fabs(c.mean),
               parts = off * rounded(c.scale, a) * (terms / sum) + std::fabs(c.b);
    const bool is_nan = std::isnan(x) || std::isnan(c.mean) || std::isnan(c.b) ||
                        (std::isnan(c.scale) && !std::isinf(c.weight)) || std::isnan(c.weight);
    const bool in_range = std::max({parts, off, std::fabs(c.scale)}) < a.largest;
    if (8 * a.unit * terms > sum)
      out(i) = unbounded;
    else
      out(i) = is_nan ? 0 : in_range ? parts : overflowing(std::isnan(parts) ? 0 : parts);
  }
}

void operators::batch_norm_of_batch(Array<Real>& out, Array<Real>& save_mean, Array<Real>& save_invstd,
                                    const Array<Real>& input, const Parameter& weight, const Parameter& bias,
                                    Real eps) {
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
void operators::batch_norm_of_batch_magnitude(Array<Real>& out, Array<Real>& save_mean, Array<Real>& save_invstd,
                                              const Array<Real>& input, const Parameter& weight, const Parameter& bias,
                                              Real eps, const Arithmetic& a) {
  const Array<Real> x = swapped(input);
  Array<Real> y(x.sizes);
  normalise_magnitude(y, save_mean, save_invstd, channels(x), weight, bias, eps, a);
  out = swapped(y);
}

void operators::batch_norm_with_statistics(Array<Real>& out, Array<Real>& save_mean, Array<Real>& save_invstd,
                                           Array<Real>& running_mean_out, Array<Real>& running_var_out,
                                           const Array<Real>& input, const Parameter& weight, const Parameter& bias,
                                           const Array<Real>& running_mean, const Array<Real>& running_var,
                                           bool training, Real momentum, Real eps) {
  running_mean_out = running_mean, running_var_out = running_var;
  if (!training) return batch_norm(out, save_mean, save_invstd, input, weight, bias, running_mean, running_var, eps);
  batch_norm_of_batch(out, save_mean, save_invstd, input, weight, bias, eps);
  each_channel(input, [&](Int c, const Moments& m, Real length) {
    running_mean_out[c] = (1 - momentum) * running_mean[c] + momentum * m.mean();
    running_var_out[c] = (1 - momentum) * running_var[c] + momentum * m.variance(length - 1);
  });
}
void operators::batch_norm_with_statistics_magnitude(Array<Real>& out, Array<Real>& save_mean, Array<Real>& save_invstd,
                                                     Array<Real>& running_mean_out, Array<Real>& running_var_out,
                                                     const Array<Real>& input, const Parameter& weight,
                                                     const Parameter& bias, const Array<Real>& running_mean,
                                                     const Array<Real>& running_var, bool training, Real momentum,
                                                     Real eps, const Arithmetic& a) {
  if (!training)
    return batch_norm_magnitude(out, save_mean, save_invstd, input, weight, bias, running_mean, running_var, eps, a);
  batch_norm_of_batch_magnitude(out, save_mean, save_invstd, input, weight, bias, eps, a);
  // Rounded once: 1 - momentum, two products and a sum.
  const auto blended = [&](Real running, Real x, Real magnitude, Real length) {
    const Real once = 3 * (std::fabs((1 - momentum) * running) + std::fabs(momentum * x)),
               size = std::fabs(momentum * magnitude) + (std::isfinite(once) ? once / roundoffs(length) : 0);
    return magnitude < 0 ? overflowing(size) : size;
  };
  each_channel(input, [&](Int c, const Moments& m, Real length) {
    running_mean_out[c] = blended(running_mean[c], m.mean(), m.mean_magnitude(a), length);
    running_var_out[c] = blended(running_var[c], m.variance(length - 1), m.variance_magnitude(length - 1, a), length);
  });
}

}  // namespace assay
