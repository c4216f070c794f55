#include "optimized/kernels/fourier.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "kernels.gen.h"
#include "optimized/kernels/transpose.h"
#include "optimized/selection/scalars.h"

// Discrete Fourier transforms along some dimensions, in floats for float32 and complex64, in doubles for float64 and
// complex128.
namespace assay::optimized {
namespace {

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
int sign_of(const Call& call) {
  return kind == Kind::real_to_complex || (kind == Kind::complex && call[3].boolean) ? -1 : 1;
}

// The lines that are transformed together fill a cache line.
template <class T>
constexpr std::int64_t most_lines = 64 / sizeof(T);

// The roots of the listed dimensions, one after another; null if the sizes move.
template <class T>
struct State {
  const T* roots;
};

// Scratch memory has all points, and what the transform of the longest lines needs: its roots and two times its lines.
template <class T>
std::uint64_t scratch_of(const Shape& points) {
  const std::int64_t count = points.count();
  std::int64_t most = 0;
  for (int d = 0; d < points.rank && count > 0; ++d) {
    const std::int64_t n = points.sizes[d], lines = std::min(most_lines<T>, count / n);
    most = std::max(most, 2 * n + 4 * n * lines);
  }
  return static_cast<std::uint64_t>(2 * count + most) * sizeof(T);
}

template <class T, Kind kind>
const void* prepare_as(const Call& call, const Shape& points, Stores& stores) {
  stores.scratch = std::max(stores.scratch, scratch_of<T>(points));
  if (!is_fixed(call) || !stores.prepared) return nullptr;
  std::uint64_t count = 0;
  for (const Value* v : call[1].items()) count += 2 * static_cast<std::uint64_t>(points.sizes[v->integer]);
  const auto roots = stores.prepared->take<T>(count);
  const auto state = stores.tables.take<State<T>>(1);
  if (state.empty() || roots.empty()) return nullptr;
  T* next = roots.data();
  for (const Value* v : call[1].items()) {
    const auto n = static_cast<std::size_t>(points.sizes[v->integer]);
    kernels::make_roots(n, sign_of<kind>(call), next);
    next += 2 * n;
  }
  state[0] = {roots.data()};
  return state.data();
}

bool is_double(const Tensor& self) { return self.dtype == DType::float64 || self.dtype == DType::complex128; }

template <Kind kind>
const void* prepare(const Call& call, Stores& stores) {
  Shape points;
  if (!points_of<kind>(call, call.tensor(0).declared, points)) return nullptr;
  return is_double(call.tensor(0)) ? prepare_as<double, kind>(call, points, stores)
                                   : prepare_as<float, kind>(call, points, stores);
}

// Numbers in memory. A complex number is two numbers, and the strides count numbers.
template <class T>
struct Grid {
  T* first;
  Strides strides;
  bool is_complex;
};
template <class T>
Grid<T> grid_of(T* first, const Shape& shape, const std::uint8_t* dim_order, bool is_complex) {
  Grid<T> grid{first, strides_of(shape, dim_order), is_complex};
  for (int d = 0; d < shape.rank && is_complex; ++d) grid.strides.of[d] *= 2;
  return grid;
}

// A transform of all lines along a dimension. A line of n points is read from its first `given` points; the others are
// conjugates. The first `kept` results, times `scale`, are written.
template <class T>
struct Lines {
  int dim;
  std::int64_t n, given, kept;
  const T* roots;
  T scale;
};

// Where the numbers of lines are: the strides from point to point and from line to line, and the distance of imaginary
// parts from real ones, which is 0 for real numbers.
struct Steps {
  std::ptrdiff_t point, line, imaginary;

