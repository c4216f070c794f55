#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/depthwise.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "optimized/kernels/activation-inl.h"
#include "optimized/kernels/depthwise.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

// One image, and where its results go.
struct Depthwise {
  const Convolution& c;
  const Images& image;
  const float* packed;
  const float* bias;
  float* out;
  std::size_t out_stride;
  const Epilogue& epilogue;

  std::size_t width() const { return c.x.results(image.width, false); }
  std::size_t height() const { return c.y.results(image.height, false); }
  const float* weights() const { return packed + depthwise_stride(c); }  // behind the zeros for what lies outside

  // The pixel under tap (i, j) of result (y, x).
  HWY_INLINE const float* pixel(std::size_t y, std::size_t i, std::size_t x, std::size_t j) const {
    const std::size_t row = y * c.y.stride + i * c.y.dilation - c.y.padding,
                      column = x * c.x.stride + j * c.x.dilation - c.x.padding;
    return row < image.height && column < image.width ? image.data + (row * image.width + column) * image.pixel_stride
                                                      : packed;
  }
};

HWY_INLINE Vector finished(const Epilogue& epilogue, Vector sum, std::size_t place, std::size_t channel, const Part& part) {
  if (epilogue.residual)
    sum = hn::Add(sum, part.load(epilogue.residual + place * epilogue.residual_stride + channel));
  return epilogue.activation == Activation::clamp ? clamped(sum, number(epilogue.low), number(epilogue.high)) : sum;
}

// An activation that is more than a clamp takes a second look at what was just stored.
void activate_result(const Depthwise& d, std::size_t place) {
  float* out = d.out + place * d.out_stride;
  if (d.epilogue.activation > Activation::clamp)
    activate(instruction_set, d.epilogue.activation, d.epilogue.low, d.epilogue.high, out, out, d.c.groups);
}

// Results are made in strips, whose pixels are read once for all of them.
constexpr std::size_t strip_height = 2, strip_width = 4;

// The window of a strip, of K x K taps that are S results apart.
template <std::size_t K, std::size_t S>
struct Window {
  static constexpr std::size_t height = (strip_height - 1) * S + K, width = (strip_width - 1) * S + K;
  const float* pixels[height][width];
  std::size_t y, x;  // of the first result
};

// A vector of channels of a strip.
template <std::size_t K, std::size_t S>
HWY_INLINE void convolve_channels(const Depthwise& d, const Window<K, S>& window, std::size_t channel, const Part& part) {
  using W = Window<K, S>;
  const std::size_t stride = depthwise_stride(d.c), width = d.width(), height = d.height();
  const float* weights = d.weights() + channel;
  Vector sums[strip_height][strip_width];
  const Vector bias = d.bias ? part.load(d.bias + channel) : hn::Zero(floats);
#pragma GCC unroll 2
  for (auto& row : sums)
#pragma GCC unroll 4
    for (Vector& sum : row) sum = bias;
#pragma GCC unroll 7
  for (std::size_t i = 0; i < W::height; ++i)
#pragma GCC unroll 11
    for (std::size_t j = 0; j < W::width; ++j) {
      const Vector x = part.load(window.pixels[i][j] + channel);
#pragma GCC unroll 2
      for (std::size_t r = 0; r < strip_height; ++r)
#pragma GCC unroll 4
        for (std::size_t t = 0; t < strip_width; ++t)
          if (const std::size_t y = i - r * S, tap = j - t * S; y < K && tap < K)
            sums[r][t] = hn::MulAdd(x, hn::Load(floats, weights + (y * K + tap) * stride), sums[r][t]);
    }
#pragma GCC unroll 2
  for (std::size_t r = 0; r < strip_height; ++r)
#pragma GCC unroll 4
    for (std::size_t t = 0; t < strip_width; ++t)
      if (window.y + r < height && window.x + t < width) {
        const std::size_t place = (window.y + r) * width + window.x + t;
        part.store(finished(d.epilogue, sums[r][t], place, channel, part), d.out + place * d.out_stride + channel);
      }
}

