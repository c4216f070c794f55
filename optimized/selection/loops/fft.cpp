#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels.gen.h"
#include "optimized/selection/scalars.h"

// Discrete Fourier transforms along some dimensions. They compute in complex doubles, in scratch memory: a buffer of
// all points, and for the longest line a table of roots of unity, the terms of a butterfly, and the line before and
// after.
namespace assay::optimized {
namespace {

// A transform of lines of n points: the roots e^(sign 2 pi i j / n), and room for the terms of a butterfly.
struct Transform {
  std::int64_t n;
  Complex *roots, *terms;

  void make_roots(double sign) const {
    for (std::int64_t j = 0; j < n; ++j)
      roots[j] = std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n));
  }
  // The points at a distance of `stride` in the line become `count` points of their transform, by transforms of each
  // p-th point, p being the least prime factor of the count.
  void run(const Complex* from, std::int64_t stride, Complex* to, std::int64_t count) const {
    if (count == 1) return static_cast<void>(*to = *from);
    std::int64_t p = 2;
    while (count % p != 0) p = p * p > count ? count : p + 1;
    const std::int64_t part = count / p;
    for (std::int64_t r = 0; r < p; ++r) run(from + r * stride, stride * p, to + r * part, part);
    const std::int64_t step = n / count;
    for (std::int64_t k = 0; k < part; ++k) {
      for (std::int64_t r = 0; r < p; ++r) terms[r] = to[r * part + k] * roots[r * k * step];
      for (std::int64_t q = 0; q < p; ++q) {
        Complex sum = 0;
        for (std::int64_t r = 0; r < p; ++r) sum += terms[r] * roots[r * q % p * (n / p)];
        to[q * part + k] = sum;
      }
    }
  }
};

enum class Kind { real_to_complex, complex_to_real, complex };

// Operands: self, dim, normalization, and onesided, last_dim_size or forward; out.
template <Kind kind>
bool accepts(const Call& call) {
  if (!call[0].is_tensor() || !call[4].is_tensor() || call.tensor(0).unbounded ||
      !find_reader<Complex>(call.tensor(4).dtype))
    return false;
  const DType self = call.tensor(0).dtype;
  const bool is_size_known = kind != Kind::complex_to_real || (call[3].kind == ValueKind::integer && !call[3].changes);
  if (!integers(call[1]) || call[2].kind != ValueKind::integer || !is_size_known) return false;
  return kind == Kind::real_to_complex
             ? self == DType::float32 || self == DType::float64
             : is_complex(self) && (self != DType::complex32 || (kind == Kind::complex && call[1].count == 0));
}

// The sizes of the points that are transformed: those of self or, for real results, those of the result.
template <Kind kind>
bool points_of(const Call& call, const std::int32_t* sizes, Shape& points) {
  const Tensor& self = call.tensor(0);
  points = {self.rank, {}};
  std::copy_n(sizes, self.rank, points.sizes);
  std::uint32_t seen = 0;
  for (const Value* v : call[1].items()) {
    if (v->integer < 0 || v->integer >= self.rank || (seen >> v->integer & 1)) return false;
    seen |= std::uint32_t{1} << v->integer;
  }
  if (seen == 0) return kind == Kind::complex;
  if (kind != Kind::complex_to_real) return true;
  const std::int64_t n = call[3].integer;
  std::int32_t& last = points.sizes[call[1].items().back()->integer];
  if (n < 1 || n > INT32_MAX) return false;
  last = static_cast<std::int32_t>(n);
  return true;
}

template <Kind kind>
const void* prepare(const Call& call, Stores& stores) {
  Shape points;
  if (!points_of<kind>(call, call.tensor(0).declared, points)) return nullptr;
  const std::int32_t longest = points.rank > 0 ? *std::max_element(points.sizes, points.sizes + points.rank) : 1;
  const std::uint64_t count = static_cast<std::uint64_t>(points.count()) + 4 * static_cast<std::uint64_t>(longest);
  stores.scratch = std::max<std::uint64_t>(stores.scratch, count * sizeof(Complex));
  return nullptr;
}

