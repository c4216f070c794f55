#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/winograd.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "optimized/kernels/activation-inl.h"
#include "optimized/kernels/transpose.h"
#include "optimized/kernels/winograd.h"

#ifndef ASSAY_KERNELS_WINOGRAD_CPP
#define ASSAY_KERNELS_WINOGRAD_CPP
namespace assay::kernels::winograd {

// A tile has `side` x `side` pixels and makes `made` x `made` results.
constexpr std::size_t taps = 3, made = 4, side = made + taps - 1, places = side * side;

// The polynomials are multiplied at 0, a, -a, b, -b and infinity. Products of these a and b are exact, and the error
// bound is a quarter of the bound of the usual 1 and 2.
constexpr float a = 5.0f / 8, b = 3.0f / 2;

// Some tiles of an image, counted row by row. The matrix of each place of a tile has a row for each tile.
struct Block {
  const Convolution& c;
  const Images& image;
  std::size_t tiles_of_row, first, count;
  float* seen;  // transformed pixels: rows of `inputs` floats
  float* sums;  // sums of products: rows of `outputs` floats
  std::size_t inputs, outputs;

  float* row(float* all, std::size_t width, std::size_t place, std::size_t tile) const {
    return all + (place * count + tile) * width;
  }
  // The first result of a tile.
  std::size_t y(std::size_t tile) const { return (first + tile) / tiles_of_row * made; }
  std::size_t x(std::size_t tile) const { return (first + tile) % tiles_of_row * made; }
};

struct Results {
  float* data;
  std::size_t stride, height, width;
  const float* bias;
  const Epilogue& epilogue;
};

}  // namespace assay::kernels::winograd
#endif

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::winograd::HWY_NAMESPACE {

using namespace kernels::HWY_NAMESPACE;

// B^T d, the coefficients of the products of (x - p) over all points p but one.
HWY_INLINE void transform_pixels(const Vector (&d)[side], Vector (&to)[side]) {
  const Vector a2 = number(a * a), b2 = number(b * b), a2b2 = number(a * a * b * b), sum = number(a * a + b * b);
  const Vector even_a = hn::NegMulAdd(b2, d[2], d[4]), odd_a = hn::NegMulAdd(b2, d[1], d[3]);
  const Vector even_b = hn::NegMulAdd(a2, d[2], d[4]), odd_b = hn::NegMulAdd(a2, d[1], d[3]);
  to[0] = hn::MulAdd(a2b2, d[0], hn::NegMulAdd(sum, d[2], d[4]));
  to[1] = hn::MulAdd(number(a), odd_a, even_a);
  to[2] = hn::NegMulAdd(number(a), odd_a, even_a);
  to[3] = hn::MulAdd(number(b), odd_b, even_b);
  to[4] = hn::NegMulAdd(number(b), odd_b, even_b);
  to[5] = hn::MulAdd(a2b2, d[1], hn::NegMulAdd(sum, d[3], d[5]));
}

// A^T m, the powers of the points.
HWY_INLINE void transform_sums(const Vector (&m)[side], Vector (&to)[made]) {
  const Vector even_a = hn::Add(m[1], m[2]), odd_a = hn::Sub(m[1], m[2]);
  const Vector even_b = hn::Add(m[3], m[4]), odd_b = hn::Sub(m[3], m[4]);
  to[0] = hn::Add(hn::Add(m[0], even_a), even_b);
  to[1] = hn::MulAdd(number(b), odd_b, hn::Mul(number(a), odd_a));
  to[2] = hn::MulAdd(number(b * b), even_b, hn::Mul(number(a * a), even_a));
  to[3] = hn::MulAdd(number(b * b * b), odd_b, hn::MulAdd(number(a * a * a), odd_a, m[5]));
}

// The pixels of a tile. Null for a position outside of the image.
struct Window {
  const float* pixels[side][side];

  Window(const Block& b, std::size_t tile) {
    for (std::size_t i = 0; i < side; ++i)
      for (std::size_t j = 0; j < side; ++j) {
        const std::size_t y = b.y(tile) + i - b.c.y.padding, x = b.x(tile) + j - b.c.x.padding;
        pixels[i][j] = y < b.image.height && x < b.image.width
                           ? b.image.data + (y * b.image.width + x) * b.image.pixel_stride
                           : nullptr;
      }
  }
};

template <class P>
HWY_INLINE void transform_window(const Block& b, const Window& window, std::size_t tile, std::size_t channel,
                                 const P& part) {
  Vector half[side][side];
  for (std::size_t j = 0; j < side; ++j) {
    Vector column[side], to[side];
    unrolled<side>([&](auto i) HWY_ATTR {
      const float* pixel = window.pixels[i][j];
      column[i] = pixel ? part.load(pixel + channel) : hn::Zero(floats);
    });
    transform_pixels(column, to);
    unrolled<side>([&](auto i) HWY_ATTR { half[i][j] = to[i]; });
  }
  for (std::size_t i = 0; i < side; ++i) {
    Vector to[side];
    transform_pixels(half[i], to);
    unrolled<side>([&](auto j)
                       HWY_ATTR { hn::StoreU(to[j], floats, b.row(b.seen, b.inputs, i * side + j, tile) + channel); });
  }
}

void transform_tile(const Block& b, std::size_t tile) {
  const Window window(b, tile);
  std::size_t channel = 0;
  for (; channel + lanes <= b.c.inputs; channel += lanes) transform_window(b, window, tile, channel, WholeVector());
  if (channel < b.c.inputs) transform_window(b, window, tile, channel, Part(b.c.inputs - channel));
}

template <class P>
HWY_INLINE void make_results(const Block& b, const Results& results, std::size_t tile, std::size_t channel,
                             const P& part) {
  Vector half[made][side];
  for (std::size_t j = 0; j < side; ++j) {
    Vector column[side], to[made];
    unrolled<side>([&](auto i) HWY_ATTR {
      column[i] = hn::LoadU(floats, b.row(b.sums, b.outputs, i * side + j, tile) + channel);
    });
    transform_sums(column, to);
    unrolled<made>([&](auto i) HWY_ATTR { half[i][j] = to[i]; });
  }
  const Epilogue e = results.epilogue;  // a copy: the compiler knows that no store changes its numbers
  const Vector bias = results.bias ? part.load(results.bias + channel) : hn::Zero(floats);
  const std::size_t y = b.y(tile), x = b.x(tile), columns = std::min(made, results.width - x);
  for (std::size_t i = 0; i < std::min(made, results.height - y); ++i) {
    Vector to[made];
    transform_sums(half[i], to);
    for (std::size_t j = 0; j < columns; ++j) {
      const std::size_t place = (y + i) * results.width + x + j;
      Vector sum = hn::Add(to[j], bias);
      if (e.residual) sum = hn::Add(sum, part.load(e.residual + place * e.residual_stride + channel));
      if (is_short(e.activation)) sum = activated(e.activation, e, sum);
      part.store(sum, results.data + place * results.stride + channel);
    }
  }
}

// Activations that are applied to what was stored.
void activate_results(const Block& b, const Results& results, std::size_t tile) {
  const Epilogue& e = results.epilogue;
  for (std::size_t y = b.y(tile); y < std::min(b.y(tile) + made, results.height); ++y)
    for (std::size_t x = b.x(tile); x < std::min(b.x(tile) + made, results.width); ++x) {
      float* out = results.data + (y * results.width + x) * results.stride;
      activate(instruction_set, e, out, out, b.c.outputs);
    }
}

void finish_tile(const Block& b, const Results& results, std::size_t tile) {
  std::size_t channel = 0;
  for (; channel + lanes <= b.c.outputs; channel += lanes) make_results(b, results, tile, channel, WholeVector());
  if (channel < b.c.outputs) make_results(b, results, tile, channel, Part(b.c.outputs - channel));
  if (!is_short(results.epilogue.activation)) activate_results(b, results, tile);
}

}  // namespace assay::kernels::winograd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels::winograd {
namespace {

constexpr std::size_t line = packed_alignment / sizeof(float);
constexpr std::size_t lines(std::size_t floats) { return (floats + line - 1) / line * line; }

constexpr std::size_t held = 128 << 10;  // floats of a block's matrices, at most: they stay in the second-level cache

Panels panels_of(const Convolution& c) { return {c.set, c.inputs, c.outputs}; }

std::size_t tiles(std::size_t results) { return (results + made - 1) / made; }

// All matrices of the pixels and sums of a block.
std::size_t floats_of_tile(const Convolution& c) { return places * (lines(c.inputs) + lines(c.outputs)); }

std::size_t tiles_of_block(const Convolution& c, std::size_t all) {
  const std::size_t most = std::max<std::size_t>(held / floats_of_tile(c), 24);
  const std::size_t blocks = (all + most - 1) / most;
  return (all + blocks - 1) / blocks;
}

// G: row i has the powers of point i, divided by its distances from the other points. The row of infinity has the last
// power alone.
constexpr auto transform = [] {
  constexpr double points[] = {0, a, -double{a}, b, -double{b}};
  std::array<std::array<double, taps>, side> g{};
  for (std::size_t i = 0; i < std::size(points); ++i) {
    double power = 1;
    for (std::size_t k = 0; k < std::size(points); ++k)
      if (k != i) power /= points[i] - points[k];
    for (double& x : g[i]) x = power, power *= points[i];
  }
  g[side - 1][taps - 1] = 1;
  return g;
}();

// G g G^T of the weights g from a channel to another, in double.
void transform_weights(const float* weight, const WeightStrides& strides, double scale, float (&to)[places]) {
  double half[side][taps] = {};
  for (std::size_t i = 0; i < side; ++i)
    for (std::size_t y = 0; y < taps; ++y)
      for (std::size_t x = 0; x < taps; ++x)
        half[i][x] += transform[i][y] * scale * double{weight[y * strides.y + x * strides.x]};
  for (std::size_t place = 0; place < places; ++place) {
    double sum = 0;
    for (std::size_t x = 0; x < taps; ++x) sum += half[place / side][x] * transform[place % side][x];
    to[place] = static_cast<float>(sum);
  }
}

void convolve_block(const Block& b, const float* packed, const Results& results, const Threads& threads) {
  constexpr decltype(&HWY_STATIC_DISPATCH(transform_tile)) transform_of[] = ASSAY_OF_EACH_SET(transform_tile);
  constexpr decltype(&HWY_STATIC_DISPATCH(finish_tile)) finish_of[] = ASSAY_OF_EACH_SET(finish_tile);
  const auto set = static_cast<std::size_t>(b.c.set);
  share(threads, b.count, places * b.inputs, [&](Range tiles) {
    for (std::size_t tile = tiles.begin; tile < tiles.end; ++tile) transform_of[set](b, tile);
  });
  const Panels panels = panels_of(b.c);
  share(threads, places, b.count * b.inputs, [&](Range range) {
    for (std::size_t place = range.begin; place < range.end; ++place) {
      Product p;
      p.panels = panels;
      p.packed = packed + place * lines(panels.floats());
      p.image = {.data = b.row(b.seen, b.inputs, place, 0), .width = b.count, .pixel_stride = b.inputs};
      p.channels = b.c.inputs;
      p.x.count = b.count;
      p.out = b.row(b.sums, b.outputs, place, 0);
      p.out_stride = b.outputs;
      multiply(p, {});
    }
  });
  share(threads, b.count, places * b.outputs, [&](Range tiles) {
    for (std::size_t tile = tiles.begin; tile < tiles.end; ++tile) finish_of[set](b, results, tile);
  });
}

void convolve_image(const Convolution& c, const Images& image, const float* packed, const Results& results,
                    float* scratch, const Threads& threads) {
  const std::size_t all = tiles_of(c, image), most = tiles_of_block(c, all);
  Block b{c, image, tiles(results.width), 0, 0, scratch, nullptr, lines(c.inputs), lines(c.outputs)};
  for (; b.first < all; b.first += b.count) {
    b.count = std::min(most, all - b.first);
    b.sums = b.seen + places * b.count * b.inputs;
    convolve_block(b, packed, results, threads);
  }
}

}  // namespace

