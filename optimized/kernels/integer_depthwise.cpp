#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/integer_depthwise.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cstring>

#include "optimized/kernels/dot-inl.h"
#include "optimized/kernels/float_results-inl.h"
#include "optimized/kernels/integer_blocks.h"
#include "optimized/kernels/lines.h"

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

  std::size_t width() const { return c.shape.x.results(image.width, false); }
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

  HWY_INLINE ChunkOfFloats(const IntegerConvolution&, const FloatResults* results) : results_(*results) {}
  HWY_INLINE void store(const Integers (&sums)[4], const Vector (&scales)[4], const Vector (&shifts)[4],
                        const float* packed, std::size_t channel, const Parts<S>& parts,
                        std::uint8_t* const (&out)[S]) const {
    constexpr std::size_t block = std::min<std::size_t>(lanes, 4);  // lanes: see place_of_channel
    HWY_ALIGN float lane[4 * lanes], ordered[chunk];
    unrolled<4>([&](auto j) HWY_ATTR {
      const ToFloats to_floats(results_, load_integers(packed + j * lanes), scales[j], shifts[j]);
      hn::Store(to_floats(results_.of(0), sums[j]), floats, lane + j * lanes);
    });
    for (std::size_t b = 0; b < lanes / block; ++b)
      for (std::size_t j = 0; j < 4; ++j)
        std::memcpy(ordered + (b * 4 + j) * block, lane + j * lanes + b * block, block * sizeof(float));
    for (std::size_t s = 0; s < S; ++s) {
      if (!out[s]) continue;
      float* to = reinterpret_cast<float*>(out[s]) + channel;
      std::memcpy(to, ordered + s * chunk / S, parts.count() * sizeof(float));
      finish(results_, to, parts.count());
    }
  }

 private:
  const FloatResults& results_;
};

template <bool has_steps, std::size_t S>
using Chunk = std::conditional_t<has_steps, ChunkOfFloats<S>, ChunkOfCodes<S>>;

// Stores the factors of a chunk of channels of a row of the image, which may be outside of the image.
template <std::size_t S>
void copy_row(const DepthwiseImage& d, std::size_t row, std::size_t channel, const Parts<S>& parts, float* factors) {
  const Convolution& s = d.c.shape;
  const Integers flip = number(d.c.has_signed_input ? static_cast<std::int32_t>(0x80808080u) : 0);
  const auto* pixels = static_cast<const std::uint8_t*>(d.image.data);
  const std::size_t width = row < d.image.height ? d.image.width : 0, strips = factor_rows(s, d.width()).strips,
                    step = strip_results(s) * s.x.stride;
  for (std::size_t strip = 0; strip < strips; strip += S)
    for (std::size_t j = 0; j < strip_pixels(s); j += 4) {
      Integers x[4];
      unrolled<4>([&](auto i) HWY_ATTR {
        const std::uint8_t* of[S];
        for (std::size_t k = 0; k < S; ++k) {
          const std::size_t column = (strip + k) * step + (j + i) * s.x.dilation - s.x.padding;
          of[k] = (column < width ? pixels + (row * width + column) * d.image.pixel_stride : d.outside) + channel;
        }
        x[i] = hn::Xor(parts.load(of), flip);
      });
      transpose(x);
      unrolled<4>([&](auto i) HWY_ATTR { hn::StoreU(hn::BitCast(floats, x[i]), floats, factors + i * lanes); });
      factors += chunk;
    }
}

// A chunk of channels of the results of S strips. `rows` has the strips' factors of each row of taps.
template <bool has_steps, class Dot, std::size_t T, std::size_t S>
HWY_INLINE void convolve_strips(const Convolution& s, const float* const* rows, std::size_t at, const float* packed,
                                const Chunk<has_steps, S>& results, std::size_t channel, const Parts<S>& parts,
                                std::uint8_t* const (&out)[T][S]) {
  const std::size_t row_floats = strip_pixels(s) / 4 * chunk, result_floats = tap_groups(s) * chunk;
  Integers sums[T][4];
  unrolled<4>([&](auto j) HWY_ATTR {
    const Integers begin = results.first(packed, j);
    unrolled<T>([&](auto t) HWY_ATTR { sums[t][j] = begin; });
  });
  const float* weights = packed + 3 * chunk;
  for (std::size_t y = 0; y < s.y.kernel; ++y)
    for (std::size_t i = 0; i < row_floats; i += chunk, weights += chunk)
      unrolled<4>([&](auto j) HWY_ATTR {
        const typename Dot::Factor x = Dot::unsigned_bytes(load_integers(rows[y] + at + i + j * lanes));
        unrolled<T>([&](auto t) HWY_ATTR {
          Dot::add(x, Dot::signed_bytes(load_integers(weights + t * result_floats + j * lanes)), sums[t][j]);
        });
      });
  Vector scales[4], shifts[4];
  unrolled<4>([&](auto j) HWY_ATTR {
    scales[j] = hn::LoadU(floats, packed + chunk + j * lanes);
    shifts[j] = hn::LoadU(floats, packed + 2 * chunk + j * lanes);
  });
  unrolled<T>([&](auto t) HWY_ATTR { results.store(sums[t], scales, shifts, packed, channel, parts, out[t]); });
}

