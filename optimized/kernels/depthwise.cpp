#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/depthwise.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "optimized/kernels/activation-inl.h"
#include "optimized/kernels/depthwise.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

// Neighbouring results of a row.
struct Strip {
  const float* in;                                    // the first pixel under the first tap of the first of them
  std::size_t row_stride, tap_stride, result_stride;  // from a row of taps, a tap, a result to the next in the image
  const float* weights;                               // of the first tap
  std::size_t weight_row_stride, weight_stride;
  Range taps_y, taps_x;  // 0 to how many, for what lies in the image
  const float* bias;
  float* out;
  std::size_t out_stride;
  const Epilogue* epilogue;  // whose residual is that of the first result
};

// n channels from the first on, of T results. K: the taps of a row and of a column, 0 if they are not known.
template <std::size_t T, std::size_t K>
HWY_INLINE void convolve_channels(const Strip& s, std::size_t first, std::size_t n) {
  Vector sums[T];
  const Vector bias = s.bias ? load(s.bias + first, n) : hn::Zero(floats);
  for (std::size_t t = 0; t < T; ++t) sums[t] = bias;
  const std::size_t rows = K ? K : s.taps_y.size(), columns = K ? K : s.taps_x.size();
  for (std::size_t i = 0; i < rows; ++i) {
    const float* in = s.in + i * s.row_stride + first;
    const float* weights = s.weights + i * s.weight_row_stride + first;
    for (std::size_t j = 0; j < columns; ++j) {
      const Vector w = hn::LoadU(floats, weights + j * s.weight_stride);
      for (std::size_t t = 0; t < T; ++t)
        sums[t] = hn::MulAdd(load(in + j * s.tap_stride + t * s.result_stride, n), w, sums[t]);
    }
  }
  const Epilogue& e = *s.epilogue;
  if (e.residual)
    for (std::size_t t = 0; t < T; ++t) sums[t] = hn::Add(sums[t], load(e.residual + t * e.residual_stride + first, n));
  if (e.activation == Activation::clamp)
    for (std::size_t t = 0; t < T; ++t) sums[t] = clamped(sums[t], number(e.low), number(e.high));
  for (std::size_t t = 0; t < T; ++t) store(sums[t], s.out + t * s.out_stride + first, n);
}

template <std::size_t T, std::size_t K>
void convolve_strip(const Strip& s, std::size_t channels) {
  std::size_t first = 0;
  for (; first + lanes <= channels; first += lanes) convolve_channels<T, K>(s, first, lanes);
  if (first < channels) convolve_channels<T, K>(s, first, channels - first);
  if (s.epilogue->activation <= Activation::clamp) return;
  for (std::size_t t = 0; t < T; ++t) {
    float* out = s.out + t * s.out_stride;
    activate(instruction_set, s.epilogue->activation, s.epilogue->low, s.epilogue->high, out, out, channels);
  }
}

// The taps of a result that lie in an image of so many cells.
Range inside(const ConvolutionAxis& axis, std::size_t result, std::size_t cells) {
  const std::size_t at = result * axis.stride;  // of the first tap, in the padded image
  const auto taps_before = [&](std::size_t cell) {
    return cell <= at ? 0 : std::min((cell - at + axis.dilation - 1) / axis.dilation, axis.kernel);
  };
  const std::size_t begin = taps_before(axis.padding);
  return {begin, std::max(begin, taps_before(axis.padding + cells))};
}

constexpr std::size_t strip_results = 4;

void convolve_row(const Convolution& c, const Images& image, const float* packed, const float* bias, float* out,
                  std::size_t out_stride, const Epilogue& epilogue, std::size_t y) {
  const std::size_t count = c.x.results(image.width, false), row = image.width * image.pixel_stride;
  const Range taps_y = inside(c.y, y, image.height);
  const bool all_y = taps_y.size() == c.y.kernel;
  for (std::size_t x = 0; x < count;) {
    const Range taps_x = inside(c.x, x, image.width);
    const std::size_t last = x + strip_results - 1;
    const bool strip =
        last < count && taps_x.size() == c.x.kernel && inside(c.x, last, image.width).size() == c.x.kernel;
    const std::size_t place = y * count + x;
    Epilogue of_strip = epilogue;
    if (epilogue.residual) of_strip.residual += place * epilogue.residual_stride;
    Strip s;
    s.taps_y = taps_y, s.taps_x = taps_x;
    s.row_stride = c.y.dilation * row;
    s.tap_stride = c.x.dilation * image.pixel_stride;
    s.result_stride = c.x.stride * image.pixel_stride;
    s.weight_stride = depthwise_stride(c);
    s.weight_row_stride = c.x.kernel * s.weight_stride;
    const bool any = taps_y.size() > 0 && taps_x.size() > 0;
    s.in = any ? image.data + (y * c.y.stride + taps_y.begin * c.y.dilation - c.y.padding) * row +
                     (x * c.x.stride + taps_x.begin * c.x.dilation - c.x.padding) * image.pixel_stride
               : image.data;
    s.weights = packed + taps_y.begin * s.weight_row_stride + taps_x.begin * s.weight_stride;
    s.bias = bias;
    s.out = out + place * out_stride;
    s.out_stride = out_stride;
    s.epilogue = &of_strip;
    const bool square = strip && all_y && c.y.kernel == c.x.kernel;
    if (square && c.x.kernel == 3)
      convolve_strip<strip_results, 3>(s, c.groups);
    else if (square && c.x.kernel == 5)
      convolve_strip<strip_results, 5>(s, c.groups);
    else if (strip)
      convolve_strip<strip_results, 0>(s, c.groups);
    else
      convolve_strip<1, 0>(s, c.groups);
    x += strip ? strip_results : 1;
  }
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

void convolve_depthwise(const Convolution& c, const Images& image, const float* packed, const float* bias, float* out,
                        std::size_t out_stride, const Epilogue& epilogue, const Threads& threads) {
  constexpr decltype(&HWY_STATIC_DISPATCH(convolve_row)) of_set[] = {
      HWY_CHOOSE_SSE4(convolve_row), HWY_CHOOSE_AVX2(convolve_row), HWY_CHOOSE_AVX3(convolve_row),
      HWY_CHOOSE_NEON(convolve_row)};
  const auto row = of_set[static_cast<std::size_t>(c.set)];
  const std::size_t rows = c.y.results(image.height, false), tasks = std::min(threads.count, rows);
  for_each_task(threads, tasks, [&](std::size_t i) {
    const Range of_task = part(rows, i, tasks);
    for (std::size_t y = of_task.begin; y < of_task.end; ++y) row(c, image, packed, bias, out, out_stride, epilogue, y);
  });
}

}  // namespace assay::kernels
#endif
