// Dot products of four bytes in each 32-bit lane.
#if defined(ASSAY_KERNELS_DOT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_DOT_INL_H
#undef ASSAY_KERNELS_DOT_INL_H
#else
#define ASSAY_KERNELS_DOT_INL_H
#endif

#include "optimized/kernels/integer_product.h"
#include "optimized/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

using IntegerTag = hn::ScalableTag<std::int32_t>;
using Integers = hn::Vec<IntegerTag>;
constexpr IntegerTag integers{};

HWY_INLINE Integers load_integers(const void* p) {
  return hn::BitCast(integers, hn::LoadU(floats, static_cast<const float*>(p)));
}
HWY_INLINE Integers number(std::int32_t x) { return hn::Set(integers, x); }

// Each class below is a way to compute dot products. `add` adds to each lane of `sum` the products of the lane's four
// unsigned bytes x with its four signed bytes w. All ways give the same integers, modulo 2^32. Vectors of bytes are
// first turned into factors, which take `vectors` registers each; all steps together take `spare` more registers.

// The instruction VPDPBUSD. Highway 1.0.3 has no instruction set with it. An assembler statement does not depend on
// the instruction set that the compiler targets; so the machine must be asked with has_vnni before this class is used.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
struct ByVnni {
  static constexpr std::size_t vectors = 1, spare = 1;
  using Factor = Integers;
  static HWY_INLINE Factor unsigned_bytes(Integers x) { return x; }
  static HWY_INLINE Factor signed_bytes(Integers w) { return w; }
  static HWY_INLINE void add(Factor x, Factor w, Integers& sum) {
#if HWY_TARGET == HWY_AVX3
    auto raw = sum.raw;
    asm("vpdpbusd %2, %1, %0" : "+v"(raw) : "v"(x.raw), "v"(w.raw));
    sum.raw = raw;
#else
    auto raw = sum.raw;
    asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(raw) : "x"(x.raw), "x"(w.raw));
    sum.raw = raw;
#endif
  }
};
#endif

// Sums of two products of 16-bit numbers: the bytes 0 and 2 of each lane, and the bytes 1 and 3. Products of bytes
// are too small to overflow.
struct ByWords {
  static constexpr std::size_t vectors = 2, spare = 4;
  struct Factor {
    Integers even, odd;
  };
  static HWY_INLINE Factor unsigned_bytes(Integers x) {
    const Integers low = number(0x00ff00ff);
    return {hn::And(x, low), hn::And(hn::ShiftRight<8>(x), low)};
  }
  static HWY_INLINE Factor signed_bytes(Integers w) {
    const hn::Repartition<std::int16_t, IntegerTag> words;
    const auto both = hn::BitCast(words, w);
    return {hn::BitCast(integers, hn::ShiftRight<8>(hn::ShiftLeft<8>(both))),
            hn::BitCast(integers, hn::ShiftRight<8>(both))};
  }
  static HWY_INLINE void add(const Factor& x, const Factor& w, Integers& sum) {
    sum = hn::Add(sum, hn::Add(pairs(x.even, w.even), pairs(x.odd, w.odd)));
  }

 private:
  static HWY_INLINE Integers pairs(Integers a, Integers b) {
#if HWY_TARGET == HWY_AVX3
    return Integers{_mm512_madd_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX2
    return Integers{_mm256_madd_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_SSE4
    return Integers{_mm_madd_epi16(a.raw, b.raw)};
#else
    return hn::Zero(integers);
#endif
  }
};

// Products of 32-bit numbers, for instruction sets without sums of products.
struct ByIntegers {
  static constexpr std::size_t vectors = 4, spare = 4;
  struct Factor {
    Integers byte[4];

    // Constructors that the compiler writes would not have the instruction set.
    HWY_INLINE Factor() {}
    HWY_INLINE Factor(Integers b0, Integers b1, Integers b2, Integers b3) : byte{b0, b1, b2, b3} {}
  };
  static HWY_INLINE Factor unsigned_bytes(Integers x) {
    const Integers low = number(0xff);
    return {hn::And(x, low), hn::And(hn::ShiftRight<8>(x), low), hn::And(hn::ShiftRight<16>(x), low),
            hn::And(hn::ShiftRight<24>(x), low)};
  }
  static HWY_INLINE Factor signed_bytes(Integers w) {
    return {hn::ShiftRight<24>(hn::ShiftLeft<24>(w)), hn::ShiftRight<24>(hn::ShiftLeft<16>(w)),
            hn::ShiftRight<24>(hn::ShiftLeft<8>(w)), hn::ShiftRight<24>(w)};
  }
  static HWY_INLINE void add(const Factor& x, const Factor& w, Integers& sum) {
    unrolled<4>([&](auto i) HWY_ATTR { sum = hn::Add(sum, hn::Mul(x.byte[i], w.byte[i])); });
  }
};

// Plain: the way that needs no more than the instruction set. Fastest: the way on a machine with VNNI.
using Plain = std::conditional_t<instruction_set <= InstructionSet::avx512, ByWords, ByIntegers>;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
using Fastest = ByVnni;
#else
using Fastest = Plain;
#endif

// The numbers of an output channel that turn a sum into a code, for a vector of channels.
struct ToCodes {
  Vector low, high;
  Integers zero_point;

  explicit HWY_INLINE ToCodes(const CodeRange& range)
      : low(hn::Set(floats, static_cast<float>(range.low - range.zero_point))),
        high(hn::Set(floats, static_cast<float>(range.high - range.zero_point))),
        zero_point(number(range.zero_point)) {}

  // The low byte of each lane is the code.
  HWY_INLINE Integers operator()(Integers sum, Vector scale, Vector shift) const {
    const Vector x = hn::Add(hn::Mul(hn::ConvertTo(floats, sum), scale), shift);
    return hn::Add(hn::NearestInt(hn::Min(hn::Max(x, low), high)), zero_point);
  }
};

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
