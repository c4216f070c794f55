#include <algorithm>

#include "kernels.gen.h"
#include "optimized/selection/scalars.h"
#include "optimized/selection/window.h"

// Convolutions of any dtype and layout, plain or transposed, along one, two or three dimensions, and their gradients,
// by plain loops. A product has a cell of the larger tensor, a cell of the smaller one, and an element of the kernel.
// Along each dimension, large = small * stride - padding + kernel * dilation. In a plain convolution the input is the
// larger tensor; in a transposed one the result is.
namespace assay::optimized {
namespace {

constexpr int most_axes = 3;

struct Axes {
  std::int64_t stride[most_axes], padding[most_axes], dilation[most_axes];
};

// Sizes of the tensors of a convolution: images, channels, and the cells along each axis.
struct Convolution {
  int n = 0;  // the number of axes
  Axes axes;
  bool transposed = false;
  std::int64_t groups = 1, images = 0, in_channels = 0, out_channels = 0;
  std::int32_t in[most_axes], out[most_axes], kernel[most_axes];

  const std::int32_t* large() const { return transposed ? out : in; }
  const std::int32_t* small() const { return transposed ? in : out; }
  std::int64_t in_of_group() const { return in_channels / groups; }
  std::int64_t out_of_group() const { return out_channels / groups; }
};

bool is_flag(const Value& v) { return v.kind == ValueKind::boolean; }

// Reads stride, padding, dilation, transposed, output_padding and groups, which begin at argument `first`.
bool describe(const Call& call, const Tensor& input, const Tensor& weight, std::size_t first, Convolution& c) {
  if (weight.rank < 3 || weight.rank > 5 || input.rank != weight.rank || !is_flag(call[first + 3]) ||
      call[first + 5].kind != ValueKind::integer)
    return false;
  c.n = input.rank - 2, c.transposed = call[first + 3].boolean, c.groups = call[first + 5].integer;
  const std::int64_t rows = weight.size(0), columns = weight.size(1);
  const bool has_cells = std::all_of(input.sizes + 1, input.sizes + input.rank, [](std::int32_t n) { return n > 0; });
  if (c.groups < 1 || c.groups > INT32_MAX || rows % c.groups != 0 || !has_cells || weight.count() == 0) return false;
  c.images = input.size(0), c.in_channels = input.size(1);
  if (c.in_channels != (c.transposed ? rows : columns * c.groups)) return false;
  c.out_channels = c.transposed ? columns * c.groups : rows;
  for (int d = 0; d < c.n; ++d) {
    const auto axis = static_cast<std::size_t>(d), n = static_cast<std::size_t>(c.n);
    const std::int64_t s = entry(call[first], n, axis, -1), p = entry(call[first + 1], n, axis, -1),
                       l = entry(call[first + 2], n, axis, -1), added = entry(call[first + 4], n, axis, -1);
    if (s < 1 || p < 0 || l < 1 || added < 0 || (c.transposed && added >= std::max(s, l))) return false;
    c.axes.stride[d] = s, c.axes.padding[d] = p, c.axes.dilation[d] = l;
    c.in[d] = input.sizes[d + 2], c.kernel[d] = weight.sizes[d + 2];
    const std::int64_t reach = l * (c.kernel[d] - 1), cells = c.in[d] + 2 * p - reach - 1;
    const std::int64_t size = c.transposed ? (c.in[d] - 1) * s - 2 * p + reach + added + 1
                              : cells < 0  ? 0
                                           : cells / s + 1;
    if (size < 1 || size > INT32_MAX) return false;
    c.out[d] = static_cast<std::int32_t>(size);
  }
  return true;
}

Shape result_of(const Convolution& c) {
  Shape shape{c.n + 2, {static_cast<std::int32_t>(c.images), static_cast<std::int32_t>(c.out_channels)}};
  std::copy_n(c.out, c.n, shape.sizes + 2);
  return shape;
}

// The cells of the three tensors of a product.
struct Cells {
  std::int64_t large[most_axes], small[most_axes], kernel[most_axes];
};

// Calls product(cells) for each product that has the given cells of one tensor. The two others are found along each
// axis: for each element of the kernel, or if that is given, for each cell of the smaller tensor.
enum class Given { large, small, kernel };
template <Given given, class Product>
void each_product(const Convolution& c, Cells& cells, Product product, int axis = 0) {
  if (axis == c.n) return product();
  const Axes& a = c.axes;
  const std::int64_t n = given == Given::kernel ? c.small()[axis] : c.kernel[axis];
  for (std::int64_t i = 0; i < n; ++i) {
    (given == Given::kernel ? cells.small : cells.kernel)[axis] = i;
    const std::int64_t shift = cells.kernel[axis] * a.dilation[axis] - a.padding[axis];
    if (given == Given::large) {
      const std::int64_t at = cells.large[axis] - shift;
      if (at < 0 || at % a.stride[axis] != 0 || at / a.stride[axis] >= c.small()[axis]) continue;
      cells.small[axis] = at / a.stride[axis];
    } else {
      const std::int64_t at = cells.small[axis] * a.stride[axis] + shift;
      if (at < 0 || at >= c.large()[axis]) continue;
      cells.large[axis] = at;
    }
    each_product<given>(c, cells, product, axis + 1);
  }
}

// A tensor of a convolution, whose elements have two channels or an image and a channel, and cells.
template <class T>
struct Operand {
  Reading<T> elements;
  Strides strides;
  int n;

