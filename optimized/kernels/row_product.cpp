#include "optimized/kernels/row_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/row_product.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "optimized/kernels/dot-inl.h"
#include "optimized/kernels/halves.h"
#include "optimized/kernels/lines.h"
#include "optimized/kernels/steps-inl.h"

#ifndef ASSAY_KERNELS_ROW_PRODUCT_CPP
#define ASSAY_KERNELS_ROW_PRODUCT_CPP
namespace assay::kernels {

// A panel has the columns of one vector. Packed: for each panel the biases of its columns, the scales of each group and
// the weights of each group; with weights of 8 bits, the sums of the weights are behind the scales. A 32-bit element
// has four weights of a column of 8 bits, or eight of 4 bits: the low halves of the bytes are the first four, and each
// half is the weight plus 8. All numbers below are floats in a column of a panel.
constexpr std::size_t most_lanes = std::ranges::max(instruction_sets, {}, &InstructionSetTraits::lanes).lanes;
constexpr std::size_t lanes_of(const RowProduct& p) { return traits(p.set).lanes; }
constexpr std::size_t panels_of(const RowProduct& p) { return (p.outputs + lanes_of(p) - 1) / lanes_of(p); }
constexpr std::size_t elements_of_group(const RowProduct& p) { return p.group > 0 ? p.group / 8 : (p.inputs + 3) / 4; }
constexpr std::size_t first_scale = 1;
constexpr std::size_t first_sum(const RowProduct& p) {
  return first_scale + (p.has_short_scales ? (p.groups() + 1) / 2 : p.groups());
}
constexpr std::size_t first_weight(const RowProduct& p) { return first_sum(p) + (p.group > 0 ? 0 : 1); }
constexpr std::size_t floats_of_panel(const RowProduct& p) {
  return (first_weight(p) + p.groups() * elements_of_group(p)) * lanes_of(p);
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

constexpr std::size_t rows_together = 4;
// The panels that are multiplied together. They are in different parts of the weights: memory is read faster in several
// places at once. With several rows, more sums would not stay in registers.
constexpr std::size_t panels_together(std::size_t rows) { return rows == 1 ? 4 : 2; }

// Stores the codes of a row, their number, and what the sums of its groups begin with.
void prepare_row(const RowProduct& p, const float* x, std::uint8_t* codes, std::int32_t* offsets, QuantizedRow& row) {
  const Steps steps = quantize_row(x, p.inputs, codes);
  row = {codes, offsets, steps.zero, steps.inverse};
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

template <std::size_t R, std::size_t V>
using Sums = std::int32_t[R][V][lanes];

// Vectors of doubles: the numbers that are stored at p.
using DoubleTag = hn::ScalableTag<double>;
using Doubles = hn::Vec<DoubleTag>;
constexpr DoubleTag doubles{};
constexpr std::size_t double_lanes = hn::MaxLanes(DoubleTag());
HWY_INLINE Doubles widened(const std::int32_t* p) {
  return hn::PromoteTo(doubles, hn::LoadU(hn::Rebind<std::int32_t, DoubleTag>(), p));
}
HWY_INLINE Doubles widened(const float* p) {
  return hn::PromoteTo(doubles, hn::LoadU(hn::Rebind<float, DoubleTag>(), p));
}
HWY_INLINE Doubles widened(const BFloat16* p) {
  const auto bits = hn::LoadU(hn::Rebind<std::uint16_t, DoubleTag>(), &p->bits);
  const auto words = hn::ShiftLeft<16>(hn::PromoteTo(hn::Rebind<std::uint32_t, DoubleTag>(), bits));
  return hn::PromoteTo(doubles, hn::BitCast(hn::Rebind<float, DoubleTag>(), words));
}

// The sums of rows: codes times weights, minus the code of 0 times the sums of the weights.
template <class Dot, std::size_t R, std::size_t V>
HWY_INLINE void sum_bytes(const RowProduct& p, const QuantizedRow* rows, const float* const (&panels)[V],
                          Sums<R, V>& to) {
  Integers sums[R][V];
  unrolled<R>([&](auto r) HWY_ATTR {
    const Integers zero = number(rows[r].zero);
    unrolled<V>([&](auto v) HWY_ATTR {
      sums[r][v] = hn::Sub(hn::Zero(integers), hn::Mul(load_integers(panels[v] + first_sum(p) * lanes), zero));
    });
  });
  std::size_t at = first_weight(p) * lanes;
  for (std::size_t i = 0; i < row_bytes(p); i += 4, at += lanes) {
    unrolled<V>([&](auto v) HWY_ATTR {
      const typename Dot::Factor w = Dot::signed_bytes(load_integers(panels[v] + at));
      unrolled<R>([&](auto r)
                      HWY_ATTR { Dot::add(Dot::unsigned_bytes(four_codes(rows[r].codes + i)), w, sums[r][v]); });
    });
  }
  unrolled<R>([&](auto r)
                  HWY_ATTR { unrolled<V>([&](auto v) HWY_ATTR { hn::Store(sums[r][v], integers, to[r][v]); }); });
}

// The same for a group of weights of 4 bits, whose sums are not packed.
template <class Dot, std::size_t R, std::size_t V>
HWY_INLINE void sum_halves(const RowProduct& p, const QuantizedRow* rows, std::size_t group,
                           const float* const (&panels)[V], Sums<R, V>& to) {
  const Integers half = number(0x0f0f0f0f);
  const typename Dot::Factor ones = Dot::unsigned_bytes(number(0x01010101));
  Integers sums[R][V], of_weights[V];
  unrolled<V>([&](auto v) HWY_ATTR { of_weights[v] = hn::Zero(integers); });
  unrolled<R>([&](auto r)
                  HWY_ATTR { unrolled<V>([&](auto v) HWY_ATTR { sums[r][v] = number(-rows[r].offsets[group]); }); });
  std::size_t at = (first_weight(p) + group * elements_of_group(p)) * lanes;
  for (std::size_t i = group * p.group; i < (group + 1) * p.group; i += 8, at += lanes) {
    unrolled<V>([&](auto v) HWY_ATTR {
      const Integers eight = load_integers(panels[v] + at), first = hn::And(eight, half),
                     last = hn::And(hn::ShiftRight<4>(eight), half);
      const typename Dot::Factor low = Dot::signed_bytes(first), high = Dot::signed_bytes(last);
      Dot::add(ones, Dot::signed_bytes(hn::Add(first, last)), of_weights[v]);
      unrolled<R>([&](auto r) HWY_ATTR {
        Dot::add(Dot::unsigned_bytes(four_codes(rows[r].codes + i)), low, sums[r][v]);
        Dot::add(Dot::unsigned_bytes(four_codes(rows[r].codes + i + 4)), high, sums[r][v]);
      });
    });
  }
  unrolled<R>([&](auto r) HWY_ATTR {
    const Integers zero = number(rows[r].zero);
    unrolled<V>([&](auto v)
                    HWY_ATTR { hn::Store(hn::Sub(sums[r][v], hn::Mul(of_weights[v], zero)), integers, to[r][v]); });
  });
}

// Weights of 8 bits, and weights of 4 bits with scales of a type.
struct Bytes8 {};
template <class Scale>
struct Halves {};

// The first n columns of the panels times R rows.
template <class Dot, std::size_t R, std::size_t V>
HWY_INLINE void multiply_rows(Bytes8, const RowProduct& p, const QuantizedRow* rows, const float* const (&panels)[V],
                              const std::size_t (&first)[V], float* out) {
  HWY_ALIGN Sums<R, V> sums;
  sum_bytes<Dot, R, V>(p, rows, panels, sums);
  for (std::size_t r = 0; r < R; ++r, out += p.outputs)
    for (std::size_t v = 0; v < V; ++v) {
      const float *bias = panels[v], *scales = panels[v] + first_scale * lanes;
      const std::size_t n = std::min(lanes, p.outputs - first[v]);
      for (std::size_t j = 0; j < n; ++j) {
        const float y = static_cast<float>(sums[r][v][j]) * rows[r].inverse;
        const double scaled = static_cast<double>(y) * static_cast<double>(scales[j]);
        out[first[v] + j] = static_cast<float>(p.has_bias ? scaled + static_cast<double>(bias[j]) : scaled);
      }
    }
}
template <class Dot, std::size_t R, std::size_t V, class Scale>
HWY_INLINE void multiply_rows(Halves<Scale>, const RowProduct& p, const QuantizedRow* rows,
                              const float* const (&panels)[V], const std::size_t (&first)[V], float* out) {
  constexpr std::size_t parts = lanes / double_lanes;
  Doubles sums_of_groups[R][V][parts];
  const auto each_part = [](const auto& f) HWY_ATTR {
    unrolled<V>([&](auto v) HWY_ATTR { unrolled<parts>([&](auto i) HWY_ATTR { f(v, i); }); });
  };
  each_part([&](auto v, auto i)
                HWY_ATTR { unrolled<R>([&](auto r) HWY_ATTR { sums_of_groups[r][v][i] = hn::Zero(doubles); }); });
  for (std::size_t g = 0; g < p.groups(); ++g) {
    HWY_ALIGN Sums<R, V> sums;
    sum_halves<Dot, R, V>(p, rows, g, panels, sums);
    each_part([&](auto v, auto i) HWY_ATTR {
      const auto* scales = reinterpret_cast<const Scale*>(panels[v] + first_scale * lanes) + g * lanes;
      const Doubles scale = widened(scales + i * double_lanes);
      unrolled<R>([&](auto r) HWY_ATTR {  // products are exact
        Doubles& total = sums_of_groups[r][v][i];
        total = hn::MulAdd(widened(sums[r][v] + i * double_lanes), scale, total);
      });
    });
  }
  for (std::size_t r = 0; r < R; ++r, out += p.outputs)
    for (std::size_t v = 0; v < V; ++v) {
      HWY_ALIGN double totals[lanes];
      for (std::size_t i = 0; i < parts; ++i) hn::Store(sums_of_groups[r][v][i], doubles, totals + i * double_lanes);
      const std::size_t n = std::min(lanes, p.outputs - first[v]);
      for (std::size_t j = 0; j < n; ++j) {
        const float y = static_cast<float>(totals[j]) * rows[r].inverse;
        out[first[v] + j] = p.has_bias ? y + panels[v][j] : y;
      }
    }
}

// Rows, R at a time, times a range of panels. A part may have one panel less than the last part; then the first panel
// of the next part is multiplied twice.
template <class Dot, class Weights, std::size_t R>
void multiply_by_rows(const RowProduct& p, const QuantizedRow* rows, std::size_t count, const float* packed, float* out,
                      Range range) {
  constexpr std::size_t V = panels_together(R);
  for (std::size_t i = 0; i < (range.size() + V - 1) / V; ++i) {
    const float* panels[V];
    std::size_t first[V];
    for (std::size_t v = 0; v < V; ++v) {
      const std::size_t panel = range.begin + part(range.size(), v, V).begin + i;
      panels[v] = packed + panel * floats_of_panel(p), first[v] = panel * lanes;
    }
    for (std::size_t r = 0; r < count; r += R)
      multiply_rows<Dot, R>(Weights(), p, rows + r, panels, first, out + r * p.outputs);
  }
}
template <class Dot, class Weights>
void multiply_panels(const RowProduct& p, const QuantizedRow* rows, std::size_t count, const float* packed, float* out,
                     Range panels) {
  const std::size_t whole = count / rows_together * rows_together;
  if (whole > 0) multiply_by_rows<Dot, Weights, rows_together>(p, rows, whole, packed, out, panels);
  if (whole < count)
    multiply_by_rows<Dot, Weights, 1>(p, rows + whole, count - whole, packed, out + whole * p.outputs, panels);
}

using Multiply = void (*)(const RowProduct&, const QuantizedRow*, std::size_t, const float*, float*, Range);
template <class Dot>
Multiply find_multiply_by(const RowProduct& p) {
  if (p.group == 0) return multiply_panels<Dot, Bytes8>;
  return p.has_short_scales ? multiply_panels<Dot, Halves<BFloat16>> : multiply_panels<Dot, Halves<float>>;
}
Multiply find_multiply(const RowProduct& p) {
  return p.uses_vnni ? find_multiply_by<Fastest>(p) : find_multiply_by<Plain>(p);
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {
namespace {

std::size_t offset_bytes(const RowProduct& p) { return p.group > 0 ? p.groups() * sizeof(std::int32_t) : 0; }

// N codes of a column, from weight `first` on. Codes behind the last input are 0.
template <std::size_t N>
std::array<std::int8_t, N> codes_of(const RowProduct& p, const RowWeights& w, std::size_t output, std::size_t first) {
  std::array<std::int8_t, N> codes{};
  const std::int8_t* from = w.codes + output * w.output_stride + first * w.input_stride;
  if (w.input_stride == 1 && first + N <= p.inputs)
    std::memcpy(codes.data(), from, N);
  else
    for (std::size_t i = 0; i < std::min(N, p.inputs - first); ++i) codes[i] = from[i * w.input_stride];
  return codes;
}

std::uint32_t element_of(const std::array<std::int8_t, 4>& codes) { return std::bit_cast<std::uint32_t>(codes); }
std::uint32_t element_of(const std::array<std::int8_t, 8>& codes) {
  std::uint32_t four[2];
  std::memcpy(four, codes.data(), sizeof four);
  for (std::uint32_t& x : four) x = (x ^ 0x08080808) & 0x0f0f0f0f;  // the low half of a code plus 8
  return four[0] | four[1] << 4;
}

void pack_panel(const RowProduct& p, const RowWeights& w, std::size_t panel, float* packed) {
  const std::size_t lanes = lanes_of(p), first = panel * lanes, n = std::min(lanes, p.outputs - first);
  float *scales = packed + first_scale * lanes, *weights = packed + first_weight(p) * lanes;
  std::fill(packed, weights, 0.0f);
  if (p.has_bias) std::copy_n(w.bias + first, n, packed);
  for (std::size_t g = 0; g < p.groups(); ++g)
    for (std::size_t j = 0; j < n; ++j) {
      const float scale = w.scales[(first + j) * w.scale_stride + g];
      if (p.has_short_scales)
        reinterpret_cast<BFloat16*>(scales)[g * lanes + j] = BFloat16::of(scale);
      else
        scales[g * lanes + j] = scale;
    }
  std::array<std::int32_t, most_lanes> sums{};
  for (std::size_t e = 0; e < p.groups() * elements_of_group(p); ++e, weights += lanes) {
    std::array<std::uint32_t, most_lanes> elements{};
    for (std::size_t j = 0; j < n; ++j) {
      if (p.group > 0) {
        elements[j] = element_of(codes_of<8>(p, w, first + j, 8 * e));
      } else {
        const auto codes = codes_of<4>(p, w, first + j, 4 * e);
        elements[j] = element_of(codes);
        for (const std::int8_t code : codes) sums[j] += code;
      }
    }
    std::memcpy(weights, elements.data(), lanes * sizeof(float));
  }
  if (p.group == 0) std::memcpy(packed + first_sum(p) * lanes, sums.data(), lanes * sizeof(float));
}

}  // namespace

bool can_multiply(const RowProduct& p) {
  constexpr std::size_t most = 0x7fffffff / (255 * 128);
  return p.inputs > 0 && p.outputs > 0 && p.inputs <= most &&
         (p.group == 0 || (p.group % 8 == 0 && p.inputs % p.group == 0));
}

std::size_t packed_floats(const RowProduct& p) { return panels_of(p) * floats_of_panel(p); }

bool are_short(const float* scales, std::size_t n) {
  std::uint32_t others = 0;
  for (std::size_t i = 0; i < n; ++i) others |= std::bit_cast<std::uint32_t>(scales[i]) & 0xffff;
  return others == 0;
}

void pack(const RowProduct& p, const RowWeights& w, float* packed) {
  for (std::size_t i = 0; i < panels_of(p); ++i) pack_panel(p, w, i, packed + i * floats_of_panel(p));
}

std::size_t scratch_bytes(const RowProduct& p, std::size_t rows) {
  return whole_lines(rows * sizeof(QuantizedRow)) + rows * (whole_lines(row_bytes(p)) + whole_lines(offset_bytes(p)));
}

void multiply(const RowProduct& p, const float* x, std::size_t rows, const float* packed, float* out, void* scratch,
              const Threads& threads) {
  constexpr decltype(&HWY_STATIC_DISPATCH(find_multiply)) find[] = ASSAY_OF_EACH_SET(find_multiply);
  constexpr decltype(&HWY_STATIC_DISPATCH(prepare_row)) prepare[] = ASSAY_OF_EACH_SET(prepare_row);
  const auto set = static_cast<std::size_t>(p.set);
  auto* quantized = static_cast<QuantizedRow*>(scratch);
  auto* bytes = static_cast<std::uint8_t*>(scratch) + whole_lines(rows * sizeof(QuantizedRow));
  const std::size_t stride = whole_lines(row_bytes(p)) + whole_lines(offset_bytes(p));
  share(threads, rows, p.inputs, [&](Range range) {
    for (std::size_t r = range.begin; r < range.end; ++r) {
      std::uint8_t* codes = bytes + r * stride;
      prepare[set](p, x + r * p.inputs, codes, reinterpret_cast<std::int32_t*>(codes + whole_lines(row_bytes(p))),
                   quantized[r]);
    }
  });
  const auto multiply = find[set](p);
  share(threads, panels_of(p), rows * p.inputs * lanes_of(p) / 4,
        [&](Range panels) { multiply(p, quantized, rows, packed, out, panels); });
}

}  // namespace assay::kernels
#endif
