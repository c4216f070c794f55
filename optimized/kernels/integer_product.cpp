#include "optimized/kernels/integer_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/integer_product.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "optimized/kernels/dot-inl.h"
#include "optimized/kernels/integer_blocks.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

constexpr std::size_t registers = traits(instruction_set).registers, most_vectors = panel_vectors(registers);
constexpr std::size_t vector_bytes = lanes * sizeof(float);

// The rows of a tile of V vectors: its sums, a row of weights, a number of the input and what a dot product needs in
// between stay in registers.
template <class Dot, std::size_t V>
constexpr std::size_t rows_of_tile =
    std::clamp<std::size_t>((registers - std::min(registers, Dot::vectors*(V + 1) + Dot::spare)) / V, 1, most_rows);

// Copies n codes as unsigned bytes.
HWY_INLINE void copy(const std::uint8_t* from, std::size_t n, std::uint8_t flip, std::uint8_t* to) {
  const Integers bits = number(static_cast<std::int32_t>(flip * 0x01010101u));
  const auto flipped = [&](Vector x) HWY_ATTR { return hn::BitCast(floats, hn::Xor(hn::BitCast(integers, x), bits)); };
  const auto at = [](const std::uint8_t* p) { return reinterpret_cast<const float*>(p); };
  std::size_t i = 0;
  for (; i + vector_bytes <= n; i += vector_bytes)
    hn::StoreU(flipped(hn::LoadU(floats, at(from + i))), floats, reinterpret_cast<float*>(to + i));
  if (const std::size_t rest = (n - i) / sizeof(float); rest > 0) {
    const Part part(rest);
    part.store(flipped(part.load(at(from + i))), reinterpret_cast<float*>(to + i));
    i += rest * sizeof(float);
  }
  for (; i < n; ++i) to[i] = from[i] ^ flip;
}

// The taps of a row of the kernel that lie over columns of the image, of which the first tap is over column `x`.
Range inside(const ConvolutionAxis& axis, std::ptrdiff_t x, std::size_t width) {
  const auto step = static_cast<std::ptrdiff_t>(axis.dilation), end = static_cast<std::ptrdiff_t>(width);
  Range taps{0, axis.kernel};
  while (taps.begin < taps.end && x + static_cast<std::ptrdiff_t>(taps.begin) * step < 0) ++taps.begin;
  while (taps.begin < taps.end && x + static_cast<std::ptrdiff_t>(taps.end - 1) * step >= end) --taps.end;
  return taps;
}

// Stores the codes that result (y, x) multiplies, as unsigned bytes, tap after tap.
void gather(const IntegerProduct& p, std::size_t y, std::size_t x, std::uint8_t* to) {
  const Convolution& c = p.c.shape;
  const CodeImages& image = p.image;
  const std::size_t row_bytes = c.x.kernel * c.inputs;
  const auto column = static_cast<std::ptrdiff_t>(x * c.x.stride) - static_cast<std::ptrdiff_t>(c.x.padding);
  const Range taps = inside(c.x, column, image.width);
  for (std::size_t i = 0; i < c.y.kernel; ++i, to += row_bytes) {
    const std::size_t row = y * c.y.stride + i * c.y.dilation - c.y.padding;
    if (row >= image.height || taps.size() < c.x.kernel) std::memset(to, p.outside(), row_bytes);
    if (row >= image.height || taps.size() == 0) continue;
    const std::size_t first = static_cast<std::size_t>(column + static_cast<std::ptrdiff_t>(taps.begin * c.x.dilation));
    const std::uint8_t* from = p.codes + (row * image.width + first) * image.pixel_stride;
    const std::size_t step = c.x.dilation * image.pixel_stride;
    std::uint8_t* place = to + taps.begin * c.inputs;
    if (step == c.inputs) {
      copy(from, taps.size() * c.inputs, p.flip(), place);
      continue;
    }
    for (std::size_t j = 0; j < taps.size(); ++j, from += step, place += c.inputs)
      copy(from, c.inputs, p.flip(), place);
  }
}

