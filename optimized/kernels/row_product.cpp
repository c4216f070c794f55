#include "optimized/kernels/row_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/row_product.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "optimized/kernels/dot-inl.h"
#include "optimized/kernels/lines.h"

#ifndef ASSAY_KERNELS_ROW_PRODUCT_CPP
#define ASSAY_KERNELS_ROW_PRODUCT_CPP
namespace assay::kernels {

// The columns of a panel: two vectors. Packed: for each panel the biases of its columns and, for each group, the sums
// of the weights, the scales and the weights. A 32-bit element has four weights of a column of 8 bits, or eight of 4
// bits: the low halves of the bytes are the first four, and each half is the weight plus 8.
constexpr std::size_t panel_columns(const RowProduct& p) { return 2 * traits(p.set).lanes; }
constexpr std::size_t panels_of(const RowProduct& p) { return (p.outputs + panel_columns(p) - 1) / panel_columns(p); }
constexpr std::size_t elements_of_group(const RowProduct& p) { return p.group > 0 ? p.group / 8 : (p.inputs + 3) / 4; }
constexpr std::size_t floats_of_group(const RowProduct& p) { return (2 + elements_of_group(p)) * panel_columns(p); }
constexpr std::size_t floats_of_panel(const RowProduct& p) {
  return panel_columns(p) + p.groups() * floats_of_group(p);
}

// A row whose steps are codes minus a code, which are unsigned bytes.
struct QuantizedRow {
  const std::uint8_t* codes;
  const std::int32_t* offsets;  // with weights of 4 bits: 8 times the sum of the steps of each group
  std::int32_t zero;
  float inverse;
};
constexpr std::size_t row_bytes(const RowProduct& p) { return (p.inputs + 3) / 4 * 4; }

}  // namespace assay::kernels
#endif

// The compiler makes vectors of the loops without vectors.
HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

constexpr std::size_t columns = 2 * lanes, rows_together = 4;

// Quantizes a row; returns false if one of its steps is NaN.
bool quantize_steps(const float* x, std::size_t n, std::uint8_t* codes, QuantizedRow& row) {
  float least = 0, most = 0;
#pragma omp simd reduction(min : least) reduction(max : most)
  for (std::size_t i = 0; i < n; ++i) least = x[i] < least ? x[i] : least, most = x[i] > most ? x[i] : most;
  const float range = most - least, k = range == 0 ? 1 : 255 / range;
  const float a = least * k, b = most * k;
  const float exact = (a + -128) + (b + 127) > 0 ? -128 - a : 127 - b;
  const float limited = exact < -128 ? -128 : exact > 127 ? 127 : exact;
  if (!(limited == limited)) return false;
  const float z = std::nearbyint(limited), low = -128 - z, high = 127 - z, zero = z + 128;
  std::uint32_t has_nan = 0;
#pragma omp simd reduction(| : has_nan)
  for (std::size_t i = 0; i < n; ++i) {
    const float scaled = x[i] * k, raised = scaled < low ? low : scaled, step = raised > high ? high : raised;
    has_nan |= step == step ? 0u : 1u;
    codes[i] = static_cast<std::uint8_t>(static_cast<std::int32_t>(std::nearbyint(step == step ? step : 0) + zero));
  }
  row.zero = static_cast<std::int32_t>(zero), row.inverse = 1 / k;
  return has_nan == 0;
}

// Stores the codes of a row, their number, and what the sums of its groups begin with.
void quantize_row(const RowProduct& p, const float* x, std::uint8_t* codes, std::int32_t* offsets, QuantizedRow& row) {
  row = {codes, offsets, 0, 0};
  if (!quantize_steps(x, p.inputs, codes, row)) {
    row = {codes, offsets, 0, std::numeric_limits<float>::quiet_NaN()};
    std::fill_n(codes, p.inputs, 0);
  }
  for (std::size_t i = p.inputs; i < row_bytes(p); ++i) codes[i] = 0;
  if (p.group == 0) return;
  for (std::size_t g = 0; g < p.groups(); ++g) {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < p.group; ++i) sum += codes[g * p.group + i];
    offsets[g] = 8 * (sum - row.zero * static_cast<std::int32_t>(p.group));
  }
}

HWY_INLINE Integers four_codes(const std::uint8_t* codes) {
  std::int32_t four;
  std::memcpy(&four, codes, sizeof four);
  return number(four);
}

