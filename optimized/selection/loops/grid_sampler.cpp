#include <algorithm>
#include <cmath>

#include "kernels.gen.h"
#include "optimized/selection/scalars.h"

// Samples images at the coordinates that a grid gives.
namespace assay::optimized {
namespace {

enum class Interpolation : std::int64_t { bilinear, nearest, bicubic };
enum class Padding : std::int64_t { zeros, border, reflection };

// One dimension of an image. Coordinates are rounded to the dtype after each step.
struct Axis {
  double n;
  Padding padding;
  bool aligns;  // whether -1 and 1 are the centres of the outermost cells, and not their edges
  DType dtype;

  double rounded(double x) const { return stored_as(dtype, x); }
  double cell_of(double coordinate) const {
    const double g = rounded(coordinate + 1);
    return aligns ? rounded(g / 2 * (n - 1)) : rounded(rounded(g * n) - 1) / 2;
  }
  double clipped(double x) const { return x > 0 ? std::min(x, n - 1) : 0; }
  // Mirrors a place at the lowest and the highest place, as often as it takes.
  double mirrored(double x) const {
    const double low = aligns ? 0 : -0.5, span = aligns ? n - 1 : n;
    if (span == 0 || !std::isfinite(x)) return 0;
    const double distance = std::fabs(x - low), rest = std::fmod(distance, span);
    const bool is_even = std::fmod(std::floor(distance / span), 2) == 0;
    return rounded(is_even ? rest + low : span - rest + low);
  }
  double inside(double x) const {
    return padding == Padding::zeros ? x : clipped(padding == Padding::reflection ? mirrored(x) : x);
  }
};

// A plane of an image.
struct Plane {
  const Reading<double>& elements;
  std::ptrdiff_t first, row, column;
  Axis x, y;

  double at(double i, double j) const {
    const bool is_inside = i >= 0 && i < y.n && j >= 0 && j < x.n;
    return is_inside ? elements[first + static_cast<std::ptrdiff_t>(i) * row + static_cast<std::ptrdiff_t>(j) * column]
                     : 0;
  }
  double nearest(double i, double j) const { return at(std::nearbyint(i), std::nearbyint(j)); }
  double bilinear(double i, double j) const {
    const double top = std::floor(i), left = std::floor(j), v = i - top, h = j - left;
    return at(top, left) * (1 - v) * (1 - h) + at(top, left + 1) * (1 - v) * h + at(top + 1, left) * v * (1 - h) +
           at(top + 1, left + 1) * v * h;
  }
  double bicubic(double i, double j) const;
};

// Keys' kernel with a = -3/4, for a distance of at most 2.
double keys(double distance) {
  constexpr double a = -0.75;
  const double d = std::fabs(distance);
  return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}
double Plane::bicubic(double i, double j) const {
  const double top = std::floor(i), left = std::floor(j);
  double sum = 0;
  for (int r = -1; r <= 2; ++r)
    for (int c = -1; c <= 2; ++c)
      sum += at(y.inside(top + r), x.inside(left + c)) * keys(i - top - r) * keys(j - left - c);
  return sum;
}

// Operands: input, grid, interpolation_mode, padding_mode, align_corners, out.
bool accepts(const Call& call) {
  if (!call[0].is_tensor() || !call[1].is_tensor() || !call[5].is_tensor()) return false;
  const DType dtype = call.tensor(0).dtype;
  return is_floating(dtype) && call.tensor(1).dtype == dtype && call.tensor(5).dtype == dtype &&
         call[2].kind == ValueKind::integer && call[3].kind == ValueKind::integer && call[4].kind == ValueKind::boolean;
}

bool run(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor &input = call.tensor(0), &grid = call.tensor(1);
  Tensor& out = call.tensor(5);
  if (input.rank != 4 || grid.rank != 4 || input.size(0) != grid.size(0) || grid.size(3) != 2 || input.size(2) < 1 ||
      input.size(3) < 1 || call[2].integer < 0 || call[2].integer > 2 || call[3].integer < 0 || call[3].integer > 2)
    return false;
  const Shape shape{4, {input.sizes[0], input.sizes[1], grid.sizes[1], grid.sizes[2]}};
  if (!resize(out, shape.span())) return false;
  const auto mode = static_cast<Interpolation>(call[2].integer);
  const auto axis = [&](int d) {
    return Axis{static_cast<double>(input.size(d)), static_cast<Padding>(call[3].integer), call[4].boolean,
                input.dtype};
  };
  const Strides from = strides_of(input), in_grid = strides_of(grid), to = strides_of(out);
  const Reading<double> x(input, input.dtype), g(grid, grid.dtype);
  const Writing<double> y(out);
  each_index(shape, [&](const std::int32_t* index) {
    const Plane plane{x, index[0] * from.of[0] + index[1] * from.of[1], from.of[2], from.of[3], axis(3), axis(2)};
    const std::ptrdiff_t at = index[0] * in_grid.of[0] + index[2] * in_grid.of[1] + index[3] * in_grid.of[2];
    double i = plane.y.cell_of(g[at + in_grid.of[3]]), j = plane.x.cell_of(g[at]);
    if (mode != Interpolation::bicubic) i = plane.y.inside(i), j = plane.x.inside(j);
    y.set(place_of(to, index, 4), mode == Interpolation::bilinear  ? plane.bilinear(i, j)
                                  : mode == Interpolation::nearest ? plane.nearest(i, j)
                                                                   : plane.bicubic(i, j));
  });
  return true;
}

}  // namespace

constexpr Kernel grid_sampler_2d{"grid_sampler_2d", accepts, nullptr, run};

}  // namespace assay::optimized