  // Whether the lines are neighbours that consist of pairs.
  bool are_pairs() const { return line == 2 && imaginary == 1; }
};

// Copies the numbers of `count` points to rows. The real rows of real points alternate with rows that stay as they are.
template <class T>
void read_rows(kernels::InstructionSet set, const T* numbers, const Steps& steps, std::int64_t count,
               std::ptrdiff_t lines, T* rows) {
  const auto points = static_cast<std::size_t>(count), each = static_cast<std::size_t>(lines);
  const kernels::CopyAxis axes[] = {
      {points, steps.point, 2 * lines}, {steps.imaginary ? 2u : 1u, steps.imaginary, lines}, {each, steps.line, 1}};
  if (!steps.are_pairs()) return kernels::copy(axes, sizeof(T), numbers, rows);
  for (std::ptrdiff_t k = 0; k < count; ++k, rows += 2 * lines)
    kernels::split_pairs(set, numbers + k * steps.point, each, rows, rows + lines);
}
// Copies rows to the numbers of `count` points. Only the real rows become real numbers.
template <class T>
void write_rows(kernels::InstructionSet set, const T* rows, std::int64_t count, std::ptrdiff_t lines, T* numbers,
                const Steps& steps) {
  const auto points = static_cast<std::size_t>(count), each = static_cast<std::size_t>(lines);
  const kernels::CopyAxis axes[] = {
      {points, 2 * lines, steps.point}, {steps.imaginary ? 2u : 1u, lines, steps.imaginary}, {each, 1, steps.line}};
  if (!steps.are_pairs()) return kernels::copy(axes, sizeof(T), rows, numbers);
  for (std::ptrdiff_t k = 0; k < count; ++k, rows += 2 * lines)
    kernels::join_pairs(set, rows, rows + lines, each, numbers + k * steps.point);
}
// Makes each point k from `first` to `end` the conjugate of point n - k.
template <class T>
void mirror_rows(T* rows, std::int64_t first, std::int64_t end, std::int64_t n, std::ptrdiff_t lines) {
  for (std::ptrdiff_t k = first; k < end; ++k) {
    T *to = rows + 2 * k * lines, *from = rows + 2 * (n - k) * lines;
    std::copy_n(from, lines, to);
    std::transform(from + lines, from + 2 * lines, to + lines, std::negate<T>());
  }
}

template <class T>
void transform_lines(const Lines<T>& lines, const Shape& each, const Grid<const T>& from, const Grid<T>& to, T* memory,
                     kernels::InstructionSet set) {
  const Strides both[] = {from.strides, to.strides};
  const Nest nest = nest_of(each, row_major, both);
  const std::int64_t half = lines.n / 2;
  const bool is_even = lines.n % 2 == 0;
  const auto transform = [&](const T* x, Steps in, T* y, Steps out, std::ptrdiff_t count) {
    const kernels::FourierLines<T> all{static_cast<std::size_t>(lines.n),
                                       static_cast<std::size_t>(count),
                                       lines.roots,
                                       memory,
                                       memory + 2 * lines.n * count,
                                       lines.scale};
    if (is_even && !in.imaginary) {
      read_rows(set, x, {2 * in.point, in.line, in.point}, half, count, all.points);
      T* const results = kernels::transform_reals(set, all);
      mirror_rows(results, half + 1, lines.kept, lines.n, count);
      return write_rows<T>(set, results, lines.kept, count, y, out);
    }
    if (!in.imaginary) std::fill_n(all.points, 2 * lines.n * count, T(0));
    read_rows(set, x, in, lines.given, count, all.points);
    if (is_even && !out.imaginary)
      return write_rows<T>(set, kernels::transform_to_reals(set, all), half, count, y,
                           {2 * out.point, out.line, out.point});
    mirror_rows(all.points, lines.given, lines.n, lines.n, count);
    write_rows<T>(set, kernels::transform(set, all), lines.kept, count, y, out);
  };
  const int inner = nest.loops - 1;
  each_row(nest, 2, [&](const std::ptrdiff_t* at, std::ptrdiff_t count) {
    const Steps in{from.strides.of[lines.dim], nest.stride[0][inner], from.is_complex},
        out{to.strides.of[lines.dim], nest.stride[1][inner], to.is_complex};
    for (std::ptrdiff_t i = 0; i < count; i += most_lines<T>)
      transform(from.first + at[0] + i * in.line, in, to.first + at[1] + i * out.line, out,
                std::min<std::ptrdiff_t>(most_lines<T>, count - i));
  });
}

// Writes results that the out does not hold as they are.
template <class T>
void convert_results(const Grid<T>& results, bool is_real, const Tensor& out, DType complex) {
  const Writing<Complex> y(out, complex);
  const Writing<double> real(out, part_of(complex));
  const Strides of_out = strides_of(out);
  each_index(shape_of(out), [&](const std::int32_t* index) {
    const T* z = results.first + place_of(results.strides, index, out.rank);
    const std::ptrdiff_t to = place_of(of_out, index, out.rank);
    is_real ? real.set(to, z[0]) : y.set(to, Complex(z[0], z[1]));
  });
}

// Without dimensions, the transform is a copy.
bool copy_points(const Tensor& self, Tensor& out) {
  if (!resize(out, self.shape())) return false;
  const Reading<Complex> x(self, self.dtype);
  const Writing<Complex> y(out, self.dtype);
  const Strides from = strides_of(self), to = strides_of(out);
  each_index(shape_of(self), [&](const std::int32_t* index) {
    y.set(place_of(to, index, out.rank), x[place_of(from, index, out.rank)]);
  });
  return true;
}

template <class T, Kind kind>
void run_as(const Step& step, const Shape& points, const Execution& execution) {
  constexpr bool is_real = kind == Kind::complex_to_real, from_real = kind == Kind::real_to_complex;
  constexpr DType part = std::is_same_v<T, float> ? DType::float32 : DType::float64,
                  complex = std::is_same_v<T, float> ? DType::complex64 : DType::complex128;
  const Call& call = step.call;
  const Tensor &self = call.tensor(0), &out = call.out();
  const auto dims = call[1].items();
  T* const all = reinterpret_cast<T*>(execution.scratch.data());
  T* const memory = all + 2 * points.count();
  double scale = 1;
  for (const Value* v : dims) scale *= points.sizes[v->integer];
  scale = call[2].integer == 0 ? 1 : call[2].integer == 1 ? 1 / std::sqrt(scale) : 1 / scale;
  const bool is_direct = out.dtype == (is_real ? part : complex);
  const Grid<T> between = grid_of(all, points, row_major, true),
                last = is_direct ? grid_of(out.elements<T>(), shape_of(out), out.dim_order, !is_real) : between;
  Grid<const T> from = grid_of(self.elements<const T>(), shape_of(self), self.dim_order, !from_real);
  const auto* const state = static_cast<const State<T>*>(step.state);
  Shape shape = shape_of(self);
  // The last listed dimension comes first if its results are half a spectrum, and last if it has half a spectrum.
  for (std::size_t k = 0; k < dims.size(); ++k) {
    const std::size_t now = from_real ? (k + dims.size() - 1) % dims.size() : k;
    const auto dim = static_cast<int>(dims[now]->integer);
    const std::int64_t n = points.sizes[dim];
    T* roots = memory;
    if (!state) kernels::make_roots(static_cast<std::size_t>(n), sign_of<kind>(call), roots);
    std::size_t before = 0;
    for (std::size_t i = 0; i < now; ++i) before += 2 * static_cast<std::size_t>(points.sizes[dims[i]->integer]);
    const bool is_end = k + 1 == dims.size();
    const Lines<T> lines{dim,
                         n,
                         shape.sizes[dim],
                         out.sizes[dim],
                         state ? state->roots + before : roots,
                         static_cast<T>(is_end ? scale : 1)};
    shape.sizes[dim] = 1;
    const Grid<T>& to = is_end ? last : between;
    transform_lines(lines, shape, from, to, memory + 2 * n, *call.set);
    shape.sizes[dim] = out.sizes[dim];
    from = {to.first, to.strides, to.is_complex};
  }
  if (!is_direct) convert_results(between, is_real, out, complex);
}

template <Kind kind>
bool run(const Step& step, Execution& execution) {
  const Call& call = step.call;
  const Tensor& self = call.tensor(0);
  Tensor& out = call.out();
  const auto dims = call[1].items();
  Shape points;
  if (!points_of<kind>(call, self.sizes, points)) return false;
  if (dims.empty()) return copy_points(self, out);
  if (self.count() == 0 || call[2].integer < 0 || call[2].integer > 2) return false;
  const std::int64_t last = dims.back()->integer, half = points.sizes[last] / 2 + 1;
  Shape shape = points;
  if (kind == Kind::real_to_complex && call[3].boolean) shape.sizes[last] = static_cast<std::int32_t>(half);
  if (kind == Kind::complex_to_real && self.sizes[last] != half) return false;
  if (!resize(out, shape.span())) return false;
  is_double(self) ? run_as<double, kind>(step, points, execution) : run_as<float, kind>(step, points, execution);
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
