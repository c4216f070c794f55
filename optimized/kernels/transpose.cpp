#include "optimized/kernels/transpose.h"

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace assay::kernels {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

struct Axes {
  CopyAxis all[most_axes];
  std::size_t count = 0;
};

CopyAxis take(Axes& axes, std::size_t i) {
  const CopyAxis taken = axes.all[i];
  std::copy(axes.all + i + 1, axes.all + axes.count, axes.all + i);
  --axes.count;
  return taken;
}

// Drops axes of one element. The axis with the largest stride in the result comes first. Neighbours that are one axis
// in both memories are merged.
Axes simplified(std::span<const CopyAxis> given) {
  Axes axes;
  for (const CopyAxis& axis : given) {
    if (axis.size == 1) continue;
    std::size_t i = axes.count++;
    for (; i > 0 && std::abs(axes.all[i - 1].to_stride) < std::abs(axis.to_stride); --i) axes.all[i] = axes.all[i - 1];
    axes.all[i] = axis;
  }
  for (std::size_t i = axes.count; i-- > 1;) {
    CopyAxis& outer = axes.all[i - 1];
    const CopyAxis inner = axes.all[i];
    const auto size = static_cast<std::ptrdiff_t>(inner.size);
    if (outer.from_stride != inner.from_stride * size || outer.to_stride != inner.to_stride * size) continue;
    outer = {outer.size * inner.size, inner.from_stride, inner.to_stride};
    take(axes, i);
  }
  return axes;
}

template <class T>
void copy_row(const CopyAxis& row, const T* from, T* to) {
  if (row.from_stride == 1 && row.to_stride == 1) return static_cast<void>(std::memcpy(to, from, row.size * sizeof(T)));
  if (row.from_stride == 0 && row.to_stride == 1) return static_cast<void>(std::fill_n(to, row.size, *from));
  for (std::size_t i = 0; i < row.size; ++i, from += row.from_stride, to += row.to_stride) *to = *from;
}

constexpr std::size_t side = 4;  // the side of a block that fits in registers

template <class T>
void transpose_block(const T* from, std::ptrdiff_t from_stride, T* to, std::ptrdiff_t to_stride) {
  for (std::size_t i = 0; i < side; ++i)
    for (std::size_t j = 0; j < side; ++j)
      to[static_cast<std::ptrdiff_t>(j) * to_stride + static_cast<std::ptrdiff_t>(i)] =
          from[static_cast<std::ptrdiff_t>(i) * from_stride + static_cast<std::ptrdiff_t>(j)];
}

#if HWY_TARGET != HWY_SCALAR
template <>
void transpose_block(const std::uint32_t* from, std::ptrdiff_t from_stride, std::uint32_t* to,
                     std::ptrdiff_t to_stride) {
  const hn::FixedTag<std::uint32_t, side> d;
  const hn::RepartitionToWide<decltype(d)> pairs;
  const auto a = hn::LoadU(d, from), b = hn::LoadU(d, from + from_stride), c = hn::LoadU(d, from + 2 * from_stride),
             e = hn::LoadU(d, from + 3 * from_stride);
  const auto ab_low = hn::BitCast(pairs, hn::InterleaveLower(d, a, b)),
             ce_low = hn::BitCast(pairs, hn::InterleaveLower(d, c, e)),
             ab_high = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b)),
             ce_high = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab_low, ce_low)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab_low, ce_low)), d, to + to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, ab_high, ce_high)), d, to + 2 * to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, ab_high, ce_high)), d, to + 3 * to_stride);
}
#endif

// Copies, in blocks, rows that are contiguous in the result from columns that are contiguous in the source: `together`
// columns from all rows, then the next columns.
template <std::size_t together, class T>
void transpose_columns(const CopyAxis& rows, const CopyAxis& columns, const T* from, T* to) {
  const bool dense = rows.to_stride == 1 && columns.from_stride == 1;
  for (std::size_t j = 0; j < columns.size; j += together) {
    const std::size_t width = std::min(together, columns.size - j);
    for (std::size_t i = 0; i < rows.size; i += side) {
      const std::size_t height = std::min(side, rows.size - i);
      const auto row = static_cast<std::ptrdiff_t>(i), column = static_cast<std::ptrdiff_t>(j);
      const T* block = from + row * rows.from_stride + column * columns.from_stride;
      T* result = to + row * rows.to_stride + column * columns.to_stride;
      if (dense && width == together && height == side)
        for (std::size_t k = 0; k < together;
             k += side, block += side, result += std::ptrdiff_t{side} * columns.to_stride)
          transpose_block(block, rows.from_stride, result, columns.to_stride);
      else
        for (std::size_t k = 0; k < width; ++k, block += columns.from_stride, result += columns.to_stride)
          copy_row({height, rows.from_stride, rows.to_stride}, block, result);
    }
  }
}

