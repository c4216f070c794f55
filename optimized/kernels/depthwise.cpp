#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/depthwise.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "optimized/kernels/activation-inl.h"
#include "optimized/kernels/depthwise.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

// One image, and where its results are stored.
struct Depthwise {
  const Convolution& c;
  const Images& image;
  const float* packed;
  const float* bias;
  float* out;
  std::size_t out_stride;
  const Epilogue& epilogue;
  std::size_t tap_stride;  // floats of packed weights
  std::size_t width;       // results of a row

  const float* weights() const { return packed + tap_stride; }  // behind the zeros for the outside

  // The pixel under tap (i, j) of result (y, x).
  HWY_INLINE const float* pixel(std::size_t y, std::size_t i, std::size_t x, std::size_t j) const {
    const std::size_t row = y * c.y.stride + i * c.y.dilation - c.y.padding,
                      column = x * c.x.stride + j * c.x.dilation - c.x.padding;
    return row < image.height && column < image.width ? image.data + (row * image.width + column) * image.pixel_stride
                                                      : packed;
  }

  // The pixel under tap (0, 0), which may be outside.
  const float* first(std::size_t y, std::size_t x) const {
    const auto row = static_cast<std::ptrdiff_t>(y * c.y.stride) - static_cast<std::ptrdiff_t>(c.y.padding),
               column = static_cast<std::ptrdiff_t>(x * c.x.stride) - static_cast<std::ptrdiff_t>(c.x.padding);
    return image.data +
           (row * static_cast<std::ptrdiff_t>(image.width) + column) * static_cast<std::ptrdiff_t>(image.pixel_stride);
  }
  // Whether a window of this many pixels from there on is inside.
  bool is_inside(std::size_t y, std::size_t window_height, std::size_t x, std::size_t window_width) const {
    const std::size_t row = y * c.y.stride, column = x * c.x.stride;
    return row >= c.y.padding && row - c.y.padding + window_height <= image.height && column >= c.x.padding &&
           column - c.x.padding + window_width <= image.width;
  }
};

void activate_result(const Depthwise& d, std::size_t place) {
  float* out = d.out + place * d.out_stride;
  activate(instruction_set, d.epilogue, out, out, d.c.groups);
}

// Results are computed in strips of H rows, whose pixels are read once for all rows. A window has K x K taps; S is the
// distance from one result's window to the next.
constexpr std::size_t strip_width = 4;

template <std::size_t H, std::size_t K, std::size_t S>
struct Strip {
  static constexpr std::size_t height = (H - 1) * S + K, width = (strip_width - 1) * S + K;
  const float* pixels[height][width];
  float* out;             // of the first result of the row
  const float* residual;  // of the first result, or null
};

template <std::size_t H>
using Sums = Vector[H][strip_width];

// The place of result (r, t) of a strip, in floats from its first result.
HWY_INLINE std::size_t floats_to(const Depthwise& d, std::size_t stride, std::size_t r, std::size_t t) {
  return (r * d.width + t) * stride;
}

// Fetches the memory that the next strip writes.
template <std::size_t H, std::size_t K, std::size_t S>
HWY_INLINE void fetch(const Depthwise& d, const Strip<H, K, S>& strip, std::size_t channel) {
  for (std::size_t r = 0; r < H; ++r)
    for (std::size_t t = 0; t < strip_width; ++t)
      __builtin_prefetch(strip.out + floats_to(d, d.out_stride, r, strip_width + t) + channel, 1);
}

template <std::size_t H, std::size_t K, std::size_t S, class P>
HWY_INLINE void finish(const Depthwise& d, const Strip<H, K, S>& strip, std::size_t channel, const P& part,
                       Sums<H>& sums) {
  if (strip.residual)
#pragma GCC unroll 4
    for (std::size_t r = 0; r < H; ++r)
#pragma GCC unroll 4
      for (std::size_t t = 0; t < strip_width; ++t)
        sums[r][t] =
            hn::Add(sums[r][t], part.load(strip.residual + floats_to(d, d.epilogue.residual_stride, r, t) + channel));
  if (d.epilogue.activation == Activation::clamp) {
    const Vector low = number(d.epilogue.low), high = number(d.epilogue.high);
#pragma GCC unroll 4
    for (auto& row : sums)
#pragma GCC unroll 4
      for (Vector& sum : row) sum = clamped(sum, low, high);
  } else if (d.epilogue.activation == Activation::hardswish) {
#pragma GCC unroll 4
    for (auto& row : sums)
#pragma GCC unroll 4
      for (Vector& sum : row) sum = hardswish(sum);
  }
}

