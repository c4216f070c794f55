#include "reference/words/rules.h"

#include <algorithm>
#include <cmath>

#include "reference/words/shapes.h"
#include "reference/words/window.h"

namespace assay {
namespace {

const Ints one{1};

void has_sizes(TensorArgument tensor, const Dims& wanted) {
  require(tensor->sizes == wanted, tensor.name, " has sizes ", tensor->sizes, ", but must have ", wanted);
}

}  // namespace

namespace rules {

void one_or_each(Argument<const Ints*> list, Int dims) {
  require(list->size() == 1 || static_cast<Int>(list->size()) == dims, list.name, " has ", list->size(),
          " entries, but must have one, or ", dims);
}

void padding_at_most_half(Argument<const Ints*> padding, Argument<const Ints*> kernel_size) {
  for (Int d = 0; d < static_cast<Int>(std::max(padding->size(), kernel_size->size())); ++d) {
    const WindowAxis axis = window_axis(d, *kernel_size.value, {}, *padding.value, one);
    require(axis.padding <= axis.kernel / 2, padding.name, " is ", *padding.value,
            ", but must be at most half of the window's ", axis.kernel, " cells");
  }
}

void window_fits(TensorArgument self, Int spatial, Argument<const Ints*> kernel_size, Argument<const Ints*> stride,
                 Argument<const Ints*> padding, Argument<bool> ceil_mode) {
  window_fits(self, spatial, kernel_size, stride, padding, Argument<const Ints*>{"dilation", &one}, ceil_mode);
}

void window_fits(TensorArgument self, Int spatial, Argument<const Ints*> kernel_size, Argument<const Ints*> stride,
                 Argument<const Ints*> padding, Argument<const Ints*> dilation, Argument<bool> ceil_mode) {
  const Dims result = shapes::pooled(self, spatial, kernel_size, stride, padding, dilation, ceil_mode);
  require(std::all_of(result.end() - spatial, result.end(), [](Int places) { return places > 0; }), kernel_size.name,
          " is ", *kernel_size.value, ", but ", self.name, " has sizes ", self->sizes, ", too few for one window");
}

void window_inside(TensorArgument self, Int spatial, Argument<const Ints*> kernel_size) {
  for (Int d = 0; d < spatial; ++d)
    require(entry(*kernel_size.value, d) <= self->sizes[self->rank() - spatial + d], kernel_size.name, " is ",
            *kernel_size.value, ", but must be at most the last ", spatial, " sizes of ", self.name, ", ", self->sizes);
}

void is_pooled(TensorArgument grad_output, TensorArgument self, Int spatial, Argument<const Ints*> kernel_size,
               Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<bool> ceil_mode) {
  has_sizes(grad_output, shapes::pooled(self, spatial, kernel_size, stride, padding, ceil_mode));
}

void is_pooled(TensorArgument grad_output, TensorArgument self, Int spatial, Argument<const Ints*> kernel_size,
               Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<const Ints*> dilation,
               Argument<bool> ceil_mode) {
  has_sizes(grad_output, shapes::pooled(self, spatial, kernel_size, stride, padding, dilation, ceil_mode));
}

void is_convolved(TensorArgument grad_output, TensorArgument input, TensorArgument weight, Argument<const Ints*> stride,
                  Argument<const Ints*> padding, Argument<const Ints*> dilation, Argument<bool> transposed,
                  Argument<const Ints*> output_padding, Argument<Int> groups) {
  has_sizes(grad_output,
            shapes::convolved(input, weight, stride, padding, dilation, transposed, output_padding, groups));
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

void one_or_each_spatial(Argument<const Ints*> list, TensorArgument input) {
  const Int spatial = input->rank() - 2, length = static_cast<Int>(list->size());
  require(length == 1 || length == spatial, list.name, " is ", *list.value, ", but must have 1 or ", spatial,
          " entries");
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

void channels_fit(TensorArgument input, TensorArgument weight, Argument<bool> transposed, Argument<Int> groups) {
  const Int wanted = transposed.value ? weight->sizes[0] : count({weight->sizes[1], groups.value});
  require(input->sizes[1] == wanted, input.name, " has sizes ", input->sizes, ", but must have ", wanted,
          " channels, as ", weight.name, " has sizes ", weight->sizes, " in ", groups.value, " groups");
}

void bias_fits(TensorArgument bias, TensorArgument weight, Argument<bool> transposed, Argument<Int> groups) {
  const Int wanted = transposed.value ? count({weight->sizes[1], groups.value}) : weight->sizes[0];
  require(bias->sizes == Dims{wanted}, bias.name, " has sizes ", bias->sizes, ", but must have ", Dims{wanted},
          ", one element for each output channel");
}

void convolution_fits(TensorArgument input, TensorArgument weight, Argument<const Ints*> stride,
                      Argument<const Ints*> padding, Argument<const Ints*> dilation, Argument<bool> transposed,
                      Argument<const Ints*> output_padding) {
  const Dims result =
      shapes::convolved(input, weight, stride, padding, dilation, transposed, output_padding, {"groups", 1});
  for (Int d = 2; d < result.size(); ++d)
    require(result[d] > 0, input.name, " has sizes ", input->sizes, " and ", weight.name, " has sizes ", weight->sizes,
            ", which leave no result along dimension ", d);
}

void output_padding_fits(Argument<const Ints*> output_padding, Argument<const Ints*> stride,
                         Argument<const Ints*> dilation) {
  const Int spatial = static_cast<Int>(std::max({output_padding->size(), stride->size(), dilation->size()}));
  for (Int d = 0; d < spatial; ++d)
    require(entry(*output_padding.value, d) < std::max(entry(*stride.value, d), entry(*dilation.value, d)),
            output_padding.name, " is ", *output_padding.value, ", but must be less than ", stride.name, ", ",
            *stride.value, ", or than ", dilation.name, ", ", *dilation.value);
}

}  // namespace rules
}  // namespace assay
