#include "optimized/kernels/convolution.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "optimized/kernels/depthwise.h"
#include "optimized/kernels/product.h"

namespace assay::kernels {
namespace {

// Results whose place is `phase` more than a multiple of `period` see the same taps of a transposed kernel: tap, tap +
// step, ..., the first of them over cell `cell` for the first such result, each next one `back` cells before. A plain
// convolution has one phase, of all taps.
struct Phase {
  std::size_t first_tap, tap_step;
  TapAxis taps;
};

std::size_t phases(const Convolution& c, const ConvolutionAxis& axis) { return c.transposed ? axis.stride : 1; }

Phase phase_of(const Convolution& c, const ConvolutionAxis& axis, std::size_t phase) {
  const auto padding = static_cast<std::ptrdiff_t>(axis.padding), dilation = static_cast<std::ptrdiff_t>(axis.dilation);
  if (!c.transposed) return {0, 1, {axis.kernel, -padding, dilation}};
  // tap k of result q stride + phase is over cell q + (phase + padding - k dilation) / stride, where that is a number
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

// visit(group, phase in y, phase in x, offset of its weights, y, x).
template <class Visit>
std::size_t for_each_part(const Convolution& c, const Visit& visit) {
  std::size_t offset = (c.inputs + 15) / 16 * 16;  // zeros, for what lies outside
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
  packed = std::fill_n(packed, depthwise_stride(c), 0.0f);  // for what lies outside
  for (std::size_t y = 0; y < c.y.kernel; ++y)
    for (std::size_t x = 0; x < c.x.kernel; ++x)
      for (std::size_t channel = 0; channel < depthwise_stride(c); ++channel)
        *packed++ = channel < c.groups
                        ? weight[channel * strides.first + y * strides.y + x * strides.x] * (scale ? scale[channel] : 1)
                        : 0;
}

// Few channels are copied between the zeros of their padding, so that the taps of a row lie together.
bool pads(const Convolution& c) {
  return !c.transposed && c.groups == 1 && c.inputs < 16 && c.x.dilation == 1 && c.x.kernel > 1 &&
         c.y.padding + c.x.padding > 0;
}

struct Margins {
  std::size_t y, x;
};
Margins margins(const Convolution& c) { return pads(c) ? Margins{c.y.padding, c.x.padding} : Margins{0, 0}; }

// Row y of the scratch.
void copy_row(const Images& image, std::size_t channels, const Margins& margin, std::size_t y, float* to) {
  const std::size_t width = image.width + 2 * margin.x;
  if (y < margin.y || y >= margin.y + image.height) return static_cast<void>(std::fill_n(to, width * channels, 0.0f));
  std::fill_n(to, margin.x * channels, 0.0f);
  std::fill_n(to + (margin.x + image.width) * channels, margin.x * channels, 0.0f);
  to += margin.x * channels;
  const std::size_t row = (y - margin.y) * image.width;
  if (image.channels_first) {
    for (std::size_t x = 0; x < image.width; ++x)
      for (std::size_t c = 0; c < channels; ++c) *to++ = image.data[c * image.height * image.width + row + x];
  } else {
    for (std::size_t x = 0; x < image.width; ++x)
      to = std::copy_n(image.data + (row + x) * image.pixel_stride, channels, to);
  }
}

// One image, channels last.
void convolve_image(const Convolution& c, const Images& image, const float* packed, const float* bias, float* out,
                    std::size_t out_stride, const Epilogue& epilogue, const Threads& threads) {
  const std::size_t height = c.y.results(image.height, c.transposed), width = c.x.results(image.width, c.transposed);
  for_each_part(
      c, [&](std::size_t group, std::size_t i, std::size_t j, std::size_t offset, const Phase& y, const Phase& x) {
        const std::size_t every_y = phases(c, c.y), every_x = phases(c, c.x), columns = group * c.outputs;
        if (i >= height || j >= width) return;
        Product p;
        p.panels = panels_of(c, y, x);
        p.packed = packed + offset;
        p.bias = bias ? bias + columns : nullptr;
        p.image = {image.data + group * c.inputs,    image.height,       image.width,
                   image.width * image.pixel_stride, image.pixel_stride, packed};
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
        if (together) p.channels *= p.tap_x.count, p.tap_x.count = 1;  // the taps of a row
        multiply(p, threads);
      });
}

// One image, which is copied to scratch first where that is asked for.
void convolve_any(const Convolution& c, const Images& image, const float* packed, const float* bias, float* out,
                  std::size_t out_stride, float* scratch, const Epilogue& epilogue, const Threads& threads) {
  Convolution of_copy = c;
  Images copy = image;
  if (scratch_floats(c, image) > 0) {
    const Margins margin = margins(c);
    of_copy.y.padding -= margin.y, of_copy.x.padding -= margin.x;
    copy.height += 2 * margin.y, copy.width += 2 * margin.x;
    copy.data = scratch, copy.pixel_stride = c.groups * c.inputs;
    const std::size_t row = copy.width * copy.pixel_stride, tasks = std::min(threads.count, copy.height);
    for_each_task(threads, tasks, [&](std::size_t i) {
      const Range rows = part(copy.height, i, tasks);
      for (std::size_t y = rows.begin; y < rows.end; ++y)
        copy_row(image, copy.pixel_stride, margin, y, scratch + y * row);
    });
  }
  const auto convolve_one = c.is_depthwise() ? convolve_depthwise : convolve_image;
  convolve_one(of_copy, copy, packed, bias, out, out_stride, epilogue, threads);
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
  if (!images.channels_first && !pads(c)) return 0;
  const Margins margin = margins(c);
  return (images.height + 2 * margin.y) * (images.width + 2 * margin.x) * c.inputs * c.groups;
}

void convolve(const Convolution& c, const Images& images, const float* packed, const float* bias, float* out,
              std::size_t out_stride, float* scratch, const Epilogue& epilogue, const Threads& threads) {
  Images image = images;
  image.count = 1;
  if (is_product(c) && !images.channels_first) {  // all images are one
    image.height = 1, image.width = images.count * images.height * images.width;
    return convolve_image(c, image, packed, bias, out, out_stride, epilogue, threads);
  }
  const std::size_t pixels = images.height * images.width, channels = c.groups * c.inputs;
  const std::size_t results = c.y.results(images.height, c.transposed) * c.x.results(images.width, c.transposed);
  Epilogue of_image = epilogue;
  for (std::size_t i = 0; i < images.count; ++i) {
    image.data = images.data + i * pixels * (images.channels_first ? channels : images.pixel_stride);
    if (epilogue.residual) of_image.residual = epilogue.residual + i * results * epilogue.residual_stride;
    convolve_any(c, image, packed, bias, out + i * results * out_stride, out_stride, scratch, of_image, threads);
  }
}

}  // namespace assay::kernels
