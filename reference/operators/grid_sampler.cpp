#include "operators/grid_sampler.gen.h"

#include <cmath>
#include <limits>
#include <utility>

#include "reference/dtype.h"
#include "reference/words/window.h"

namespace assay {
namespace {

// Sampling along one dimension of an input.
struct Sampling {
  static constexpr Int bilinear = 0, nearest = 1, bicubic = 2;
  static constexpr Int zeros = 0, border = 1, reflection = 2;
  Int n, interpolation, padding;
  bool align_corners;
  const Rounding& round;

  // Maps -1 to 1, which are the edges or the centres of the outermost cells, to cells. It is rounded step by step as in
  // PyTorch: half way between two cells that decides which is the nearest.
  Real place(Real g) const {
    const Real cells = round(round(g + 1) * static_cast<Real>(align_corners ? n - 1 : n) / 2);
    return align_corners ? cells : round(cells - 0.5);
  }
  Real clipped(Real at) const { return at > 0 ? std::min(at, static_cast<Real>(n - 1)) : 0; }  // NaN: 0
  Real reflected(Real at) const {
    const Real low = align_corners ? 0 : -0.5, span = static_cast<Real>(align_corners ? n - 1 : n);
    const Real beyond = std::fmod(std::fabs(at - low), 2 * span);  // NaN between the centres of one cell
    return std::min(beyond, 2 * span - beyond) + low;
  }
  Real padded(Real at) const { return padding == zeros ? at : clipped(padding == border ? at : reflected(at)); }

  bool has(Real cell) const { return cell >= 0 && cell < static_cast<Real>(n); }

  Real reach() const { return interpolation == nearest ? Real{0.5} : interpolation == bilinear ? 1 : 2; }
  // The weight of a cell at this distance from the place. Bicubic is Keys' kernel with a = -3/4.
  Real weight(Real distance) const {
    if (distance > reach()) return 0;
    if (interpolation == nearest) return 1;
    if (interpolation == bilinear) return 1 - distance;
    constexpr Real a = -0.75;
    return distance > 1 ? a * (distance - 1) * (2 - distance) * (2 - distance)
                        : 1 - distance * distance * (a + 3 - (a + 2) * distance);
  }

  // Weights of the cells that a coordinate reaches.
  Buffer<std::pair<Real, Real>> cells(Real g) const {
    const Real at = interpolation == bicubic ? place(g) : padded(place(g));
    const Real cell = interpolation == nearest ? std::nearbyint(at) : std::floor(at), part = at - cell;
    Buffer<std::pair<Real, Real>> result;
    for (Real k = 1 - std::ceil(reach()); k <= reach(); ++k)
      result.emplace_back(interpolation == bicubic ? padded(cell + k) : cell + k, weight(std::fabs(k - part)));
    return result;
  }

