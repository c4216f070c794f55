#include "operators/norm.gen.h"

#include <cmath>

#include "reference/moments.h"

namespace assay {
namespace {

using Parameter = std::optional<Array<Real>>;

Real at(const Parameter& parameter, Int i, Real otherwise) { return parameter ? (*parameter)[i] : otherwise; }

// The magnitude of a factor: what is lost of it below the smallest normal number is at most 2 u of that.
Real rounded(Real factor, const Arithmetic& a) { return std::fabs(factor) + 2 * a.least; }

// out = (x - mean) rstd weight + bias for each run of `length` elements; element k of run r has parameters of index(r, k).
template <class Index>
void normalise(Array<Real>& out, Array<Real>& mean, Array<Real>& rstd, const Array<Real>& input, Int length, Index index, const Parameter& weight, const Parameter& bias, Real eps) {
  for (Int r = 0; r < mean.count(); ++r) {
    const Moments m(std::span(input.data).subspan(static_cast<std::size_t>(r * length), static_cast<std::size_t>(length)));
    mean[r] = m.mean();
    rstd[r] = m.reciprocal_deviation(eps);
    for (Int k = 0; k < length; ++k) {
      const Int i = r * length + k, c = index(r, k);
      out[i] = (input[i] - mean[r]) * rstd[r] * at(weight, c, 1) + at(bias, c, 0);
    }
  }
}

// x - mean is wrong by what x and the mean round, rstd by its magnitude; that of a product is no more than their sum.
template <class Index>
void normalise_magnitude(Array<Real>& out, Array<Real>& mean, Array<Real>& rstd, const Array<Real>& input, Int length, Index index, const Parameter& weight, const Parameter& bias, Real eps, const Arithmetic& a) {
  const Arithmetic whole{a.unit, 1, a.least, a.largest};
  for (Int r = 0; r < mean.count(); ++r) {
    const Moments m(std::span(input.data).subspan(static_cast<std::size_t>(r * length), static_cast<std::size_t>(length)));
    mean[r] = m.mean_magnitude(whole);
    rstd[r] = m.reciprocal_deviation_magnitude(eps, whole);
    for (Int k = 0; k < length; ++k) {
      const Int i = r * length + k, c = index(r, k);
      const Real scale = m.reciprocal_deviation(eps) * at(weight, c, 1), b = at(bias, c, 0);
      const Real y = (input[i] - m.mean()) * scale + b;
      const Real parts = (std::fabs(input[i]) + m.size()) * rounded(scale, a) + std::fabs((input[i] - m.mean()) * at(weight, c, 1)) * rstd[r] + std::fabs(b);
      const bool in_range = rstd[r] < unbounded && std::fmax(parts, std::fabs(scale)) < a.largest;
      out[i] = std::isnan(y) && rstd[r] < unbounded ? 0 : in_range ? std::fabs(y) + a.share * parts : unbounded;
    }
  }
}

// The parameters of batch norm for channel c, folded into y = scale x + shift.
struct Channel {
  Channel(const Parameter& weight, const Parameter& bias, const Array<Real>& running_mean, const Array<Real>& running_var, Real eps, Int c)
      : mean(running_mean[c]), variance(running_var[c]), b(at(bias, c, 0)), scale(at(weight, c, 1) / std::sqrt(variance + eps)), shift(b - scale * mean) {}
  Real mean, variance, b, scale, shift;
};

}  // namespace

void operators::layer_norm(Array<Real>& out, Array<Real>& mean, Array<Real>& rstd, const Array<Real>& input, const Ints& normalized_shape, const Parameter& weight, const Parameter& bias, Real eps) {
  const Int length = count(Dims(normalized_shape));
  normalise(out, mean, rstd, input, length, [](Int, Int k) { return k; }, weight, bias, eps);
}
void operators::layer_norm_magnitude(Array<Real>& out, Array<Real>& mean, Array<Real>& rstd, const Array<Real>& input, const Ints& normalized_shape, const Parameter& weight, const Parameter& bias, Real eps, const Arithmetic& a) {
  const Int length = count(Dims(normalized_shape));
  normalise_magnitude(out, mean, rstd, input, length, [](Int, Int k) { return k; }, weight, bias, eps, a);
}

void operators::group_norm(Array<Real>& out, Array<Real>& mean, Array<Real>& rstd, const Array<Real>& input, const Parameter& weight, const Parameter& bias, Int, Int C, Int HxW, Int group, Real eps) {
  const Int channels = C / group;
  normalise(out, mean, rstd, input, channels * HxW, [=](Int r, Int k) { return r % group * channels + k / HxW; }, weight, bias, eps);
}
void operators::group_norm_magnitude(Array<Real>& out, Array<Real>& mean, Array<Real>& rstd, const Array<Real>& input, const Parameter& weight, const Parameter& bias, Int, Int C, Int HxW, Int group, Real eps, const Arithmetic& a) {
  const Int channels = C / group;
  normalise_magnitude(out, mean, rstd, input, channels * HxW, [=](Int r, Int k) { return r % group * channels + k / HxW; }, weight, bias, eps, a);
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

}  // namespace assay
