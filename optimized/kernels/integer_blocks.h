#pragma once

#include <algorithm>
#include <cstring>

#include "optimized/kernels/integer_product.h"
#include "optimized/kernels/product.h"

// How integer products are packed and cut into blocks.
namespace assay::kernels {

// The bytes of copied codes that are multiplied by all panels before the next codes are copied: a part of the
// second-level cache. Small machines have little memory.
constexpr std::size_t copied_bytes(InstructionSet set) { return set == InstructionSet::portable ? 2 << 10 : 96 << 10; }

// The products of a result.
constexpr std::size_t products_of(const Convolution& c) { return c.y.kernel * c.x.kernel * c.inputs; }

// Whether each result is a product of one pixel.
constexpr bool is_product(const Convolution& c) {
  const auto trivial = [](const ConvolutionAxis& a) { return a.kernel == 1 && a.stride == 1 && a.padding == 0; };
  return trivial(c.y) && trivial(c.x);
}

// Whether a convolution is computed by tiles of AMX. With fewer products of a result, VNNI is faster.
constexpr bool uses_tiles(const Convolution& c) { return c.set == InstructionSet::amx && products_of(c) >= 48; }

// Whether results read their codes where they are in a copy of the image with its padding. Else the codes of each
// result are gathered: tiles need this, and it takes less memory; a kernel of one tap reads few pixels.
constexpr bool copies_image(const Convolution& c) {
  return c.y.kernel * c.x.kernel > 1 && !uses_tiles(c) && c.set != InstructionSet::portable;
}

// The products of a result are cut into runs, whose codes follow each other. A run is padded with weights of zero.
struct Runs {
  std::size_t rows, columns;  // of runs
  std::size_t products, bytes;
};
constexpr Runs runs_of(const Convolution& c) {
  Runs runs{1, 1, products_of(c), 0};
  if (copies_image(c)) runs = {c.y.kernel, c.x.dilation == 1 ? 1 : c.x.kernel, c.inputs, 0};
  if (copies_image(c) && c.x.dilation == 1) runs.products *= c.x.kernel;
  const std::size_t step = uses_tiles(c) ? 64 : 4;
  runs.bytes = (runs.products + step - 1) / step * step;
  return runs;
}

// The weights of a group. Each element of a panel is four weights of one output channel.
constexpr Panels integer_panels(const Convolution& c) {
  const Runs runs = runs_of(c);
  return {c.set, runs.rows * runs.columns * runs.bytes / 4, c.outputs};
}

// The rows of results that are computed together; memory for them is behind the last row of a block.
constexpr std::size_t rows_together(const Convolution& c) { return uses_tiles(c) ? 32 : most_rows; }

// A copy of rows of an image with the columns that `width` results read.
struct CopiedRows {
  std::size_t row_bytes;
  std::size_t reach;  // the rows under the taps of a result
};
constexpr CopiedRows copied_rows(const Convolution& c, std::size_t width) {
  return {((width - 1) * c.x.stride + c.x.dilation * (c.x.kernel - 1) + 1) * c.inputs,
          c.y.dilation * (c.y.kernel - 1) + 1};
}

// The results whose codes are copied together.
constexpr std::size_t block_of(const Convolution& c, std::size_t height, std::size_t width) {
  if (!copies_image(c)) return std::max(copied_bytes(c.set) / (integer_panels(c).depth * 4), rows_together(c));
  const CopiedRows rows = copied_rows(c, width);
  const std::size_t most = copied_bytes(c.set) / rows.row_bytes;
  return std::min(most > rows.reach ? (most - rows.reach) / c.y.stride + 1 : 1, height) * width;
}

// How the sums of steps become floats.
struct FloatResults {
  const Steps* steps;       // of the first result
  std::size_t step_stride;  // 1 if each result has its own row of steps, else 0
  const Epilogue& epilogue;

  const Steps& of(std::size_t result) const { return steps[result * step_stride]; }
};

// The code that is the image outside of its bounds.
inline std::uint8_t outside_of(const IntegerConvolution& c, const FloatResults* floats) {
  return static_cast<std::uint8_t>(floats ? floats->steps->zero : c.input_zero_point);
}

// The bytes of a result.
constexpr std::size_t result_bytes(const IntegerConvolution& c) { return c.has_steps ? sizeof(float) : 1; }

// One group of one image. Codes are unsigned bytes: `flip` turns a signed code into one that is greater by 128.
struct IntegerProduct {
  const IntegerConvolution& c;
  const CodeImages& image;
  Panels panels;
  Runs runs;
  std::size_t row_step = 0, column_step = 0;  // the distances of runs in a copied image
  std::size_t block = 0;                      // results
  const std::uint8_t* codes = nullptr;        // the first channel of the group in the first pixel
  const float* packed = nullptr;
  std::uint8_t* out = nullptr;
  std::size_t out_stride = 0;            // bytes
  const FloatResults* floats = nullptr;  // null if the results are codes

