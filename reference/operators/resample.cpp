#include <cmath>

#include "operators/resample.gen.h"
#include "reference/dtype.h"

namespace assay {
namespace {

Int size_of(const Dims& sizes, int d) { return sizes[sizes.size() - 2 + d]; }  // d: 0 of a column, 1 of a row

Real float32(Real x) { return round_to(DType::float32, x); }

// The scale along dimension d, where one is given.
std::optional<Real> scale_of(const Doubles* scale_factors, int d) {
  return scale_factors ? std::optional(static_cast<Real>((*scale_factors)[static_cast<std::size_t>(d)])) : std::nullopt;
}

// The cells that each place along a dimension of m places takes from n.
Ints nearest(Int n, Int m, std::optional<Real> scale) {
  const Real step = scale ? float32(1 / *scale) : float32(static_cast<Real>(n) / static_cast<Real>(m));
  Ints cells;
  for (Int i = 0; i < m; ++i) cells.push_back(n == m ? i : std::min(static_cast<Int>(float32(static_cast<Real>(i) * step)), n - 1));
  return cells;
}

// A place between two cells, `part` of the way from one to the other.
struct Between {
  Int first, second;
  Real part;
};

std::vector<Between> between(Int n, Int m, bool align_corners, std::optional<Real> scale) {
  const Real corner_step = m > 1 ? static_cast<Real>(n - 1) / static_cast<Real>(m - 1) : 0;
  const Real step = scale ? 1 / *scale : static_cast<Real>(n) / static_cast<Real>(m);
  std::vector<Between> places;
  for (Int i = 0; i < m; ++i) {
    const auto at = static_cast<Real>(i);
    const Real source = n == m ? at : align_corners ? at * corner_step : std::max<Real>((at + Real{0.5}) * step - Real{0.5}, 0);
    const Int first = std::min(static_cast<Int>(source), n - 1);
    places.push_back({first, n == m ? first : std::min(first + 1, n - 1), std::min<Real>(source - static_cast<Real>(first), 1)});
  }
  return places;
}

struct Grid {
  std::vector<Between> rows, columns;
};

Grid grid(const Dims& out, const Dims& input, bool align_corners, const Doubles* scale_factors) {
  return {between(size_of(input, 0), size_of(out, 0), align_corners, scale_of(scale_factors, 0)),
          between(size_of(input, 1), size_of(out, 1), align_corners, scale_of(scale_factors, 1))};
}

// out[plane, y, x] = f(input, offset of the plane, y, x)
template <class T, class F>
void each_cell(Array<T>& out, const Array<T>& input, F f) {
  const Int height = size_of(out.sizes, 0), width = size_of(out.sizes, 1), cells = size_of(input.sizes, 0) * size_of(input.sizes, 1);
  for (Int flat = 0; flat < out.count(); ++flat) out[flat] = f(flat / (height * width) * cells, static_cast<std::size_t>(flat / width % height), static_cast<std::size_t>(flat % width));
}

Real blend(Real a, Real b, Real part) { return (1 - part) * a + part * b; }

// Weights (1 - part, part) in fixed point: the finest step at which the largest weight of the row stays below 2^15.
struct FixedPoint {
  int bits = 0;
  explicit FixedPoint(const std::vector<Between>& places) {
    Real largest = 0;
    for (const Between& p : places) largest = std::max({largest, p.part, 1 - p.part});
    while (bits < 22 && std::floor(std::ldexp(largest, bits + 1) + Real{0.5}) < 32768) ++bits;
  }
  Int blend(Int a, Int b, Real part) const {
    const auto weight = [this](Real w) { return static_cast<Int>(std::ldexp(w, bits) + Real{0.5}); };
    const Int sum = weight(1 - part) * a + weight(part) * b + (Int{1} << (bits - 1));
    return std::clamp<Int>(sum >> bits, 0, 255);
  }
};

// The cells that a place of m takes from n when s(i) is rounded: the two, and the next one where that decides between
// which two cells it is.
Ints readable(const Between& place, Int n, Int m, const Arithmetic& a) {
  const Real slack = 4 * static_cast<Real>(n) * a.unit;
  Ints cells{place.first, place.second};
  if (n != m && place.part <= slack) cells.push_back(std::max<Int>(place.first - 1, 0));
  if (n != m && place.part >= 1 - slack) cells.push_back(std::min(place.second + 1, n - 1));
  return cells;
}

}  // namespace

void operators::upsample_nearest2d(Array<Bits>& out, const Array<Bits>& input, const Doubles* scale_factors) {
  const Int width = size_of(input.sizes, 1);
  const Ints rows = nearest(size_of(input.sizes, 0), size_of(out.sizes, 0), scale_of(scale_factors, 0));
  const Ints columns = nearest(width, size_of(out.sizes, 1), scale_of(scale_factors, 1));
  each_cell(out, input, [&](Int plane, std::size_t y, std::size_t x) { return input[plane + rows[y] * width + columns[x]]; });
}

void operators::upsample_bilinear2d(Array<Real>& out, const Array<Real>& input, bool align_corners, const Doubles* scale_factors) {
  const Grid places = grid(out.sizes, input.sizes, align_corners, scale_factors);
  const Int width = size_of(input.sizes, 1);
  each_cell(out, input, [&](Int plane, std::size_t y, std::size_t x) {
    const Between &row = places.rows[y], &column = places.columns[x];
    const auto along = [&](Int r) { return blend(input[plane + r * width + column.first], input[plane + r * width + column.second], column.part); };
    return blend(along(row.first), along(row.second), row.part);
  });
}

void operators::upsample_bilinear2d(Array<Int>& out, const Array<Int>& input, bool align_corners, const Doubles* scale_factors) {
  const Grid places = grid(out.sizes, input.sizes, align_corners, scale_factors);
  const FixedPoint vertical(places.rows), horizontal(places.columns);
  const Int width = size_of(input.sizes, 1);
  each_cell(out, input, [&](Int plane, std::size_t y, std::size_t x) {
    const Between &row = places.rows[y], &column = places.columns[x];
    const auto along = [&](Int r) { return horizontal.blend(input[plane + r * width + column.first], input[plane + r * width + column.second], column.part); };
    return vertical.blend(along(row.first), along(row.second), row.part);
  });
}

// Everything that may be read counts. An infinity or NaN there bounds nothing where rounding decides whether it is read.
void operators::upsample_bilinear2d_magnitude(Array<Real>& out, const Array<Real>& input, bool align_corners, const Doubles* scale_factors, const Arithmetic& a) {
  const Grid places = grid(out.sizes, input.sizes, align_corners, scale_factors);
  const Int height = size_of(input.sizes, 0), width = size_of(input.sizes, 1);
  const auto size = static_cast<Real>(std::max(width, height));
  each_cell(out, input, [&](Int plane, std::size_t y, std::size_t x) {
    const Ints rows = readable(places.rows[y], height, size_of(out.sizes, 0), a), columns = readable(places.columns[x], width, size_of(out.sizes, 1), a);
    Real sum = 0;
    for (Int r : rows)
      for (Int c : columns) {
        const Real cell = std::fabs(input[plane + r * width + c]);
        if (std::isfinite(cell)) sum += cell;
        else if (rows.size() + columns.size() > 4) return unbounded;
      }
    return size * sum;
  });
}

}  // namespace assay