// Transforms all lines of the points along a dimension. `expands` first makes each line the spectrum of real numbers:
// point n - k is the conjugate of point k.
void transform_lines(const Shape& points, Complex* all, std::int64_t dim, double sign, bool expands, Complex* scratch) {
  const std::int64_t n = points.sizes[dim];
  const Transform transform{n, scratch, scratch + n};
  Complex *line = scratch + 2 * n, *to = scratch + 3 * n;
  transform.make_roots(sign);
  std::int64_t stride = 1;
  for (int d = points.rank - 1; d > dim; --d) stride *= points.sizes[d];
  const std::int64_t lines = points.count() / n;
  for (std::int64_t i = 0; i < lines; ++i) {
    Complex* first = all + i / stride * stride * n + i % stride;
    for (std::int64_t k = 0; k < n; ++k) line[k] = first[k * stride];
    for (std::int64_t k = n / 2 + 1; k < n && expands; ++k) line[k] = std::conj(line[n - k]);
    transform.run(line, 1, to, n);
    for (std::int64_t k = 0; k < n; ++k) first[k * stride] = to[k];
  }
}

template <Kind kind>
bool run(const Step& step, Execution& execution) {
  const Call& call = step.call;
  const Tensor& self = call.tensor(0);
  Tensor& out = call.tensor(4);
  const auto dims = call[1].items();
  Shape points;
  if (!points_of<kind>(call, self.sizes, points)) return false;
  if (!dims.empty() && (self.count() == 0 || call[2].integer < 0 || call[2].integer > 2)) return false;
  const std::int64_t last = dims.empty() ? 0 : dims.back()->integer;
  Shape shape = points;
  if (kind == Kind::real_to_complex && call[3].boolean) shape.sizes[last] = points.sizes[last] / 2 + 1;
  if (kind == Kind::complex_to_real && self.sizes[last] != points.sizes[last] / 2 + 1) return false;
  if (!resize(out, shape.span())) return false;
  auto* all = reinterpret_cast<Complex*>(execution.scratch.data());
  const Strides of_points = strides_of(points, row_major), of_self = strides_of(self), of_out = strides_of(out);
  const Reading<Complex> x(self, self.dtype);
  std::fill_n(all, points.count(), Complex(0));
  each_index(shape_of(self), [&](const std::int32_t* index) {
    all[place_of(of_points, index, self.rank)] = x[place_of(of_self, index, self.rank)];
  });
  const bool is_forward = kind == Kind::real_to_complex || (kind == Kind::complex && call[3].boolean);
  double scale = 1;
  for (const Value* v : dims) {
    const std::int64_t dim = v->integer;
    transform_lines(points, all, dim, is_forward ? -1 : 1, kind == Kind::complex_to_real && dim == last,
                    all + points.count());
    scale *= points.sizes[dim];
  }
  scale = call[2].integer == 0 || dims.empty() ? 1 : call[2].integer == 1 ? 1 / std::sqrt(scale) : 1 / scale;
  const DType part = part_of(self.dtype);
  const DType complex = kind != Kind::real_to_complex ? self.dtype
                        : part == DType::float32      ? DType::complex64
                                                      : DType::complex128;
  const Writing<Complex> y(out, complex);
  const Writing<double> real(out, part);
  each_index(shape, [&](const std::int32_t* index) {
    const Complex z = all[place_of(of_points, index, points.rank)] * scale;
    const std::ptrdiff_t to = place_of(of_out, index, out.rank);
    kind == Kind::complex_to_real ? real.set(to, z.real()) : y.set(to, z);
  });
  return true;
}

template <Kind kind>
constexpr Kernel fft(const char* name) {
  return {name, accepts<kind>, prepare<kind>, run<kind>};
}

}  // namespace

constexpr Kernel fft_r2c = fft<Kind::real_to_complex>("fft_r2c");
constexpr Kernel fft_c2r = fft<Kind::complex_to_real>("fft_c2r");
constexpr Kernel fft_c2c = fft<Kind::complex>("fft_c2c");

}  // namespace assay::optimized
