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
constexpr std::size_t vector_bytes = lanes * sizeof(float);

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

// The bytes of a vector of tag D, or the first n of them. Others are 0.
template <class D>
class BytesOf {
 public:
#if HWY_TARGET == HWY_AVX3
  explicit HWY_INLINE BytesOf(std::size_t n) : mask_(~std::uint64_t{0} >> (64 - n)) {}
  HWY_INLINE hn::Vec<D> load(const std::uint8_t* p) const {
    if constexpr (size == 64)
      return hn::BitCast(D(), Integers{_mm512_maskz_loadu_epi8(mask_, p)});
    else if constexpr (size == 32)
      return hn::BitCast(D(),
                         hn::Vec<hn::RebindToSigned<D>>{_mm256_maskz_loadu_epi8(static_cast<__mmask32>(mask_), p)});
    else
      return hn::BitCast(D(), hn::Vec<hn::RebindToSigned<D>>{_mm_maskz_loadu_epi8(static_cast<__mmask16>(mask_), p)});
  }
  HWY_INLINE void store(hn::Vec<D> x, std::uint8_t* p) const {
    const auto bits = hn::BitCast(hn::RebindToSigned<D>(), x).raw;
    if constexpr (size == 64)
      _mm512_mask_storeu_epi8(p, mask_, bits);
    else if constexpr (size == 32)
      _mm256_mask_storeu_epi8(p, static_cast<__mmask32>(mask_), bits);
    else
      _mm_mask_storeu_epi8(p, static_cast<__mmask16>(mask_), bits);
  }
#else
  explicit HWY_INLINE BytesOf(std::size_t n) : n_(n), mask_(hn::FirstN(D(), n / 4)) {}
  HWY_INLINE hn::Vec<D> load(const std::uint8_t* p) const {
    if (n_ == size) return hn::LoadU(D(), reinterpret_cast<const float*>(p));
    if (masked && n_ % 4 == 0) return hn::MaskedLoad(mask_, D(), reinterpret_cast<const float*>(p));
    HWY_ALIGN std::uint8_t whole[size] = {};
    std::memcpy(whole, p, n_);
    return hn::Load(D(), reinterpret_cast<const float*>(whole));
  }
  HWY_INLINE void store(hn::Vec<D> x, std::uint8_t* p) const {
    if (n_ == size) return hn::StoreU(x, D(), reinterpret_cast<float*>(p));
    if (masked && n_ % 4 == 0) return hn::BlendedStore(x, mask_, D(), reinterpret_cast<float*>(p));
    HWY_ALIGN std::uint8_t whole[size];
    hn::Store(x, D(), reinterpret_cast<float*>(whole));
    std::memcpy(p, whole, n_);
  }
#endif

 private:
  static constexpr std::size_t size = hn::MaxLanes(D()) * sizeof(float);
#if HWY_TARGET == HWY_AVX3
  std::uint64_t mask_;
#else
  static constexpr bool masked = HWY_TARGET <= HWY_AVX2;
  std::size_t n_;
  hn::Mask<D> mask_;
#endif
};
using Bytes = BytesOf<Floats>;

// Turns sums into codes.
class ToCodes {
 public:
  explicit HWY_INLINE ToCodes(const CodeRange& range)
      : high_(hn::Set(floats, static_cast<float>(range.high - range.zero_point))) {
#if HWY_TARGET <= HWY_SSE4
    const std::int32_t offset = range.high > 127 ? 128 : 0;  // turns codes into signed bytes
    zero_point_ = number(static_cast<std::int32_t>((range.zero_point - offset & 0xffff) * 0x10001u));
    least_ = of_bytes(range.low - offset), flip_ = of_bytes(offset);
#else
    zero_point_ = number(range.zero_point);
    low_ = hn::Set(floats, static_cast<float>(range.low - range.zero_point));
#endif
  }