// A vector of channels of a strip.
template <std::size_t H, std::size_t K, std::size_t S, class P>
HWY_INLINE void convolve_channels(const Depthwise& d, const Strip<H, K, S>& strip, std::size_t channel, const P& part) {
  const std::size_t stride = d.tap_stride;
  const float* weights = d.weights() + channel;
  const Vector bias = d.bias ? part.load(d.bias + channel) : hn::Zero(floats);
  fetch(d, strip, channel);
  Sums<H> sums;
#pragma GCC unroll 4
  for (auto& row : sums)
#pragma GCC unroll 4
    for (Vector& sum : row) sum = bias;
#pragma GCC unroll 11
  for (std::size_t i = 0; i < strip.height; ++i)
#pragma GCC unroll 11
    for (std::size_t j = 0; j < strip.width; ++j) {
      const Vector x = part.load(strip.pixels[i][j] + channel);
#pragma GCC unroll 4
      for (std::size_t r = 0; r < H; ++r)
#pragma GCC unroll 4
        for (std::size_t t = 0; t < strip_width; ++t)
          if (const std::size_t y = i - r * S, tap = j - t * S; y < K && tap < K)
            sums[r][t] = hn::MulAdd(x, hn::Load(floats, weights + (y * K + tap) * stride), sums[r][t]);
    }
  finish(d, strip, channel, part, sums);
#pragma GCC unroll 4
  for (std::size_t r = 0; r < H; ++r)
#pragma GCC unroll 4
    for (std::size_t t = 0; t < strip_width; ++t)
      part.store(sums[r][t], strip.out + floats_to(d, d.out_stride, r, t) + channel);
}

template <std::size_t H, std::size_t K, std::size_t S>
void convolve_strip(const Depthwise& d, std::size_t y, std::size_t x) {
  Strip<H, K, S> strip;
  if (d.is_inside(y, strip.height, x, strip.width)) {
    const float* first = d.first(y, x);
    for (auto& row : strip.pixels) {
      for (std::size_t j = 0; j < strip.width; ++j) row[j] = first + j * d.image.pixel_stride;
      first += d.image.width * d.image.pixel_stride;
    }
  } else {
    for (std::size_t i = 0; i < strip.height; ++i)
      for (std::size_t j = 0; j < strip.width; ++j) strip.pixels[i][j] = d.pixel(y, i, x, j);
  }
  const std::size_t at = y * d.width + x;
  strip.out = d.out + at * d.out_stride;
  strip.residual = d.epilogue.residual ? d.epilogue.residual + at * d.epilogue.residual_stride : nullptr;
  std::size_t channel = 0;
  for (; channel + lanes <= d.c.groups; channel += lanes) convolve_channels(d, strip, channel, WholeVector());
  if (channel < d.c.groups) convolve_channels(d, strip, channel, Part(d.c.groups - channel));
}

