#include "optimized/kernels/convolution.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "optimized/kernels/depthwise.h"
#include "optimized/kernels/product.h"
#include "optimized/kernels/transpose.h"

namespace assay::kernels {
namespace {

// Results at places `phase` plus a multiple of `period` see the same taps of a transposed kernel: tap, tap + step, ...
// For the first such result, tap `tap` is over cell `cell`, and each next tap is `back` cells before. A plain
// convolution has one phase with all taps.
struct Phase {
  std::size_t first_tap, tap_step;
  TapAxis taps;
};

std::size_t phases(const Convolution& c, const ConvolutionAxis& axis) { return c.transposed ? axis.stride : 1; }

Phase phase_of(const Convolution& c, const ConvolutionAxis& axis, std::size_t phase) {
  const auto padding = static_cast<std::ptrdiff_t>(axis.padding), dilation = static_cast<std::ptrdiff_t>(axis.dilation);
  if (!c.transposed) return {0, 1, {axis.kernel, -padding, dilation}};
  // Tap k of result q stride + phase is over cell q + (phase + padding - k dilation) / stride, where that is a whole
  // number.
  const auto stride = static_cast<std::ptrdiff_t>(axis.stride);
  const std::size_t common = std::gcd(axis.stride, axis.dilation), step = axis.stride / common;
  for (std::size_t tap = 0; tap < std::min(step, axis.kernel); ++tap) {
    const std::ptrdiff_t from =
        static_cast<std::ptrdiff_t>(phase) + padding - static_cast<std::ptrdiff_t>(tap) * dilation;
    if (from % stride == 0)
      return {
          tap,
          step,
          {(axis.kernel - tap + step - 1) / step, from / stride, -static_cast<std::ptrdiff_t>(axis.dilation / common)}};
  }
  return {0, 1, {0, 0, 0}};
}

// The weights of a group for a phase.
Panels panels_of(const Convolution& c, const Phase& y, const Phase& x) {
  return {c.set, y.taps.count * x.taps.count * c.inputs, c.outputs};
}

// Packed weights begin with zeros, which are the image outside of its bounds.
std::size_t zeros(const Convolution& c) { return (c.inputs + 15) / 16 * 16; }

// visit(group, phase in y, phase in x, offset of its weights, y, x).
template <class Visit>
std::size_t for_each_part(const Convolution& c, const Visit& visit) {
  std::size_t offset = zeros(c);
  for (std::size_t group = 0; group < c.groups; ++group)
    for (std::size_t i = 0; i < phases(c, c.y); ++i)
      for (std::size_t j = 0; j < phases(c, c.x); ++j) {
        const Phase y = phase_of(c, c.y, i), x = phase_of(c, c.x, j);
        visit(group, i, j, offset, y, x);
        offset += (panels_of(c, y, x).floats() + 15) / 16 * 16;
      }
  return offset;
}

void pack_depthwise(const Convolution& c, const float* weight, const WeightStrides& strides, const float* scale,
                    float* packed) {
  packed = std::fill_n(packed, depthwise_stride(c), 0.0f);  // the image outside of its bounds
  for (std::size_t y = 0; y < c.y.kernel; ++y)
    for (std::size_t x = 0; x < c.x.kernel; ++x)
      for (std::size_t channel = 0; channel < depthwise_stride(c); ++channel)
        *packed++ = channel < c.groups
                        ? weight[channel * strides.first + y * strides.y + x * strides.x] * (scale ? scale[channel] : 1)
                        : 0;
}

bool is_padded(const Convolution& c) { return c.y.padding + c.x.padding > 0; }

// One image, channels last.
void convolve_image(const Convolution& c, const Images& image, const float* packed, const float* bias, float* out,
                    std::size_t out_stride, const Epilogue& epilogue, const Threads& threads) {
  const std::size_t height = c.y.results(image.height, c.transposed), width = c.x.results(image.width, c.transposed);
  for_each_part(c, [&](std::size_t group, std::size_t i, std::size_t j, std::size_t offset, const Phase& y,
                       const Phase& x) {
    const std::size_t every_y = phases(c, c.y), every_x = phases(c, c.x), columns = group * c.outputs;
    if (i >= height || j >= width) return;
    Product p;
    p.panels = panels_of(c, y, x);
    p.packed = packed + offset;
    p.bias = bias ? bias + columns : nullptr;
    p.image = {image.data + group * c.inputs,    image.height,       image.width,
               image.width * image.pixel_stride, image.pixel_stride, is_padded(c) || c.transposed ? packed : nullptr};
    p.channels = c.inputs;
    p.tap_y = y.taps, p.tap_x = x.taps;
    const std::size_t stride_y = c.transposed ? 1 : c.y.stride, stride_x = c.transposed ? 1 : c.x.stride;
    p.y = {(height - i + every_y - 1) / every_y, static_cast<std::ptrdiff_t>(stride_y), every_y * width};
    p.x = {(width - j + every_x - 1) / every_x, static_cast<std::ptrdiff_t>(stride_x), every_x};
    const std::size_t place = i * width + j;
    p.out = out + place * out_stride + columns;
    p.out_stride = out_stride;
    p.epilogue = epilogue;
    if (epilogue.residual) p.epilogue.residual += place * epilogue.residual_stride + columns;
    if (p.panels.depth == 0) p.channels = 0, p.tap_y.count = p.tap_x.count = 1;
    const bool together =
        c.x.dilation == 1 && c.x.padding == 0 && c.groups == 1 && !c.transposed && image.pixel_stride == c.inputs;
    if (together) p.channels *= p.tap_x.count, p.tap_x.count = 1;  // the taps of a row are one tap
    multiply(p, threads);
  });
}

// Strides of an image: floats from a row, a pixel, a channel to the next.
struct Strides {
  std::size_t row, pixel, channel;
};
Strides strides_of(const Images& image) {
  if (image.channels_first) return {image.width, 1, image.height * image.width};
  return {image.width * image.pixel_stride, image.pixel_stride, 1};
}

// With few channels, all that a result sees is one tap, whose floats are read in place.
bool has_few_channels(const Convolution& c) { return !c.transposed && c.groups == 1 && c.inputs < 16; }
std::size_t depth(const Convolution& c) { return c.y.kernel * c.x.kernel * c.inputs; }
std::size_t floats_of_offsets(const Convolution& c) {
  return (depth(c) * sizeof(std::ptrdiff_t) / sizeof(float) + 15) / 16 * 16;
}

// An image within the zeros of its padding: planes, or pixels of `channels`, as in the source.
Images padded(const Convolution& c, const Images& image, float* data) {
  return {data, 1, image.height + 2 * c.y.padding, image.width + 2 * c.x.padding, c.inputs, image.channels_first};
}

// Row y of a plane, or of contiguous pixels.
void pad_row(const Convolution& c, const Images& image, const float* plane, std::size_t channels, std::size_t y,
             float* to) {
  const std::size_t margin = c.x.padding * channels;
  if (y < c.y.padding || y >= c.y.padding + image.height)
    return static_cast<void>(std::fill_n(to, image.width * channels + 2 * margin, 0.0f));
  to = std::fill_n(to, margin, 0.0f);
  const Strides strides = strides_of(image);
  const float* row = plane + (y - c.y.padding) * strides.row;
  if (strides.pixel == channels)
    to = std::copy_n(row, image.width * channels, to);
  else
    for (std::size_t x = 0; x < image.width; ++x) to = std::copy_n(row + x * strides.pixel, channels, to);
  std::fill_n(to, margin, 0.0f);
}

void pad(const Convolution& c, const Images& image, const Images& copy, float* to, const Threads& threads) {
  const std::size_t planes = image.channels_first ? c.inputs : 1, channels = c.inputs / planes;
  share(threads, planes * copy.height, copy.width * channels, [&](Range rows) {
    for (std::size_t row = rows.begin; row < rows.end; ++row)
      pad_row(c, image, image.data + row / copy.height * image.height * image.width, channels, row % copy.height,
              to + row * copy.width * channels);
  });
}

// One image. Scratch holds the offsets of what a result sees, and the padded image.
void convolve_few_channels(const Convolution& c, const Images& given, const float* packed, const float* bias,
                           float* out, std::size_t out_stride, float* scratch, const Epilogue& epilogue,
                           const Threads& threads) {
  auto* offsets = reinterpret_cast<std::ptrdiff_t*>(scratch);
  Images image = given;
  if (is_padded(c)) {
    float* copy = scratch + floats_of_offsets(c);
    image = padded(c, given, copy);
    pad(c, given, image, copy, threads);
  }
  const Strides strides = strides_of(image);
  std::ptrdiff_t* next = offsets;
  for (std::size_t y = 0; y < c.y.kernel; ++y)
    for (std::size_t x = 0; x < c.x.kernel; ++x)
      for (std::size_t channel = 0; channel < c.inputs; ++channel)
        *next++ = static_cast<std::ptrdiff_t>(y * c.y.dilation * strides.row + x * c.x.dilation * strides.pixel +
                                              channel * strides.channel);
  Product p;
  p.panels = {c.set, depth(c), c.outputs};
  p.packed = packed + zeros(c);
  p.bias = bias;
  p.image = {image.data, image.height, image.width, strides.row, strides.pixel};
  p.channels = depth(c);
  p.offsets = offsets;
  p.y = {c.y.results(given.height, false), static_cast<std::ptrdiff_t>(c.y.stride), c.x.results(given.width, false)};
  p.x = {c.x.results(given.width, false), static_cast<std::ptrdiff_t>(c.x.stride)};
  p.out = out, p.out_stride = out_stride;
  p.epilogue = epilogue;
  multiply(p, threads);
}

// One image whose channels are contiguous.
void convolve_pixels(const Convolution& c, const Images& image, const float* packed, const float* bias, float* out,
                     std::size_t out_stride, const Epilogue& epilogue, const Threads& threads) {
  const auto convolve_one = c.is_depthwise() ? convolve_depthwise : convolve_image;
  convolve_one(c, image, packed, bias, out, out_stride, epilogue, threads);
}

// One image, whose planes are interleaved in scratch.
void convolve_planes(const Convolution& c, const Images& planes, const float* packed, const float* bias, float* out,
                     std::size_t out_stride, float* scratch, const Epilogue& epilogue, const Threads& threads) {
  const std::size_t channels = c.groups * c.inputs;
  channels_first_to_last(1, channels, planes.height * planes.width, sizeof(float), planes.data, scratch, threads);
  convolve_pixels(c, {scratch, 1, planes.height, planes.width, channels}, packed, bias, out, out_stride, epilogue,
                  threads);
}

bool is_product(const Convolution& c) {
  const auto trivial = [](const ConvolutionAxis& a) {
    return a.kernel == 1 && a.stride == 1 && a.padding == 0 && a.output_padding == 0;
  };
  return trivial(c.y) && trivial(c.x) && !c.is_depthwise();
}

}  // namespace

std::size_t packed_floats(const Convolution& c) {
  if (c.is_depthwise()) return (c.y.kernel * c.x.kernel + 1) * depthwise_stride(c);
  return for_each_part(c, [](auto...) {});
}

void pack(const Convolution& c, const float* weight, const WeightStrides& strides, const float* scale, float* packed) {
  if (c.is_depthwise()) return pack_depthwise(c, weight, strides, scale, packed);
  const std::size_t of_output = c.transposed ? strides.second : strides.first,
                    of_input = c.transposed ? strides.first : strides.second,
                    of_group = strides.first * (c.transposed ? c.inputs : c.outputs);
  std::fill_n(packed, packed_floats(c), 0.0f);
  for_each_part(
      c, [&](std::size_t group, std::size_t, std::size_t, std::size_t offset, const Phase& y, const Phase& x) {
        const auto row = [&](std::size_t i) {
          const std::size_t tap = i / c.inputs, tap_y = y.first_tap + tap / x.taps.count * y.tap_step,
                            tap_x = x.first_tap + tap % x.taps.count * x.tap_step;
          return weight + group * of_group + i % c.inputs * of_input + tap_y * strides.y + tap_x * strides.x;
        };
        pack_rows(panels_of(c, y, x), row, of_output, scale ? scale + group * c.outputs : nullptr, packed + offset);
      });
}

std::size_t scratch_floats(const Convolution& c, const Images& images) {
  if (!has_few_channels(c)) return images.channels_first ? images.height * images.width * c.inputs * c.groups : 0;
  const Images copy = padded(c, images, nullptr);
  return floats_of_offsets(c) + (is_padded(c) ? copy.height * copy.width * c.inputs : 0);
}

void convolve(const Convolution& c, const Images& images, const float* packed, const float* bias, float* out,
              std::size_t out_stride, float* scratch, const Epilogue& epilogue, const Threads& threads) {
  Images image = images;
  image.count = 1;
  if (is_product(c) && !images.channels_first) {  // all images are one product
    image.height = 1, image.width = images.count * images.height * images.width;
    return convolve_image(c, image, packed, bias, out, out_stride, epilogue, threads);
  }
  const std::size_t pixels = images.height * images.width, channels = c.groups * c.inputs;
  const std::size_t results = c.y.results(images.height, c.transposed) * c.x.results(images.width, c.transposed);
  Epilogue of_image = epilogue;
  for (std::size_t i = 0; i < images.count; ++i) {
    image.data = images.data + i * pixels * (images.channels_first ? channels : images.pixel_stride);
    if (epilogue.residual) of_image.residual = epilogue.residual + i * results * epilogue.residual_stride;
    float* to = out + i * results * out_stride;
    if (has_few_channels(c))
      convolve_few_channels(c, image, packed, bias, to, out_stride, scratch, of_image, threads);
    else if (images.channels_first)
      convolve_planes(c, image, packed, bias, to, out_stride, scratch, of_image, threads);
    else
      convolve_pixels(c, image, packed, bias, to, out_stride, of_image, threads);
  }
}

}  // namespace assay::kernels
