#include "optimized/kernels/integer_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/integer_product.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "optimized/kernels/dot-inl.h"
#include "optimized/kernels/float_results-inl.h"
#include "optimized/kernels/integer_blocks.h"
#include "optimized/kernels/lines.h"
#include "optimized/kernels/tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

constexpr std::size_t registers = traits(instruction_set).registers, most_vectors = panel_vectors(registers);

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
void gather_result(const IntegerProduct& p, std::size_t y, std::size_t x, std::uint8_t* to) {
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

// Stores the codes of n results.
void gather(const IntegerProduct& p, std::size_t first, std::size_t n, std::uint8_t* to) {
  const std::size_t stride = p.image.pixel_stride, row_bytes = p.row_bytes();
  if (is_product(p.c.shape)) {
    const std::size_t inputs = p.c.shape.inputs;
    const std::uint8_t* from = p.codes + first * stride;
    if (stride == row_bytes && inputs == row_bytes) return copy(from, n * row_bytes, p.flip(), to);
    for (std::size_t r = 0; r < n; ++r) copy(from + r * stride, inputs, p.flip(), to + r * row_bytes);
    return;
  }
  const std::size_t width = p.width();
  std::size_t y = first / width, x = first % width;
  for (std::size_t r = 0; r < n; ++r) {
    gather_result(p, y, x, to + r * row_bytes);
    if (++x == width) x = 0, ++y;
  }
}

// Copies the pixels under the taps of some rows of results, as unsigned bytes.
void copy_rows(const IntegerProduct& p, Range results, std::uint8_t* to) {
  const Convolution& c = p.c.shape;
  const CodeImages& image = p.image;
  const CopiedRows rows = copied_rows(c, p.width());
  const std::size_t left = std::min(c.x.padding * c.inputs, rows.row_bytes),
                    pixels = std::min(image.width, (rows.row_bytes - left) / c.inputs);
  const std::size_t count = (results.size() - 1) * c.y.stride + rows.reach;
  for (std::size_t i = 0; i < count; ++i, to += rows.row_bytes) {
    const std::size_t row = results.begin * c.y.stride + i - c.y.padding;
    if (row >= image.height) {
      std::memset(to, p.outside(), rows.row_bytes);
      continue;
    }
    const std::uint8_t* from = p.codes + row * image.width * image.pixel_stride;
    std::uint8_t* place = to + left;
    std::memset(to, p.outside(), left);
    if (image.pixel_stride == c.inputs) {
      copy(from, pixels * c.inputs, p.flip(), place);
    } else {
      for (std::size_t x = 0; x < pixels; ++x)
        copy(from + x * image.pixel_stride, c.inputs, p.flip(), place + x * c.inputs);
    }
    place += pixels * c.inputs;
    std::memset(place, p.outside(), static_cast<std::size_t>(to + rows.row_bytes - place));
  }
}

// The first codes of one result after the other, in copied codes.
class Places {
 public:
  HWY_INLINE Places(const IntegerProduct& p, const std::uint8_t* codes)
      : place_(codes), row_(codes), step_(p.row_bytes()) {
    const Convolution& c = p.c.shape;
    if (!copies_image(c)) return;
    width_ = left_ = p.width(), step_ = c.x.stride * c.inputs;
    row_step_ = c.y.stride * copied_rows(c, width_).row_bytes;
  }
  // The places of the next R results, or of the next `count` ones and then the first of these again.
  template <std::size_t R>
  HWY_INLINE void find(std::size_t count, const std::uint8_t* (&in)[R]) {
    if (count == R && left_ > R) {
      unrolled<R>([&](auto r) HWY_ATTR { in[r] = place_ + r * step_; });
      place_ += R * step_, left_ -= R;
      return;
    }
    unrolled<R>([&](auto r) HWY_ATTR { in[r] = r < count ? next() : in[0]; });
  }

 private:
  HWY_INLINE const std::uint8_t* next() {
    const std::uint8_t* const place = place_;
    place_ += step_;
    if (--left_ == 0) left_ = width_, place_ = row_ += row_step_;
    return place;
  }

  const std::uint8_t *place_, *row_;
  std::size_t step_, row_step_ = 0;
  std::size_t width_ = ~std::size_t{0}, left_ = ~std::size_t{0};  // gathered codes have one row
};

// The columns of a panel.
struct Columns {
  const float *sums, *scales, *shifts;  // of the first column; the sums are integers
  const float* weights;
  std::size_t first, count;
};

// Turns rows of V vectors of sums into codes. They begin with the packed sums.
template <std::size_t V>
class Codes {
 public:
  static HWY_INLINE Integers first(const Columns& columns, std::size_t v) {
    return load_integers(columns.sums + v * lanes);
  }
  HWY_INLINE Codes(const IntegerProduct& p, const Columns& columns) : to_codes_(p.c.result), bytes_(columns.count) {
    unrolled<4>([&](auto v) HWY_ATTR {
      scales_[v] = hn::LoadU(floats, columns.scales + vector_of(v) * lanes);
      shifts_[v] = hn::LoadU(floats, columns.shifts + vector_of(v) * lanes);
    });
  }
  // Stores the first `count` of R results, `stride` bytes apart.
  template <std::size_t R>
  HWY_INLINE void store(std::size_t, const Integers (&sums)[R][V], std::size_t count, std::uint8_t* out,
                        std::size_t stride) const {
    unrolled<R>([&](auto r) HWY_ATTR {
      if (r >= count) return;
      Integers four[4];
      unrolled<4>([&](auto v) HWY_ATTR { four[v] = sums[r][vector_of(v)]; });
      bytes_.store(hn::BitCast(floats, by_vectors(to_codes_(four, scales_, shifts_))), out + r * stride);
    });
  }

 private:
  static constexpr std::size_t vector_of(std::size_t v) { return std::min(v, V - 1); }

  ToCodes to_codes_;
  Bytes bytes_;
  Vector scales_[4], shifts_[4];
};

// Turns them into floats. They begin with 0.
template <std::size_t V>
class FloatRows {
 public:
  static HWY_INLINE Integers first(const Columns&, std::size_t) { return hn::Zero(integers); }

  HWY_INLINE FloatRows(const IntegerProduct& p, const Columns& columns)
      : results_(*p.floats), columns_(columns), last_(columns.count - (V - 1) * lanes) {}
  template <std::size_t R>
  HWY_INLINE void store(std::size_t first, const Integers (&sums)[R][V], std::size_t count, std::uint8_t* out,
                        std::size_t stride) const {
    const auto place = [&](std::size_t r) { return reinterpret_cast<float*>(out + r * stride); };
    // A call would keep the sums in memory, also while they are summed.
    unrolled<V>([&](auto v) HWY_ATTR __attribute__((always_inline)) {
      constexpr std::size_t at = v * lanes;
      const ToFloats to_floats(results_, load_integers(columns_.sums + at), hn::LoadU(floats, columns_.scales + at),
                               hn::LoadU(floats, columns_.shifts + at));
      unrolled<R>([&](auto r) HWY_ATTR {
        if (r >= count) return;
        const Vector x = to_floats(results_.of(first + r), sums[r][v]);
        if constexpr (v + 1 < V)
          hn::StoreU(x, floats, place(r) + at);
        else
          last_.store(x, place(r) + at);
      });
    });
    for (std::size_t r = 0; r < std::min(R, count); ++r) finish(results_, place(r), columns_.count);
  }

 private:
  const FloatResults& results_;
  const Columns& columns_;
  Part last_;
};

template <bool has_steps, std::size_t V>
using ResultRows = std::conditional_t<has_steps, FloatRows<V>, Codes<V>>;

// The place of a column of a result.
HWY_INLINE std::uint8_t* place_of(const IntegerProduct& p, const Columns& columns, std::size_t result) {
  return p.out + result * p.out_stride + columns.first * result_bytes(p.c);
}

// R results from the first on, of V vectors, of which `count` are stored. Reads the codes of each result at its place.
template <bool has_steps, class Dot, std::size_t R, std::size_t V>
void tile(const IntegerProduct& p, const Columns& columns, Places& places, std::size_t first, std::size_t count) {
  Integers sums[R][V];
  unrolled<V>([&](auto v) HWY_ATTR {
    const Integers begin = ResultRows<has_steps, V>::first(columns, v);
    unrolled<R>([&](auto r) HWY_ATTR { sums[r][v] = begin; });
  });
  const std::uint8_t* in[R];
  places.find(count, in);
  const float* weights = columns.weights;
  for (std::size_t i = 0; i < p.runs.rows; ++i)
    for (std::size_t j = 0; j < p.runs.columns; ++j) {
      const std::size_t begin = i * p.row_step + j * p.column_step;
      for (std::size_t k = begin; k < begin + p.runs.bytes; k += 4, weights += V * lanes) {
        typename Dot::Factor w[V];
        unrolled<V>([&](auto v) HWY_ATTR { w[v] = Dot::signed_bytes(load_integers(weights + v * lanes)); });
        unrolled<R>([&](auto r) HWY_ATTR {
          std::int32_t four;
          std::memcpy(&four, in[r] + k, sizeof four);
          const typename Dot::Factor x = Dot::unsigned_bytes(number(four));
          unrolled<V>([&](auto v) HWY_ATTR { Dot::add(x, w[v], sums[r][v]); });
        });
      }
    }
  const ResultRows<has_steps, V> results(p, columns);
  results.store(first, sums, count, place_of(p, columns, first), p.out_stride);
}

struct Tiles {
  using Tile = decltype(&tile<false, Plain, 1, 1>);
  std::size_t rows;
  Tile full, one;  // tiles of `rows` rows, and of one
};
template <bool has_steps, class Dot, std::size_t... V>
constexpr std::array<Tiles, sizeof...(V)> all_tiles(std::index_sequence<V...>) {
  return {Tiles{rows_of_tile<Dot, V + 1>, tile<has_steps, Dot, rows_of_tile<Dot, V + 1>, V + 1>,
                tile<has_steps, Dot, 1, V + 1>}...};
}

// Copies the codes of blocks of results. If they are gathered, a block has a multiple of `rows` results except for the
// last one, else it has rows of results. Calls compute(vectors, columns, first, n) for each panel of each block of n
// results.
template <class Compute>
HWY_INLINE void multiply_blocks(const IntegerProduct& p, Range results, Range panels, std::size_t rows,
                                std::uint8_t* scratch, const Compute& compute) {
  const bool copies = copies_image(p.c.shape);
  const std::size_t block = copies ? p.block : std::max<std::size_t>(p.block / rows, 1) * rows, width = p.width();
  for (std::size_t first = results.begin, n; first < results.end; first += n) {
    n = std::min(block, results.end - first);
    if (copies)
      copy_rows(p, {first / width, (first + n) / width}, scratch);
    else
      gather(p, first, n, scratch);
    for (std::size_t panel = panels.begin; panel < panels.end; ++panel) {
      const Range vectors = p.panels.of(panel);
      const std::size_t column = vectors.begin * lanes;
      const Columns columns{p.sums() + column,
                            p.scales() + column,
                            p.shifts() + column,
                            p.weights() + column * p.panels.depth,
                            column,
                            std::min(vectors.size() * lanes, p.panels.columns - column)};
      compute(vectors.size(), columns, first, n);
    }
  }
}

template <bool has_steps, class Dot>
void multiply_by(const IntegerProduct& p, Range results, Range panels, std::uint8_t* scratch) {
  static constexpr auto tiles = all_tiles<has_steps, Dot>(std::make_index_sequence<most_vectors>());
  multiply_blocks(p, results, panels, tiles[p.panels.of(0).size() - 1].rows, scratch,
                  [&](std::size_t vectors, const Columns& columns, std::size_t first, std::size_t n) HWY_ATTR {
                    const Tiles& of = tiles[vectors - 1];
                    Places places(p, scratch);
                    for (std::size_t r = 0; r < n; r += of.rows) {
                      const auto compute = n - r == 1 ? of.one : of.full;
                      compute(p, columns, places, first + r, std::min(of.rows, n - r));
                    }
                  });
}

#if HWY_TARGET == HWY_AVX3
// Up to 32 results of V vectors from the first on, whose codes are `rows`.
template <bool has_steps, std::size_t V>
void multiply_tiles(const IntegerProduct& p, const Columns& columns, const std::uint8_t* rows, std::size_t first,
                    std::size_t count) {
  constexpr std::size_t stride = V * lanes;
  HWY_ALIGN float begin[stride], sums[2 * tile_side * stride];
  unrolled<V>([&](auto v) HWY_ATTR {
    hn::Store(hn::BitCast(floats, ResultRows<has_steps, V>::first(columns, v)), floats, begin + v * lanes);
  });
  unrolled<(V + 1) / 2>([&](auto half) HWY_ATTR {
    constexpr std::size_t v = 2 * half, n = std::min<std::size_t>(V - v, 2);
    const auto sum = count > tile_side ? sum_tiles<2, n> : sum_tiles<1, n>;
    sum(rows, p.row_bytes(), columns.weights + v * lanes, stride * sizeof(float), begin + v * lanes, sums + v * lanes,
        stride);
  });
  const ResultRows<has_steps, V> results(p, columns);
  constexpr std::size_t R = 4;
  static_assert(tile_side % R == 0);
  for (std::size_t r = 0; r < count; r += R) {
    Integers of[R][V];
    unrolled<R>([&](auto i) HWY_ATTR {
      unrolled<V>([&](auto v) HWY_ATTR { of[i][v] = load_integers(sums + (r + i) * stride + v * lanes); });
    });
    results.store(first + r, of, count - r, place_of(p, columns, first + r), p.out_stride);
  }
}

template <bool has_steps>
void multiply_by_tiles(const IntegerProduct& p, Range results, Range panels, std::uint8_t* scratch) {
  constexpr decltype(&multiply_tiles<has_steps, 1>) of_vectors[] = {
      multiply_tiles<has_steps, 1>, multiply_tiles<has_steps, 2>, multiply_tiles<has_steps, 3>,
      multiply_tiles<has_steps, 4>};
  constexpr std::size_t most = 2 * tile_side;
  if (results.size() < 4) return multiply_by<has_steps, Fastest>(p, results, panels, scratch);
  const TileShapes shapes;
  multiply_blocks(p, results, panels, most, scratch,
                  [&](std::size_t vectors, const Columns& columns, std::size_t first, std::size_t n) HWY_ATTR {
                    for (std::size_t r = 0; r < n; r += most)
                      of_vectors[vectors - 1](p, columns, scratch + r * p.row_bytes(), first + r,
                                              std::min(most, n - r));
                  });
}
#endif

template <bool has_steps>
void multiply_plainly(const IntegerProduct& p, Range results, Range panels, std::uint8_t* scratch) {
  multiply_by<has_steps, Plain>(p, results, panels, scratch);
}
template <bool has_steps>
void multiply_fast(const IntegerProduct& p, Range results, Range panels, std::uint8_t* scratch) {
#if HWY_TARGET == HWY_AVX3
  if (uses_tiles(p.c.shape)) return multiply_by_tiles<has_steps>(p, results, panels, scratch);
#endif
  multiply_by<has_steps, Fastest>(p, results, panels, scratch);
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {
namespace {

// The largest width of a panel in columns.
constexpr std::size_t most_panel = 4 * 16;

// Packed: for each group the sums, scales and shifts of its channels and their weights.
std::size_t floats_of_group(const IntegerConvolution& c) {
  const Panels panels = integer_panels(c.shape);
  return (panels.floats() + 3 * panels.vectors() * panels.lanes() + 15) / 16 * 16;
}

// Stores the weights of some columns of a panel that is `width` columns wide, run after run. `weight` is the first
// weight of the first column. So many weights of a tap are stored for all columns before the next ones that their lines
// stay in the cache.
void pack_weights(const Convolution& s, const std::int8_t* weight, const WeightStrides& strides, std::size_t columns,
                  std::size_t width, std::int8_t* to) {
  constexpr std::size_t block = 256;
  const Runs runs = runs_of(s);
  std::size_t i = 0, of_run = 0;  // the place of a weight, and the weights that its run has before it
  for (std::size_t y = 0; y < s.y.kernel; ++y)
    for (std::size_t x = 0; x < s.x.kernel; ++x)
      for (std::size_t input = 0, n; input < s.inputs; input += n, i += n, of_run += n) {
        if (of_run == runs.products) i += runs.bytes - runs.products, of_run = 0;
        n = std::min(block, s.inputs - input);
        const std::int8_t* first = weight + y * strides.y + x * strides.x + input * strides.second;
        for (std::size_t j = 0; j < columns; ++j) {
          const std::int8_t* from = first + j * strides.first;
          const auto place = [&](std::size_t k) { return to + (k / 4 * width + j) * 4 + k % 4; };
          std::size_t k = 0;
          if (i % 4 == 0)
            for (; k + 4 <= n; k += 4, from += 4 * strides.second) {
              const std::int8_t four[] = {from[0], from[strides.second], from[2 * strides.second],
                                          from[3 * strides.second]};
              std::memcpy(place(i + k), four, sizeof four);
            }
          for (; k < n; ++k, from += strides.second) *place(i + k) = *from;
        }
      }
}

// Requires memory of zeros: the last vector and the last weights of a sum are padded with them.
void pack_group(const IntegerConvolution& c, const std::int8_t* weight, const WeightStrides& strides,
                const Channels& channels, std::size_t group, float* packed) {
  const Convolution& s = c.shape;
  const Panels panels = integer_panels(s);
  const std::size_t padded = panels.vectors() * panels.lanes();
  for (std::size_t panel = 0; panel < panels.count(); ++panel) {
    const std::size_t begin = panels.of(panel).begin * panels.lanes(), width = panels.of(panel).size() * panels.lanes(),
                      columns = std::min(width, panels.columns - begin), channel = group * s.outputs + begin;
    auto* weights = reinterpret_cast<std::int8_t*>(packed + 3 * padded + begin * panels.depth);
    pack_weights(s, weight + channel * strides.first, strides, columns, width, weights);
    std::int32_t sums[most_panel] = {};
    for (std::size_t k = 0; k < panels.depth; ++k, weights += 4 * width)
      for (std::size_t j = 0; j < columns; ++j)
        sums[j] += weights[4 * j] + weights[4 * j + 1] + weights[4 * j + 2] + weights[4 * j + 3];
    for (std::size_t j = 0; j < columns; ++j)
      store_numbers(c, channels.of(channels.context, channel + j), sums[j], packed + begin + j, padded);
  }
}

// The bytes of a task's scratch memory.
std::size_t task_bytes(const IntegerProduct& p) {
  const Convolution& c = p.c.shape;
  const CopiedRows rows = copied_rows(c, p.width());
  const std::size_t bytes = copies_image(c) ? ((p.block / p.width() - 1) * c.y.stride + rows.reach) * rows.row_bytes +
                                                  (p.runs.bytes - p.runs.products)
                                            : (p.block + rows_together(c)) * p.row_bytes();
  return whole_lines(bytes);
}

template <bool has_steps>
void multiply(const IntegerProduct& p, std::uint8_t* scratch, const Threads& threads) {
  using Multiply = void (*)(const IntegerProduct&, Range, Range, std::uint8_t*);
  constexpr Multiply plain[] = ASSAY_OF_EACH_SET(multiply_plainly<has_steps>),
                     fast[] = ASSAY_OF_EACH_SET(multiply_fast<has_steps>);
  const Multiply multiply = (p.c.uses_vnni ? fast : plain)[static_cast<std::size_t>(p.c.shape.set)];
  const std::size_t results = p.height() * p.width(), work = p.row_bytes() * p.panels.columns / 4;
  const std::size_t unit = copies_image(p.c.shape) ? p.width() : 1, together = std::max(unit, most_rows);
  const std::size_t parts = parts_of(threads, threads.tasks(), (results + together - 1) / together, together * work),
                    slices = std::min(parts_of(threads, threads.tasks() / parts, results, work), p.panels.count());
  for_each_task(threads, parts * slices, [&](std::size_t i) {
    const Range units = part(results / unit, i / slices, parts);
    multiply(p, {units.begin * unit, units.end * unit}, part(p.panels.count(), i % slices, slices),
             scratch + i * task_bytes(p));
  });
}

IntegerProduct product_of(const IntegerConvolution& c, const CodeImages& image) {
  IntegerProduct p{c, image, integer_panels(c.shape), runs_of(c.shape)};
  p.row_step = c.shape.y.dilation * copied_rows(c.shape, p.width()).row_bytes;
  p.column_step = c.shape.x.dilation * c.shape.inputs;
  p.block = block_of(c.shape, p.height(), p.width());
  return p;
}

// Computes all groups of one image; out_stride is in bytes.
template <bool has_steps>
void multiply_groups(const IntegerConvolution& c, const CodeImages& image, const FloatResults* floats,
                     const float* packed, std::uint8_t* out, std::size_t out_stride, void* scratch,
                     const Threads& threads) {
  IntegerProduct p = product_of(c, image);
  p.floats = floats, p.out_stride = out_stride;
  for (std::size_t group = 0; group < c.shape.groups; ++group) {
    p.codes = static_cast<const std::uint8_t*>(image.data) + group * c.shape.inputs;
    p.packed = packed + group * floats_of_group(c);
    p.out = out + group * c.shape.outputs * result_bytes(c);
    multiply<has_steps>(p, static_cast<std::uint8_t*>(scratch), threads);
  }
}

// Calls compute(image, its index, its first result) for each image, or once for all images, as one row of pixels.
template <class Compute>
void for_each_image(const IntegerConvolution& c, const CodeImages& images, bool together, const Compute& compute) {
  CodeImages image = images;
  image.count = 1;
  if (together) {
    image.height = 1, image.width = images.count * images.height * images.width;
    return compute(image, 0, 0);
  }
  const std::size_t results = c.shape.y.results(image.height, false) * c.shape.x.results(image.width, false);
  for (std::size_t i = 0; i < images.count; ++i) {
    image.data = static_cast<const std::uint8_t*>(images.data) + i * image.height * image.width * image.pixel_stride;
    compute(image, i, i * results);
  }
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

std::size_t scratch_bytes(const IntegerConvolution& c, const CodeImages& images, const Threads& threads) {
  if (c.shape.is_depthwise()) return depthwise_scratch_bytes(c, images, threads);
  return threads.tasks() * task_bytes(product_of(c, images));
}

void convolve(const IntegerConvolution& c, const CodeImages& images, const float* packed, void* out,
              std::size_t out_stride, void* scratch, const Threads& threads) {
  const bool together = is_product(c.shape) && !c.shape.is_depthwise();
  for_each_image(c, images, together, [&](const CodeImages& image, std::size_t, std::size_t first) {
    std::uint8_t* to = static_cast<std::uint8_t*>(out) + first * out_stride;
    if (c.shape.is_depthwise()) return convolve_depthwise(c, image, packed, to, out_stride, scratch, threads);
    multiply_groups<false>(c, image, nullptr, packed, to, out_stride, scratch, threads);
  });
}

bool can_have_pixel_steps(const Convolution& c) { return is_product(c) && c.groups == 1; }

void convolve_steps(const IntegerConvolution& c, const CodeImages& images, const ImageSteps& steps, const float* packed,
                    float* out, std::size_t out_stride, void* scratch, const Epilogue& epilogue,
                    const Threads& threads) {
  const std::size_t step_stride = steps.of_pixels ? 1 : 0;
  for_each_image(c, images, steps.of_pixels, [&](const CodeImages& image, std::size_t i, std::size_t first) {
    const FloatResults results{steps.steps + i, step_stride, epilogue};
    float* to = out + first * out_stride;
    if (c.shape.is_depthwise())
      return convolve_depthwise_steps(c, image, results, packed, to, out_stride, scratch, threads);
    multiply_groups<true>(c, image, &results, packed, reinterpret_cast<std::uint8_t*>(to), out_stride * sizeof(float),
                          scratch, threads);
  });
}

}  // namespace assay::kernels
#endif
