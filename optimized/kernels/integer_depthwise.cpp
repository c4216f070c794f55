#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/integer_depthwise.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cstring>

#include "optimized/kernels/dot-inl.h"
#include "optimized/kernels/float_results-inl.h"
#include "optimized/kernels/integer_blocks.h"

#ifndef ASSAY_KERNELS_INTEGER_DEPTHWISE_CPP
#define ASSAY_KERNELS_INTEGER_DEPTHWISE_CPP
namespace assay::kernels {

// One image, and where its results are.
struct DepthwiseImage {
  const IntegerConvolution& c;
  const CodeImages& image;
  const float* packed;
  const std::uint8_t* outside;  // the code of the outside for each channel
  std::uint8_t* out;
  std::size_t out_stride;      // bytes
  const FloatResults* floats;  // null if the results are codes

  // The pixels under the taps of result (y, x) and, to the right of them, those of the next results.
  void find_pixels(std::size_t y, std::size_t x, const std::uint8_t** pixels) const {
    const Convolution& s = c.shape;
    const auto* codes = static_cast<const std::uint8_t*>(image.data);
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

}  // namespace assay::kernels
#endif

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
  explicit HWY_INLINE Parts(std::size_t n) : n_(n), bytes_(n) {}
  HWY_INLINE std::size_t count() const { return n_; }
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

  std::size_t n_;
  BytesOf<hn::CappedTag<float, lanes / S>> bytes_;
};

// A strip of T results, and the pixels under its taps, row after row.
template <std::size_t T>
struct Strip {
  const std::uint8_t* pixels[most_depthwise_pixels];
  std::uint8_t* out[T];  // null for a result that does not exist
};

// Turns the sums of a chunk of channels of S results into codes, and stores them. The sums begin with the packed sums.
template <std::size_t S>
class ChunkOfCodes {
 public:
  static HWY_INLINE Integers first(const float* packed, std::size_t j) { return load_integers(packed + j * lanes); }

  explicit HWY_INLINE ChunkOfCodes(const IntegerConvolution& c, const FloatResults*) : to_codes_(c.result) {}
  HWY_INLINE void store(const Integers (&sums)[4], const Vector (&scales)[4], const Vector (&shifts)[4], const float*,
                        std::size_t channel, const Parts<S>& parts, std::uint8_t* const (&out)[S]) const {
    const Integers codes = to_codes_(sums, scales, shifts);
    unrolled<S>([&](auto s) HWY_ATTR {
      if (out[s]) parts.template store<s>(codes, out[s] + channel);
    });
  }

 private:
  ToCodes to_codes_;
};

// Turns them into floats. They begin with 0.
template <std::size_t S>
class ChunkOfFloats {
 public:
  static HWY_INLINE Integers first(const float*, std::size_t) { return hn::Zero(integers); }

  HWY_INLINE ChunkOfFloats(const IntegerConvolution&, const FloatResults* results) : to_floats_(*results) {}
  HWY_INLINE void store(const Integers (&sums)[4], const Vector (&scales)[4], const Vector (&shifts)[4],
                        const float* packed, std::size_t channel, const Parts<S>& parts,
                        std::uint8_t* const (&out)[S]) const {
    constexpr std::size_t block = std::min<std::size_t>(lanes, 4);  // lanes: see place_of_channel
    HWY_ALIGN float lane[4 * lanes], ordered[chunk];
    unrolled<4>([&](auto j) HWY_ATTR {
      hn::Store(to_floats_(0, sums[j], load_integers(packed + j * lanes), scales[j], shifts[j]), floats,
                lane + j * lanes);
    });
    for (std::size_t b = 0; b < lanes / block; ++b)
      for (std::size_t j = 0; j < 4; ++j)
        std::memcpy(ordered + (b * 4 + j) * block, lane + j * lanes + b * block, block * sizeof(float));
    for (std::size_t s = 0; s < S; ++s) {
      if (!out[s]) continue;
      float* to = reinterpret_cast<float*>(out[s]) + channel;
      std::memcpy(to, ordered + s * chunk / S, parts.count() * sizeof(float));
      to_floats_.finish(to, parts.count());
    }
  }

