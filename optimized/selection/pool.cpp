#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels.gen.h"
#include "optimized/kernels/pool.h"
#include "optimized/selection/integer_numbers.h"
#include "optimized/selection/window.h"

// Windows that move over images of floats or of 8-bit codes. Channels are contiguous, or planes follow one another. The
// rewrites leave_out_indices and compute_with_codes make the calls with codes.
namespace assay::optimized {
namespace {

struct Pool {
  Axis y, x;
  bool ceil_mode = false, count_include_pad = true;
  std::int64_t divisor = 0;  // 0 means the number of cells that the window covers
};

// The arguments from the second on: kernel size, stride, padding, and for some pools dilation.
bool make_axis(const Call& call, std::size_t d, bool dilated, Axis& axis) {
  axis.kernel = entry(call[1], 2, d, -1);
  axis.stride = entry(call[2], 2, d, axis.kernel);
  axis.padding = entry(call[3], 2, d, -1);
  if (dilated) axis.dilation = entry(call[4], 2, d, -1);
  const bool leaves_none_inside = axis.dilation > 1 && axis.padding > 0;
  return axis.kernel >= 1 && axis.stride >= 1 && axis.padding >= 0 && axis.padding <= axis.kernel / 2 &&
         axis.dilation >= 1 && !leaves_none_inside;
}
bool flag(const Value& v, bool& to) { return to = v.boolean, v.kind == ValueKind::boolean; }

// self, kernel_size, stride, padding, dilation, ceil_mode, out, indices
bool max_pool(const Call& call, Pool& pool) {
  return make_axis(call, 0, true, pool.y) && make_axis(call, 1, true, pool.x) && flag(call[5], pool.ceil_mode);
}
// self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, out
bool avg_pool(const Call& call, Pool& pool) {
  if (call[6].kind == ValueKind::integer) pool.divisor = call[6].integer;
  const bool divides = call[6].kind == ValueKind::none || (call[6].kind == ValueKind::integer && pool.divisor != 0);
  return divides && make_axis(call, 0, false, pool.y) && make_axis(call, 1, false, pool.x) &&
         flag(call[4], pool.ceil_mode) && flag(call[5], pool.count_include_pad);
}
// self, output_size, out
bool adaptive_pool(const Call& call, Pool& pool) {
  pool.x.adaptive = pool.y.adaptive = true;
  return integers(call[1]) && call[1].count == 2;
}

bool result_shape(const Call& call, const Pool& pool, const Tensor& self, Shape& shape) {
  shape = shape_of(self);
  for (int d = 2; d < 4; ++d) {
    const Axis& axis = d == 2 ? pool.y : pool.x;
    const std::int64_t n = axis.adaptive ? entry(call[1], 2, static_cast<std::size_t>(d - 2), -1)
                                         : axis.places(self.sizes[d], pool.ceil_mode);
    if (n < 1 || n > INT32_MAX) return false;
    shape.sizes[d] = static_cast<std::int32_t>(n);
  }
  return true;
}

// What each kind of pool computes of windows, for the results from place `at` on.
template <class T>
using PoolWindows = void (*)(kernels::InstructionSet, const kernels::WindowOf<T>&, const kernels::PixelNumbers&,
                             const Call&, const kernels::Together&, std::int64_t divisor, std::int64_t at);
void largest(kernels::InstructionSet set, const kernels::Window& window, const kernels::PixelNumbers& number,
             const Call& call, const kernels::Together& together, std::int64_t, std::int64_t at) {
  const bool unread = call.fusion && call.fusion->unread;
  kernels::max_of_windows(set, window, number, together, call.tensor(6).elements<float>() + at,
                          unread ? nullptr : call.tensor(7).elements<std::int64_t>() + at);
}
// Of codes, whose indices are not written.
template <class T>
void largest_code(kernels::InstructionSet set, const kernels::WindowOf<T>& window, const kernels::PixelNumbers&,
                  const Call& call, const kernels::Together& together, std::int64_t, std::int64_t at) {
  kernels::max_of_codes(set, window, together.count, call.tensor(6).elements<T>() + at);
}
void average(kernels::InstructionSet set, const kernels::Window& window, const kernels::PixelNumbers&, const Call& call,
             const kernels::Together& together, std::int64_t divisor, std::int64_t at) {
  kernels::mean_of_windows(set, window, static_cast<float>(divisor), together,
                           call.arguments.back()->tensor->elements<float>() + at);
}

template <class T>
void average_code(kernels::InstructionSet set, const kernels::WindowOf<T>& window, const kernels::PixelNumbers&,
                  const Call& call, const kernels::Together& together, std::int64_t divisor, std::int64_t at) {
  const auto count = static_cast<std::int64_t>(window.rows * window.columns);
  kernels::sum_of_codes(set, window, mean_of_codes(*call.fusion->codes, count, divisor), together.count,
                        call.out().elements<T>() + at);
}

// The place of (image, channel, y, x).
struct Places {
  std::int64_t image, channel, row, pixel;
};
Places places_of(std::int64_t channels, std::int64_t height, std::int64_t width, bool channels_first) {
  if (channels_first) return {channels * height * width, height * width, width, 1};
  return {channels * height * width, 1, width * channels, channels};
}

// The number of columns of results, from column j on, whose windows have equal sizes and a constant distance.
std::int64_t equal_columns(const Axis& axis, std::int64_t j, std::int64_t width, std::int64_t columns,
                           std::int64_t& distance) {
  const Range first = axis.range(j, width, columns);
  std::int64_t n = 1;
  distance = 1;
  for (; j + n < columns; ++n) {
    const Range next = axis.range(j + n, width, columns);
    if (n == 1) distance = next.first - first.first;
    if (next.count != first.count || next.padded != first.padded || next.first != first.first + n * distance) break;
  }
  return n;
}

// Windows of channels are computed together, or windows of a row of results if there are many and channels are not
// contiguous. Threads share rows of results.
template <class T, PoolWindows<T> pool_windows>
void pool_images(const Call& call, const Pool& pool, bool channels_first, const Shape& results,
                 const kernels::Threads& threads) {
  constexpr std::int64_t many_columns = 8, far = std::numeric_limits<std::int32_t>::max() / 64;
  const Tensor& self = call.tensor(0);
  const std::int64_t channels = self.size(1), height = self.size(2), width = self.size(3);
  const std::int64_t rows = results.sizes[2], columns = results.sizes[3];
  const Places from = places_of(channels, height, width, channels_first),
               to = places_of(channels, rows, columns, channels_first);
  const bool only_contiguous = !std::is_same_v<T, float> || from.channel > far;
  const auto set = *call.set;
  const std::int64_t rows_ahead = channels_first || pool.y.adaptive ? 0 : std::min(pool.y.stride, pool.y.kernel);
  const std::int64_t columns_ahead = std::min(pool.x.stride, pool.x.kernel);
  const auto pool_row = [&](std::int64_t n, std::int64_t i) {
    const Range y = pool.y.range(i, height, rows);
    for (std::int64_t j = 0, now; j < columns; j += now) {
      std::int64_t distance = 1;
      now = channels_first && !only_contiguous ? equal_columns(pool.x, j, width, columns, distance) : 1;
      const bool in_row = now >= many_columns;
      if (!in_row) now = 1;
      const std::int64_t step = !channels_first || !(in_row || only_contiguous) ? channels : 1;
      const Range x = pool.x.range(j, width, columns);
      const std::int64_t covered = pool.count_include_pad ? y.padded * x.padded : y.count * x.count;
      const kernels::Together together =
          in_row ? kernels::Together{static_cast<std::size_t>(now), distance * from.pixel, to.pixel}
                 : kernels::Together{static_cast<std::size_t>(step), from.channel, to.channel};
      for (std::int64_t c = 0; c < channels; c += step)
        pool_windows(
            set,
            {self.elements<T>() + n * from.image + c * from.channel + y.first * from.row + x.first * from.pixel,
             static_cast<std::size_t>(y.count), static_cast<std::size_t>(x.count), y.step * from.row,
             x.step * from.pixel, static_cast<std::size_t>(rows_ahead), static_cast<std::size_t>(columns_ahead)},
            {static_cast<std::int32_t>(y.first * width + x.first), static_cast<std::int32_t>(y.step * width),
             static_cast<std::int32_t>(x.step), in_row ? static_cast<std::int32_t>(distance) : 0},
            call, together, pool.divisor != 0 ? pool.divisor : covered,
            n * to.image + c * to.channel + i * to.row + j * to.pixel);
    }
  };
  const auto row = static_cast<std::size_t>(channels * width * pool.y.kernel);
  kernels::share(threads, static_cast<std::size_t>(self.size(0) * rows), row, [&](kernels::Range range) {
    for (std::size_t r = range.begin; r < range.end; ++r)
      pool_row(static_cast<std::int64_t>(r) / rows, static_cast<std::int64_t>(r) % rows);
  });
}

// Whether a number of 32 bits tells each pixel apart.
bool has_numbers_for_pixels(const Tensor& self) {
  return self.size(2) * self.size(3) <= std::numeric_limits<std::int32_t>::max();
}

using Reader = bool (*)(const Call&, Pool&);

// The sizes of the results. Returns false if the outs cannot have them.
template <Reader read, std::size_t outs>
bool find_results(const Call& call, Pool& pool, Shape& shape) {
  const Tensor& self = call.tensor(0);
  for (int d = 1; d < 4; ++d)
    if (self.size(d) == 0) return false;
  if (!has_numbers_for_pixels(self) || !read(call, pool) || !result_shape(call, pool, self, shape)) return false;
  for (std::size_t i = call.arguments.size() - outs; i < call.arguments.size(); ++i)
    if (!can_have(call.tensor(i), shape)) return false;
  return true;
}

template <class T>
constexpr DType dtype_of = std::is_same_v<T, float>         ? DType::float32
                           : std::is_same_v<T, std::int8_t> ? DType::int8
                                                            : DType::uint8;

// Whether the kernel accepts all sizes that the call accepts: a plain loop cannot do a merged call in its place.
bool accepts_all_sizes(const Tensor& self) { return !self.unbounded && has_numbers_for_pixels(self); }

template <class T, Reader read, std::size_t outs>
bool accepts(const Call& call) {
  if (call[0].kind != ValueKind::tensor || call.tensor(0).rank != 4) return false;
  const Tensor& self = call.tensor(0);
  const std::size_t out = call.arguments.size() - outs;
  for (std::size_t i = out; i < call.arguments.size(); ++i)
    if (call[i].kind != ValueKind::tensor || call.tensor(i).rank != 4 ||
        !std::equal(self.dim_order, self.dim_order + 4, call.tensor(i).dim_order))
      return false;
  Pool pool;
  Shape shape;
  const bool is_supported = std::is_same_v<T, float> ||
                            (outs == 2 ? call.fusion && call.fusion->unread
                                       : !self.moves && fit_sums(*call.fusion->codes, self.size(2) * self.size(3)));
  return call.set && is_supported && self.dtype == dtype_of<T> && call.tensor(out).dtype == dtype_of<T> &&
         (outs == 1 || call.tensor(out + 1).dtype == DType::int64) &&
         (self.moves ? read(call, pool) && (!call.fusion || accepts_all_sizes(self))
                     : find_results<read, outs>(call, pool, shape));
}

template <class T, PoolWindows<T> pool_windows, Reader read, std::size_t outs>
bool run(const Step& step, Execution& execution) {
  const Call& call = step.call;
  const Tensor& self = call.tensor(0);
  Pool pool;
  Shape shape;
  if (!find_results<read, outs>(call, pool, shape)) return false;
  bool channels_first = true, channels_last = true;
  for (int i = 0; i < 4; ++i) {
    constexpr int last[] = {0, 2, 3, 1};
    channels_first = channels_first && self.dim_order[i] == i;
    channels_last = channels_last && self.dim_order[i] == last[i];
  }
  if (!channels_first && !channels_last) return false;
  for (std::size_t i = call.arguments.size() - outs; i < call.arguments.size(); ++i)
    resize(call.tensor(i), shape.span());
  pool_images<T, pool_windows>(call, pool, channels_first, shape, execution.threads);
  return true;
}

template <class T, PoolWindows<T> pool_windows, Reader read, std::size_t outs = 1>
constexpr Kernel pool_of(const char* name) {
  constexpr bool takes_codes = outs == 1 && !std::is_same_v<T, float>;
  return {name, accepts<T, read, outs>, nullptr, run<T, pool_windows, read, outs>, false, nullptr, takes_codes};
}

}  // namespace

constexpr Kernel max_pool2d_f32 = pool_of<float, largest, max_pool, 2>("max_pool2d_f32");
constexpr Kernel max_pool2d_i8 = pool_of<std::int8_t, largest_code, max_pool, 2>("max_pool2d_i8");
constexpr Kernel max_pool2d_u8 = pool_of<std::uint8_t, largest_code, max_pool, 2>("max_pool2d_u8");
constexpr Kernel avg_pool2d_f32 = pool_of<float, average, avg_pool>("avg_pool2d_f32");
constexpr Kernel avg_pool2d_i8 = pool_of<std::int8_t, average_code, avg_pool>("avg_pool2d_i8");
constexpr Kernel avg_pool2d_u8 = pool_of<std::uint8_t, average_code, avg_pool>("avg_pool2d_u8");
constexpr Kernel adaptive_avg_pool2d_f32 = pool_of<float, average, adaptive_pool>("adaptive_avg_pool2d_f32");
constexpr Kernel adaptive_avg_pool2d_i8 = pool_of<std::int8_t, average_code, adaptive_pool>("adaptive_avg_pool2d_i8");
constexpr Kernel adaptive_avg_pool2d_u8 = pool_of<std::uint8_t, average_code, adaptive_pool>("adaptive_avg_pool2d_u8");

}  // namespace assay::optimized