// A chunk of channels of some rows of results, S strips at a time.
template <bool has_steps, class Dot, std::size_t T, std::size_t S>
void convolve_chunk(const DepthwiseImage& d, Range rows, std::size_t channel, const float* packed, float* factors) {
  const Convolution& s = d.c.shape;
  const FactorRows copied = factor_rows(s, d.width());
  const std::size_t width = d.width(), step = strip_pixels(s) / 4 * chunk;
  const Chunk<has_steps, S> results(d.c, d.floats);
  const Parts<S> parts(std::min(chunk, s.groups - channel));
  const auto place = [&](std::size_t row) { return factors + row % copied.rows * copied.row_floats; };
  std::size_t end = 0;  // of the copied rows; rows count from the padding on
  for (std::size_t y = rows.begin; y < rows.end; ++y) {
    const std::size_t first = y * s.y.stride;
    for (end = std::max(end, first); end < first + copied.rows; ++end)
      copy_row<S>(d, end - s.y.padding, channel, parts, place(end));
    const float* of_taps[most_depthwise_pixels / 4];
    for (std::size_t i = 0; i < s.y.kernel; ++i) of_taps[i] = place(first + i * s.y.dilation);
    for (std::size_t strip = 0, at = 0; strip < copied.strips; strip += S, at += step) {
      std::uint8_t* out[T][S];
      for (std::size_t t = 0; t < T; ++t)
        for (std::size_t k = 0; k < S; ++k) {
          const std::size_t x = (strip + k) * T + t;
          out[t][k] = x < width ? d.out + (y * width + x) * d.out_stride : nullptr;
        }
      convolve_strips<has_steps, Dot, T, S>(s, of_taps, at, packed, results, channel, parts, out);
    }
  }
}

template <bool has_steps, class Dot, std::size_t T>
auto chunk_of_parts([[maybe_unused]] std::size_t parts) {
  if constexpr (lanes >= 8)
    if (parts == 2) return convolve_chunk<has_steps, Dot, T, 2>;
  if constexpr (lanes >= 16)
    if (parts == 4) return convolve_chunk<has_steps, Dot, T, 4>;
  return convolve_chunk<has_steps, Dot, T, 1>;
}

// Some rows of an image's results.
template <bool has_steps, class Dot>
void convolve_rows_by(const DepthwiseImage& d, Range rows, float* factors) {
  const Convolution& s = d.c.shape;
  const float* packed = d.packed + padded_channels(s) / 4;
  for (std::size_t channel = 0; channel < s.groups; channel += chunk, packed += floats_of_chunk(s)) {
    const std::size_t results = strip_results(s), parts = parts_of_chunk(s, channel);
    auto convolve = chunk_of_parts<has_steps, Dot, 1>(parts);
    if (results == 2) convolve = chunk_of_parts<has_steps, Dot, 2>(parts);
    if constexpr (traits(instruction_set).registers >= 32)
      if (results == 4) convolve = chunk_of_parts<has_steps, Dot, 4>(parts);
    convolve(d, rows, channel, packed, factors);
  }
}

template <bool has_steps>
void convolve_plainly(const DepthwiseImage& d, Range rows, float* factors) {
  convolve_rows_by<has_steps, Plain>(d, rows, factors);
}
template <bool has_steps>
void convolve_fast(const DepthwiseImage& d, Range rows, float* factors) {
  convolve_rows_by<has_steps, Fastest>(d, rows, factors);
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
    const std::size_t begin = channel / chunk * chunk, parts = parts_of_chunk(s, begin);
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

std::size_t task_bytes(const IntegerConvolution& c, const CodeImages& image) {
  const FactorRows rows = factor_rows(c.shape, c.shape.x.results(image.width, false));
  return whole_lines(rows.rows * rows.row_floats * sizeof(float));
}

template <bool has_steps>
void convolve_rows(const DepthwiseImage& d, void* scratch, const Threads& threads) {
  using Convolve = void (*)(const DepthwiseImage&, Range, float*);
  constexpr Convolve plain[] = ASSAY_OF_EACH_SET(convolve_plainly<has_steps>),
                     fast[] = ASSAY_OF_EACH_SET(convolve_fast<has_steps>);
  const Convolution& s = d.c.shape;
  const Convolve convolve = (d.c.uses_vnni ? fast : plain)[static_cast<std::size_t>(s.set)];
  const std::size_t height = s.y.results(d.image.height, false),
                    parts = parts_of(threads, threads.tasks(), height, d.width() * s.groups * tap_groups(s));
  for_each_task(threads, parts, [&](std::size_t i) {
    convolve(d, part(height, i, parts),
             reinterpret_cast<float*>(static_cast<std::byte*>(scratch) + i * task_bytes(d.c, d.image)));
  });
}

}  // namespace

std::size_t depthwise_scratch_bytes(const IntegerConvolution& c, const CodeImages& image, const Threads& threads) {
  return threads.tasks() * task_bytes(c, image) + (c.has_steps ? padded_channels(c.shape) : 0);
}

void convolve_depthwise(const IntegerConvolution& c, const CodeImages& image, const float* packed, std::uint8_t* out,
                        std::size_t out_stride, void* scratch, const Threads& threads) {
  const auto* outside = reinterpret_cast<const std::uint8_t*>(packed);
  convolve_rows<false>({c, image, packed, outside, out, out_stride, nullptr}, scratch, threads);
}

void convolve_depthwise_steps(const IntegerConvolution& c, const CodeImages& image, const FloatResults& floats,
                              const float* packed, float* out, std::size_t out_stride, void* scratch,
                              const Threads& threads) {
  std::uint8_t* outside = static_cast<std::uint8_t*>(scratch) + threads.tasks() * task_bytes(c, image);
  std::fill_n(outside, padded_channels(c.shape), outside_of(c, &floats));
  convolve_rows<true>(
      {c, image, packed, outside, reinterpret_cast<std::uint8_t*>(out), out_stride * sizeof(float), &floats}, scratch,
      threads);
}

}  // namespace assay::kernels
#endif