template <std::size_t K, std::size_t S>
void convolve_strip(const Depthwise& d, std::size_t y, std::size_t x) {
  Window<K, S> window;
  window.y = y, window.x = x;
  for (std::size_t i = 0; i < window.height; ++i)
    for (std::size_t j = 0; j < window.width; ++j) window.pixels[i][j] = d.pixel(y, i, x, j);
  std::size_t channel = 0;
  for (; channel + lanes <= d.c.groups; channel += lanes) convolve_channels<K, S>(d, window, channel, Part(lanes));
  if (channel < d.c.groups) convolve_channels<K, S>(d, window, channel, Part(d.c.groups - channel));
  for (std::size_t r = y; r < std::min(y + strip_height, d.height()); ++r)
    for (std::size_t t = x; t < std::min(x + strip_width, d.width()); ++t) activate_result(d, r * d.width() + t);
}

// A strip of one result, for any taps.
void convolve_result(const Depthwise& d, std::size_t y, std::size_t x) {
  const std::size_t place = y * d.width() + x;
  for (std::size_t channel = 0; channel < d.c.groups; channel += lanes) {
    const Part part(std::min(lanes, d.c.groups - channel));
    const float* weights = d.weights() + channel;
    Vector sum = d.bias ? part.load(d.bias + channel) : hn::Zero(floats);
    for (std::size_t i = 0; i < d.c.y.kernel; ++i)
      for (std::size_t j = 0; j < d.c.x.kernel; ++j, weights += depthwise_stride(d.c))
        sum = hn::MulAdd(part.load(d.pixel(y, i, x, j) + channel), hn::Load(floats, weights), sum);
    part.store(finished(d.epilogue, sum, place, channel, part), d.out + place * d.out_stride + channel);
  }
  activate_result(d, place);
}

struct Strips {
  std::size_t kernel, stride, height, width;
  void (*convolve)(const Depthwise&, std::size_t y, std::size_t x);
};
constexpr Strips all_strips[] = {{3, 1, strip_height, strip_width, convolve_strip<3, 1>},
                                 {3, 2, strip_height, strip_width, convolve_strip<3, 2>},
                                 {5, 1, strip_height, strip_width, convolve_strip<5, 1>},
                                 {5, 2, strip_height, strip_width, convolve_strip<5, 2>}};
constexpr Strips single{0, 0, 1, 1, convolve_result};

Strips strips_of(const Convolution& c) {
  for (const Strips& s : all_strips) {
    const auto fits = [&](const ConvolutionAxis& a) { return a.kernel == s.kernel && a.stride == s.stride && a.dilation == 1; };
    if (fits(c.y) && fits(c.x)) return s;
  }
  return single;
}

// Part i of so many of an image's results.
void convolve_part(const Convolution& c, const Images& image, const float* packed, const float* bias, float* out,
                   std::size_t out_stride, const Epilogue& epilogue, std::size_t i, std::size_t parts) {
  const Depthwise d{c, image, packed, bias, out, out_stride, epilogue};
  const Strips strips = strips_of(c);
  const Range rows = part((d.height() + strips.height - 1) / strips.height, i, parts);
  for (std::size_t row = rows.begin; row < rows.end; ++row)
    for (std::size_t x = 0; x < d.width(); x += strips.width) strips.convolve(d, row * strips.height, x);
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

void convolve_depthwise(const Convolution& c, const Images& image, const float* packed, const float* bias, float* out,
                        std::size_t out_stride, const Epilogue& epilogue, const Threads& threads) {
  constexpr decltype(&HWY_STATIC_DISPATCH(convolve_part)) of_set[] = {
      HWY_CHOOSE_SSE4(convolve_part), HWY_CHOOSE_AVX2(convolve_part), HWY_CHOOSE_AVX3(convolve_part),
      HWY_CHOOSE_NEON(convolve_part)};
  for_each_task(threads, threads.count, [&](std::size_t i) {
    of_set[static_cast<std::size_t>(c.set)](c, image, packed, bias, out, out_stride, epilogue, i, threads.count);
  });
}

}  // namespace assay::kernels
#endif