  Operand(const Tensor& t, DType as) : elements(t, as), strides(strides_of(t)), n(t.rank - 2) {}
  T at(std::int64_t i, std::int64_t j, const std::int64_t* cells) const {
    std::ptrdiff_t place = i * strides.of[0] + j * strides.of[1];
    for (int d = 0; d < n; ++d) place += cells[d] * strides.of[d + 2];
    return elements[place];
  }
};

// The element of the kernel that joins two channels, which are counted through all groups.
template <class T>
T weight_at(const Convolution& c, const Operand<T>& weight, std::int64_t in, std::int64_t out,
            const std::int64_t* cells) {
  return c.transposed ? weight.at(in, out % c.out_of_group(), cells) : weight.at(out, in % c.in_of_group(), cells);
}

void set_cells(const std::int32_t* index, int n, std::int64_t* cells) { std::copy_n(index + 2, n, cells); }

// Writes start(channel) and the products for each element of the result of a convolution. The result of a gradient is
// that of the input, made from the gradient of the output: the products of the opposite direction.
template <bool is_gradient, class T, class Start>
void convolve(const Convolution& c, const Operand<T>& x, const Operand<T>& w, Start start, const Tensor& out) {
  const Writing<T> y(out);
  const Strides to = strides_of(out);
  const std::int64_t of_x = is_gradient ? c.out_of_group() : c.in_of_group(),
                     of_y = is_gradient ? c.in_of_group() : c.out_of_group();
  const auto result = [&]<Given given>(const std::int32_t* index) {
    constexpr bool is_large = given == Given::large;
    Cells cells;
    set_cells(index, c.n, is_large ? cells.large : cells.small);
    const std::int64_t channel = index[1], first = channel / of_y * of_x;
    T total = start(channel);
    each_product<given>(c, cells, [&] {
      for (std::int64_t k = first; k < first + of_x; ++k) {
        const T weight = weight_at(c, w, is_gradient ? channel : k, is_gradient ? k : channel, cells.kernel);
        total = plus(total, times(x.at(index[0], k, is_large ? cells.small : cells.large), weight));
      }
    });
    y.set(place_of(to, index, out.rank), total);
  };
  each_index(shape_of(out), [&](const std::int32_t* index) {
    c.transposed != is_gradient ? result.template operator()<Given::large>(index)
                                : result.template operator()<Given::small>(index);
  });
}

// Operands: input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, out.
bool accepts(const Call& call) {
  if (!call[0].is_tensor() || !call[1].is_tensor() || !call[9].is_tensor()) return false;
  const DType dtype = call.tensor(0).dtype;
  const bool has_bias = call[2].is_tensor();
  return is_readable(dtype) && call.tensor(1).dtype == dtype && call.tensor(9).dtype == dtype &&
         (has_bias ? bool(find_reader<Complex>(call.tensor(2).dtype)) && !is_complex(call.tensor(2).dtype)
                   : call[2].kind == ValueKind::none);
}
bool run(const Step& step, Execution&) {
  const Call& call = step.call;
  Convolution c;
  Tensor& out = call.tensor(9);
  if (!describe(call, call.tensor(0), call.tensor(1), 3, c)) return false;
  const bool is_dilated = std::any_of(c.axes.dilation, c.axes.dilation + c.n, [](std::int64_t d) { return d != 1; });
  if ((c.transposed || is_dilated) && !is_floating(out.dtype) && out.dtype != DType::int64) return false;
  if (call[2].is_tensor() && !is_real(out.dtype)) return false;
  if (!is_number(out.dtype) && c.images > 0) return false;
  if (call[2].is_tensor() && (call.tensor(2).rank != 1 || call.tensor(2).size(0) != c.out_channels)) return false;
  if (!resize(out, result_of(c).span())) return false;
  const auto compute = [&]<class T>() {
    const Operand<T> x(call.tensor(0), out.dtype), w(call.tensor(1), out.dtype);
    const bool has_bias = call[2].is_tensor();
    const Reading<T> bias(has_bias ? call.tensor(2) : out, out.dtype);
    convolve<false>(
        c, x, w, [&](std::int64_t o) { return has_bias ? bias[o] : T{}; }, out);
    return true;
  };
  return is_floating(out.dtype) ? compute.operator()<double>() : compute.operator()<std::int64_t>();
}

// Gradients. Operands: grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding,
// groups, output_mask; the gradients of input, weight and bias.
bool is_asked(const Call& call, std::size_t k) { return call[10].booleans[k] != 0; }

bool accepts_gradient(const Call& call) {
  for (const std::size_t i : {0u, 1u, 2u, 11u, 12u, 13u})
    if (!call[i].is_tensor()) return false;
  const DType dtype = call.tensor(1).dtype;
  if ((!is_floating(dtype) && dtype != DType::int64) || call.tensor(0).dtype != dtype || call.tensor(2).dtype != dtype)
    return false;
  if (call[10].kind != ValueKind::booleans || call[10].count != 3) return false;
  for (std::size_t k = 0; k < 3; ++k)
    if (is_asked(call, k) && call.tensor(11 + k).dtype != dtype) return false;
  return true;
}

template <class T>
void gradient_of_weight(const Convolution& c, const Operand<T>& g, const Operand<T>& x, const Tensor& out) {
  const Writing<T> y(out);
  const Strides to = strides_of(out);
  each_index(shape_of(out), [&](const std::int32_t* index) {
    Cells cells;
    set_cells(index, c.n, cells.kernel);
    const std::int64_t group = index[0] / (c.transposed ? c.in_of_group() : c.out_of_group());
    const std::int64_t i = c.transposed ? index[0] : group * c.in_of_group() + index[1];
    const std::int64_t o = c.transposed ? group * c.out_of_group() + index[1] : index[0];
    T total{};
    each_product<Given::kernel>(c, cells, [&] {
      for (std::int64_t n = 0; n < c.images; ++n)
        total = plus(total, times(x.at(n, i, c.transposed ? cells.small : cells.large),
                                  g.at(n, o, c.transposed ? cells.large : cells.small)));
    });
    y.set(place_of(to, index, out.rank), total);
  });
}

template <class T>
void gradient_of_bias(const Convolution& c, const Operand<T>& g, const Tensor& gradient, const Tensor& out) {
  const Writing<T> y(out);
  Shape cells = shape_of(gradient);
  cells.sizes[1] = 1;
  for (std::int64_t o = 0; o < c.out_channels; ++o) {
    T total{};
    each_index(cells, [&](const std::int32_t* index) {
      total = plus(total, g.elements[place_of(g.strides, index, cells.rank) + o * g.strides.of[1]]);
    });
    y.set(o, total);
  }
}

bool run_gradient(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor &gradient = call.tensor(0), &input = call.tensor(1), &weight = call.tensor(2);
  Convolution c;
  if (!describe(call, input, weight, 4, c) || !std::ranges::equal(result_of(c).span(), gradient.shape())) return false;
  bool is_dilated = false;
  for (int d = 0; d < c.n; ++d) {
    const bool is_plain =
        c.transposed || entry(call[8], static_cast<std::size_t>(c.n), static_cast<std::size_t>(d), 0) == 0;
    is_dilated = is_dilated || (!c.transposed && c.axes.dilation[d] != 1);
    if (!is_plain) return false;
  }
  // PyTorch computes gradients of integers in dilated convolutions alone.
  if (input.count() == 0 || (!is_floating(input.dtype) && !is_dilated)) return false;
  const Shape shapes[] = {shape_of(input), shape_of(weight), {1, {static_cast<std::int32_t>(c.out_channels)}}},
              none{1, {0}};
  for (std::size_t k = 0; k < 3; ++k)
    if (!can_have(call.tensor(11 + k), is_asked(call, k) ? shapes[k] : none)) return false;
  for (std::size_t k = 0; k < 3; ++k) resize(call.tensor(11 + k), (is_asked(call, k) ? shapes[k] : none).span());
  const auto compute = [&]<class T>() {
    const Operand<T> g(gradient, input.dtype), x(input, input.dtype), w(weight, input.dtype);
    if (is_asked(call, 0))
      convolve<true>(
          c, g, w, [](std::int64_t) { return T{}; }, call.tensor(11));
    if (is_asked(call, 1)) gradient_of_weight(c, g, x, call.tensor(12));
    if (is_asked(call, 2)) gradient_of_bias(c, g, gradient, call.tensor(13));
    return true;
  };
  return is_floating(input.dtype) ? compute.operator()<double>() : compute.operator()<std::int64_t>();
}

}  // namespace

constexpr Kernel convolution_any{"convolution_any", accepts, nullptr, run};
constexpr Kernel convolution_gradient{"convolution_gradient", accepts_gradient, nullptr, run_gradient};

}  // namespace assay::optimized
