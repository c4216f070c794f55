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

// The first n bytes of each of S places, which a vector holds one after another, vector_bytes / S apart.
template <std::size_t S>
class Parts {
 public:
  explicit HWY_INLINE Parts(std::size_t n) : bytes_(n) {}
  HWY_INLINE Integers load(const std::uint8_t* const (&p)[S]) const {
    if constexpr (S == 1) {
      return hn::BitCast(integers, bytes_.load(p[0]));
    } else if constexpr (S == 2) {
      return hn::BitCast(integers, hn::Combine(floats, bytes_.load(p[1]), bytes_.load(p[0])));
    } else {
      constexpr hn::Half<Floats> half{};
      return hn::BitCast(integers, hn::Combine(floats, hn::Combine(half, bytes_.load(p[3]), bytes_.load(p[2])),
                                               hn::Combine(half, bytes_.load(p[1]), bytes_.load(p[0]))));
    }
  }
  // Stores the bytes of place s.
  template <std::size_t s>
  HWY_INLINE void store(Integers x, std::uint8_t* p) const {
    bytes_.store(part<s, S>(floats, hn::BitCast(floats, x)), p);
  }

 private:
  // Part s of `parts` parts of a vector.
  template <std::size_t s, std::size_t parts, class D>
  static HWY_INLINE auto part([[maybe_unused]] D d, hn::Vec<D> x) {
    if constexpr (parts == 1) {
      return x;
    } else {
      constexpr hn::Half<D> half{};
      if constexpr (s < parts / 2)
        return part<s, parts / 2>(half, hn::LowerHalf(half, x));
      else
        return part<s - parts / 2, parts / 2>(half, hn::UpperHalf(half, x));
    }
  }

  BytesOf<hn::CappedTag<float, lanes / S>> bytes_;
};

// A strip of T results, and the pixels under its taps, row after row.
template <std::size_t T>
struct Strip {
  const std::uint8_t* pixels[most_depthwise_pixels];
  std::uint8_t* out[T];  // null for a result that does not exist
};

// A chunk of channels of S strips.
template <class Dot, std::size_t T, std::size_t S>
HWY_INLINE void convolve_chunk(const Strip<T> (&strips)[S], std::size_t channel, std::size_t groups, Integers flip,
                               const ToCodes& to_codes, const float* packed, const Parts<S>& parts) {
  Integers sums[T][4];
  unrolled<4>([&](auto j) HWY_ATTR {
    const Integers begin = load_integers(packed + j * lanes);
    unrolled<T>([&](auto t) HWY_ATTR { sums[t][j] = begin; });
  });
  const float* weights = packed + 3 * chunk;
  for (std::size_t group = 0; group < groups; ++group, weights += chunk) {
    Integers x[4];
    unrolled<4>([&](auto i) HWY_ATTR {
      const std::uint8_t* of[S];
      unrolled<S>([&](auto s) HWY_ATTR { of[s] = strips[s].pixels[4 * group + i] + channel; });
      x[i] = hn::Xor(parts.load(of), flip);
    });
    transpose(x);
    unrolled<4>([&](auto j) HWY_ATTR {
      const typename Dot::Factor factor = Dot::unsigned_bytes(x[j]);
      unrolled<T>([&](auto t) HWY_ATTR {
        Dot::add(factor, Dot::signed_bytes(load_integers(weights + t * groups * chunk + j * lanes)), sums[t][j]);
      });
    });
  }
  Vector scales[4], shifts[4];
  unrolled<4>([&](auto j) HWY_ATTR {
    scales[j] = hn::LoadU(floats, packed + chunk + j * lanes);
    shifts[j] = hn::LoadU(floats, packed + 2 * chunk + j * lanes);
  });
  unrolled<T>([&](auto t) HWY_ATTR {
    const hn::Vec<Floats> codes = hn::BitCast(floats, to_codes(sums[t], scales, shifts));
    unrolled<S>([&](auto s) HWY_ATTR {
      if (t == 0 || strips[s].out[t]) parts.template store<s>(hn::BitCast(integers, codes), strips[s].out[t] + channel);
    });
  });
}

