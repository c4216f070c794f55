#include <algorithm>
#include <cmath>

#include "kernels.gen.h"
#include "optimized/selection/scalars.h"

// Antialiased resampling of images, by plain loops: each result is a sum of the cells around its coordinate, weighed by
// a triangle that is as wide as a step between results.
namespace assay::optimized {
namespace {

// The weights of the cells of one axis for each result.
struct Axis {
  std::int64_t cells = 0, results = 0;
  double step = 1;  // between results, in cells

  double width() const { return std::max(step, 1.0); }
  double weight(std::int64_t result, std::int64_t cell) const {
    if (cells == results) return cell == result;
    const double far = std::fabs(static_cast<double>(cell) + 0.5 - (static_cast<double>(result) + 0.5) * step);
    return std::max(1 - far / width(), 0.0);
  }
  // The first cell that may have a weight, and the cell behind the last one.
  std::int64_t first(std::int64_t result) const {
    return bound(std::floor((static_cast<double>(result) + 0.5) * step - width() - 1));
  }
  std::int64_t end(std::int64_t result) const {
    return bound(std::ceil((static_cast<double>(result) + 0.5) * step + width() + 1));
  }
  double total(std::int64_t result) const {
    double sum = 0;
    for (std::int64_t j = first(result); j < end(result); ++j) sum += weight(result, j);
    return sum;
  }

 private:
  std::int64_t bound(double cell) const {
    return static_cast<std::int64_t>(std::clamp(cell, 0.0, static_cast<double>(cells)));
  }
};

// Operands: self, output_size, align_corners, scales_h, scales_w, out.
bool read_axis(const Call& call, std::size_t d, Axis& axis) {
  const Tensor& self = call.tensor(0);
  const Value &size = *call[1].items()[d], &scale = call[3 + d];
  axis.cells = self.size(static_cast<int>(2 + d)), axis.results = size.integer;
  if (axis.results < 1 || axis.results > INT32_MAX || axis.cells < 1) return false;
  const auto n = static_cast<double>(axis.cells), m = static_cast<double>(axis.results);
  const bool has_scale = scale.kind == ValueKind::real && scale.real > 0;
  axis.step = call[2].boolean ? (axis.results > 1 ? (n - 1) / (m - 1) : 0) : has_scale ? 1 / scale.real : n / m;
  constexpr double most_reach = 0x1p30;
  if (!(axis.width() <= most_reach)) return false;
  for (std::int64_t i = 0; i < axis.results; ++i)
    if (!(axis.total(i) > 0)) return false;
  return true;
}

bool accepts(const Call& call) {
  return call[0].is_tensor() && call.tensor(0).rank == 4 && call.out().dtype == call.tensor(0).dtype &&
         find_reader<Complex>(call.tensor(0).dtype) && integers(call[1]) && call[1].count == 2 &&
         call[2].kind == ValueKind::boolean;
}

// The binary digits behind the point of the weights of 8-bit images: as many as leave the largest weight below 2^15.
int digits_of(const Axis& axis) {
  double largest = 0;
  for (std::int64_t i = 0; i < axis.results; ++i)
    for (std::int64_t j = axis.first(i); j < axis.end(i); ++j)
      largest = std::max(largest, axis.weight(i, j) / axis.total(i));
  constexpr int most_digits = 22;
  int digits = 0;
  while (digits < most_digits && std::floor(std::ldexp(largest, digits + 1) + 0.5) < 0x1p15) ++digits;
  return digits;
}

// A weighed sum of the 8-bit cells of one axis. The result is rounded, with halves rounded up.
template <class Cell>
std::int64_t weighed_byte(const Axis& axis, int digits, std::int64_t result, Cell cell) {
  const double total = axis.total(result);
  double sum = 0;
  for (std::int64_t j = axis.first(result); j < axis.end(result); ++j)
    sum += std::floor(std::ldexp(axis.weight(result, j) / total, digits) + 0.5) * static_cast<double>(cell(j));
  return static_cast<std::int64_t>(std::clamp(std::floor(std::ldexp(sum, -digits) + 0.5), 0.0, 255.0));
}

bool run(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor& self = call.tensor(0);
  Tensor& out = call.out();
  Axis y, x;
  if (self.sizes[1] < 1 || !read_axis(call, 0, y) || !read_axis(call, 1, x)) return false;
  const bool is_kept = y.cells == y.results && x.cells == x.results, is_byte = self.dtype == DType::uint8;
  if (!is_kept && !is_byte && self.dtype != DType::float32 && self.dtype != DType::float64) return false;
  const Shape shape{
      4, {self.sizes[0], self.sizes[1], static_cast<std::int32_t>(y.results), static_cast<std::int32_t>(x.results)}};
  if (!resize(out, shape.span())) return false;
  const Strides from = strides_of(self), to = strides_of(out);
  if (is_kept) {
    each_index(shape, [&](const std::int32_t* i) {
      std::memcpy(out.at(place_of(to, i, 4)), self.at(place_of(from, i, 4)), self.element_bytes());
    });
  } else if (is_byte) {
    const int of_y = digits_of(y), of_x = digits_of(x);
    each_index(shape, [&](const std::int32_t* i) {
      const std::ptrdiff_t image = place_of(from, i, 2);
      const auto row = [&](std::int64_t r) {
        const auto cell = [&](std::int64_t c) {
          return self.elements<std::uint8_t>()[image + r * from.of[2] + c * from.of[3]];
        };
        return x.cells == x.results ? cell(i[3]) : weighed_byte(x, of_x, i[3], cell);
      };
      const std::int64_t byte = y.cells == y.results ? row(i[2]) : weighed_byte(y, of_y, i[2], row);
      out.elements<std::uint8_t>()[place_of(to, i, 4)] = static_cast<std::uint8_t>(byte);
    });
  } else {
    const Reading<double> in(self, self.dtype);
    const Writing<double> result(out);
    each_index(shape, [&](const std::int32_t* i) {
      const std::ptrdiff_t image = place_of(from, i, 2);
      double sum = 0;
      for (std::int64_t r = y.first(i[2]); r < y.end(i[2]); ++r)
        for (std::int64_t c = x.first(i[3]); c < x.end(i[3]); ++c)
          if (const double weight = y.weight(i[2], r) * x.weight(i[3], c); weight != 0)
            sum += weight * in[image + r * from.of[2] + c * from.of[3]];
      result.set(place_of(to, i, 4), sum / (y.total(i[2]) * x.total(i[3])));
    });
  }
  return true;
}

}  // namespace

constexpr Kernel upsample_bilinear2d_aa{"upsample_bilinear2d_aa", accepts, nullptr, run};

}  // namespace assay::optimized
