#include "reference/words/terms.h"

#include <algorithm>
#include <numeric>

#include "reference/families.h"
#include "reference/words/indexing.h"
#include "reference/words/window.h"

namespace assay::terms {
namespace {

// The cells of the largest antialiasing window, along both dimensions.
Dims triangle_cells(TensorArgument self, Argument<const Ints*> output_size, Argument<bool> align_corners,
                    Argument<std::optional<double>> scales_h, Argument<std::optional<double>> scales_w) {
  const auto cells = [&](Int size, Int places, std::optional<double> scale) {
    return TriangleAxis{size, places, resampling_step(size, places, align_corners.value, scale)}.cells();
  };
  return {cells(self->sizes[2], (*output_size.value)[0], scales_h.value),
          cells(self->sizes[3], (*output_size.value)[1], scales_w.value)};
}

// How often the most frequent of n keys occurs.
template <class F>
Int most_equal(Int n, F key) {
  Buffer<decltype(key(Int{}))> keys;
  for (Int k = 0; k < n; ++k) keys.push_back(key(k));
  std::ranges::sort(keys);
  Int most = 0;
  for (auto first = keys.begin(); first != keys.end();) {
    const auto last = std::upper_bound(first, keys.end(), *first);
    most = std::max<Int>(most, last - first);
    first = last;
  }
  return most;
}

// The largest number of taps that meet in one cell: windows start a stride apart, and meet where both have a tap.
Int meeting_taps(const Ints& kernel_size, const Ints& stride, const Ints& dilation) {
  Dims most;
  for (const Int d : {0, 1}) {
    const Int taps = entry(kernel_size, d), step = stride.empty() ? taps : entry(stride, d),
              apart = step / std::gcd(step, entry(dilation, d));
    most.push_back(taps / apart + (taps % apart != 0));
  }
  return count(most);
}

// The largest number of n cells that one of m places takes; place i takes those from floor(i n / m) to
// ceil((i + 1) n / m).
Int largest_share(Int n, Int m) { return n / m + (n % m == 0 ? 0 : 2); }

}  // namespace

Int shares(Argument<const Ints*> kernel_size, Argument<const Ints*> stride) {
  return meeting_taps(*kernel_size.value, *stride.value, Ints{1}) + 1;
}
Int meeting(Argument<const Ints*> kernel_size, Argument<const Ints*> stride, Argument<const Ints*> dilation) {
  return meeting_taps(*kernel_size.value, *stride.value, *dilation.value);
}

Int named(TensorArgument index, Argument<Int> dim) {
  const Array<Int> places = read<Int>(*index.value);
  Int length = 1, inner = 1;
  if (const int rank = index->rank(); rank > 0 && places.count() > 0) {  // an index without elements may have any rank
    const auto along = static_cast<int>(wrap_dim(dim.value, rank));
    length = index->sizes[along];
    for (int d = along + 1; d < rank; ++d) inner *= index->sizes[d];
  }
  return most_equal(places.count(),
                    [&](Int k) { return std::pair(k / inner / length * inner + k % inner, places[k]); });
}
Int named_or_self(TensorArgument index, Argument<Int> dim) { return named(index, dim) + 1; }
Int named(TensorArgument self, Argument<const Tensors*> indices) {
  const Indexing x = indexing(*indices.value, self->sizes);
  Buffer<Int> places(static_cast<std::size_t>(count(x.block)));
  for (int d = 0; d < self->rank(); ++d) {
    const auto& index = x.at[static_cast<std::size_t>(d)];
    if (!index) continue;
    const auto along = families::broadcast(*index, x.block);
    Int flat = 0;
    for (const Dims& i : assay::indices(x.block)) {
      Int& place = places[static_cast<std::size_t>(flat)];
      place = place * self->sizes[d] + along.at(i, flat++);
    }
  }
  return most_equal(std::ssize(places), [&](Int k) { return places[static_cast<std::size_t>(k)]; });
}
Int named_rows(TensorArgument indices) {
  const Array<Int> rows = read<Int>(*indices.value);
  return most_equal(rows.count(), [&](Int k) { return rows[k]; }) + 1;
}
Int named_in_plane(TensorArgument indices) {
  const Array<Int> places = read<Int>(*indices.value);
  const Int plane = size(indices, -1) * size(indices, -2);
  return most_equal(places.count(), [&](Int k) { return std::pair(k / plane, places[k]); });
}

Int largest_bag(TensorArgument indices, TensorArgument offsets) {
  const Array<Int> first = read<Int>(*offsets.value);
  Int most = 0;
  for (Int b = 0; b < first.count(); ++b)
    most = std::max(most, (b + 1 < first.count() ? first[b + 1] : indices->count()) - first[b]);
  return most + 1;
}

Int resampled(TensorArgument self, Argument<const Ints*> output_size, Argument<bool> align_corners,
              Argument<std::optional<double>> scales_h, Argument<std::optional<double>> scales_w) {
  const Dims cells = triangle_cells(self, output_size, align_corners, scales_h, scales_w);
  return count({cells[0]}) + count({cells[1]});
}

Int resampling(TensorArgument self, Argument<const Ints*> output_size, Argument<bool> align_corners,
               Argument<std::optional<double>> scales_h, Argument<std::optional<double>> scales_w) {
  const Dims cells = triangle_cells(self, output_size, align_corners, scales_h, scales_w);
  return count({count(shapes::with_last(self, output_size)), count(cells)});
}

Int window(Int spatial, Argument<const Ints*> kernel_size) {
  Dims sizes;
  for (Int d = 0; d < spatial; ++d) sizes.push_back(entry(*kernel_size.value, d));
  return count(sizes);
}

Int adaptive_window(TensorArgument self, Argument<const Ints*> output_size) {
  Dims cells;
  Int dim = self->rank() - static_cast<Int>(output_size->size());
  for (Int out : *output_size.value) cells.push_back(largest_share(count({self->sizes[dim++]}), std::max<Int>(out, 1)));
  return count(cells);
}

Int convolved(TensorArgument weight, Argument<bool> transposed, Argument<Int> groups) {
  const Int channels = transposed.value ? count({weight->sizes[1], groups.value}) : weight->sizes[0];
  return weight->count() / std::max<Int>(channels, 1) + 1;
}

Int adaptive_gradient(TensorArgument grad_output, TensorArgument self) {
  Dims windows;
  for (const Int d : {-2, -1}) {
    const Int places = count({size(grad_output, d)}), cells = std::max<Int>(size(self, d), 1);
    windows.push_back(cells % std::max<Int>(places, 1) == 0 ? 1 : largest_share(places, cells));
  }
  return count(windows) + 1;  // 1 more: each term is divided by both sizes of its window
}

Int convolution_gradient(TensorArgument weight, Argument<bool> transposed, Argument<Int> groups) {
  return transposed.value ? beside(weight, 0) : beside(weight, 1) / groups.value;
}

Int transforms(TensorArgument tensor, Argument<const Ints*> dim) {
  Int points = 0;
  for (const Int d : *dim.value) points += tensor->sizes[d];
  return count({tensor->count(), points, 4});  // 4: products and sums of the parts
}

Int convolution_products(TensorArgument grad_output, TensorArgument weight) {
  return count({beside(grad_output, 1), weight->count(), work_of_a_visit});
}

Int product(Argument<const Ints*> sizes) {
  return std::accumulate(sizes->begin(), sizes->end(), Int{1}, wrapping_multiply);
}

Int quotient(TensorArgument tensor, Argument<Int> a, Argument<Int> b) {
  return tensor->count() / std::max<Int>(wrapping_multiply(a.value, b.value), 1);
}

}  // namespace assay::terms
