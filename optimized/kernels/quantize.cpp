#include "optimized/kernels/quantize.h"

#include <cmath>
#include <cstdint>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/quantize.cpp"
#include <hwy/foreach_target.h>

#include "optimized/kernels/vectors-inl.h"

// The compiler makes vectors of these loops.
HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

// A float beyond the range of the integer, and NaN, give the least integer.
HWY_INLINE std::int32_t integer_of(float x) {
  constexpr float limit = 0x1p31f;
  const bool fits = x >= -limit && x < limit;
  return fits ? static_cast<std::int32_t>(fits ? x : 0) : std::numeric_limits<std::int32_t>::min();
}

// The code of x, as a float. NaN stays NaN.
template <bool adds_first = false>
HWY_INLINE float code_of(const Quantizer& q, float x) {
  const float scaled = x * q.inverse_scale;
  const float code = adds_first ? std::nearbyint(scaled + q.zero_point) : std::nearbyint(scaled) + q.zero_point;
  const float least = code < q.low ? q.low : code;
  return least > q.high ? q.high : least;
}

template <class Code, bool adds_first>
HWY_INLINE void quantize_row_by(const Quantizer& given, const float* x, Code* codes, std::size_t n) {
  const Quantizer q = given;  // a copy: the compiler knows that no store to codes changes its numbers
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) codes[i] = static_cast<Code>(integer_of(code_of<adds_first>(q, x[i])));
}

template <class Code>
void quantize_row(const Quantizer& q, const float* x, Code* codes, std::size_t n) {
  q.adds_first ? quantize_row_by<Code, true>(q, x, codes, n) : quantize_row_by<Code, false>(q, x, codes, n);
}

template <class Code>
void dequantize_row(float zero_point, float scale, const Code* codes, float* y, std::size_t n) {
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) y[i] = (static_cast<float>(codes[i]) - zero_point) * scale;
}

template <Combination combination, class Code, bool b_is_one>
HWY_INLINE void combine_row_by(const CombinedCodes& given, const Code* a, const Code* b, Code* codes, std::size_t n) {
  const CombinedCodes q = given;
  const auto of_b = [&](Code code) HWY_ATTR { return (static_cast<float>(code) - q.b_zero_point) * q.b_scale; };
  const float one = of_b(*b);
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) {
    const float x = (static_cast<float>(a[i]) - q.a_zero_point) * q.a_scale, y = b_is_one ? one : of_b(b[i]);
    const float number = combination == Combination::sum ? x + y : x * y * q.factor;
    codes[i] = static_cast<Code>(static_cast<std::int32_t>(code_of(q.result, number)));
  }
}

template <class Code>
void add_row(const CombinedCodes& q, const Code* a, const Code* b, bool b_is_one, Code* codes, std::size_t n) {
  b_is_one ? combine_row_by<Combination::sum, Code, true>(q, a, b, codes, n)
           : combine_row_by<Combination::sum, Code, false>(q, a, b, codes, n);
}
template <class Code>
void multiply_row(const CombinedCodes& q, const Code* a, const Code* b, bool b_is_one, Code* codes, std::size_t n) {
  b_is_one ? combine_row_by<Combination::product, Code, true>(q, a, b, codes, n)
           : combine_row_by<Combination::product, Code, false>(q, a, b, codes, n);
}

template <class Code>
void quantize_sums(const ScaledSums& given, const std::int32_t* sums, Code* codes, std::size_t n) {
  const ScaledSums q = given;
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) {
    const float scaled = static_cast<float>(sums[i] + q.begin) * q.factor, number = scaled + q.offset;
    codes[i] = static_cast<Code>(integer_of(code_of(q.result, number)));
  }
}

template <class Code>
void add_fixed_row(const FixedPointSum& sum, const Code* a, const Code* b, Code* codes, std::size_t n) {
  const FixedPointSum q = sum;
  // The numerator fits; its parts may not.
  const auto product = [](std::int32_t factor, Code code) HWY_ATTR {
    return static_cast<std::uint32_t>(factor) * static_cast<std::uint32_t>(std::int32_t{code});
  };
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t numerator =
        product(q.a_factor, a[i]) + product(q.b_factor, b[i]) + static_cast<std::uint32_t>(q.offset);
    const std::int32_t code = (static_cast<std::int32_t>(numerator) >> q.shift) + q.zero_point;
    const std::int32_t least = code < q.low ? q.low : code;
    codes[i] = static_cast<Code>(least > q.high ? q.high : least);
  }
}

void interleave_three(const std::uint8_t* planes, std::size_t stride, std::uint8_t* pixels, std::size_t n) {
  const std::uint8_t *a = planes, *b = planes + stride, *c = planes + 2 * stride;
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  constexpr hn::ScalableTag<std::uint8_t> bytes{};
  constexpr std::size_t step = hn::MaxLanes(bytes);
  for (; i + step <= n; i += step)
    hn::StoreInterleaved3(hn::LoadU(bytes, a + i), hn::LoadU(bytes, b + i), hn::LoadU(bytes, c + i), bytes,
                          pixels + 3 * i);
#endif
  for (; i < n; ++i) pixels[3 * i] = a[i], pixels[3 * i + 1] = b[i], pixels[3 * i + 2] = c[i];
}

