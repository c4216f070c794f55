// The loop of products, with weights that are stored as floats or as a half type.
#if defined(ASSAY_KERNELS_PRODUCT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_PRODUCT_INL_H
#undef ASSAY_KERNELS_PRODUCT_INL_H
#else
#define ASSAY_KERNELS_PRODUCT_INL_H
#endif

#include <array>
#include <type_traits>
#include <utility>

#include "optimized/kernels/activation-inl.h"
#include "optimized/kernels/blocks.h"
#include "optimized/kernels/halves-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

constexpr std::size_t registers = traits(instruction_set).registers, most_vectors = panel_vectors(registers);

// Channels whose products are one piece of straight code: a processor that shares its pipeline with another thread has
// time for nothing else. With more channels g++ would keep sums in memory.
constexpr std::size_t group = instruction_set == InstructionSet::avx2 ? 4 : registers == 32 ? 2 : 1;

// Neighbouring results, and where each begins.
struct Rows {
  std::size_t count;
  bool inside;                                // all of their taps are inside the image
  std::ptrdiff_t y[most_rows], x[most_rows];  // of the tap (0, 0), in the image
  std::ptrdiff_t in[most_rows];               // floats from the image's first element to there
  float* results[most_rows];
  const float* terms[most_rows];

  float* out(std::size_t r) const { return results[r]; }
  const float* residual(std::size_t r) const { return terms[r]; }
};

// The same, where all results have the same distance from the one before and see one tap.
struct EvenRows {
  const float* pixels;
  std::size_t pixel_stride;
  float* results;
  std::size_t out_stride;
  const float* terms;
  std::size_t residual_stride;

  const float* pixel(std::size_t r) const { return pixels + r * pixel_stride; }
  float* out(std::size_t r) const { return results + r * out_stride; }
  const float* residual(std::size_t r) const { return terms + r * residual_stride; }
  void advance(std::size_t rows) {
    pixels += rows * pixel_stride, results += rows * out_stride;
    if (terms) terms += rows * residual_stride;
  }
};

// The products that one pass over a tile adds.
struct Pass {
  Range taps, channels;
  std::size_t tap_y, tap_x;  // the first tap
  bool first, last;          // the first pass begins a sum with the bias, another pass with what was stored
};

// The columns of a tile, whose weights are stored as W.
template <class W>
struct Columns {
  std::size_t first;
  std::size_t last_vector;  // columns of the last vector
  const W* weights;         // of the pass
  const void* ahead;        // what later tiles read; it is fetched from there on, this many bytes a group
  std::size_t ahead_step;
};

HWY_INLINE std::ptrdiff_t floats_to(const Image& image, std::ptrdiff_t y, std::ptrdiff_t x) {
  return y * static_cast<std::ptrdiff_t>(image.row_stride) + x * static_cast<std::ptrdiff_t>(image.pixel_stride);
}

HWY_INLINE bool is_inside(const Image& image, std::ptrdiff_t y, std::ptrdiff_t x) {
  return static_cast<std::size_t>(y) < image.height && static_cast<std::size_t>(x) < image.width;
}

// Vector v of the V vectors of a row; the last may be partial.
template <std::size_t V>
HWY_INLINE Vector load(const float* row, std::size_t v, const Part& last) {
  return v + 1 < V ? hn::LoadU(floats, row + v * lanes) : last.load(row + v * lanes);
}
template <std::size_t V>
HWY_INLINE void store(Vector x, float* row, std::size_t v, const Part& last) {
  return v + 1 < V ? hn::StoreU(x, floats, row + v * lanes) : last.store(x, row + v * lanes);
}

alignas(64) constexpr float no_bias[most_vectors * lanes] = {};

// Weights of type W, and the factor by which they are packed.
template <class W>
const W* weights_of(const Product& p) {
  return static_cast<const W*>(p.packed) + (has_factor<W> ? bytes_of_line / sizeof(W) : 0);
}
inline float factor_of(const Product& p) { return *static_cast<const float*>(p.packed); }

template <std::size_t R, std::size_t V, class AnyRows, class W>
HWY_INLINE void begin(const Product& p, const AnyRows& rows, const Columns<W>& columns, const Part& last, bool first,
                      Vector (&sums)[R][V]) {
  if (!first) {
    unrolled<R>([&](auto r) HWY_ATTR {
      const float* from = rows.out(r) + columns.first;
      unrolled<V>([&](auto v) HWY_ATTR { sums[r][v] = load<V>(from, v, last); });
    });
    return;
  }
  const float* bias = p.bias ? p.bias + columns.first : no_bias;
  unrolled<V>([&](auto v) HWY_ATTR {
    Vector b = load<V>(bias, v, last);
    if constexpr (has_factor<W>) b = hn::Mul(b, number(factor_of(p)));
    unrolled<R>([&](auto r) HWY_ATTR { sums[r][v] = b; });
  });
}

