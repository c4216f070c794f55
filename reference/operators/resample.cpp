#include <cmath>

#include "operators/resample.gen.h"
#include "reference/dtype.h"
#include "reference/numerics/bounds.h"
#include "reference/words/window.h"

namespace assay {
namespace {

Int side(const Dims& sizes, int d) { return sizes[sizes.size() - 2 + d]; }  // d: 0 of a column, 1 of a row

Real float32(Real x) { return round_to(DType::float32, x); }

// The scale along dimension d, if there is one.
std::optional<Real> scale_of(const Doubles* scale_factors, int d) {
  return scale_factors ? std::optional(static_cast<Real>((*scale_factors)[static_cast<std::size_t>(d)])) : std::nullopt;
}

// The cells, of n, that the m places along a dimension take. Where the size is doubled the scale is not used.
Buffer<Int> nearest_cells(Int n, Int m, std::optional<Real> scale) {
  const Real step = scale ? float32(1 / *scale) : float32(static_cast<Real>(n) / static_cast<Real>(m));
  const auto cell = [&](Int i) {
    if (m == n) return i;
    if (m == 2 * n) return i / 2;
    return std::min(static_cast<Int>(float32(static_cast<Real>(i) * step)), n - 1);
  };
  Buffer<Int> cells;
  for (Int i = 0; i < m; ++i) cells.push_back(cell(i));
  return cells;
}

// A place between two cells, `part` of the way from one to the other.
struct Between {
  Int first, second;
  Real part;
};

Buffer<Between> between(Int n, Int m, bool align_corners, std::optional<Real> scale) {
  const Real step = resampling_step(n, m, align_corners, scale);
  Buffer<Between> places;
  for (Int i = 0; i < m; ++i) {
    const auto at = static_cast<Real>(i);
    const Real source = n == m          ? at
                        : align_corners ? at * step
                                        : std::max<Real>((at + Real{0.5}) * step - Real{0.5}, 0);
    const auto first = static_cast<Int>(source);
    places.push_back({first, n == m ? first : std::min(first + 1, n - 1), source - static_cast<Real>(first)});
  }
  return places;
}

struct Grid {
  Buffer<Between> rows, columns;
};

Grid grid(const Dims& out, const Dims& input, bool align_corners, const Doubles* scale_factors) {
  return {between(side(input, 0), side(out, 0), align_corners, scale_of(scale_factors, 0)),
          between(side(input, 1), side(out, 1), align_corners, scale_of(scale_factors, 1))};
}

// out[plane, y, x] = f(input, offset of the plane, y, x)
template <class T, class F>
void each_pixel(Array<T>& out, const Array<T>& input, F f) {
  const Int height = side(out.sizes, 0), width = side(out.sizes, 1),
            cells = side(input.sizes, 0) * side(input.sizes, 1);
  for (Int flat = 0; flat < out.count(); ++flat)
    out[flat] = f(flat / (height * width) * cells, static_cast<std::size_t>(flat / width % height),
                  static_cast<std::size_t>(flat % width));
}

Real interpolate(Real a, Real b, Real part) { return (1 - part) * a + part * b; }

// Blended cells: the first, and the weight of each divided by their total.
struct Blend {
  Int first;
  Buffer<Real> weights;
  Real total = 1;
  Real cells() const {
    return static_cast<Real>(std::ranges::count_if(weights, [](Real w) { return w > 0; }));
  }