 private:
  ToFloats to_floats_;
};

template <bool has_steps, std::size_t S>
using Chunk = std::conditional_t<has_steps, ChunkOfFloats<S>, ChunkOfCodes<S>>;

// A chunk of channels of S strips.
template <bool has_steps, class Dot, std::size_t T, std::size_t S>
HWY_INLINE void convolve_chunk(const Strip<T> (&strips)[S], std::size_t channel, std::size_t groups, Integers flip,
                               const Chunk<has_steps, S>& results, const float* packed, const Parts<S>& parts) {
  Integers sums[T][4];
  unrolled<4>([&](auto j) HWY_ATTR {
    const Integers begin = results.first(packed, j);
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
    std::uint8_t* out[S];
    unrolled<S>([&](auto s) HWY_ATTR { out[s] = strips[s].out[t]; });
    results.store(sums[t], scales, shifts, packed, channel, parts, out);
  });
}

// Some rows of results, S strips at a time.
template <bool has_steps, class Dot, std::size_t T, std::size_t S>
void convolve_strips(const DepthwiseImage& d, Range rows) {
  const Convolution& s = d.c.shape;
  const std::size_t width = s.x.results(d.image.width, false), groups = tap_groups(s), step = floats_of_chunk(s);
  const Integers flip = number(d.c.has_signed_input ? static_cast<std::int32_t>(0x80808080u) : 0);
  const Chunk<has_steps, S> results(d.c, d.floats);
  Strip<T> strips[S];
  for (std::size_t y = rows.begin; y < rows.end; ++y)
    for (std::size_t x = 0; x < width; x += S * T) {
      for (std::size_t i = 0; i < S; ++i) {
        const std::size_t first = std::min(x + i * T, width - 1);  // strips behind the row repeat its last result
        d.find_pixels(y, first, strips[i].pixels);
        for (std::size_t t = 0; t < T; ++t)
          strips[i].out[t] = first + t < width ? d.out + (y * width + first + t) * d.out_stride : nullptr;
      }
      const float* packed = d.packed + padded_channels(s) / 4;
      for (std::size_t channel = 0; channel < s.groups; channel += chunk, packed += step)
        convolve_chunk<has_steps, Dot>(strips, channel, groups, flip, results, packed,
                                       Parts<S>(std::min(chunk, s.groups - channel)));
    }
}

template <bool has_steps, class Dot, std::size_t T>
void convolve_parts(const DepthwiseImage& d, Range rows) {
  auto convolve = convolve_strips<has_steps, Dot, T, 1>;
  if constexpr (lanes >= 8)
    if (parts_of_chunk(d.c.shape) == 2) convolve = convolve_strips<has_steps, Dot, T, 2>;
  if constexpr (lanes >= 16)
    if (parts_of_chunk(d.c.shape) == 4) convolve = convolve_strips<has_steps, Dot, T, 4>;
  convolve(d, rows);
}

// Some rows of an image's results.
template <bool has_steps, class Dot>
void convolve_rows_by(const DepthwiseImage& d, Range rows) {
  const auto convolve =
      strip_results(d.c.shape) == 2 ? convolve_parts<has_steps, Dot, 2> : convolve_parts<has_steps, Dot, 1>;
  convolve(d, rows);
}

template <bool has_steps>
void convolve_plainly(const DepthwiseImage& d, Range rows) {
  convolve_rows_by<has_steps, Plain>(d, rows);
}
template <bool has_steps>
void convolve_fast(const DepthwiseImage& d, Range rows) {
  convolve_rows_by<has_steps, Fastest>(d, rows);
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

namespace {

template <bool has_steps>
void convolve_rows(const DepthwiseImage& d, const Threads& threads) {
  using Convolve = void (*)(const DepthwiseImage&, Range);
  constexpr Convolve plain[] = ASSAY_OF_EACH_SET(convolve_plainly<has_steps>),
                     fast[] = ASSAY_OF_EACH_SET(convolve_fast<has_steps>);
  const Convolution& s = d.c.shape;
  const Convolve convolve = (d.c.uses_vnni ? fast : plain)[static_cast<std::size_t>(s.set)];
  const std::size_t products = s.x.results(d.image.width, false) * s.groups * tap_groups(s);
  share(threads, s.y.results(d.image.height, false), products, [&](Range rows) { convolve(d, rows); });
}

}  // namespace

void convolve_depthwise(const IntegerConvolution& c, const CodeImages& image, const float* packed, std::uint8_t* out,
                        std::size_t out_stride, const Threads& threads) {
  const auto* outside = reinterpret_cast<const std::uint8_t*>(packed);
  convolve_rows<false>({c, image, packed, outside, out, out_stride, nullptr}, threads);
}

void convolve_depthwise_steps(const IntegerConvolution& c, const CodeImages& image, const FloatResults& floats,
                              const float* packed, float* out, std::size_t out_stride, std::uint8_t* outside,
                              const Threads& threads) {
  std::fill_n(outside, padded_channels(c.shape), outside_of(c, &floats));
  convolve_rows<true>(
      {c, image, packed, outside, reinterpret_cast<std::uint8_t*>(out), out_stride * sizeof(float), &floats}, threads);
}

}  // namespace assay::kernels
#endif