// Fetches what a tile needs when its sums are complete: the addends, and the place of the next tile's results.
template <std::size_t R, std::size_t V, class AnyRows, class W>
HWY_INLINE void fetch(const Product& p, const AnyRows& rows, const Pass& pass, const Columns<W>& columns) {
  if (pass.last && p.epilogue.residual)
    for (std::size_t r = 0; r < R; ++r)
      for (std::size_t v = 0; v < V; ++v) __builtin_prefetch(rows.residual(r) + columns.first + v * lanes);
  if (pass.first)
    for (std::size_t r = 0; r < R; ++r)
      for (std::size_t v = 0; v < V; ++v)
        __builtin_prefetch(rows.out(r) + R * p.out_stride + columns.first + v * lanes, 1);
}

// A vector of packed weights.
HWY_INLINE Vector load_packed(const float* weights) { return hn::Load(floats, weights); }
template <class Half>
HWY_INLINE Vector load_packed(const Half* weights) {
  return load(weights);
}

// A row of weights times one number of each row.
template <std::size_t R, std::size_t V, class W>
HWY_INLINE void multiply_and_add(const float* const (&in)[R], std::ptrdiff_t at, const W* weights,
                                 Vector (&sums)[R][V]) {
  Vector w[V];
  unrolled<V>([&](auto v) HWY_ATTR { w[v] = load_packed(weights + v * lanes); });
  unrolled<R>([&](auto r) HWY_ATTR {
    const Vector a = hn::Set(floats, in[r][at]);
    unrolled<V>([&](auto v) HWY_ATTR { add_product(a, w[v], sums[r][v]); });
  });
}

// Channels `first` to `last` of a tap; channel c is place(c) floats from its beginning. Groups of G channels are
// straight code; the rest follow. fetch(k, its weights) precedes channel k of a group. Returns the weights behind.
template <std::size_t G, std::size_t R, std::size_t V, class W, class Place, class Fetch>
HWY_INLINE const W* add_channels(const float* const (&in)[R], std::ptrdiff_t first, std::ptrdiff_t last,
                                 const Place& place, const W* weights, Vector (&sums)[R][V], const Fetch& fetch) {
  constexpr auto step = static_cast<std::ptrdiff_t>(G);
  for (; first + step <= last; first += step, weights += G * V * lanes)
    unrolled<G>([&](auto k) HWY_ATTR {
      fetch(k, weights + k * V * lanes);
      multiply_and_add<R, V>(in, place(first + static_cast<std::ptrdiff_t>(k)), weights + k * V * lanes, sums);
    });
  if (G > 1)
    for (; first < last; ++first, weights += V * lanes) multiply_and_add<R, V>(in, place(first), weights, sums);
  return weights;
}
template <std::size_t G, std::size_t R, std::size_t V, class W, class Fetch>
HWY_INLINE const W* add_channels(const Product& p, const Range& channels, const float* (&in)[R], const W* weights,
                                 Vector (&sums)[R][V], const Fetch& fetch) {
  const auto first = static_cast<std::ptrdiff_t>(channels.begin), last = static_cast<std::ptrdiff_t>(channels.end);
  if (p.offsets)
    return add_channels<G>(
        in, first, last, [&](std::ptrdiff_t c) HWY_ATTR { return p.offsets[c]; }, weights, sums, fetch);
  // counts up to 0, which leaves all other registers to pointers
  unrolled<R>([&](auto r) HWY_ATTR { in[r] += last; });
  return add_channels<G>(
      in, first - last, 0, [](std::ptrdiff_t c) HWY_ATTR { return c; }, weights, sums, fetch);
}

