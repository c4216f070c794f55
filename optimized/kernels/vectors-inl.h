// Vectors of floats for the instruction set that is being compiled, and parts of vectors.
#if defined(ASSAY_KERNELS_VECTORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_VECTORS_INL_H
#undef ASSAY_KERNELS_VECTORS_INL_H
#else
#define ASSAY_KERNELS_VECTORS_INL_H
#endif

#include <hwy/highway.h>

#include <cstring>
#include <utility>

#include "optimized/kernels/instruction_set.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;
constexpr Floats floats{};
constexpr std::size_t lanes = hn::MaxLanes(Floats());

constexpr InstructionSet instruction_set = HWY_TARGET == HWY_AVX3   ? InstructionSet::avx512
                                           : HWY_TARGET == HWY_AVX2 ? InstructionSet::avx2
                                           : HWY_TARGET == HWY_SSE4 ? InstructionSet::sse4
                                           : HWY_TARGET == HWY_NEON ? InstructionSet::neon
                                                                    : InstructionSet::portable;
static_assert(traits(instruction_set).lanes == lanes);

// The first n floats of a vector. With vectors of 256 bits or more, a masked access does not touch the masked floats.
// With 512 bits or more, it costs no more than an access to a whole vector.
class Part {
 public:
  explicit HWY_INLINE Part(std::size_t n) : n_(n), mask_(hn::FirstN(floats, n)) {}

  // Reads only the first n floats; the other floats of the vector are 0.
  HWY_INLINE Vector load(const float* p) const {
    if (HWY_TARGET > HWY_AVX3 && n_ == lanes) return hn::LoadU(floats, p);
    if constexpr (masked) return hn::MaskedLoad(mask_, floats, p);
    HWY_ALIGN float whole[lanes] = {};
    std::memcpy(whole, p, n_ * sizeof(float));
    return hn::Load(floats, whole);
  }
  HWY_INLINE void store(Vector v, float* p) const {
    if (HWY_TARGET > HWY_AVX3 && n_ == lanes) return hn::StoreU(v, floats, p);
    if constexpr (masked) return hn::BlendedStore(v, mask_, floats, p);
    HWY_ALIGN float whole[lanes];
    hn::Store(v, floats, whole);
    std::memcpy(p, whole, n_ * sizeof(float));
  }
  // Sets all floats except the first n to 0.
  HWY_INLINE Vector kept(Vector v) const { return hn::IfThenElseZero(mask_, v); }
  // Sets all floats except the first n to those of `other`.
  HWY_INLINE Vector kept(Vector v, Vector other) const { return hn::IfThenElse(mask_, v, other); }

 private:
  static constexpr bool masked = HWY_TARGET <= HWY_AVX2;
  std::size_t n_;
  hn::Mask<Floats> mask_;
};

// All floats of a vector, with the same interface.
struct WholeVector {
  HWY_INLINE Vector load(const float* p) const { return hn::LoadU(floats, p); }
  HWY_INLINE void store(Vector v, float* p) const { hn::StoreU(v, floats, p); }
  HWY_INLINE Vector kept(Vector v) const { return v; }
  HWY_INLINE Vector kept(Vector v, Vector) const { return v; }
};

// Calls body(i, part) for each vector of the elements from begin to end. The last part may be a Part.
template <class Body>
HWY_INLINE void each_vector(std::size_t begin, std::size_t end, const Body& body) {
  std::size_t i = begin;
  for (; i + lanes <= end; i += lanes) body(i, WholeVector());
  if (i < end) body(i, Part(end - i));
}

// Calls f(0) to f(N - 1). Each index is a constant with its own type, so that arrays of vectors stay in registers.
template <class F, std::size_t... I>
HWY_INLINE void unrolled(const F& f, std::index_sequence<I...>) {
  (f(std::integral_constant<std::size_t, I>()), ...);
}
template <std::size_t N, class F>
HWY_INLINE void unrolled(const F& f) {
  unrolled(f, std::make_index_sequence<N>());
}

// Computes sum += a b. Without this function, g++ moves sums between registers and to memory in code that uses all
// registers.
HWY_INLINE void add_product(Vector a, Vector b, Vector& sum) {
#if HWY_TARGET == HWY_AVX2
  auto raw = sum.raw;
  asm("vfmadd231ps %2, %1, %0" : "+x"(raw) : "x"(a.raw), "x"(b.raw));
  sum.raw = raw;
#else
  sum = hn::MulAdd(a, b, sum);
#endif
}

// If an operand is NaN or both are zeros, Min and Max return the second operand on x86 and the number on Arm.
HWY_INLINE Vector clamped(Vector x, Vector low, Vector high) {
  const Vector y = hn::Min(high, hn::Max(low, x));
  return HWY_TARGET == HWY_NEON ? hn::IfThenElse(hn::IsNaN(x), x, y) : y;
}

// The first n floats at p.
HWY_INLINE Vector load(const float* p, std::size_t n) { return Part(n).load(p); }
HWY_INLINE void store(Vector v, float* p, std::size_t n) { Part(n).store(v, p); }

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