// One image, and the code of the outside.
struct Depthwise {
  const IntegerConvolution& c;
  const CodeImages& image;
  const float* packed;

  // The pixels under the taps of result (y, x) and, to the right of them, those of the next results.
  HWY_NOINLINE void find_pixels(std::size_t y, std::size_t x, const std::uint8_t** pixels) const {
    const Convolution& s = c.shape;
    const auto* codes = static_cast<const std::uint8_t*>(image.data);
    const auto* outside = reinterpret_cast<const std::uint8_t*>(packed);
    const std::size_t first = x * s.x.stride - s.x.padding, n = strip_pixels(s),
                      step = s.x.dilation * image.pixel_stride;
    const bool is_inside = first < image.width && (n - 1) * s.x.dilation < image.width - first;
    for (std::size_t i = 0; i < s.y.kernel; ++i, pixels += n) {
      const std::size_t row = y * s.y.stride + i * s.y.dilation - s.y.padding;
      if (row < image.height && is_inside) {
        const std::uint8_t* from = codes + (row * image.width + first) * image.pixel_stride;
        for (std::size_t j = 0; j < n; j += 4, from += 4 * step)
          pixels[j] = from, pixels[j + 1] = from + step, pixels[j + 2] = from + 2 * step,
          pixels[j + 3] = from + 3 * step;
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

// Some rows of results, S strips at a time.
template <class Dot, std::size_t T, std::size_t S>
void convolve_strips(const Depthwise& d, std::uint8_t* out, std::size_t out_stride, Range rows) {
  const Convolution& s = d.c.shape;
  const std::size_t width = s.x.results(d.image.width, false), groups = tap_groups(s), step = floats_of_chunk(s);
  const Integers flip = number(d.c.has_signed_input ? static_cast<std::int32_t>(0x80808080u) : 0);
  const ToCodes to_codes(d.c.result);
  Strip<T> strips[S];
  for (std::size_t y = rows.begin; y < rows.end; ++y)
    for (std::size_t x = 0; x < width; x += S * T) {
      for (std::size_t i = 0; i < S; ++i) {
        const std::size_t first = std::min(x + i * T, width - 1);  // strips behind the row repeat its last result
        d.find_pixels(y, first, strips[i].pixels);
        for (std::size_t t = 0; t < T; ++t)
          strips[i].out[t] = first + t < width ? out + (y * width + first + t) * out_stride : nullptr;
      }
      const float* packed = d.packed + padded_channels(s) / 4;
      for (std::size_t channel = 0; channel < s.groups; channel += chunk, packed += step)
        convolve_chunk<Dot>(strips, channel, groups, flip, to_codes, packed,
                            Parts<S>(std::min(chunk, s.groups - channel)));
    }
}

template <class Dot, std::size_t T>
void convolve_parts(const Depthwise& d, std::uint8_t* out, std::size_t out_stride, Range rows) {
  auto convolve = convolve_strips<Dot, T, 1>;
  if constexpr (lanes >= 8)
    if (parts_of_chunk(d.c.shape) == 2) convolve = convolve_strips<Dot, T, 2>;
  if constexpr (lanes >= 16)
    if (parts_of_chunk(d.c.shape) == 4) convolve = convolve_strips<Dot, T, 4>;
  convolve(d, out, out_stride, rows);
}

// Some rows of an image's results.
template <class Dot>
void convolve_rows_by(const IntegerConvolution& c, const CodeImages& image, const float* packed, std::uint8_t* out,
                      std::size_t out_stride, Range rows) {
  const auto convolve = strip_results(c.shape) == 2 ? convolve_parts<Dot, 2> : convolve_parts<Dot, 1>;
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
    const std::size_t begin = channel / chunk * chunk, parts = parts_of_chunk(s);
    float* of_chunk = packed + begin / chunk * floats_of_chunk(s);
    auto* weights = reinterpret_cast<std::int8_t*>(of_chunk + 3 * chunk);
    const ChannelNumbers numbers = channels.of(channels.context, channel);
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t place = place_of_channel(part * chunk / parts + channel - begin, lanes);
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
      store_numbers(c, numbers, sum, of_chunk + place, chunk);
    }
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