// The columns of a panel.
struct Columns {
  const float *sums, *scales, *shifts;  // of the first column; the sums are integers
  const float* weights;
  std::size_t depth, last_vector;  // columns of the last vector
};

template <std::size_t V>
HWY_INLINE void store(const Integers (&codes)[V], std::uint8_t* to, std::size_t last) {
  constexpr hn::Rebind<std::uint8_t, IntegerTag> bytes{};
  constexpr hn::RebindToUnsigned<IntegerTag> unsigned_integers{};
  unrolled<V>([&](auto v) HWY_ATTR {
    const auto narrow = hn::TruncateTo(bytes, hn::BitCast(unsigned_integers, codes[v]));
    if (v + 1 < V || last == lanes) return hn::StoreU(narrow, bytes, to + v * lanes);
    HWY_ALIGN std::uint8_t whole[std::max<std::size_t>(lanes, 16)];
    hn::StoreU(narrow, bytes, whole);
    std::memcpy(to + v * lanes, whole, last);
  });
}

// R rows of V vectors, of which `count` are stored. Requires memory for R rows.
template <class Dot, std::size_t R, std::size_t V>
void tile(const IntegerProduct& p, const Columns& columns, const std::uint8_t* rows, std::uint8_t* out,
          std::size_t count) {
  Integers sums[R][V];
  unrolled<V>([&](auto v) HWY_ATTR {
    const Integers begin = load_integers(columns.sums + v * lanes);
    unrolled<R>([&](auto r) HWY_ATTR { sums[r][v] = begin; });
  });
  const std::uint8_t* in[R];
  unrolled<R>([&](auto r) HWY_ATTR { in[r] = rows + r * p.row_bytes(); });
  const float* weights = columns.weights;
  for (std::size_t k = 0; k < p.row_bytes(); k += 4, weights += V * lanes) {
    typename Dot::Factor w[V];
    unrolled<V>([&](auto v) HWY_ATTR { w[v] = Dot::signed_bytes(load_integers(weights + v * lanes)); });
    unrolled<R>([&](auto r) HWY_ATTR {
      std::int32_t four;
      std::memcpy(&four, in[r] + k, sizeof four);
      const typename Dot::Factor x = Dot::unsigned_bytes(number(four));
      unrolled<V>([&](auto v) HWY_ATTR { Dot::add(x, w[v], sums[r][v]); });
    });
  }
  const ToCodes to_codes(p.c.result);
  for (std::size_t v = 0; v < V; ++v) {
    const Vector scale = hn::LoadU(floats, columns.scales + v * lanes),
                 shift = hn::LoadU(floats, columns.shifts + v * lanes);
    for (std::size_t r = 0; r < R; ++r) sums[r][v] = to_codes(sums[r][v], scale, shift);
  }
  unrolled<R>([&](auto r) HWY_ATTR {
    if (r < count) store<V>(sums[r], out + r * p.out_stride, columns.last_vector);
  });
}

template <class Dot>
struct Tiles {
  using Tile = decltype(&tile<Dot, 1, 1>);
  std::size_t rows;
  Tile full, one;  // tiles of `rows` rows, and of one
};
template <class Dot, std::size_t... V>
constexpr std::array<Tiles<Dot>, sizeof...(V)> all_tiles(std::index_sequence<V...>) {
  return {Tiles<Dot>{rows_of_tile<Dot, V + 1>, tile<Dot, rows_of_tile<Dot, V + 1>, V + 1>, tile<Dot, 1, V + 1>}...};
}

