#include "optimized/kernels/pool.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "optimized/kernels/pool.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "optimized/kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

using Numbers = hn::Rebind<std::int32_t, Floats>;

// Elements of n windows.
class Elements {
 public:
  HWY_INLINE Elements(std::size_t n, const Together& together)
      : n_(n), together_(together), part_(n), places_(hn::Iota(Numbers(), 0)) {
    // Gathers read the last element again in place of elements beyond it.
    places_ = hn::Mul(hn::Min(places_, hn::Set(Numbers(), static_cast<std::int32_t>(n - 1))),
                      hn::Set(Numbers(), static_cast<std::int32_t>(together.from)));
  }

  HWY_INLINE Vector load(const float* p) const {
    return together_.from == 1 ? part_.load(p) : hn::GatherIndex(floats, p, places_);
  }
  HWY_INLINE void store(Vector v, float* p) const {
    if (together_.to == 1) return part_.store(v, p);
    HWY_ALIGN float all[lanes];
    hn::Store(v, floats, all);
    scatter(all, p);
  }
  HWY_INLINE void store(hn::Vec<Numbers> v, std::int64_t* p) const {
    HWY_ALIGN std::int32_t all[lanes];
    hn::Store(v, Numbers(), all);
    scatter(all, p);
  }

 private:
  template <class From, class To>
  HWY_INLINE void scatter(const From* all, To* p) const {
    for (std::size_t i = 0; i < n_; ++i, p += together_.to) *p = all[i];
  }

  std::size_t n_;
  const Together& together_;
  Part part_;
  hn::Vec<Numbers> places_;
};

// Calls body(elements, from, to) for each vector of windows: the places of the first window and of its result.
template <class Body>
HWY_INLINE void each_windows(const Together& together, const Body& body) {
  for (std::size_t i = 0; i < together.count; i += lanes) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    body(Elements(std::min(lanes, together.count - i), together), at * together.from, at * together.to);
  }
}

HWY_INLINE void fetch_ahead(const Window& w, std::ptrdiff_t from) {
  const float* row = w.first + from + static_cast<std::ptrdiff_t>(w.rows) * w.row_stride;
  for (std::size_t i = 0; i < w.rows_ahead; ++i, row += w.row_stride)
    for (std::size_t j = 0; j < w.columns_ahead; ++j)
      __builtin_prefetch(row + static_cast<std::ptrdiff_t>(j) * w.column_stride, 0, 2);
}

template <bool numbered>
HWY_INLINE void find_largest(const Window& w, const PixelNumbers& number, const Together& together, float* largest,
                             std::int64_t* numbers) {
  const Numbers integers;
  const auto steps = hn::Mul(hn::Iota(integers, 0), hn::Set(integers, number.window_step));
  std::int32_t first = number.first;
  each_windows(together, [&](const Elements& elements, std::ptrdiff_t from, std::ptrdiff_t to) HWY_ATTR {
    fetch_ahead(w, from);
    Vector best = elements.load(w.first + from);
    hn::Vec<Numbers> where = hn::Set(integers, first);
    std::int32_t of_row = first;
    const float* row = w.first + from;
    for (std::size_t i = 0; i < w.rows; ++i, row += w.row_stride, of_row += number.row_step) {
      const float* pixel = row;
      std::int32_t at = of_row;
      for (std::size_t j = 0; j < w.columns; ++j, pixel += w.column_stride, at += number.column_step) {
        const Vector x = elements.load(pixel);
        const auto beats = hn::Or(hn::Gt(x, best), hn::IsNaN(x));
        best = hn::IfThenElse(beats, x, best);
        if constexpr (numbered) where = hn::IfThenElse(hn::RebindMask(integers, beats), hn::Set(integers, at), where);
      }
    }
    elements.store(best, largest + to);
    if constexpr (numbered) elements.store(hn::Add(where, steps), numbers + to);
    first += static_cast<std::int32_t>(lanes) * number.window_step;
  });
}

