#include "reference/words/rules.h"

#include <algorithm>
#include <cmath>

#include "reference/words/window.h"

namespace assay {
namespace {

const Ints one{1};

}  // namespace

namespace rules {

void padding_at_most_half(Argument<const Ints*> padding, Argument<const Ints*> kernel_size) {
  for (Int d = 0; d < static_cast<Int>(std::max(padding->size(), kernel_size->size())); ++d) {
    const WindowAxis axis = window_axis(d, *kernel_size.value, {}, *padding.value, one);
    require(axis.padding <= axis.kernel / 2, padding.name, " is ", *padding.value,
            ", but must be at most half of the window's ", axis.kernel, " cells");
  }
}

void windows_reach(TensorArgument self, Argument<const Ints*> output_size, Argument<bool> align_corners,
                   Argument<std::optional<double>> scales_h, Argument<std::optional<double>> scales_w) {
  const auto check = [&](Int size, Int places, std::optional<double> scale, std::string_view name) {
    const TriangleAxis axis{size, places, resampling_step(size, places, align_corners.value, scale)};
    require(axis.reaches(), name, " makes ", places, " places stand ", axis.step, " cells apart, where ", self.name,
            " has ", size);
  };
  check(self->sizes[2], (*output_size.value)[0], scales_h.value, scales_h.name);
  check(self->sizes[3], (*output_size.value)[1], scales_w.value, scales_w.name);
}

void scales_to_at_least(TensorArgument input, Argument<const Doubles*> scale_factors, Int least) {
  const int first = input->rank() - static_cast<int>(scale_factors->size());
  for (int d = first; d < input->rank(); ++d) {
    const double factor = (*scale_factors.value)[static_cast<std::size_t>(d - first)];
    const double scaled = std::floor(static_cast<double>(input->sizes[d]) * factor);
    require(scaled >= static_cast<double>(least) && scaled < 0x1p62, scale_factors.name, " has ", factor,
            ", which makes ", scaled, " of the size ", input->sizes[d], ", but it must be at least ", least);
  }
}

void holds_windows(TensorArgument columns, Argument<const Ints*> output_size, Argument<const Ints*> kernel_size,
                   Argument<const Ints*> dilation, Argument<const Ints*> padding, Argument<const Ints*> stride) {
  const Dims& sizes = columns->sizes;
  const Int cells = count(Dims(*kernel_size.value));
  Int places = 1;
  for (Int d = 0; d < 2; ++d) {
    const WindowAxis axis = window_axis(d, *kernel_size.value, *stride.value, *padding.value, *dilation.value);
    const Int size = std::clamp<Int>(entry(*output_size.value, d), -1, Int{1} << 30);
    places *= std::clamp<Int>(axis.places(size, false), 0, Int{1} << 30);
  }
  require(sizes[sizes.size() - 2] % cells == 0, columns.name, " has sizes ", sizes, ", but must have a multiple of ",
          cells, " rows, one for each cell of the ", kernel_size.name, " ", *kernel_size.value);
  require(sizes[sizes.size() - 1] == places, columns.name, " has sizes ", sizes, ", but must have ", places,
          " columns, one for each place of a window in ", output_size.name, " ", *output_size.value);
}

}  // namespace rules
}  // namespace assay