template <class Dot>
void multiply_by(const IntegerProduct& p, Range results, Range panels, std::uint8_t* scratch) {
  static constexpr auto tiles = all_tiles<Dot>(std::make_index_sequence<most_vectors>());
  const std::size_t width = p.width(), height = p.block_rows / tiles[p.panels.of(0).size() - 1].rows,
                    block = std::max<std::size_t>(height, 1) * tiles[p.panels.of(0).size() - 1].rows;
  for (std::size_t first = results.begin, n; first < results.end; first += n) {
    n = std::min(block, results.end - first);
    for (std::size_t r = 0; r < n; ++r)
      gather(p, (first + r) / width, (first + r) % width, scratch + r * p.row_bytes());
    for (std::size_t panel = panels.begin; panel < panels.end; ++panel) {
      const Range vectors = p.panels.of(panel);
      const std::size_t column = vectors.begin * lanes;
      const Columns columns{p.sums() + column,
                            p.scales() + column,
                            p.shifts() + column,
                            p.weights() + column * p.panels.depth,
                            p.panels.depth,
                            std::min(vectors.size() * lanes, p.panels.columns - column) - (vectors.size() - 1) * lanes};
      const Tiles<Dot>& of = tiles[vectors.size() - 1];
      for (std::size_t r = 0; r < n; r += of.rows) {
        const auto compute = n - r == 1 ? of.one : of.full;
        compute(p, columns, scratch + r * p.row_bytes(), p.out + (first + r) * p.out_stride + column,
                std::min(of.rows, n - r));
      }
    }
  }
}

