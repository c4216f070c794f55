#include "optimized/kernels/halves.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/halves.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cstring>

#include "optimized/kernels/halves-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

// n < lanes elements, in a vector of their own.
template <class From, class To>
HWY_INLINE void convert_rest(const From* from, To* to, std::size_t n) {
  HWY_ALIGN From read[lanes] = {};
  HWY_ALIGN To written[lanes];
  std::memcpy(read, from, n * sizeof(From));
  store(load(read), written);
  std::memcpy(to, written, n * sizeof(To));
}

template <class From, class To>
HWY_INLINE void convert(const From* from, To* to, std::size_t n) {
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) store(load(from + i), to + i);
  if (i < n) convert_rest(from + i, to + i, n - i);
}

template <class Half>
void widen(const void* halves, std::ptrdiff_t stride, void* numbers, std::size_t n) {
  const auto* from = static_cast<const Half*>(halves);
  auto* to = static_cast<float*>(numbers);
  if (stride == 1) return convert(from, to, n);
  if (stride == 0) return static_cast<void>(std::fill_n(to, n, static_cast<float>(*from)));
  constexpr std::size_t tile = 256;
  Half gathered[tile];
  for (std::size_t now; n > 0; to += now, n -= now) {
    now = std::min(n, tile);
    for (std::size_t i = 0; i < now; ++i, from += stride) gathered[i] = *from;
    convert(gathered, to, now);
  }
}

template <class Half>
void narrow(const void* numbers, void* halves, std::size_t n) {
  convert(static_cast<const float*>(numbers), static_cast<Half*>(halves), n);
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

template <class Half>
Widen find_widen(InstructionSet set) {
  constexpr Widen of_set[] = ASSAY_OF_EACH_SET(widen<Half>);
  return of_set[static_cast<std::size_t>(set)];
}
template <class Half>
Narrow find_narrow(InstructionSet set) {
  constexpr Narrow of_set[] = ASSAY_OF_EACH_SET(narrow<Half>);
  return of_set[static_cast<std::size_t>(set)];
}

template Widen find_widen<Float16>(InstructionSet);
template Widen find_widen<BFloat16>(InstructionSet);
template Narrow find_narrow<Float16>(InstructionSet);
template Narrow find_narrow<BFloat16>(InstructionSet);

}  // namespace assay::kernels
#endif