  std::uint8_t flip() const { return c.has_signed_input ? 0x80 : 0; }
  std::uint8_t outside() const { return outside_of(c, floats) ^ flip(); }
  std::size_t row_bytes() const { return panels.depth * 4; }
  std::size_t height() const { return c.shape.y.results(image.height, false); }
  std::size_t width() const { return c.shape.x.results(image.width, false); }
  std::size_t padded() const { return panels.vectors() * panels.lanes(); }
  const float* sums() const { return packed; }
  const float* scales() const { return packed + padded(); }
  const float* shifts() const { return packed + 2 * padded(); }
  const float* weights() const { return packed + 3 * padded(); }
};

// Stores the numbers of a channel whose weights have this sum. Scales are `stride` floats behind sums, and shifts
// behind scales. The sum begins with what the zero point of the input adds to all products. If this zero point is
// known only when the convolution runs, the stored sum is that of the zero point 1.
inline void store_numbers(const IntegerConvolution& c, const ChannelNumbers& numbers, std::int32_t weights, float* to,
                          std::size_t stride) {
  const auto zero_point =
      static_cast<std::uint32_t>(c.has_steps ? 1 : c.input_zero_point + (c.has_signed_input ? 128 : 0));
  const std::uint32_t begin =
      static_cast<std::uint32_t>(numbers.addend) - zero_point * static_cast<std::uint32_t>(weights);
  std::memcpy(to, &begin, sizeof begin);
  to[stride] = numbers.scale, to[2 * stride] = numbers.shift;
}

// Depthwise. Channels are packed in chunks that fill a vector of bytes. If a chunk has few channels, they are packed
// several times, once for each part of a vector; the parts compute different results. A row of taps is a number
// of pixels that is a multiple of four; where the kernel is narrower, neighbouring results of a strip multiply the same
// pixels by shifted weights. Packed: the code of the outside for each channel; for each chunk the sums, scales and
// shifts of its channels and, for each result of a strip, the weights of each four pixels.
constexpr std::size_t chunk_channels(const Convolution& c) { return 4 * traits(c.set).lanes; }
constexpr std::size_t padded_channels(const Convolution& c) {
  return (c.groups + chunk_channels(c) - 1) / chunk_channels(c) * chunk_channels(c);
}
// The parts of a vector, of at least 128 bits, for the chunk that begins with a channel.
constexpr std::size_t parts_of_chunk(const Convolution& c, std::size_t channel) {
  std::size_t parts = std::max<std::size_t>(traits(c.set).lanes / 4, 1);
  while (parts > 1 && (c.groups - channel) * parts > chunk_channels(c)) parts /= 2;
  return parts;
}
constexpr std::size_t strip_pixels(const Convolution& c) { return (c.x.kernel + 3) / 4 * 4; }  // of a row
// The sums of four results stay in many registers.
constexpr std::size_t strip_results(const Convolution& c) {
  const std::size_t most = (strip_pixels(c) - c.x.kernel) / c.x.stride + 1;
  if (c.x.dilation > 1 || most < 2) return 1;
  return most < 4 || traits(c.set).registers < 32 ? 2 : 4;
}
constexpr std::size_t tap_groups(const Convolution& c) { return c.y.kernel * strip_pixels(c) / 4; }  // of a result
constexpr std::size_t most_depthwise_pixels = 64;
constexpr std::size_t floats_of_chunk(const Convolution& c) {
  return (3 + strip_results(c) * tap_groups(c)) * chunk_channels(c);
}

// The lane of a channel of a chunk, counted through the four vectors of the chunk: see ToCodes.
constexpr std::size_t place_of_channel(std::size_t channel, std::size_t lanes) {
  const std::size_t block = std::min<std::size_t>(lanes, 4);  // lanes
  return channel % (4 * block) / block * lanes + channel / (4 * block) * block + channel % block;
}

// Copied rows of an image, for one chunk of channels: the factors of a strip's results follow each other, those of S
// strips in one vector. The factors of a row replace those of a row that no later result reads.
struct FactorRows {
  std::size_t strips;      // of a row of results
  std::size_t row_floats;  // of the chunk with the fewest strips in a vector
  std::size_t rows;
};
constexpr FactorRows factor_rows(const Convolution& c, std::size_t width) {
  const std::size_t strips = (width + strip_results(c) - 1) / strip_results(c), parts = parts_of_chunk(c, 0);
  return {strips, (strips + parts - 1) / parts * strip_pixels(c) / 4 * chunk_channels(c),
          c.y.dilation * (c.y.kernel - 1) + 1};
}

std::size_t packed_depthwise_floats(const IntegerConvolution&);
void pack_depthwise(const IntegerConvolution&, const std::int8_t* weight, const WeightStrides&, const Channels&,
                    float* packed);
std::size_t depthwise_scratch_bytes(const IntegerConvolution&, const CodeImages&, const Threads&);
// Computes one image; out_stride is in codes.
void convolve_depthwise(const IntegerConvolution&, const CodeImages&, const float* packed, std::uint8_t* out,
                        std::size_t out_stride, void* scratch, const Threads&);
// The same for codes of steps; out_stride is in floats.
void convolve_depthwise_steps(const IntegerConvolution&, const CodeImages&, const FloatResults&, const float* packed,
                              float* out, std::size_t out_stride, void* scratch, const Threads&);

}  // namespace assay::kernels