void multiply_plainly(const IntegerProduct& p, Range results, Range panels, std::uint8_t* scratch) {
  multiply_by<Plain>(p, results, panels, scratch);
}
void multiply_fast(const IntegerProduct& p, Range results, Range panels, std::uint8_t* scratch) {
  multiply_by<Fastest>(p, results, panels, scratch);
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {
namespace {

// Packed: for each group the sums, scales and shifts of its channels and their weights.
std::size_t floats_of_group(const IntegerConvolution& c) {
  const Panels panels = integer_panels(c.shape);
  return (panels.floats() + 3 * panels.vectors() * panels.lanes() + 15) / 16 * 16;
}

// Requires memory of zeros: the last vector and the last four weights of a sum are padded with them.
void pack_group(const IntegerConvolution& c, const std::int8_t* weight, const WeightStrides& strides,
                const Channels& channels, std::size_t group, float* packed) {
  const Convolution& s = c.shape;
  const Panels panels = integer_panels(s);
  const std::size_t padded = panels.vectors() * panels.lanes();
  for (std::size_t panel = 0; panel < panels.count(); ++panel) {
    const std::size_t begin = panels.of(panel).begin * panels.lanes(), width = panels.of(panel).size() * panels.lanes();
    auto* weights = reinterpret_cast<std::int8_t*>(packed + 3 * padded + begin * panels.depth);
    for (std::size_t j = 0; j < std::min(width, panels.columns - begin); ++j) {
      const std::size_t channel = group * s.outputs + begin + j;
      std::int32_t sum = 0;
      std::size_t i = 0;  // the place of a weight in its sum
      for (std::size_t y = 0; y < s.y.kernel; ++y)
        for (std::size_t x = 0; x < s.x.kernel; ++x) {
          const std::int8_t* tap = weight + channel * strides.first + y * strides.y + x * strides.x;
          for (std::size_t input = 0; input < s.inputs; ++input, ++i) {
            const std::int8_t w = tap[input * strides.second];
            sum += w, weights[(i / 4 * width + j) * 4 + i % 4] = w;
          }
        }
      store_numbers(c, channels.of(channels.context, channel), sum, packed + begin + j, padded);
    }
  }
}

bool is_product(const Convolution& c) {
  const auto trivial = [](const ConvolutionAxis& a) { return a.kernel == 1 && a.stride == 1 && a.padding == 0; };
  return trivial(c.y) && trivial(c.x);
}

// The bytes of a task's scratch memory.
std::size_t task_bytes(const IntegerProduct& p) { return ((p.block_rows + most_rows) * p.row_bytes() + 63) / 64 * 64; }

void multiply(const IntegerProduct& p, std::uint8_t* scratch, const Threads& threads) {
  using Multiply = void (*)(const IntegerProduct&, Range, Range, std::uint8_t*);
  constexpr Multiply plain[] = ASSAY_OF_EACH_SET(multiply_plainly), fast[] = ASSAY_OF_EACH_SET(multiply_fast);
  const Multiply multiply = (p.c.uses_vnni ? fast : plain)[static_cast<std::size_t>(p.c.shape.set)];
  const std::size_t results = p.height() * p.width(), work = p.row_bytes() * p.panels.columns / 4;
  const std::size_t parts = parts_of(threads, threads.tasks(), (results + most_rows - 1) / most_rows, most_rows * work),
                    slices = std::min(parts_of(threads, threads.tasks() / parts, results, work), p.panels.count());
  for_each_task(threads, parts * slices, [&](std::size_t i) {
    multiply(p, part(results, i / slices, parts), part(p.panels.count(), i % slices, slices),
             scratch + i * task_bytes(p));
  });
}

IntegerProduct product_of(const IntegerConvolution& c, const CodeImages& image) {
  return {c, image, integer_panels(c.shape), nullptr, nullptr, nullptr, 0, block_rows_of(c.shape)};
}

}  // namespace

bool can_convolve(const Convolution& c) {
  constexpr std::size_t most_products = 0x7fffffff / (255 * 128);  // of a sum that fits 32 bits
  return !c.transposed && products_of(c) <= most_products &&
         (!c.is_depthwise() || 4 * tap_groups(c) <= most_depthwise_pixels);
}

std::size_t packed_floats(const IntegerConvolution& c) {
  return c.shape.is_depthwise() ? packed_depthwise_floats(c) : c.shape.groups * floats_of_group(c);
}

void pack(const IntegerConvolution& c, const std::int8_t* weight, const WeightStrides& strides,
          const Channels& channels, float* packed) {
  std::fill_n(packed, packed_floats(c), 0.0f);
  if (c.shape.is_depthwise()) return pack_depthwise(c, weight, strides, channels, packed);
  for (std::size_t group = 0; group < c.shape.groups; ++group)
    pack_group(c, weight, strides, channels, group, packed + group * floats_of_group(c));
}

std::size_t scratch_bytes(const IntegerConvolution& c, const Threads& threads) {
  return c.shape.is_depthwise() ? 0 : threads.tasks() * task_bytes(product_of(c, {}));
}

void convolve(const IntegerConvolution& c, const CodeImages& images, const float* packed, void* out,
              std::size_t out_stride, void* scratch, const Threads& threads) {
  CodeImages image = images;
  image.count = 1;
  if (is_product(c.shape)) image.height = 1, image.width = images.count * images.height * images.width;
  const std::size_t count = is_product(c.shape) ? 1 : images.count;
  const auto* codes = static_cast<const std::uint8_t*>(images.data);
  auto* to = static_cast<std::uint8_t*>(out);
  for (std::size_t i = 0; i < count; ++i) {
    IntegerProduct p = product_of(c, image);
    const std::size_t results = p.height() * p.width();
    image.data = codes + i * image.height * image.width * image.pixel_stride;
    if (c.shape.is_depthwise()) {
      convolve_depthwise(c, image, packed, to + i * results * out_stride, out_stride, threads);
      continue;
    }
    for (std::size_t group = 0; group < c.shape.groups; ++group) {
      p.codes = static_cast<const std::uint8_t*>(image.data) + group * c.shape.inputs;
      p.packed = packed + group * floats_of_group(c);
      p.out = to + i * results * out_stride + group * c.shape.outputs, p.out_stride = out_stride;
      multiply(p, static_cast<std::uint8_t*>(scratch), threads);
    }
  }
}

}  // namespace assay::kernels
#endif