bool can_convolve(const Convolution& c) {
  const auto fits = [](const ConvolutionAxis& axis) {
    return axis.kernel == taps && axis.stride == 1 && axis.dilation == 1;
  };
  return fits(c.y) && fits(c.x) && c.groups == 1 && !c.transposed;
}

std::size_t tiles_of(const Convolution& c, const Images& image) {
  return tiles(c.y.results(image.height, false)) * tiles(c.x.results(image.width, false));
}

std::size_t packed_floats(const Convolution& c) { return places * lines(panels_of(c).floats()); }

void pack(const Convolution& c, const float* weight, const WeightStrides& strides, const float* scale, float* packed) {
  const Panels panels = panels_of(c);
  const std::size_t matrix = lines(panels.floats());
  std::fill_n(packed, places * matrix, 0.0f);
  for (std::size_t panel = 0; panel < panels.count(); ++panel) {
    const std::size_t begin = panels.of(panel).begin * panels.lanes(), end = panels.of(panel).end * panels.lanes();
    for (std::size_t i = 0; i < c.inputs; ++i)
      for (std::size_t j = begin; j < std::min(end, c.outputs); ++j) {
        float of_places[places];
        transform_weights(weight + j * strides.first + i * strides.second, strides, scale ? double{scale[j]} : 1,
                          of_places);
        float* to = packed + begin * c.inputs + i * (end - begin) + (j - begin);
        for (std::size_t place = 0; place < places; ++place) to[place * matrix] = of_places[place];
      }
  }
}

