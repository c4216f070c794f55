#include "operators/distance.gen.h"

#include <cmath>
#include <limits>

#include "reference/dtype.h"
#include "reference/families.h"
#include "reference/numerics/bounds.h"
#include "reference/numerics/distance.h"

namespace assay {
namespace {

using Row = Buffer<Real>;

// Charges a visit for each difference, for the power that is taken of it later.
Row differences(const Row& a, const Row& b) {
  charge_visits(static_cast<Int>(a.size()));
  Row d;
  for (std::size_t k = 0; k < a.size(); ++k) d.push_back(std::fabs(a[k] - b[k]));
  return d;
}

// (sum of d^p)^(1/p); for p = 0 the number of differences that are not 0; for infinite p the largest.
Real norm(const Row& d, Real p) {
  Real largest = 0;
  for (Real x : d) largest = x > largest || std::isnan(x) ? x : largest;
  if (std::isnan(largest) || std::isinf(p) || largest == 0) return largest;
  if (p == 0) return static_cast<Real>(std::ranges::count_if(d, [](Real x) { return x != 0; }));
  if (std::isinf(largest)) return largest;
  Sum<Real> sum = 0;
  for (Real x : d) sum += std::pow(x / largest, p);
  return largest * std::pow(sum, 1 / p);
}

// A power may overflow or underflow. A relative error of the sum of powers is p times smaller in its root; an error of
// 1 / p counts times ln D.
Real norm_magnitude(const Row& d, Real p, const Arithmetic& a) {
  const Real distance = norm(d, p), powers = std::pow(distance, p), lost = 2 * static_cast<Real>(d.size()) * a.least;
  if (p == 0 || std::isinf(p) || distance == 0 || !std::isfinite(distance)) return distance;
  const Real once = 4 + std::fabs(std::log(distance)) + 2 / p;  // the difference, two powers, the root and 1 / p
  const Real size =
      distance * (once / roundoffs(static_cast<Real>(d.size())) + (powers < a.largest ? 1 + lost / powers : 1) / p);
  return powers < a.largest ? std::min(size, std::numeric_limits<Real>::max()) : overflowing(size);
}

// D^2 = |a|^2 + |b|^2 - 2 a.b has an error of up to e = 4 sqrt(n) u Q, where Q is the sum of (|a| + |b|)^2; D has an
// error of at most e / max(D, sqrt(e)).
Real product_magnitude(const Row& a, const Row& b, const Arithmetic& arithmetic) {
  Real squares = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    squares += std::pow(std::fabs(a[k]) + std::fabs(b[k]), 2) + 2 * arithmetic.least;
  const Real distance = norm(differences(a, b), 2),
             e = roundoffs(static_cast<Real>(a.size())) * arithmetic.unit * squares;
  return squares < arithmetic.largest ? distance + squares / std::max(distance, std::sqrt(e)) : unbounded;
}

// out[..., i, j] = f(row i of x1, row j of x2), batches broadcast
template <class F>
void each_pair(Array<Real>& out, const Array<Real>& x1, const Array<Real>& x2, F f) {
  const int last = out.sizes.size() - 1;
  const auto row = [last](const Array<Real>& x, Dims i, Int r) {
    const families::Broadcast<Real> elements{x, false};
    Row values;
    i[last - 1] = r;
    for (i[last] = 0; i[last] < x.sizes[x.sizes.size() - 1]; ++i[last]) values.push_back(elements.at(i, 0));
    return values;
  };
  for (const Dims& i : indices(out.sizes)) out(i) = f(row(x1, i, i[last - 1]), row(x2, i, i[last]));
}

// out = f(row i, row j) for each pair i < j, in order
template <class F>
void each_pair(Array<Real>& out, const Array<Real>& self, F f) {
  const auto row = [&](Int r) {
    return Row(self.data.begin() + r * self.sizes[1], self.data.begin() + (r + 1) * self.sizes[1]);
  };
  Int flat = 0;
  for (Int i = 0; i < self.sizes[0]; ++i)
    for (Int j = i + 1; j < self.sizes[0]; ++j) out[flat++] = f(row(i), row(j));
}

// Removes NaN where p is infinite, as cdist does when it looks for the largest.
Row counted(Row d, Real p) {
  if (std::isinf(p)) std::erase_if(d, [](Real x) { return std::isnan(x); });
  return d;
}

}  // namespace

void operators::cdist_forward(Array<Real>& out, const Array<Real>& x1, const Array<Real>& x2, Real p,
                              std::optional<Int>, const Rounding& round) {
  const Real power = round.scalar(p);
  each_pair(out, x1, x2, [&](const Row& a, const Row& b) { return norm(counted(differences(a, b), power), power); });
}
void operators::cdist_forward_magnitude(Array<Real>& out, const Array<Real>& x1, const Array<Real>& x2, Real p,
                                        std::optional<Int> compute_mode, const Rounding& round,
                                        const Arithmetic& arithmetic) {
  const bool products = by_products(x1.sizes, x2.sizes, p, compute_mode);
  const Real power = round.scalar(p);
  each_pair(out, x1, x2, [&](const Row& a, const Row& b) {
    return products ? product_magnitude(a, b, arithmetic)
                    : norm_magnitude(counted(differences(a, b), power), power, arithmetic);
  });
}

void operators::pdist_forward(Array<Real>& out, const Array<Real>& self, Real p, const Rounding& round) {
  each_pair(out, self, [&](const Row& a, const Row& b) { return norm(differences(a, b), round.scalar(p)); });
}
void operators::pdist_forward_magnitude(Array<Real>& out, const Array<Real>& self, Real p, const Rounding& round,
                                        const Arithmetic& arithmetic) {
  each_pair(out, self,
            [&](const Row& a, const Row& b) { return norm_magnitude(differences(a, b), round.scalar(p), arithmetic); });
}

// Its rules accept complex rows only where there is nothing to compare.
void operators::pdist_forward(Array<Complex>&, const Array<Complex>&, Real, const Rounding&) {}

}  // namespace assay