template <std::size_t R, std::size_t V, class W>
HWY_INLINE void accumulate(const Product& p, const Rows& rows, const Pass& pass, const Columns<W>& columns,
                           Vector (&sums)[R][V]) {
  constexpr std::size_t of_line = bytes_of_line / sizeof(W);
  const W* weights = columns.weights;
  const auto* ahead = static_cast<const std::byte*>(columns.ahead);
  const float* in[R];
  constexpr std::size_t row = V * lanes, channels_of_line = std::max<std::size_t>(of_line / row, 1);
  const auto fetch = [&](auto k, const W* from) HWY_ATTR {
    if (k % channels_of_line == 0)
      unrolled<std::max<std::size_t>(row / of_line, 1)>(
          [&](auto i) HWY_ATTR { __builtin_prefetch(from + 17 * row + i * of_line); });
    if (k > 0) return;
    __builtin_prefetch(ahead, 0, 2);
    for (std::size_t i = bytes_of_line; i < columns.ahead_step; i += bytes_of_line) __builtin_prefetch(ahead + i, 0, 2);
    ahead += columns.ahead_step;
  };
  std::size_t i = pass.tap_y, j = pass.tap_x;
  for (std::size_t tap = pass.taps.begin; tap < pass.taps.end; ++tap) {
    const std::ptrdiff_t y = static_cast<std::ptrdiff_t>(i) * p.tap_y.step,
                         x = static_cast<std::ptrdiff_t>(j) * p.tap_x.step;
    if (++j == p.tap_x.count) j = 0, ++i;
    const float* tapped = p.image.data + floats_to(p.image, y, x);
    if (rows.inside)
      unrolled<R>([&](auto r) HWY_ATTR { in[r] = tapped + rows.in[r]; });
    else
      unrolled<R>([&](auto r) HWY_ATTR {
        in[r] = is_inside(p.image, rows.y[r] + y, rows.x[r] + x) ? tapped + rows.in[r] : p.image.zeros;
      });
    weights = add_channels<group>(p, pass.channels, in, weights, sums, fetch);
  }
}

// For weights that are near: nothing is fetched.
template <std::size_t R, std::size_t V, class W>
HWY_INLINE void accumulate(const Product& p, const EvenRows& rows, const Pass& pass, const Columns<W>& columns,
                           Vector (&sums)[R][V]) {
  const float* in[R];
  unrolled<R>([&](auto r) HWY_ATTR { in[r] = rows.pixel(r); });
  add_channels<1>(p, pass.channels, in, columns.weights, sums, [](auto, const W*) HWY_ATTR {});
}

template <std::size_t R, std::size_t V, class AnyRows, class W>
HWY_INLINE void finish(const Epilogue& epilogue, const AnyRows& rows, const Columns<W>& columns, const Part& last,
                       Vector (&sums)[R][V]) {
  if (epilogue.residual)
    unrolled<R>([&](auto r) HWY_ATTR {
      unrolled<V>([&](auto v) HWY_ATTR {
        sums[r][v] = hn::Add(sums[r][v], load<V>(rows.residual(r) + columns.first, v, last));
      });
    });
  if (epilogue.activation == Activation::clamp) {
    const Vector low = number(epilogue.low), high = number(epilogue.high);
    unrolled<R>([&](auto r)
                    HWY_ATTR { unrolled<V>([&](auto v) HWY_ATTR { sums[r][v] = clamped(sums[r][v], low, high); }); });
  } else if (epilogue.activation == Activation::hardswish) {
    unrolled<R>([&](auto r) HWY_ATTR { unrolled<V>([&](auto v) HWY_ATTR { sums[r][v] = hardswish(sums[r][v]); }); });
  }
}

// Stores the sums of a pass.
template <std::size_t R, std::size_t V, class AnyRows, class W>
HWY_INLINE void store_sums(const Product& p, const AnyRows& rows, const Pass& pass, const Columns<W>& columns,
                           const Part& last, Vector (&sums)[R][V]) {
  if (pass.last) {
    if constexpr (has_factor<W>) {
      const Vector inverse = number(1 / factor_of(p));
      unrolled<R>([&](auto r)
                      HWY_ATTR { unrolled<V>([&](auto v) HWY_ATTR { sums[r][v] = hn::Mul(sums[r][v], inverse); }); });
    }
    finish(p.epilogue, rows, columns, last, sums);
  }
  unrolled<R>([&](auto r) HWY_ATTR {
    float* to = rows.out(r) + columns.first;
    unrolled<V>([&](auto v) HWY_ATTR { store<V>(sums[r][v], to, v, last); });
  });
}

