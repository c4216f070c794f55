#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/integer_depthwise.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cstring>

#include "optimized/kernels/dot-inl.h"
#include "optimized/kernels/integer_blocks.h"

// A vector of bytes has the codes of four vectors of channels, in the order of ToCodes. From the vectors of four taps,
// four vectors are made that have the codes of a channel in each lane. Packed weights and numbers are in the order of
// these lanes.
HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

constexpr std::size_t chunk = vector_bytes;  // channels

// Turns vectors of bytes of four pixels into four vectors whose lanes have the four bytes of a channel, in the order of
// ToCodes.
HWY_INLINE void transpose(Integers (&x)[4]) {
#if HWY_TARGET == HWY_SCALAR
  const Integers all[4] = {x[0], x[1], x[2], x[3]}, low = number(0xff);
  unrolled<4>([&](auto j) HWY_ATTR {
    x[j] = hn::Zero(integers);
    unrolled<4>([&](auto i) HWY_ATTR {
      x[j] = hn::Or(x[j], hn::ShiftLeft<8 * i>(hn::And(hn::ShiftRight<8 * j>(all[i]), low)));
    });
  });
#else
  const auto low = [](auto tag, Integers a, Integers b) HWY_ATTR {
    return hn::BitCast(integers, hn::InterleaveLower(tag, hn::BitCast(tag, a), hn::BitCast(tag, b)));
  };
  const auto high = [](auto tag, Integers a, Integers b) HWY_ATTR {
    return hn::BitCast(integers, hn::InterleaveUpper(tag, hn::BitCast(tag, a), hn::BitCast(tag, b)));
  };
  constexpr hn::Repartition<std::uint8_t, IntegerTag> bytes{};
  constexpr hn::Repartition<std::uint16_t, IntegerTag> pairs{};
  const Integers a = low(bytes, x[0], x[1]), b = low(bytes, x[2], x[3]), c = high(bytes, x[0], x[1]),
                 d = high(bytes, x[2], x[3]);
  x[0] = low(pairs, a, b), x[1] = high(pairs, a, b), x[2] = low(pairs, c, d), x[3] = high(pairs, c, d);
#endif
}

// A strip of T results, and the pixels under its taps, row after row.
template <std::size_t T>
struct Strip {
  const std::uint8_t* pixels[most_depthwise_pixels];
  std::uint8_t* out;
  std::size_t out_stride, count;  // the results that are stored
};

// A chunk of channels of a strip.
template <class Dot, std::size_t T>
HWY_INLINE void convolve_chunk(const IntegerConvolution& c, const Strip<T>& strip, std::size_t channel,
                               const float* packed, const Bytes& bytes) {
  const std::size_t groups = tap_groups(c.shape);
  const Integers flip = number(c.has_signed_input ? static_cast<std::int32_t>(0x80808080u) : 0);
  Integers sums[T][4];
  unrolled<4>([&](auto j) HWY_ATTR {
    const Integers begin = load_integers(packed + j * lanes);
    unrolled<T>([&](auto t) HWY_ATTR { sums[t][j] = begin; });
  });
  const float* weights = packed + 3 * chunk;
  const std::uint8_t* const* pixels = strip.pixels;
  for (std::size_t group = 0; group < groups; ++group, pixels += 4, weights += chunk) {
    Integers x[4];
    unrolled<4>([&](auto i) HWY_ATTR { x[i] = hn::Xor(bytes.load(pixels[i] + channel), flip); });
    transpose(x);
    unrolled<4>([&](auto j) HWY_ATTR {
      const typename Dot::Factor factor = Dot::unsigned_bytes(x[j]);
      unrolled<T>([&](auto t) HWY_ATTR {
        Dot::add(factor, Dot::signed_bytes(load_integers(weights + t * groups * chunk + j * lanes)), sums[t][j]);
      });
    });
  }
  const ToCodes to_codes(c.result);
  Vector scales[4], shifts[4];
  unrolled<4>([&](auto j) HWY_ATTR {
    scales[j] = hn::LoadU(floats, packed + chunk + j * lanes);
    shifts[j] = hn::LoadU(floats, packed + 2 * chunk + j * lanes);
  });
  unrolled<T>([&](auto t) HWY_ATTR {
    const Integers codes = to_codes(sums[t], scales, shifts);
    if (t < strip.count) bytes.store(codes, strip.out + t * strip.out_stride + channel);
  });
}

// One image, and the code of the outside.
struct Depthwise {
  const IntegerConvolution& c;
  const CodeImages& image;
  const float* packed;

