#include "operators/fft.gen.h"

#include <cmath>
#include <numbers>

#include "reference/families.h"
#include "reference/numerics/bounds.h"

namespace assay {
namespace {

// The sign of the exponent. `none` makes all roots of unity 1, and a transform a sum.
enum Direction : Int { forward = -1, none = 0, backward = 1 };

Buffer<Complex> roots_of_unity(Int n, Direction direction) {
  const Real turn = static_cast<Real>(Int{direction}) * 2 * std::numbers::pi_v<Real>;
  Buffer<Complex> roots;
  for (Int k = 0; k < n; ++k) roots.push_back(std::polar<Real>(1, turn * static_cast<Real>(k) / static_cast<Real>(n)));
  return roots;
}

Array<Complex> transformed(const Array<Complex>& x, Int dim, Direction direction) {
  const Buffer<Complex> roots = roots_of_unity(x.sizes[dim], direction);
  Array<Complex> y(x.sizes);
  families::along(
      [&](std::span<const Complex> from, std::span<Complex> to) {
        for (std::size_t k = 0; k < to.size(); ++k) {
          Sum<Complex> sum = 0;
          for (std::size_t j = 0; j < from.size(); ++j) sum += from[j] * roots[j * k % roots.size()];
          to[k] = sum;
        }
      },
      x, dim, y);
  return y;
}

Array<Complex> transformed(Array<Complex> x, std::span<const Int> dims, Direction direction) {
  for (const Int dim : dims) x = transformed(x, dim, direction);
  return x;
}

// The real numbers whose spectrum has this half along dim; the other half is the mirrored conjugate.
void from_half(Array<Real>& out, const Array<Complex>& half, Int dim, Direction direction) {
  const Int n = out.sizes[dim];
  const Buffer<Complex> roots = roots_of_unity(n, direction);
  families::along(
      [&](std::span<const Complex> from, std::span<Real> to) {
        for (Int j = 0; j < n; ++j) {
          Sum<Real> sum = 0;
          for (Int k = 0; k <= n / 2; ++k) {
            const Complex term = from[static_cast<std::size_t>(k)] * roots[static_cast<std::size_t>(j * k % n)];
            sum += term.real() * (k > 0 && 2 * k < n ? 2 : 1);
          }
          to[static_cast<std::size_t>(j)] = sum;
        }
      },
      half, dim, out);
}

// The factor of a transform of real numbers of these sizes.
Real scale(const Dims& sizes, const Ints& dim, Int normalization) {
  Real points = 1;
  for (const Int d : dim) points *= static_cast<Real>(sizes[d]);
  return normalization == 0 ? 1 : 1 / (normalization == 1 ? std::sqrt(points) : points);
}

// A sum of magnitudes that is scaled after the last addition: it may overflow before. A sum with a non-finite term
// keeps it.
Real scaled_sum(Real sum, Real factor, const Arithmetic& a) {
  if (!(sum < non_finite_term)) return sum;
  return factor < 1 && sum >= a.largest ? overflowing(sum * factor) : sum * factor;
}

// The part of x that has the sizes of out.
Array<Complex> part_of(const Array<Complex>& x, const Dims& sizes) {
  Array<Complex> part(sizes);
  Int flat = 0;
  for (const Dims& i : indices(sizes)) part[flat++] = x(i);
  return part;
}

template <class T>
Array<Complex> to_complex(const Array<T>& x) {
  Array<Complex> y(x.sizes);
  std::ranges::copy(x.data, y.data.begin());
  return y;
}

void fft(Array<Complex>& out, const Array<Complex>& self, const Ints& dim, Int normalization, Direction direction) {
  out = part_of(transformed(self, dim, direction), out.sizes);
  const Real factor = scale(self.sizes, dim, normalization);
  for (Complex& x : out.data) x = {x.real() * factor, x.imag() * factor};
}
void fft_magnitude(Array<Complex>& out, const Array<Complex>& bounds, const Ints& dim, Int normalization,
                   const Arithmetic& a) {
  out = part_of(transformed(bounds, dim, none), out.sizes);
  const Real factor = scale(bounds.sizes, dim, normalization);
  for (Complex& x : out.data) x = scaled_sum(x.real(), factor, a);
}

void to_real(Array<Real>& out, const Array<Complex>& self, const Ints& dim, Direction direction) {
  const auto others = std::span(dim).first(dim.size() - 1);
  from_half(out, transformed(self, others, direction), dim.back(), direction);
}

}  // namespace

void operators::fft_r2c(Array<Complex>& out, const Array<Real>& self, const Ints& dim, Int normalization) {
  fft(out, to_complex(self), dim, normalization, forward);
}
void operators::fft_r2c_magnitude(Array<Complex>& out, const Array<Real>& self, const Ints& dim, Int normalization,
                                  const Arithmetic& a) {
  fft_magnitude(out, bounds(self), dim, normalization, a);
}

void operators::fft_c2r(Array<Real>& out, const Array<Complex>& self, const Ints& dim, Int normalization, Int) {
  to_real(out, self, dim, backward);
  const Real factor = scale(out.sizes, dim, normalization);
  for (Real& x : out.data) x *= factor;
}
void operators::fft_c2r_magnitude(Array<Real>& out, const Array<Complex>& self, const Ints& dim, Int normalization, Int,
                                  const Arithmetic& a) {
  to_real(out, bounds(self), dim, none);
  const Real factor = scale(out.sizes, dim, normalization);
  for (Real& x : out.data) x = bounded(scaled_sum(x, factor, a));
}

void operators::fft_c2c(Array<Complex>& out, const Array<Complex>& self, const Ints& dim, Int normalization,
                        bool is_forward) {
  fft(out, self, dim, normalization, is_forward ? forward : backward);
}
void operators::fft_c2c_magnitude(Array<Complex>& out, const Array<Complex>& self, const Ints& dim, Int normalization,
                                  bool, const Arithmetic& a) {
  fft_magnitude(out, bounds(self), dim, normalization, a);
}

}  // namespace assay