// The sums of a group: codes times weights, minus the code of 0 times the sums of the weights.
template <class Dot, std::size_t R>
HWY_INLINE void sum_bytes(const RowProduct& p, const QuantizedRow* rows, const float* weights, Integers (&sums)[R][2]) {
  for (std::size_t i = 0; i < row_bytes(p); i += 4, weights += columns) {
    typename Dot::Factor w[2];
    unrolled<2>([&](auto v) HWY_ATTR { w[v] = Dot::signed_bytes(load_integers(weights + v * lanes)); });
    unrolled<R>([&](auto r) HWY_ATTR {
      const typename Dot::Factor x = Dot::unsigned_bytes(four_codes(rows[r].codes + i));
      unrolled<2>([&](auto v) HWY_ATTR { Dot::add(x, w[v], sums[r][v]); });
    });
  }
}
template <class Dot, std::size_t R>
HWY_INLINE void sum_halves(const RowProduct& p, const QuantizedRow* rows, std::size_t first, const float* weights,
                           Integers (&sums)[R][2]) {
  const Integers half = number(0x0f0f0f0f);
  for (std::size_t i = first; i < first + p.group; i += 8, weights += columns) {
    typename Dot::Factor low[2], high[2];
    unrolled<2>([&](auto v) HWY_ATTR {
      const Integers eight = load_integers(weights + v * lanes);
      low[v] = Dot::signed_bytes(hn::And(eight, half));
      high[v] = Dot::signed_bytes(hn::And(hn::ShiftRight<4>(eight), half));
    });
    unrolled<R>([&](auto r) HWY_ATTR {
      const typename Dot::Factor x = Dot::unsigned_bytes(four_codes(rows[r].codes + i)),
                                 y = Dot::unsigned_bytes(four_codes(rows[r].codes + i + 4));
      unrolled<2>([&](auto v) HWY_ATTR { Dot::add(x, low[v], sums[r][v]), Dot::add(y, high[v], sums[r][v]); });
    });
  }
}

// R rows times a panel, of which n columns are stored.
template <class Dot, std::size_t R>
void multiply_rows(const RowProduct& p, const QuantizedRow* rows, const float* panel, std::size_t n, float* out) {
  const float* group = panel + columns;
  HWY_ALIGN std::int32_t sums[R][columns];
  double totals[R][columns] = {};
  const float* scales = nullptr;
  for (std::size_t g = 0; g < p.groups(); ++g, group += floats_of_group(p)) {
    scales = group + columns;
    Integers vectors[R][2];
    unrolled<R>([&](auto r) HWY_ATTR {
      const Integers zero = number(rows[r].zero), begin = number(p.group > 0 ? rows[r].offsets[g] : 0);
      unrolled<2>([&](auto v) HWY_ATTR {
        vectors[r][v] = hn::Sub(hn::Sub(hn::Zero(integers), begin), hn::Mul(load_integers(group + v * lanes), zero));
      });
    });
    if (p.group > 0)
      sum_halves<Dot>(p, rows, g * p.group, group + 2 * columns, vectors);
    else
      sum_bytes<Dot>(p, rows, group + 2 * columns, vectors);
    unrolled<R>([&](auto r) HWY_ATTR {
      unrolled<2>([&](auto v) HWY_ATTR { hn::Store(vectors[r][v], integers, sums[r] + v * lanes); });
    });
    if (p.group == 0) break;
    for (std::size_t r = 0; r < R; ++r)
#pragma omp simd
      for (std::size_t j = 0; j < columns; ++j)
        totals[r][j] += static_cast<double>(sums[r][j]) * static_cast<double>(scales[j]);
  }
  for (std::size_t r = 0; r < R; ++r, out += p.outputs) {
    const float inverse = rows[r].inverse;
    if (p.group > 0) {
      for (std::size_t j = 0; j < n; ++j) {
        const float y = static_cast<float>(totals[r][j]) * inverse;
        out[j] = p.has_bias ? y + panel[j] : y;
      }
    } else {
      for (std::size_t j = 0; j < n; ++j) {
        const float y = static_cast<float>(sums[r][j]) * inverse;
        const double scaled = static_cast<double>(y) * static_cast<double>(scales[j]);
        out[j] = static_cast<float>(p.has_bias ? scaled + static_cast<double>(panel[j]) : scaled);
      }
    }
  }
}