  template <class F>
  Real operator()(F cell) const {  // cell(i) gives the i-th cell
    Sum<Real> sum = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) sum += weights[k] * cell(first + static_cast<Int>(k));
    return sum;
  }
};

// Weights in fixed point, with the finest step at which the largest weight stays below 2^15.
struct FixedPoint {
  int bits = 0;
  explicit FixedPoint(const Buffer<Blend>& places) {
    Real largest = 0;
    for (const Blend& p : places) largest = std::max(largest, std::ranges::max(p.weights));
    while (bits < 22 && std::ldexp(largest, bits + 1) + Real{0.5} < 32768) ++bits;
  }
  template <class F>
  Int operator()(const Blend& blend, F cell) const {
    Int sum = Int{1} << (bits - 1);
    for (std::size_t k = 0; k < blend.weights.size(); ++k)
      sum += static_cast<Int>(std::ldexp(blend.weights[k], bits) + Real{0.5}) * cell(blend.first + static_cast<Int>(k));
    return std::clamp<Int>(sum >> bits, 0, 255);
  }
};

// Blends along x first, then along y, and rounds each time.
void blend_codes(Array<Int>& out, const Array<Int>& input, const Buffer<Blend>& rows, const Buffer<Blend>& columns) {
  const FixedPoint vertical(rows), horizontal(columns);
  const Int width = side(input.sizes, 1);
  each_pixel(out, input, [&](Int plane, std::size_t y, std::size_t x) {
    return vertical(rows[y],
                    [&](Int r) { return horizontal(columns[x], [&](Int c) { return input[plane + r * width + c]; }); });
  });
}

Buffer<Blend> blends(const Buffer<Between>& places) {
  Buffer<Blend> result;
  for (const Between& p : places)
    result.push_back(p.first == p.second ? Blend{p.first, {1}} : Blend{p.first, {1 - p.part, p.part}});
  return result;
}

// The weights of a triangle over each place.
Buffer<Blend> triangles(const TriangleAxis& axis) {
  Buffer<Blend> places;
  for (Int i = 0; i < axis.m; ++i) {
    Blend& place = places.emplace_back(Blend{axis.first(i), {}, 0});
    for (Int j = place.first; j < axis.end(i); ++j)
      place.total += place.weights.emplace_back(
          std::max<Real>(1 - std::fabs((static_cast<Real>(j) - axis.centre(i) + Real{0.5}) / axis.width()), 0));
    for (Real& w : place.weights) w = place.total > 0 ? w / place.total : 0;
    if (axis.n == axis.m) place = {i, {1}};
  }
  return places;
}

struct Triangles {
  TriangleAxis down, across;
  Buffer<Blend> rows, columns;
  Triangles(const Dims& out, const Dims& input, bool align_corners, std::optional<Real> scales_h,
            std::optional<Real> scales_w)
      : down(axis(out, input, 0, align_corners, scales_h)),
        across(axis(out, input, 1, align_corners, scales_w)),
        rows(triangles(down)),
        columns(triangles(across)) {}

 private:
  static TriangleAxis axis(const Dims& out, const Dims& input, int d, bool align_corners, std::optional<Real> scale) {
    const Int n = side(input, d), m = side(out, d);
    return {n, m, resampling_step(n, m, align_corners, scale)};
  }
};

// The change of a weight by the error of its place, in unit roundoffs.
Real slope(const TriangleAxis& axis, const Blend& blend, std::size_t place) {
  const Real centre = axis.centre(static_cast<Int>(place));
  return axis.n == axis.m ? 0 : 4 * (centre + axis.width()) / axis.width() / blend.total;
}

// f(cell, weight) for the cells of a place, and for those beside them, which may get a weight by rounding
template <class F>
void each_near(const TriangleAxis& axis, const Blend& place, F f) {
  const Int margin = axis.n == axis.m ? 0 : 1, end = place.first + std::ssize(place.weights);
  for (Int j = std::max<Int>(place.first - margin, 0); j < std::min(end + margin, axis.n); ++j)
    f(j, place.first <= j && j < end ? place.weights[static_cast<std::size_t>(j - place.first)] : 0);
}

// A cell with its weight, and the error of the weight as a share of the bound.
struct Weighed {
  Int cell;
  Real weight, doubt;
};

// The cells, of n, that one of m places may take when s(i) is rounded: its two cells, and the next one where the
// rounding decides between which two cells the place lies. Three roundings of s(i) + 1/2 change a weight by less than
// four of s(i) + 1, which is half of the bound.
Buffer<Weighed> readable(const Between& place, Int n, Int m, const Arithmetic& a) {
  const Real slack = 4 * static_cast<Real>(n) * a.unit,
             doubt = n == m ? 0 : (static_cast<Real>(place.first) + place.part + 1) / 2;
  Buffer<Weighed> cells;
  const auto add = [&](Int cell, Real weight) { cells.push_back({cell, weight, doubt}); };
  add(place.first, 1 - place.part), add(place.second, place.part);
  if (n != m && place.part <= slack) add(std::max<Int>(place.first - 1, 0), 0);
  if (n != m && place.part >= 1 - slack) add(std::min(place.second + 1, n - 1), 0);
  return cells;
}

}  // namespace

void operators::upsample_nearest2d(Array<Element>& out, const Array<Element>& input, const Doubles* scale_factors) {
  const Int width = side(input.sizes, 1);
  const Buffer<Int> rows = nearest_cells(side(input.sizes, 0), side(out.sizes, 0), scale_of(scale_factors, 0));
  const Buffer<Int> columns = nearest_cells(width, side(out.sizes, 1), scale_of(scale_factors, 1));
  each_pixel(out, input,
             [&](Int plane, std::size_t y, std::size_t x) { return input[plane + rows[y] * width + columns[x]]; });
}