std::size_t scratch_floats(const Convolution& c, const Images& images) {
  const std::size_t turned = images.channels_first ? lines(images.height * images.width * c.inputs) : 0;
  return turned + tiles_of_block(c, tiles_of(c, images)) * floats_of_tile(c);
}

void convolve(const Convolution& c, const Images& images, const float* packed, const float* bias, float* out,
              std::size_t out_stride, float* scratch, const Epilogue& epilogue, const Threads& threads) {
  const std::size_t pixels = images.height * images.width, height = c.y.results(images.height, false),
                    width = c.x.results(images.width, false);
  Epilogue of_image = epilogue;
  for (std::size_t i = 0; i < images.count; ++i) {
    Images image = images;
    image.count = 1;
    image.data += i * pixels * (images.channels_first ? c.inputs : images.pixel_stride);
    if (epilogue.residual) of_image.residual = epilogue.residual + i * height * width * epilogue.residual_stride;
    float* free = scratch;
    if (images.channels_first) {
      channels_first_to_last(1, c.inputs, pixels, sizeof(float), image.data, scratch, threads);
      image = {scratch, 1, images.height, images.width, c.inputs};
      free += lines(pixels * c.inputs);
    }
    float* to = out + i * height * width * out_stride;
    convolve_image(c, image, packed, {to, out_stride, height, width, bias, of_image}, free, threads);
  }
}

}  // namespace assay::kernels::winograd
#endif
