#include "operators/random.gen.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace assay {
namespace {

// The k-th output of the SplitMix64 generator (Steele, Lea, Flood 2014) that starts at 0.
Bits splitmix(Int k) {
  Bits z = static_cast<Bits>(k + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Uniform in [0, 1), a multiple of 2^-precision.
Real uniform(Int k, int precision) {
  return std::ldexp(static_cast<Real>(splitmix(k) >> (64 - precision)), -precision);
}

constexpr int real_precision = 53;

// The method of Box and Muller (1958).
Real normal(Int k) {
  const Real radius = std::sqrt(-2 * std::log(1 - uniform(2 * k, real_precision)));
  return radius * std::cos(2 * std::numbers::pi_v<Real> * uniform(2 * k + 1, real_precision));
}

template <class T>
void drop(Array<T>& out, Array<Int>& mask, const Array<T>& input, Real p, std::optional<Int> train) {
  const bool drops = train != 0;
  const Real scale = !drops ? 1 : p == 1 ? 0 : 1 / (1 - p);
  for (Int k = 0; k < out.count(); ++k) {
    mask[k] = !drops || uniform(k, real_precision) >= p;
    out[k] = drops ? static_cast<T>(input[k] * static_cast<T>(mask[k] != 0) * static_cast<T>(scale)) : input[k];
  }
}

}  // namespace

void operators::rand(Array<Real>& out, const Rounding& round) {
  for (Int k = 0; k < out.count(); ++k) out[k] = uniform(k, info(round.dtype).precision);
}
void operators::rand(Array<Complex>& out, const Rounding& round) {
  const int precision = info(round.dtype).precision;
  for (Int k = 0; k < out.count(); ++k) out[k] = {uniform(2 * k, precision), uniform(2 * k + 1, precision)};
}

void operators::randn(Array<Real>& out) {
  for (Int k = 0; k < out.count(); ++k) out[k] = normal(k);
}
void operators::randn(Array<Complex>& out) {
  const Real deviation = std::sqrt(Real{0.5});
  for (Int k = 0; k < out.count(); ++k) out[k] = {normal(2 * k) * deviation, normal(2 * k + 1) * deviation};
}

// The positions of 0, 1, ... sorted by random keys. No two keys are equal.
void operators::randperm(Array<Int>& out) {
  Array<Int> order(out.sizes);
  std::iota(order.data.begin(), order.data.end(), Int{0});
  std::ranges::sort(order.data, {}, splitmix);
  for (Int k = 0; k < out.count(); ++k) out[order[k]] = k;
}

void operators::native_dropout(Array<Real>& out, Array<Int>& mask, const Array<Real>& input, Real p,
                               std::optional<Int> train) {
  drop(out, mask, input, p, train);
}
void operators::native_dropout(Array<Complex>& out, Array<Int>& mask, const Array<Complex>& input, Real p,
                               std::optional<Int> train) {
  drop(out, mask, input, p, train);
}
void operators::native_dropout(Array<Int>& out, Array<Int>& mask, const Array<Int>& input, Real p,
                               std::optional<Int> train) {
  drop(out, mask, input, p, train);
}

}  // namespace assay