#if HWY_TARGET == HWY_SCALAR
void look_up(const std::uint8_t* table, const std::uint8_t* x, std::uint8_t* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = table[x[i]];
}
#else
// Each block of 16 entries gives the results of its bytes, and 0 for all others: an index with bit 7 gives 0.
void look_up(const std::uint8_t* table, const std::uint8_t* x, std::uint8_t* y, std::size_t n) {
  constexpr hn::ScalableTag<std::uint8_t> bytes{};
  constexpr std::size_t step = hn::MaxLanes(bytes), blocks = 16;
  std::size_t i = 0;
  for (; i + step <= n; i += step) {
    const auto codes = hn::LoadU(bytes, x + i);
    auto found = hn::Zero(bytes);
    unrolled<blocks>([&](auto block) HWY_ATTR {
      const auto place = hn::Xor(codes, hn::Set(bytes, static_cast<std::uint8_t>(16 * block)));
      found = hn::Or(found, hn::TableLookupBytesOr0(hn::LoadDup128(bytes, table + 16 * block),
                                                    hn::SaturatedAdd(place, hn::Set(bytes, 0x70))));
    });
    hn::StoreU(found, bytes, y + i);
  }
  for (; i < n; ++i) y[i] = table[x[i]];
}
#endif

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

template <class Code>
QuantizeRow<Code> find_quantize(InstructionSet set) {
  constexpr QuantizeRow<Code> of_set[] = ASSAY_OF_EACH_SET(quantize_row<Code>);
  return of_set[static_cast<std::size_t>(set)];
}
template QuantizeRow<std::int8_t> find_quantize(InstructionSet);
template QuantizeRow<std::uint8_t> find_quantize(InstructionSet);
template QuantizeRow<std::int16_t> find_quantize(InstructionSet);
template QuantizeRow<std::uint16_t> find_quantize(InstructionSet);
template QuantizeRow<std::int32_t> find_quantize(InstructionSet);

template <class Code>
DequantizeRow<Code> find_dequantize(InstructionSet set) {
  constexpr DequantizeRow<Code> of_set[] = ASSAY_OF_EACH_SET(dequantize_row<Code>);
  return of_set[static_cast<std::size_t>(set)];
}
template DequantizeRow<std::int8_t> find_dequantize(InstructionSet);
template DequantizeRow<std::uint8_t> find_dequantize(InstructionSet);
template DequantizeRow<std::int16_t> find_dequantize(InstructionSet);
template DequantizeRow<std::uint16_t> find_dequantize(InstructionSet);
template DequantizeRow<std::int32_t> find_dequantize(InstructionSet);

template <class Code>
CombineRow<Code> find_combine(InstructionSet set, Combination combination) {
  constexpr CombineRow<Code> sums[] = ASSAY_OF_EACH_SET(add_row<Code>),
                             products[] = ASSAY_OF_EACH_SET(multiply_row<Code>);
  return (combination == Combination::sum ? sums : products)[static_cast<std::size_t>(set)];
}
template CombineRow<std::int8_t> find_combine(InstructionSet, Combination);
template CombineRow<std::uint8_t> find_combine(InstructionSet, Combination);

template <class Code>
QuantizeSums<Code> find_quantize_sums(InstructionSet set) {
  constexpr QuantizeSums<Code> of_set[] = ASSAY_OF_EACH_SET(quantize_sums<Code>);
  return of_set[static_cast<std::size_t>(set)];
}
template QuantizeSums<std::int8_t> find_quantize_sums(InstructionSet);
template QuantizeSums<std::uint8_t> find_quantize_sums(InstructionSet);

template <class Code>
AddFixedRow<Code> find_add_fixed(InstructionSet set) {
  constexpr AddFixedRow<Code> of_set[] = ASSAY_OF_EACH_SET(add_fixed_row<Code>);
  return of_set[static_cast<std::size_t>(set)];
}
template AddFixedRow<std::int8_t> find_add_fixed(InstructionSet);
template AddFixedRow<std::uint8_t> find_add_fixed(InstructionSet);

void interleave_three(InstructionSet set, const std::uint8_t* planes, std::size_t stride, std::uint8_t* pixels,
                      std::size_t n) {
  constexpr decltype(&HWY_STATIC_DISPATCH(interleave_three)) of_set[] = ASSAY_OF_EACH_SET(interleave_three);
  of_set[static_cast<std::size_t>(set)](planes, stride, pixels, n);
}

void look_up(InstructionSet set, const std::uint8_t* table, const std::uint8_t* x, std::uint8_t* y, std::size_t n) {
  constexpr decltype(&HWY_STATIC_DISPATCH(look_up)) of_set[] = ASSAY_OF_EACH_SET(look_up);
  of_set[static_cast<std::size_t>(set)](table, x, y, n);
}

}  // namespace assay::kernels
#endif