// Lines of 64 bytes whose distance is a multiple of a power of 2 share the places of a cache: they take as much of it
// as lines of that many bytes, up to 4096.
template <class T>
std::size_t bytes_of_line(std::ptrdiff_t distance) {
  const std::size_t bytes = static_cast<std::size_t>(std::abs(distance)) * sizeof(T);
  return std::clamp<std::size_t>(bytes & (~bytes + 1), 64, 4096);
}

// Each line of the source is read several times, for some columns at a time. If the lines do not stay in the cache that
// long, more columns are read at once, unless the lines that are then written together stay there even less.
template <class T>
void transpose(const CopyAxis& rows, const CopyAxis& columns, const T* from, T* to) {
  constexpr std::size_t cache = 32 << 10, many = 4 * side;
  const std::size_t read = bytes_of_line<T>(rows.from_stride), written = bytes_of_line<T>(columns.to_stride);
  CopyAxis first = columns, rest = columns;
  first.size = rows.size * read > cache && read > written ? columns.size / many * many : 0, rest.size -= first.size;
  const auto done = static_cast<std::ptrdiff_t>(first.size);
  transpose_columns<many>(rows, first, from, to);
  transpose_columns<side>(rows, rest, from + done * columns.from_stride, to + done * columns.to_stride);
}

template <class T>
void copy_elements(Axes axes, const T* from, T* to) {
  if (axes.count == 0) return static_cast<void>(*to = *from);
  const CopyAxis rows = take(axes, axes.count - 1);
  CopyAxis columns{1, 0, 0};
  const auto nearest = std::min_element(axes.all, axes.all + axes.count, [](const CopyAxis& a, const CopyAxis& b) {
    return std::abs(a.from_stride) < std::abs(b.from_stride);
  });
  if (axes.count > 0 && std::abs(nearest->from_stride) < std::abs(rows.from_stride))
    columns = take(axes, static_cast<std::size_t>(nearest - axes.all));
  std::size_t others = 1;
  for (std::size_t i = 0; i < axes.count; ++i) others *= axes.all[i].size;
  for (std::size_t n = 0; n < others; ++n) {
    std::ptrdiff_t from_offset = 0, to_offset = 0;
    for (std::size_t i = axes.count, rest = n; i-- > 0; rest /= axes.all[i].size) {
      const auto index = static_cast<std::ptrdiff_t>(rest % axes.all[i].size);
      from_offset += index * axes.all[i].from_stride, to_offset += index * axes.all[i].to_stride;
    }
    if (columns.size == 1)
      copy_row(rows, from + from_offset, to + to_offset);
    else
      transpose(rows, columns, from + from_offset, to + to_offset);
  }
}

// Threads share the largest axis.
template <class T>
void copy_in_parts(const Axes& axes, const void* from, void* to, const Threads& threads) {
  const auto largest =
      static_cast<std::size_t>(std::max_element(axes.all, axes.all + axes.count,
                                                [](const CopyAxis& a, const CopyAxis& b) { return a.size < b.size; }) -
                               axes.all);
  const CopyAxis whole = axes.count > 0 ? axes.all[largest] : CopyAxis{1, 0, 0};
  std::size_t others = 1;
  for (std::size_t i = 0; i < axes.count; ++i) others *= i == largest ? 1 : axes.all[i].size;
  share(threads, whole.size, others, [&](Range range) {
    const auto begin = static_cast<std::ptrdiff_t>(range.begin);
    Axes of_task = axes;
    of_task.all[largest].size = range.size();
    copy_elements(of_task, static_cast<const T*>(from) + begin * whole.from_stride,
                  static_cast<T*>(to) + begin * whole.to_stride);
  });
}

}  // namespace

void copy(std::span<const CopyAxis> given, std::size_t element_bytes, const void* from, void* to,
          const Threads& threads) {
  if (std::ranges::any_of(given, [](const CopyAxis& axis) { return axis.size == 0; })) return;
  const Axes axes = simplified(given);
  switch (element_bytes) {
    case 1:
      return copy_in_parts<std::uint8_t>(axes, from, to, threads);
    case 2:
      return copy_in_parts<std::uint16_t>(axes, from, to, threads);
    case 4:
      return copy_in_parts<std::uint32_t>(axes, from, to, threads);
    default:
      return copy_in_parts<std::uint64_t>(axes, from, to, threads);
  }
}

void channels_first_to_last(std::size_t n, std::size_t c, std::size_t pixels, std::size_t element_bytes,
                            const void* from, void* to, const Threads& threads) {
  const auto channels = static_cast<std::ptrdiff_t>(c), plane = static_cast<std::ptrdiff_t>(pixels);
  const CopyAxis axes[] = {{n, channels * plane, channels * plane}, {c, plane, 1}, {pixels, 1, channels}};
  copy(axes, element_bytes, from, to, threads);
}

void channels_last_to_first(std::size_t n, std::size_t c, std::size_t pixels, std::size_t element_bytes,
                            const void* from, void* to, const Threads& threads) {
  channels_first_to_last(n, pixels, c, element_bytes, from, to, threads);
}

}  // namespace assay::kernels
HWY_AFTER_NAMESPACE();