void max_of_windows(const Window& w, const PixelNumbers& number, const Together& together, float* largest,
                    std::int64_t* numbers) {
  if (numbers)
    find_largest<true>(w, number, together, largest, numbers);
  else
    find_largest<false>(w, number, together, largest, numbers);
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

template <class T, std::size_t n>
HWY_INLINE void add_channels(const WindowOf<T>& w, std::size_t channel, std::int32_t* sums) {
  std::int32_t total[n] = {};
  const T* row = w.first + channel;
  for (std::size_t i = 0; i < w.rows; ++i, row += w.row_stride) {
    const T* pixel = row;
    for (std::size_t j = 0; j < w.columns; ++j, pixel += w.column_stride)
      for (std::size_t c = 0; c < n; ++c) total[c] += pixel[c];
  }
  std::copy_n(total, n, sums + channel);
}

// The sum of a plane whose rows are contiguous.
template <class T>
HWY_INLINE std::int32_t sum_of_rows(const WindowOf<T>& w) {
  std::int32_t total = 0;
  const T* row = w.first;
  for (std::size_t i = 0; i < w.rows; ++i, row += w.row_stride)
    for (std::size_t j = 0; j < w.columns; ++j) total += row[j];
  return total;
}

constexpr std::size_t summed_channels = 64;  // channels that are summed together

template <class T>
void sum_of_codes(const WindowOf<T>& w, std::size_t channels, std::int32_t* sums) {
  if (channels == 1 && w.column_stride == 1) return static_cast<void>(*sums = sum_of_rows(w));
  std::size_t c = 0;
  for (; c + summed_channels <= channels; c += summed_channels) add_channels<T, summed_channels>(w, c, sums);
  for (; c + 8 <= channels; c += 8) add_channels<T, 8>(w, c, sums);
  for (; c < channels; ++c) add_channels<T, 1>(w, c, sums);
}

void mean_of_windows(const Window& w, float divisor, const Together& together, float* mean) {
  each_windows(together, [&](const Elements& elements, std::ptrdiff_t from, std::ptrdiff_t to) HWY_ATTR {
    fetch_ahead(w, from);
    Vector sum = hn::Zero(floats);
    const float* row = w.first + from;
    for (std::size_t i = 0; i < w.rows; ++i, row += w.row_stride) {
      Vector of_row = hn::Zero(floats);
      const float* pixel = row;
      for (std::size_t j = 0; j < w.columns; ++j, pixel += w.column_stride)
        of_row = hn::Add(of_row, elements.load(pixel));
      sum = hn::Add(sum, of_row);
    }
    elements.store(hn::Div(sum, hn::Set(floats, divisor)), mean + to);
  });
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace assay::kernels {

void max_of_windows(InstructionSet set, const Window& window, const PixelNumbers& number, const Together& together,
                    float* largest, std::int64_t* numbers) {
  constexpr decltype(&HWY_STATIC_DISPATCH(max_of_windows)) of_set[] = ASSAY_OF_EACH_SET(max_of_windows);
  of_set[static_cast<std::size_t>(set)](window, number, together, largest, numbers);
}

template <class T>
void max_of_codes(InstructionSet set, const WindowOf<T>& window, std::size_t channels, T* largest) {
  constexpr void (*of_set[])(const WindowOf<T>&, std::size_t, T*) = ASSAY_OF_EACH_SET(max_of_codes<T>);
  of_set[static_cast<std::size_t>(set)](window, channels, largest);
}
template void max_of_codes(InstructionSet, const WindowOf<std::int8_t>&, std::size_t, std::int8_t*);
template void max_of_codes(InstructionSet, const WindowOf<std::uint8_t>&, std::size_t, std::uint8_t*);

template <class T>
void sum_of_codes(InstructionSet set, const WindowOf<T>& window, const ScaledSums& numbers, std::size_t channels,
                  T* codes) {
  constexpr void (*of_set[])(const WindowOf<T>&, std::size_t, std::int32_t*) = ASSAY_OF_EACH_SET(sum_of_codes<T>);
  constexpr std::size_t together = 256;
  WindowOf<T> part = window;
  std::int32_t sums[together];
  for (std::size_t c = 0, n; c < channels; c += n, part.first += n) {
    n = std::min(together, channels - c);
    of_set[static_cast<std::size_t>(set)](part, n, sums);
    find_quantize_sums<T>(set)(numbers, sums, codes + c, n);
  }
}
template void sum_of_codes(InstructionSet, const WindowOf<std::int8_t>&, const ScaledSums&, std::size_t, std::int8_t*);
template void sum_of_codes(InstructionSet, const WindowOf<std::uint8_t>&, const ScaledSums&, std::size_t,
                           std::uint8_t*);

void mean_of_windows(InstructionSet set, const Window& window, float divisor, const Together& together, float* mean) {
  constexpr decltype(&HWY_STATIC_DISPATCH(mean_of_windows)) of_set[] = ASSAY_OF_EACH_SET(mean_of_windows);
  of_set[static_cast<std::size_t>(set)](window, divisor, together, mean);
}

}  // namespace assay::kernels
#endif