// N vectors of channels of one result, with any taps.
template <std::size_t N, class P>
HWY_INLINE void convolve_taps(const Depthwise& d, std::size_t y, std::size_t x, std::size_t channel, const P& part) {
  const std::size_t place = y * d.width + x;
  const float* weights = d.weights() + channel;
  Vector sums[N];
  unrolled<N>([&](auto k) HWY_ATTR { sums[k] = d.bias ? part.load(d.bias + channel + k * lanes) : hn::Zero(floats); });
  for (std::size_t i = 0; i < d.c.y.kernel; ++i)
    for (std::size_t j = 0; j < d.c.x.kernel; ++j, weights += d.tap_stride) {
      const float* pixel = d.pixel(y, i, x, j) + channel;
      unrolled<N>([&](auto k) HWY_ATTR {
        sums[k] = hn::MulAdd(part.load(pixel + k * lanes), hn::Load(floats, weights + k * lanes), sums[k]);
      });
    }
  unrolled<N>([&](auto k) HWY_ATTR {
    const std::size_t first = channel + k * lanes;
    Vector sum = sums[k];
    if (d.epilogue.residual)
      sum = hn::Add(sum, part.load(d.epilogue.residual + place * d.epilogue.residual_stride + first));
    if (is_short(d.epilogue.activation)) sum = activated(d.epilogue.activation, d.epilogue, sum);
    part.store(sum, d.out + place * d.out_stride + first);
  });
}

// A strip of one result, with any taps. Several sums at once wait less for each other.
void convolve_result(const Depthwise& d, std::size_t y, std::size_t x) {
  constexpr std::size_t together = 4;
  std::size_t channel = 0;
  for (; channel + together * lanes <= d.c.groups; channel += together * lanes)
    convolve_taps<together>(d, y, x, channel, WholeVector());
  for (; channel < d.c.groups; channel += lanes)
    convolve_taps<1>(d, y, x, channel, Part(std::min(lanes, d.c.groups - channel)));
}

using Convolve = void (*)(const Depthwise&, std::size_t y, std::size_t x);

struct Strips {
  std::size_t kernel, stride;
  Convolve two_rows, one_row;
};
constexpr Strips all_strips[] = {{3, 1, convolve_strip<2, 3, 1>, convolve_strip<1, 3, 1>},
                                 {3, 2, convolve_strip<2, 3, 2>, convolve_strip<1, 3, 2>},
                                 {5, 1, convolve_strip<2, 5, 1>, convolve_strip<1, 5, 1>},
                                 {5, 2, convolve_strip<2, 5, 2>, convolve_strip<1, 5, 2>}};

const Strips* strips_of(const Depthwise& d) {
  for (const Strips& s : all_strips) {
    const auto fits = [&](const ConvolutionAxis& a) {
      return a.kernel == s.kernel && a.stride == s.stride && a.dilation == 1;
    };
    if (fits(d.c.y) && fits(d.c.x) && d.width >= strip_width) return &s;
  }
  return nullptr;
}

// Some rows of an image's results. The last strip of a row overlaps the strip before it.
void convolve_rows(const Convolution& c, const Images& image, const float* packed, const float* bias, float* out,
                   std::size_t out_stride, const Epilogue& epilogue, Range rows) {
  const Depthwise d{
      c, image, packed, bias, out, out_stride, epilogue, depthwise_stride(c), c.x.results(image.width, false)};
  const Strips* strips = strips_of(d);
  const std::size_t width = d.width, step = strips ? strip_width : 1;
  for (std::size_t y = rows.begin, count; y < rows.end; y += count) {
    count = strips ? std::min<std::size_t>(rows.end - y, 2) : 1;
    const Convolve convolve = !strips ? convolve_result : count == 2 ? strips->two_rows : strips->one_row;
    for (std::size_t x = 0; x < width; x += step) convolve(d, y, std::min(x, width - step));
    if (!is_short(epilogue.activation))
      for (std::size_t place = y * width; place < (y + count) * width; ++place) activate_result(d, place);
  }
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

void convolve_depthwise(const Convolution& c, const Images& image, const float* packed, const float* bias, float* out,
                        std::size_t out_stride, const Epilogue& epilogue, const Threads& threads) {
  constexpr decltype(&HWY_STATIC_DISPATCH(convolve_rows)) of_set[] = ASSAY_OF_EACH_SET(convolve_rows);
  const std::size_t products = c.x.results(image.width, false) * c.groups * c.y.kernel * c.x.kernel;
  share(threads, c.y.results(image.height, false), products, [&](Range rows) {
    of_set[static_cast<std::size_t>(c.set)](c, image, packed, bias, out, out_stride, epilogue, rows);
  });
}

}  // namespace assay::kernels
#endif