// R rows of V vectors.
template <std::size_t R, std::size_t V, class AnyRows, class W>
HWY_INLINE void sum_up(const Product& p, const AnyRows& rows, const Pass& pass, const Columns<W>& columns) {
  const Part last(columns.last_vector);
  Vector sums[R][V];
  begin(p, rows, columns, last, pass.first, sums);
  fetch<R, V>(p, rows, pass, columns);
  accumulate(p, rows, pass, columns, sums);
  store_sums(p, rows, pass, columns, last, sums);
}
template <std::size_t R, std::size_t V, class W>
void tile(const Product& p, const Rows& rows, const Pass& pass, const Columns<W>& columns) {
  sum_up<R, V>(p, rows, pass, columns);
}

// This many tiles, one below the other.
template <std::size_t R, std::size_t V, class W>
void strip(const Product& p, EvenRows rows, std::size_t tiles, const Pass& pass, const Columns<W>& columns) {
  for (; tiles > 0; --tiles, rows.advance(R)) sum_up<R, V>(p, rows, pass, columns);
}

template <class W>
constexpr std::size_t most_rows_of = std::is_same_v<W, float> ? most_rows : most_rows_of_halves;

template <class W>
using Tile = decltype(&tile<1, 1, W>);

// Tiles of V vectors, by their number of rows.
template <class W, std::size_t V, std::size_t... R>
constexpr std::array<Tile<W>, most_rows> tiles_of(std::index_sequence<R...>) {
  return {tile<R + 1, V, W>...};
}
template <class W, std::size_t... V>
constexpr std::array<std::array<Tile<W>, most_rows>, sizeof...(V)> all_tiles(std::index_sequence<V...>) {
  return {tiles_of<W, V + 1>(std::make_index_sequence<std::min(most_rows_of<W>, tile_rows(registers, V + 1))>())...};
}

template <class W>
using Strip = decltype(&strip<1, 1, W>);
template <class W, std::size_t... V>
constexpr std::array<Strip<W>, sizeof...(V)> strips_of(std::index_sequence<V...>) {
  return {strip<tile_rows(registers, V + 1), V + 1, W>...};
}

// Results `first` to `last`, in the order of places.
inline Rows rows_of(const Product& p, Range results) {
  Rows rows;
  rows.count = results.size();
  rows.inside = true;
  const std::ptrdiff_t last_y = (static_cast<std::ptrdiff_t>(p.tap_y.count) - 1) * p.tap_y.step,
                       last_x = (static_cast<std::ptrdiff_t>(p.tap_x.count) - 1) * p.tap_x.step;
  std::size_t y = results.begin / p.x.count, x = results.begin % p.x.count;
  for (std::size_t r = 0, end; r < rows.count; x = 0, ++y) {  // the results of a row
    end = std::min(rows.count, r + p.x.count - x);
    const std::ptrdiff_t in_y = static_cast<std::ptrdiff_t>(y) * p.y.stride + p.tap_y.first;
    std::ptrdiff_t in_x = static_cast<std::ptrdiff_t>(x) * p.x.stride + p.tap_x.first;
    const std::ptrdiff_t end_x = in_x + static_cast<std::ptrdiff_t>(end - r - 1) * p.x.stride;
    if (p.image.zeros)
      rows.inside =
          rows.inside &&
          is_inside(p.image, in_y + std::min<std::ptrdiff_t>(last_y, 0), in_x + std::min<std::ptrdiff_t>(last_x, 0)) &&
          is_inside(p.image, in_y + std::max<std::ptrdiff_t>(last_y, 0), end_x + std::max<std::ptrdiff_t>(last_x, 0));
    std::size_t place = y * p.y.place + x * p.x.place;
    for (; r < end; ++r, in_x += p.x.stride, place += p.x.place) {
      if (p.image.zeros) rows.y[r] = in_y, rows.x[r] = in_x;
      rows.in[r] = floats_to(p.image, in_y, in_x);
      rows.results[r] = p.out + place * p.out_stride;
      if (p.epilogue.residual) rows.terms[r] = p.epilogue.residual + place * p.epilogue.residual_stride;
    }
  }
  return rows;
}

inline void activate_tile(const Epilogue& epilogue, const Rows& rows, Range columns) {
  for (std::size_t r = 0; r < rows.count; ++r) {
    float* out = rows.out(r) + columns.begin;
    activate(instruction_set, epilogue, out, out, columns.size());
  }
}

template <class W>
constexpr auto tiles = all_tiles<W>(std::make_index_sequence<most_vectors>());
template <class W>
constexpr auto strips = strips_of<W>(std::make_index_sequence<most_vectors>());