void operators::upsample_bilinear2d(Array<Real>& out, const Array<Real>& input, bool align_corners,
                                    const Doubles* scale_factors) {
  const Grid places = grid(out.sizes, input.sizes, align_corners, scale_factors);
  const Int width = side(input.sizes, 1);
  each_pixel(out, input, [&](Int plane, std::size_t y, std::size_t x) {
    const Between &row = places.rows[y], &column = places.columns[x];
    const auto along = [&](Int r) {
      return interpolate(input[plane + r * width + column.first], input[plane + r * width + column.second],
                         column.part);
    };
    return interpolate(along(row.first), along(row.second), row.part);
  });
}

void operators::upsample_bilinear2d(Array<Int>& out, const Array<Int>& input, bool align_corners,
                                    const Doubles* scale_factors) {
  const Grid places = grid(out.sizes, input.sizes, align_corners, scale_factors);
  blend_codes(out, input, blends(places.rows), blends(places.columns));
}

// Every cell that may be read counts. Rounding may decide whether an infinity or NaN is read.
void operators::upsample_bilinear2d_magnitude(Array<Real>& out, const Array<Real>& input, bool align_corners,
                                              const Doubles* scale_factors, const Arithmetic& a) {
  const Grid places = grid(out.sizes, input.sizes, align_corners, scale_factors);
  const Int height = side(input.sizes, 0), width = side(input.sizes, 1);
  Array<Real> exact(out.sizes);
  upsample_bilinear2d(exact, input, align_corners, scale_factors);
  each_pixel(out, input, [&](Int plane, std::size_t y, std::size_t x) {
    const Buffer<Weighed> rows = readable(places.rows[y], height, side(out.sizes, 0), a),
                          columns = readable(places.columns[x], width, side(out.sizes, 1), a);
    Real sum = 0;
    bool doubtful = false;
    for (const Weighed& r : rows)
      for (const Weighed& c : columns) {
        const Real cell = std::fabs(input[plane + r.cell * width + c.cell]);
        if (std::isfinite(cell))
          sum += cell * (r.weight * c.weight + r.doubt * c.weight + r.weight * c.doubt);
        else
          doubtful |= rows.size() + columns.size() > 4;
      }
    return doubtful ? overflowing(sum) : sum;
  });
  free_where_not_finite(out, exact);
}

void operators::upsample_bilinear2d_aa(Array<Real>& out, const Array<Real>& self, bool align_corners,
                                       std::optional<double> scales_h, std::optional<double> scales_w) {
  const Triangles places(out.sizes, self.sizes, align_corners, scales_h, scales_w);
  const Int width = side(self.sizes, 1);
  each_pixel(out, self, [&](Int plane, std::size_t y, std::size_t x) {
    return places.rows[y]([&](Int r) { return places.columns[x]([&](Int c) { return self[plane + r * width + c]; }); });
  });
}

void operators::upsample_bilinear2d_aa(Array<Int>& out, const Array<Int>& self, bool align_corners,
                                       std::optional<double> scales_h, std::optional<double> scales_w) {
  const Triangles places(out.sizes, self.sizes, align_corners, scales_h, scales_w);
  if (out.sizes == self.sizes)
    out = self;
  else
    blend_codes(out, self, places.rows, places.columns);
}

// Its rules accept complex images only where they keep their sizes.
void operators::upsample_bilinear2d_aa(Array<Complex>& out, const Array<Complex>& self, bool, std::optional<double>,
                                       std::optional<double>) {
  out = self;
}

// The error of a weight is its slope. Rounding may decide whether an infinity or NaN has a weight.
void operators::upsample_bilinear2d_aa_magnitude(Array<Real>& out, const Array<Real>& self, bool align_corners,
                                                 std::optional<double> scales_h, std::optional<double> scales_w,
                                                 const Arithmetic& a) {
  const Triangles places(out.sizes, self.sizes, align_corners, scales_h, scales_w);
  const Int width = side(self.sizes, 1);
  Array<Real> exact(out.sizes);
  upsample_bilinear2d_aa(exact, self, align_corners, scales_h, scales_w);
  each_pixel(out, self, [&](Int plane, std::size_t y, std::size_t x) {
    const Blend &row = places.rows[y], &column = places.columns[x];
    const Real once = 1 / roundoffs(row.cells() + column.cells()), down = slope(places.down, row, y),
               across = slope(places.across, column, x);
    Real sum = 0;
    bool may_be_read = false;
    each_near(places.down, row, [&](Int r, Real v) {
      each_near(places.across, column, [&](Int c, Real w) {
        const Real cell = std::fabs(self[plane + r * width + c]);
        if (std::isfinite(cell))
          sum += cell * (v * w + (down * w + v * across) * once);
        else
          may_be_read |= v <= 2 * a.unit * down || w <= 2 * a.unit * across;
      });
    });
    return may_be_read ? overflowing(sum) : sum;
  });
  free_where_not_finite(out, exact);
}

}  // namespace assay