  // `doubt` is how far rounding moves a place: six roundings of numbers of up to half this size.
  Real size(Real g) const { return (std::fabs(g) + 1) * static_cast<Real>(n); }
  Real doubt(Real g, const Arithmetic& a) const { return std::isfinite(g) ? 3 * a.unit * size(g) : 0; }
  // Whether a place overflows. PyTorch's kernels of half types hold places in 16 bits.
  bool lost(Real g, const Arithmetic& a) const {
    const bool counts_in_16_bits = a.unit > 0x1p-24 && padding == zeros;
    return counts_in_16_bits ? !(std::fabs(place(g)) < 0x1p15) : std::isfinite(g) && size(g) >= a.largest;
  }
  // The place moved by a distance.
  Real moved(Real at, Real by) const { return padding == reflection ? clipped(padded(at) + by) : padded(at + by); }
  // The cells, or those just outside, that a place may reach, and whether it surely weighs one of them.
  Range reachable(Real g, const Arithmetic& a) const {
    const Real by = reach() + doubt(g, a), first = std::max<Real>(std::ceil(moved(place(g), -by)), -1),
               last = std::min(std::floor(moved(place(g), by)), static_cast<Real>(n));
    return first <= last ? Range{static_cast<Int>(first), static_cast<Int>(last - first) + 1, 1} : Range{0, 0, 1};
  }
  bool weighs(Real cell, Real g, const Arithmetic& a) const {
    return interpolation != bicubic && weight(std::fabs(cell - padded(place(g))) + doubt(g, a)) > 0;
  }
};

// f(function that gives the cell of a row and column, sampling of rows, sampling of columns, y, x) for each result
template <class F>
void each_sample(Array<Real>& out, const Array<Real>& input, const Array<Real>& grid, Int interpolation, Int padding,
                 bool align_corners, const Rounding& round, F f) {
  const Int height = input.sizes[2], width = input.sizes[3], places = out.sizes[2] * out.sizes[3];
  const Sampling rows{height, interpolation, padding, align_corners, round},
      columns{width, interpolation, padding, align_corners, round};
  for (Int flat = 0; flat < out.count(); ++flat) {
    const Int plane = flat / places, at = (plane / out.sizes[1] * places + flat % places) * 2;
    const auto cell = [&](Real r, Real c) {
      return rows.has(r) && columns.has(c) ? input[(plane * height + static_cast<Int>(r)) * width + static_cast<Int>(c)]
                                           : 0;
    };
    out[flat] = f(cell, rows, columns, grid[at + 1], grid[at]);
  }
}

}  // namespace

void operators::grid_sampler_2d(Array<Real>& out, const Array<Real>& input, const Array<Real>& grid,
                                Int interpolation_mode, Int padding_mode, bool align_corners, const Rounding& round) {
  each_sample(out, input, grid, interpolation_mode, padding_mode, align_corners, round,
              [](auto cell, const Sampling& rows, const Sampling& columns, Real y, Real x) {
                Sum<Real> sum = 0;
                for (const auto& [r, v] : rows.cells(y))
                  for (const auto& [c, w] : columns.cells(x)) sum += v * w * cell(r, c);
                return Real{sum};
              });
}

// The weighed cells, and the change of the result while its place moves within its doubt. A move by one cell counts as
// the spread of the cells within reach, in units of the bound, 16 u. Nearest has only the change.
void operators::grid_sampler_2d_magnitude(Array<Real>& out, const Array<Real>& input, const Array<Real>& grid,
                                          Int interpolation_mode, Int padding_mode, bool align_corners,
                                          const Rounding& round, const Arithmetic& a) {
  const bool nearest = interpolation_mode == Sampling::nearest;
  Array<Real> exact(out.sizes);
  grid_sampler_2d(exact, input, grid, interpolation_mode, padding_mode, align_corners, round);
  each_sample(out, input, grid, interpolation_mode, padding_mode, align_corners, round,
              [&](auto cell, const Sampling& rows, const Sampling& columns, Real y, Real x) {
                if (rows.lost(y, a) || columns.lost(x, a)) return unbounded;
                Real sum = 0, least = std::numeric_limits<Real>::infinity(), most = -least;
                for (const auto& [r, v] : rows.cells(y))
                  for (const auto& [c, w] : columns.cells(x))
                    sum += std::isfinite(cell(r, c)) ? std::fabs(cell(r, c)) + 2 * a.least : 0;
                const Range down = rows.reachable(y, a), right = columns.reachable(x, a);
                bool doubtful = false;
                for (const Dims& i : indices({down.count, right.count})) {
                  const auto r = static_cast<Real>(down.first + i[0]), c = static_cast<Real>(right.first + i[1]);
                  const Real v = cell(r, c);
                  if (std::isfinite(v))
                    least = std::min(least, v), most = std::max(most, v);
                  else
                    doubtful |= !rows.weighs(r, y, a) || !columns.weighs(c, x, a);
                }
                const Real spread = most > least ? (most - least) / (16 * a.unit) : 0;
                const Real magnitude =
                    nearest ? spread : sum + 2 * spread * std::min<Real>(rows.doubt(y, a) + columns.doubt(x, a), 1);
                if (!std::isfinite(magnitude)) return unbounded;
                return doubtful ? overflowing(magnitude) : magnitude;
              });
  free_where_not_finite(out, exact);
}

}  // namespace assay