// Results that each see one tap of so few channels that the weights stay near. A tile takes little time. Its addresses
// are the addresses of the previous tile plus a constant.
inline bool is_thin(const Product& p, const Pass& pass) {
  return p.tap_y.count * p.tap_x.count == 1 && !p.image.zeros && p.channels * most_vectors * lanes <= thin_panel &&
         p.panels.floats() <= thin_weights && pass.first && pass.last && is_short(p.epilogue.activation);
}

// The number of results, from the first on, that have equal distances: the results of a row, or all results.
inline std::size_t even_results(const Product& p) {
  const std::ptrdiff_t row = floats_to(p.image, p.y.stride, 0);
  const bool goes_on = row == floats_to(p.image, 0, p.x.stride * static_cast<std::ptrdiff_t>(p.x.count)) &&
                       p.y.place == p.x.place * p.x.count;
  return goes_on ? p.x.count * p.y.count : p.x.count;
}

// The results from one on.
inline EvenRows even_rows(const Product& p, std::size_t result) {
  const Rows one = rows_of(p, {result, result + 1});
  return {p.image.data + one.in[0],
          static_cast<std::size_t>(floats_to(p.image, 0, p.x.stride)),
          one.out(0),
          p.x.place * p.out_stride,
          p.epilogue.residual ? one.residual(0) : nullptr,
          p.x.place * p.epilogue.residual_stride};
}

// The columns of these vectors; nothing is fetched ahead.
template <class W>
Columns<W> columns_of(const Product& p, const Pass& pass, Range vectors) {
  const std::size_t first = vectors.begin * lanes, last = std::min(vectors.end * lanes, p.panels.columns);
  const std::size_t of_pass = (pass.taps.begin * p.channels + pass.channels.begin) * vectors.size() * lanes;
  const W* weights = weights_of<W>(p) + first * p.panels.depth + of_pass;
  return {first, lanes - (vectors.end * lanes - last), weights, weights, 0};
}

template <class W>
void multiply_thin(const Product& p, const Pass& pass, Range results, Range panels, std::size_t tile_rows) {
  const std::size_t even = even_results(p);
  for (std::size_t begin = results.begin, end; begin < results.end; begin = end) {
    end = std::min({begin + thin_tiles * tile_rows, begin / even * even + even, results.end});
    const EvenRows first = even_rows(p, begin);
    for (std::size_t panel = panels.begin; panel < panels.end; ++panel) {
      const Range vectors = p.panels.of(panel);
      const std::size_t rows = kernels::tile_rows(registers, vectors.size());
      const Columns<W> columns = columns_of<W>(p, pass, vectors);
      const std::size_t count = (end - begin) / rows, rest = begin + count * rows;
      strips<W>[vectors.size() - 1](p, first, count, pass, columns);
      if (rest < end) tiles<W>[vectors.size() - 1][end - rest - 1](p, rows_of(p, {rest, end}), pass, columns);
    }
  }
}

// One pass over the tiles of some results and panels.
template <class W>
void multiply_pass(const Product& p, const Pass& pass, Range results, Range panels, std::size_t tile_rows) {
  if constexpr (std::is_same_v<W, float>)
    if (is_thin(p, pass)) return multiply_thin<W>(p, pass, results, panels, tile_rows);
  const std::size_t count = (results.size() + tile_rows - 1) / tile_rows;
  const std::size_t depth = pass.taps.size() * pass.channels.size();
  // The first panels load each pixel of a 1 x 1 convolution; the later panels find it in a cache.
  const bool pixels_are_next =
      depth > 0 && p.tap_y.count * p.tap_x.count == 1 && panels.begin == 0 &&
      (panels.end == p.panels.count() || panels.size() * most_vectors * lanes < results.size());
  const std::size_t vectors = p.panels.vectors(), all_panels = p.panels.count();
  // All tiles share in fetching the weights of the next panels.
  const bool weights_are_next = count > 1 && panels.end < all_panels;
  const std::size_t weights_step = (group * most_vectors * lanes + count - 1) / count;
  for (std::size_t t = 0; t < count; ++t) {
    const Range in_block = part(results.size(), t, count);
    const Rows rows = rows_of(p, {results.begin + in_block.begin, results.begin + in_block.end});
    // All panels share in fetching the pixels of the next tile.
    const std::size_t pixels_step =
        pixels_are_next ? group * rows.count * p.image.pixel_stride / (depth * panels.size()) : 0;
    const float* pixels = p.image.data + rows.in[rows.count - 1] + p.image.pixel_stride;
    std::size_t first = part(vectors, panels.begin, all_panels).begin;
    for (std::size_t panel = panels.begin, end; panel < panels.end; ++panel, first = end) {
      end = vectors * (panel + 1) / all_panels;
      Columns<W> columns = columns_of<W>(p, pass, {first, end});
      if (pixels_are_next) {
        columns.ahead = pixels + (panel - panels.begin) * depth * pixels_step / group;
        columns.ahead_step = pixels_step * sizeof(float);
      } else if (weights_are_next) {
        columns.ahead =
            columns.weights + (end - first) * lanes * p.panels.depth * panels.size() + t * depth * weights_step / group;
        columns.ahead_step = weights_step * sizeof(W);
      }
      tiles<W>[end - first - 1][rows.count - 1](p, rows, pass, columns);
      if (pass.last && !is_short(p.epilogue.activation))
        activate_tile(p.epilogue, rows, {columns.first, std::min(end * lanes, p.panels.columns)});
    }
  }
}