template <class Dot>
void multiply_panels_by(const RowProduct& p, const QuantizedRow* rows, std::size_t count, const float* packed,
                        float* out, Range panels) {
  for (std::size_t i = panels.begin; i < panels.end; ++i) {
    const float* panel = packed + i * floats_of_panel(p);
    const std::size_t n = std::min(columns, p.outputs - i * columns);
    std::size_t r = 0;
    for (; r + rows_together <= count; r += rows_together)
      multiply_rows<Dot, rows_together>(p, rows + r, panel, n, out + r * p.outputs + i * columns);
    for (; r < count; ++r) multiply_rows<Dot, 1>(p, rows + r, panel, n, out + r * p.outputs + i * columns);
  }
}
void multiply_plainly(const RowProduct& p, const QuantizedRow* rows, std::size_t count, const float* packed, float* out,
                      Range panels) {
  multiply_panels_by<Plain>(p, rows, count, packed, out, panels);
}
void multiply_fast(const RowProduct& p, const QuantizedRow* rows, std::size_t count, const float* packed, float* out,
                   Range panels) {
  multiply_panels_by<Fastest>(p, rows, count, packed, out, panels);
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {
namespace {

std::size_t offset_bytes(const RowProduct& p) { return p.group > 0 ? p.groups() * sizeof(std::int32_t) : 0; }

}  // namespace

bool can_multiply(const RowProduct& p) {
  constexpr std::size_t most = 0x7fffffff / (255 * 128);
  return p.inputs > 0 && p.outputs > 0 && p.inputs <= most &&
         (p.group == 0 || (p.group % 8 == 0 && p.inputs % p.group == 0));
}

std::size_t packed_floats(const RowProduct& p) { return panels_of(p) * floats_of_panel(p); }

void pack(const RowProduct& p, const RowWeights& w, float* packed) {
  const std::size_t width = panel_columns(p), inputs = p.group > 0 ? p.group : p.inputs;
  std::fill_n(packed, packed_floats(p), 0.0f);
  for (std::size_t o = 0; o < p.outputs; ++o) {
    float* panel = packed + o / width * floats_of_panel(p) + o % width;
    if (p.has_bias) *panel = w.bias[o];
    for (std::size_t g = 0; g < p.groups(); ++g) {
      float* group = panel + width + g * floats_of_group(p);
      const std::int8_t* codes = w.codes + o * w.output_stride + g * inputs * w.input_stride;
      std::int32_t sum = 0;
      for (std::size_t i = 0; i < inputs; ++i) {
        const std::int32_t code = codes[i * w.input_stride], stored = p.group > 0 ? code + 8 : code;
        const std::size_t element = p.group > 0 ? i / 8 : i / 4;
        auto& byte = reinterpret_cast<std::uint8_t*>(group + (2 + element) * width)[i % 4];
        byte = static_cast<std::uint8_t>(byte | (p.group > 0 && i % 8 >= 4 ? stored << 4 : stored & 0xff));
        sum += stored;
      }
      std::memcpy(group, &sum, sizeof sum);
      group[width] = w.scales[o * w.scale_stride + g];
    }
  }
}

std::size_t scratch_bytes(const RowProduct& p, std::size_t rows) {
  return whole_lines(rows * sizeof(QuantizedRow)) + rows * (whole_lines(row_bytes(p)) + whole_lines(offset_bytes(p)));
}

void multiply(const RowProduct& p, const float* x, std::size_t rows, const float* packed, float* out, void* scratch,
              const Threads& threads) {
  using Multiply = void (*)(const RowProduct&, const QuantizedRow*, std::size_t, const float*, float*, Range);
  constexpr Multiply plain[] = ASSAY_OF_EACH_SET(multiply_plainly), fast[] = ASSAY_OF_EACH_SET(multiply_fast);
  constexpr decltype(&HWY_STATIC_DISPATCH(quantize_row)) quantize[] = ASSAY_OF_EACH_SET(quantize_row);
  const auto set = static_cast<std::size_t>(p.set);
  auto* quantized = static_cast<QuantizedRow*>(scratch);
  auto* bytes = static_cast<std::uint8_t*>(scratch) + whole_lines(rows * sizeof(QuantizedRow));
  const std::size_t stride = whole_lines(row_bytes(p)) + whole_lines(offset_bytes(p));
  share(threads, rows, p.inputs, [&](Range range) {
    for (std::size_t r = range.begin; r < range.end; ++r) {
      std::uint8_t* codes = bytes + r * stride;
      quantize[set](p, x + r * p.inputs, codes, reinterpret_cast<std::int32_t*>(codes + whole_lines(row_bytes(p))),
                    quantized[r]);
    }
  });
  share(threads, panels_of(p), rows * p.inputs * panel_columns(p) / 4,
        [&](Range panels) { (p.uses_vnni ? fast : plain)[set](p, quantized, rows, packed, out, panels); });
}

}  // namespace assay::kernels
#endif
