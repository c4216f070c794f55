#include "optimized/kernels/pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/pool.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "optimized/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

using Numbers = hn::Rebind<std::int32_t, Floats>;

HWY_INLINE void store_wide(hn::Vec<Numbers> narrow, std::size_t n, std::int64_t* to) {
  HWY_ALIGN std::int32_t numbers[lanes];
  hn::Store(narrow, Numbers(), numbers);
  std::copy_n(numbers, n, to);
}

HWY_INLINE void fetch_ahead(const Window& w, std::size_t channel) {
  const float* row = w.first + channel + static_cast<std::ptrdiff_t>(w.rows) * w.row_stride;
  for (std::size_t i = 0; i < w.rows_ahead; ++i, row += w.row_stride)
    for (std::size_t j = 0; j < w.columns_ahead; ++j)
      __builtin_prefetch(row + static_cast<std::ptrdiff_t>(j) * w.column_stride, 0, 2);
}

template <bool numbered>
HWY_INLINE void find_largest(const Window& w, const PixelNumbers& number, std::size_t channels, float* largest,
                             std::int64_t* numbers) {
  const Numbers integers;
  for (std::size_t c = 0; c < channels; c += lanes) {
    const Part part(std::min(lanes, channels - c));
    fetch_ahead(w, c);
    Vector best = part.load(w.first + c);
    hn::Vec<Numbers> where = hn::Set(integers, number.first);
    std::int32_t of_row = number.first;
    const float* row = w.first + c;
    for (std::size_t i = 0; i < w.rows; ++i, row += w.row_stride, of_row += number.row_step) {
      const float* pixel = row;
      std::int32_t at = of_row;
      for (std::size_t j = 0; j < w.columns; ++j, pixel += w.column_stride, at += number.column_step) {
        const Vector x = part.load(pixel);
        const auto beats = hn::Or(hn::Gt(x, best), hn::IsNaN(x));
        best = hn::IfThenElse(beats, x, best);
        if constexpr (numbered) where = hn::IfThenElse(hn::RebindMask(integers, beats), hn::Set(integers, at), where);
      }
    }
    part.store(best, largest + c);
    if constexpr (numbered) store_wide(where, std::min(lanes, channels - c), numbers + c);
  }
}

void max_of_window(const Window& w, const PixelNumbers& number, std::size_t channels, float* largest,
                   std::int64_t* numbers) {
  if (numbers)
    find_largest<true>(w, number, channels, largest, numbers);
  else
    find_largest<false>(w, number, channels, largest, numbers);
}

// The compiler makes vectors of these loops.
template <class T, std::size_t n>
HWY_INLINE void max_of_channels(const WindowOf<T>& w, std::size_t channel, T* largest) {
  T best[n];
  std::copy_n(w.first + channel, n, best);
  const T* row = w.first + channel;
  for (std::size_t i = 0; i < w.rows; ++i, row += w.row_stride) {
    const T* pixel = row;
    for (std::size_t j = 0; j < w.columns; ++j, pixel += w.column_stride)
      for (std::size_t c = 0; c < n; ++c) best[c] = pixel[c] > best[c] ? pixel[c] : best[c];
  }
  std::copy_n(best, n, largest + channel);
}

template <class T>
void max_of_codes(const WindowOf<T>& w, std::size_t channels, T* largest) {
  std::size_t c = 0;
  for (; c + 64 <= channels; c += 64) max_of_channels<T, 64>(w, c, largest);
  for (; c + 8 <= channels; c += 8) max_of_channels<T, 8>(w, c, largest);
  for (; c < channels; ++c) max_of_channels<T, 1>(w, c, largest);
}

void mean_of_window(const Window& w, float divisor, std::size_t channels, float* mean) {
  for (std::size_t c = 0; c < channels; c += lanes) {
    const Part part(std::min(lanes, channels - c));
    fetch_ahead(w, c);
    Vector sum = hn::Zero(floats);
    const float* row = w.first + c;
    for (std::size_t i = 0; i < w.rows; ++i, row += w.row_stride) {
      Vector of_row = hn::Zero(floats);
      const float* pixel = row;
      for (std::size_t j = 0; j < w.columns; ++j, pixel += w.column_stride) of_row = hn::Add(of_row, part.load(pixel));
      sum = hn::Add(sum, of_row);
    }
    part.store(hn::Div(sum, hn::Set(floats, divisor)), mean + c);
  }
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

void max_of_window(InstructionSet set, const Window& window, const PixelNumbers& number, std::size_t channels,
                   float* largest, std::int64_t* numbers) {
  constexpr decltype(&HWY_STATIC_DISPATCH(max_of_window)) of_set[] = ASSAY_OF_EACH_SET(max_of_window);
  of_set[static_cast<std::size_t>(set)](window, number, channels, largest, numbers);
}

template <class T>
void max_of_codes(InstructionSet set, const WindowOf<T>& window, std::size_t channels, T* largest) {
  constexpr void (*of_set[])(const WindowOf<T>&, std::size_t, T*) = ASSAY_OF_EACH_SET(max_of_codes<T>);
  of_set[static_cast<std::size_t>(set)](window, channels, largest);
}
template void max_of_codes(InstructionSet, const WindowOf<std::int8_t>&, std::size_t, std::int8_t*);
template void max_of_codes(InstructionSet, const WindowOf<std::uint8_t>&, std::size_t, std::uint8_t*);

void mean_of_window(InstructionSet set, const Window& window, float divisor, std::size_t channels, float* mean) {
  constexpr decltype(&HWY_STATIC_DISPATCH(mean_of_window)) of_set[] = ASSAY_OF_EACH_SET(mean_of_window);
  of_set[static_cast<std::size_t>(set)](window, divisor, channels, mean);
}

}  // namespace assay::kernels
#endif