  // The pixels under the taps of result (y, x) and, to the right of them, those of the next results.
  void find_pixels(std::size_t y, std::size_t x, const std::uint8_t** pixels) const {
    const Convolution& s = c.shape;
    const auto* codes = static_cast<const std::uint8_t*>(image.data);
    const auto* outside = reinterpret_cast<const std::uint8_t*>(packed);
    const std::size_t first = x * s.x.stride - s.x.padding, n = strip_pixels(s);
    const bool is_inside = first < image.width && (n - 1) * s.x.dilation < image.width - first;
    for (std::size_t i = 0; i < s.y.kernel; ++i, pixels += n) {
      const std::size_t row = y * s.y.stride + i * s.y.dilation - s.y.padding;
      if (row < image.height && is_inside) {
        const std::uint8_t* from = codes + (row * image.width + first) * image.pixel_stride;
        for (std::size_t j = 0; j < n; ++j, from += s.x.dilation * image.pixel_stride) pixels[j] = from;
        continue;
      }
      for (std::size_t j = 0; j < n; ++j) {
        const std::size_t column = first + j * s.x.dilation;
        pixels[j] = row < image.height && column < image.width
                        ? codes + (row * image.width + column) * image.pixel_stride
                        : outside;
      }
    }
  }
};

template <class Dot, std::size_t T>
void convolve_strips(const Depthwise& d, std::uint8_t* out, std::size_t out_stride, Range rows) {
  const Convolution& s = d.c.shape;
  const std::size_t width = s.x.results(d.image.width, false);
  Strip<T> strip;
  strip.out_stride = out_stride;
  for (std::size_t y = rows.begin; y < rows.end; ++y)
    for (std::size_t x = 0; x < width; x += T) {
      d.find_pixels(y, x, strip.pixels);
      strip.out = out + (y * width + x) * out_stride, strip.count = std::min(T, width - x);
      const float* packed = d.packed + padded_channels(s) / 4;
      for (std::size_t channel = 0; channel < s.groups; channel += chunk, packed += floats_of_chunk(s))
        convolve_chunk<Dot>(d.c, strip, channel, packed, Bytes(std::min(chunk, s.groups - channel)));
    }
}

// Some rows of an image's results.
template <class Dot>
void convolve_rows_by(const IntegerConvolution& c, const CodeImages& image, const float* packed, std::uint8_t* out,
                      std::size_t out_stride, Range rows) {
  const auto convolve = strip_results(c.shape) == 2 ? convolve_strips<Dot, 2> : convolve_strips<Dot, 1>;
  convolve({c, image, packed}, out, out_stride, rows);
}

void convolve_plainly(const IntegerConvolution& c, const CodeImages& image, const float* packed, std::uint8_t* out,
                      std::size_t out_stride, Range rows) {
  convolve_rows_by<Plain>(c, image, packed, out, out_stride, rows);
}
void convolve_fast(const IntegerConvolution& c, const CodeImages& image, const float* packed, std::uint8_t* out,
                   std::size_t out_stride, Range rows) {
  convolve_rows_by<Fastest>(c, image, packed, out, out_stride, rows);
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

std::size_t packed_depthwise_floats(const IntegerConvolution& c) {
  const std::size_t channels = padded_channels(c.shape);
  return channels / 4 + channels / chunk_channels(c.shape) * floats_of_chunk(c.shape);
}

void pack_depthwise(const IntegerConvolution& c, const std::int8_t* weight, const WeightStrides& strides,
                    const Channels& channels, float* packed) {
  const Convolution& s = c.shape;
  const std::size_t chunk = chunk_channels(s), lanes = chunk / 4;
  std::memset(packed, static_cast<std::uint8_t>(c.input_zero_point), padded_channels(s));
  packed += padded_channels(s) / 4;
  for (std::size_t channel = 0; channel < s.groups; ++channel) {
    float* of_chunk = packed + channel / chunk * floats_of_chunk(s);
    const std::size_t place = place_of_channel(channel % chunk, lanes);
    auto* weights = reinterpret_cast<std::int8_t*>(of_chunk + 3 * chunk);
    std::int32_t sum = 0;
    for (std::size_t y = 0; y < s.y.kernel; ++y)
      for (std::size_t x = 0; x < s.x.kernel; ++x) {
        const std::int8_t w = weight[channel * strides.first + y * strides.y + x * strides.x];
        sum += w;
        for (std::size_t t = 0; t < strip_results(s); ++t) {
          const std::size_t pixel = y * strip_pixels(s) + x + t * s.x.stride;
          weights[((t * tap_groups(s) + pixel / 4) * chunk + place) * 4 + pixel % 4] = w;
        }
      }
    store_numbers(c, channels.of(channels.context, channel), sum, of_chunk + place, chunk);
  }
}

void convolve_depthwise(const IntegerConvolution& c, const CodeImages& image, const float* packed, std::uint8_t* out,
                        std::size_t out_stride, const Threads& threads) {
  using Convolve =
      void (*)(const IntegerConvolution&, const CodeImages&, const float*, std::uint8_t*, std::size_t, Range);
  constexpr Convolve plain[] = ASSAY_OF_EACH_SET(convolve_plainly), fast[] = ASSAY_OF_EACH_SET(convolve_fast);
  const Convolve convolve = (c.uses_vnni ? fast : plain)[static_cast<std::size_t>(c.shape.set)];
  const std::size_t products = c.shape.x.results(image.width, false) * c.shape.groups * tap_groups(c.shape);
  share(threads, c.shape.y.results(image.height, false), products,
        [&](Range rows) { convolve(c, image, packed, out, out_stride, rows); });
}

}  // namespace assay::kernels
#endif