// One result times panels of V vectors. Panels in different parts of the weights are multiplied together: memory is
// read faster in several places at once. A part may have one panel less than the last part; then the first panel of the
// next part is multiplied twice.
constexpr std::size_t panels_together = 4;
template <std::size_t V, class W>
void multiply_result(const Product& p, std::size_t result, Range panels) {
  constexpr std::size_t together = panels_together;
  const Pass pass{{0, 1}, {0, p.channels}, 0, 0, true, true};
  const Rows rows = rows_of(p, {result, result + 1});
  const float* in = p.image.data + rows.in[0];
  for (std::size_t i = 0; i < (panels.size() + together - 1) / together; ++i) {
    Columns<W> columns[together];
    Vector sums[together][1][V];
    unrolled<together>([&](auto k) HWY_ATTR {
      columns[k] = columns_of<W>(p, pass, p.panels.of(panels.begin + part(panels.size(), k, together).begin + i));
      begin(p, rows, columns[k], Part(columns[k].last_vector), true, sums[k]);
    });
    for (std::size_t c = 0; c < p.channels; ++c) {
      const Vector a = hn::Set(floats, in[c]);
      unrolled<together>([&](auto k) HWY_ATTR {
        const W* weights = columns[k].weights + c * V * lanes;
        unrolled<V>([&](auto v) HWY_ATTR { add_product(a, load_packed(weights + v * lanes), sums[k][0][v]); });
      });
    }
    unrolled<together>([&](auto k)
                           HWY_ATTR { store_sums(p, rows, pass, columns[k], Part(columns[k].last_vector), sums[k]); });
  }
  if (!is_short(p.epilogue.activation))
    activate_tile(
        p.epilogue, rows,
        {p.panels.of(panels.begin).begin * lanes, std::min(p.panels.of(panels.end - 1).end * lanes, p.panels.columns)});
}

// Whether there is one result, which sees one tap with contiguous channels, and panels of equal width.
inline bool is_one_result(const Product& p, Range results, Range panels) {
  return results.size() == 1 && p.tap_y.count * p.tap_x.count == 1 && !p.image.zeros && !p.offsets &&
         panels.size() >= panels_together && p.panels.vectors() % p.panels.count() == 0;
}

template <class W, std::size_t... V>
constexpr std::array<decltype(&multiply_result<1, W>), sizeof...(V)> multiply_result_by_width(
    std::index_sequence<V...>) {
  return {multiply_result<V + 1, W>...};
}

template <class W>
void multiply_block(const Product& p, const Blocks& blocks, Range results, Range panels) {
  if (is_one_result(p, results, panels)) {
    constexpr auto of_width = multiply_result_by_width<W>(std::make_index_sequence<most_vectors>());
    return of_width[p.panels.of(0).size() - 1](p, results.begin, panels);
  }
  const std::size_t taps = p.tap_y.count * p.tap_x.count;
  for (std::size_t k = 0; k < blocks.passes; ++k) {
    Pass pass{{0, taps}, {0, p.channels}, 0, 0, k == 0, k + 1 == blocks.passes};
    (taps == 1 ? pass.channels : pass.taps) = part(taps == 1 ? p.channels : taps, k, blocks.passes);
    if (taps > 1) pass.tap_y = pass.taps.begin / p.tap_x.count, pass.tap_x = pass.taps.begin % p.tap_x.count;
    for (std::size_t first = panels.begin; first < panels.end; first += blocks.panels)
      multiply_pass<W>(p, pass, results, {first, std::min(first + blocks.panels, panels.end)}, blocks.rows);
  }
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
