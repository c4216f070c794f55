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

  double rounded(double x) const {
    return dtype == DType::float32 ? double{static_cast<float>(x)} : stored_as(dtype, x);
  }
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

// An element of a plane and its weight. An element outside of the plane is 0, but its weight counts if it is NaN.
struct Tap {
  std::ptrdiff_t place;  // -1 outside
  double weight;
};

// The taps of a result, which are the same for each channel.
class Taps {
 public:
  Taps(const Axis& y, const Axis& x, std::ptrdiff_t row, std::ptrdiff_t column)
      : y_(y), x_(x), row_(row), column_(column) {}

  void nearest(double i, double j) { add(std::nearbyint(i), std::nearbyint(j), 1); }
  void bilinear(double i, double j) {
    const double top = std::floor(i), left = std::floor(j), v = i - top, h = j - left;
    add(top, left, (1 - v) * (1 - h)), add(top, left + 1, (1 - v) * h);
    add(top + 1, left, v * (1 - h)), add(top + 1, left + 1, v * h);
  }
  void bicubic(double i, double j) {
    const double top = std::floor(i), left = std::floor(j);
    for (int r = -1; r <= 2; ++r)
      for (int c = -1; c <= 2; ++c)
        add(y_.inside(top + r), x_.inside(left + c), keys(i - top - r) * keys(j - left - c));
  }

  // The sum of the products; element(place) reads an element of the plane.
  template <class Element>
  double sum(Element element) const {
    double sum = product(all_[0], element);
    for (int k = 1; k < count_; ++k) sum += product(all_[k], element);
    return sum;
  }

 private:
  // Keys' kernel with a = -3/4, for a distance of at most 2.
  static double keys(double distance) {
    constexpr double a = -0.75;
    const double d = std::fabs(distance);
    return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  }
  void add(double i, double j, double weight) {
    const bool is_inside = i >= 0 && i < y_.n && j >= 0 && j < x_.n;
    const auto place = [&] { return static_cast<std::ptrdiff_t>(i) * row_ + static_cast<std::ptrdiff_t>(j) * column_; };
    all_[count_++] = {is_inside ? place() : -1, weight};
  }
  template <class Element>
  static double product(const Tap& tap, Element element) {
    return (tap.place < 0 ? 0 : element(tap.place)) * tap.weight;
  }

  const Axis &y_, &x_;
  std::ptrdiff_t row_, column_;
  Tap all_[16];
  int count_ = 0;
};

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
  const Reading<double> elements(input, input.dtype), coordinates(grid, grid.dtype);
  const Writing<double> y(out);
  const Axis rows = axis(2), columns = axis(3);
  const Shape places{3, {shape.sizes[0], shape.sizes[2], shape.sizes[3]}};
  each_index(places, [&](const std::int32_t* index) {
    const std::ptrdiff_t at = place_of(in_grid, index, 3);
    double i = rows.cell_of(coordinates[at + in_grid.of[3]]), j = columns.cell_of(coordinates[at]);
    if (mode != Interpolation::bicubic) i = rows.inside(i), j = columns.inside(j);
    Taps taps(rows, columns, from.of[2], from.of[3]);
    mode == Interpolation::bilinear  ? taps.bilinear(i, j)
    : mode == Interpolation::nearest ? taps.nearest(i, j)
                                     : taps.bicubic(i, j);
    for (std::int32_t c = 0; c < shape.sizes[1]; ++c) {
      const std::ptrdiff_t first = index[0] * from.of[0] + c * from.of[1],
                           result = index[0] * to.of[0] + c * to.of[1] + index[1] * to.of[2] + index[2] * to.of[3];
      if (input.dtype == DType::float32) {
        const float* const plane = input.elements<const float>() + first;
        out.elements<float>()[result] =
            static_cast<float>(taps.sum([&](std::ptrdiff_t k) { return double{plane[k]}; }));
      } else {
        y.set(result, taps.sum([&](std::ptrdiff_t k) { return elements[first + k]; }));
      }
    }
  });
  return true;
}

}  // namespace

constexpr Kernel grid_sampler_2d{"grid_sampler_2d", accepts, nullptr, run};

}  // namespace assay::optimized
