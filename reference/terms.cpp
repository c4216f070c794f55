#include "reference/terms.h"

#include "reference/indexing.h"
#include "reference/window.h"

namespace assay::terms {
namespace {

// Of the largest antialiasing window, along both dimensions.
Dims triangle_cells(TensorArgument self, Argument<const Ints*> output_size, Argument<bool> align_corners,
                    Argument<std::optional<double>> scales_h, Argument<std::optional<double>> scales_w) {
  const auto cells = [&](Int size, Int places, std::optional<double> scale) {
    return TriangleAxis{size, places, resampling_step(size, places, align_corners.value, scale)}.cells();
  };
  return {cells(self->sizes[2], (*output_size.value)[0], scales_h.value),
          cells(self->sizes[3], (*output_size.value)[1], scales_w.value)};
}

// The most of n cells that one of m places takes, from floor(i n / m) to ceil((i + 1) n / m).
Int largest_share(Int n, Int m) { return n / m + (n % m == 0 ? 0 : 2); }

}  // namespace

Int indexed(TensorArgument tensor, Argument<const Tensors*> indices) {
  return count(indexed_sizes(*indices.value, tensor->sizes).block);
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
  return count(windows) + 1;  // each is divided by both sizes of its window
}

Int convolution_gradient(TensorArgument grad_output, TensorArgument weight, Argument<bool> transposed) {
  return std::max(beside(grad_output, 1), beside(weight, transposed.value ? 0 : 1));
}

Int transforms(TensorArgument tensor, Argument<const Ints*> dim) {
  Int points = 0;
  for (const Int d : *dim.value) points += tensor->sizes[d];
  return count({tensor->count(), points, 4});  // products and sums of the parts
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
