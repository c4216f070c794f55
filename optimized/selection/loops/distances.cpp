#include <algorithm>
#include <cmath>

#include "kernels.gen.h"
#include "optimized/selection/scalars.h"

// Distances between rows, by plain loops.
namespace assay::optimized {
namespace {

// The distance of order p of n differences: the number of those that are not 0 for p = 0, and for an infinite p the
// largest one. A NaN counts there only if `keeps_nan`.
template <class Difference>
double distance(double p, std::int64_t n, bool keeps_nan, Difference difference) {
  double total = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const double d = std::fabs(difference(k));
    if (p == 0)
      total += d != d ? d : d != 0;
    else if (std::isinf(p))
      total = d > total || (keeps_nan && d != d) ? d : total;
    else
      total += p == 1 ? d : p == 2 ? d * d : std::pow(d, p);
  }
  return p == 0 || std::isinf(p) || p == 1 ? total : p == 2 ? std::sqrt(total) : std::pow(total, 1 / p);
}

// The order of a distance, rounded to the dtype. Returns false if it is invalid.
bool order_of(const Value& v, DType dtype, double& p) {
  p = stored_as(dtype, v.real);
  return v.kind == ValueKind::real && v.real >= 0;
}

// pdist: self, p, out. The distances between all pairs of rows. Where nothing is compared, any dtype is accepted.
bool accepts_pairs(const Call& call) {
  return call[0].is_tensor() && find_reader<Complex>(call.tensor(0).dtype) && call.out().dtype == call.tensor(0).dtype;
}
bool run_pairs(const Step& step, Execution&) {
  const Tensor& self = step.call.tensor(0);
  Tensor& out = step.call.out();
  double p = 0;
  if (self.rank != 2 || (self.count() > 0 && !self.is_contiguous())) return false;
  const std::int64_t rows = self.size(0), n = self.size(1), pairs = rows * (rows - 1) / 2;
  const std::int32_t sizes[] = {static_cast<std::int32_t>(pairs)};
  const bool compares = pairs > 0 && n > 0;
  const bool is_computed = self.dtype == DType::float32 || self.dtype == DType::float64;
  if (pairs > INT32_MAX || (compares && !is_computed) ||
      !order_of(step.call[1], is_computed ? self.dtype : DType::float64, p) || !resize(out, sizes))
    return false;
  if (!compares) return clear(out), true;
  const Reading<double> x(self, self.dtype);
  const Writing<double> y(out);
  std::ptrdiff_t at = 0;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = i + 1; j < rows; ++j)
      y.set(at++, distance(p, n, true, [&](std::int64_t k) { return x[i * n + k] - x[j * n + k]; }));
  return true;
}

// cdist: x1, x2, p, compute_mode, out. The distance of each row of x1 to each row of x2. PyTorch computes distances of
// half types by a product alone.
bool accepts_distances(const Call& call) {
  return call[0].is_tensor() && call[1].is_tensor() && is_floating(call.tensor(0).dtype) &&
         is_floating(call.tensor(1).dtype) && call.out().dtype == call.tensor(0).dtype;
}
bool run_distances(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  Tensor& out = call.out();
  double p = 0;
  const Value& mode = call[3];
  if (a.rank < 2 || b.rank < 2 || a.size(a.rank - 1) != b.size(b.rank - 1) || !order_of(call[2], a.dtype, p))
    return false;
  if (mode.kind != ValueKind::none && (mode.kind != ValueKind::integer || mode.integer < 0 || mode.integer > 2))
    return false;
  Shape of_a = shape_of(a), of_b = shape_of(b);
  const std::int32_t rows = a.sizes[a.rank - 2], columns = b.sizes[b.rank - 2];
  of_a.rank -= 2, of_b.rank -= 2;
  if (!broadcast(of_a, of_b)) return false;
  Shape shape = of_a;
  const int batches = shape.rank;
  shape.sizes[shape.rank++] = rows, shape.sizes[shape.rank++] = columns;
  const std::int64_t n = a.size(a.rank - 1), most_rows = 25;
  const bool is_automatic = mode.kind == ValueKind::none || mode.integer == 0;
  const bool by_products = p == 2 && ((mode.kind == ValueKind::integer && mode.integer == 1) ||
                                      (is_automatic && (rows > most_rows || columns > most_rows)));
  const bool compares = n > 0 && shape.count() > 0;
  const bool is_computed = a.dtype == b.dtype && (computed_in(a.dtype) == a.dtype || by_products);
  if ((compares && !is_computed) || !resize(out, shape.span())) return false;
  // The strides of both tensors in the shape of the result: rows of the first, columns of the second.
  const Strides own[] = {strides_of(a), strides_of(b)};
  const auto in_shape = [&](const Tensor& t, const Strides& strides, int kept) {
    Strides s{};
    for (int d = 0; d + 2 < t.rank; ++d)
      if (t.sizes[d] != 1) s.of[d + batches - (t.rank - 2)] = strides.of[d];
    s.of[kept] = strides.of[t.rank - 2];
    return s;
  };
  const Strides in_a = in_shape(a, own[0], batches), in_b = in_shape(b, own[1], batches + 1);
  const Reading<double> x(a, a.dtype), z(b, b.dtype);
  const Writing<double> y(out);
  const std::ptrdiff_t step_a = own[0].of[a.rank - 1], step_b = own[1].of[b.rank - 1];
  Walk to(out);
  each_index(shape, [&](const std::int32_t* index) {
    const std::ptrdiff_t i = place_of(in_a, index, shape.rank), j = place_of(in_b, index, shape.rank);
    y.set(to.place(), distance(p, n, false, [&](std::int64_t k) { return x[i + k * step_a] - z[j + k * step_b]; }));
    to.next();
  });
  return true;
}

}  // namespace

constexpr Kernel pdist{"pdist", accepts_pairs, nullptr, run_pairs};
constexpr Kernel cdist{"cdist", accepts_distances, nullptr, run_distances};

}  // namespace assay::optimized