  // Scales four vectors of sums. The results are bytes: in each block of 128 bits, those of the first vector's lanes of
  // this block, then those of the second vector's, and so on. A vector with one lane counts as a block.
  HWY_INLINE Integers operator()(const Integers (&sums)[4], const Vector (&scales)[4],
                                 const Vector (&shifts)[4]) const {
    Integers x[4];
    unrolled<4>([&](auto j) HWY_ATTR { x[j] = nearest(sums[j], scales[j], shifts[j]); });
#if HWY_TARGET <= HWY_SSE4
    // Saturation keeps the order of numbers that are no codes, as a zero point is small.
    const Integers bytes = packed_words(words(x[0], x[1]), words(x[2], x[3]));
    return hn::Xor(greater_bytes(bytes, least_), flip_);
#else
    constexpr hn::Rebind<std::uint8_t, IntegerTag> narrow{};
    HWY_ALIGN std::uint8_t bytes[std::max<std::size_t>(vector_bytes, 16)];
    unrolled<4>([&](auto j) HWY_ATTR {
      const auto code = hn::BitCast(hn::RebindToUnsigned<IntegerTag>(), hn::Add(x[j], zero_point_));
      hn::StoreU(hn::TruncateTo(narrow, code), narrow, bytes + j * lanes);
    });
    return load_integers(bytes);
#endif
  }

 private:
  // The integer that is the nearest to a scaled sum. It is at most the highest code without the zero point.
  HWY_INLINE Integers nearest(Integers sum, Vector scale, Vector shift) const {
    const Vector x = hn::Min(hn::Add(hn::Mul(hn::ConvertTo(floats, sum), scale), shift), high_);
    // The x86 instructions turn a float below the range of the integer into the least integer.
#if HWY_TARGET == HWY_AVX3
    return Integers{_mm512_cvtps_epi32(x.raw)};
#elif HWY_TARGET == HWY_AVX2
    return Integers{_mm256_cvtps_epi32(x.raw)};
#elif HWY_TARGET == HWY_SSE4
    return Integers{_mm_cvtps_epi32(x.raw)};
#else
    return hn::NearestInt(hn::Max(x, low_));
#endif
  }
  Vector high_;
#if HWY_TARGET <= HWY_SSE4
  static HWY_INLINE Integers of_bytes(std::int32_t x) {
    return number(static_cast<std::int32_t>((x & 0xff) * 0x01010101u));
  }
  // Two vectors as words, plus the zero point.
  HWY_INLINE Integers words(Integers a, Integers b) const {
    constexpr hn::Repartition<std::int16_t, IntegerTag> tag{};
    return hn::BitCast(integers, hn::SaturatedAdd(hn::ReorderDemote2To(tag, a, b), hn::BitCast(tag, zero_point_)));
  }
  static HWY_INLINE Integers packed_words(Integers a, Integers b) {
#if HWY_TARGET == HWY_AVX3
    return Integers{_mm512_packs_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX2
    return Integers{_mm256_packs_epi16(a.raw, b.raw)};
#else
    return Integers{_mm_packs_epi16(a.raw, b.raw)};
#endif
  }
  static HWY_INLINE Integers greater_bytes(Integers a, Integers b) {
    constexpr hn::Repartition<std::int8_t, IntegerTag> tag{};
    return hn::BitCast(integers, hn::Max(hn::BitCast(tag, a), hn::BitCast(tag, b)));
  }

  Integers zero_point_, least_, flip_;
#else
  Integers zero_point_;
  Vector low_;
#endif
};

// Orders the bytes of a result of ToCodes by vectors.
HWY_INLINE Integers by_vectors(Integers bytes) {
  constexpr std::size_t blocks = lanes < 4 ? 1 : lanes / 4;
  if constexpr (blocks == 1) return bytes;
  HWY_ALIGN std::int32_t places[lanes];
  for (std::size_t i = 0; i < lanes; ++i) places[i] = static_cast<std::int32_t>(i % blocks * 4 + i / blocks);
  return hn::TableLookupLanes(bytes, hn::SetTableIndices(integers, places));
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
