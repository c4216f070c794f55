#include <algorithm>
#include <array>
#include <span>

#include "reference/xnnpack/body.h"
#include "reference/xnnpack/quantized.h"

// Products of values and filters: fully connected layers and convolutions.
namespace assay::xnnpack {
namespace {

using format::xnnpack::bounds_of;
using xnn::Operation;

std::int32_t product_of(std::span<const std::int32_t> sizes) {
  std::uint64_t product = 1;
  for (const std::int32_t n : sizes)
    product = static_cast<std::uint64_t>(size_of_dim(product * static_cast<std::uint64_t>(n)));
  return static_cast<std::int32_t>(product);
}

// [rows, k] from [..., k]
Index as_matrix(Body& body, Index x) {
  const Sizes sizes = body.sizes_of(x);
  if (sizes.size() == 2) return x;
  const std::int32_t rows = product_of(std::span(sizes).first(sizes.size() - 1)), columns = sizes.back();
  return body.view(x, {rows, columns}, {body.number(body.is_dynamic() ? -1 : rows), body.number(columns)});
}

// [..., n] from [rows, n], where x is [..., k]
Index as_rows_of(Body& body, Index product, Index x) {
  Sizes sizes = body.sizes_of(x);
  if (sizes.size() == 2) return product;
  std::vector<Index> list;
  for (std::size_t d = 0; d + 1 < sizes.size(); ++d) list.push_back(body.size(x, d));
  sizes.back() = body.sizes_of(product).back();
  list.push_back(body.number(sizes.back()));
  return body.view(product, sizes, list);
}

// What a fully connected layer and a convolution have in common: the filter as a constant, and the product of a tensor
// with it, in the order of dims in which it is computed.
class Linear {
 public:
  static constexpr Order order = Order::listed;
  Linear(Body& body, const xnn::FullyConnected& table) : body_(body), t_(table) {}

  bool is_transposed() const { return (t_.flags() & format::xnnpack::transposed_filter) != 0; }
  Sizes of_channels(std::size_t n) const { return {static_cast<std::int32_t>(n)}; }
  // The tensor of which the product is computed, and the product's sizes from it.
  Index flat(Index x) const { return as_matrix(body_, x); }
  Index shaped(Index product, Index x) const { return as_rows_of(body_, product, x); }

  // [in, out]
  Index filter() const {
    const Sizes dims = body_.sizes(t_.filter());
    if (is_transposed()) return body_.read(t_.filter());
    if (!body_.graph().is_constant(t_.filter())) return body_.permute(body_.read(t_.filter()), {1, 0});
    return body_.constant(t_.filter(), dims, {1, 0}, {dims[1], dims[0]});
  }

  Index operator()(Index x, Index filter, std::optional<Index> bias) const {
    const Index matrix = as_matrix(body_, x);
    const DType dtype = body_.dtype_of(x);
    const Sizes sizes{body_.sizes_of(matrix)[0], body_.sizes_of(filter)[1]};
    const Index product =
        bias ? body_.call("aten::addmm.out", {{"self", *bias}, {"mat1", matrix}, {"mat2", filter}}, dtype, sizes)
             : body_.call("aten::mm.out", {{"self", matrix}, {"mat2", filter}}, dtype, sizes);
    return as_rows_of(body_, product, x);
  }

 private:
  Body& body_;
  const xnn::FullyConnected& t_;
};

class Convolution {
 public:
  static constexpr Order order = Order::channels_first;
  Convolution(Body& body, const xnn::Convolution& table, Operation kind) : body_(body), t_(table), kind_(kind) {}

  Sizes of_channels(std::size_t n) const { return {static_cast<std::int32_t>(n), 1, 1}; }
  Index flat(Index x) const { return x; }
  Index shaped(Index product, Index) const { return product; }

  // [out, in of a group, height, width]; transposed: [in, out of a group, height, width]
  Index filter() const {
    const std::int32_t height = size_of_dim(t_.kernel_height()), width = size_of_dim(t_.kernel_width());
    const std::int32_t groups = size_of_dim(t_.groups()), ins = size_of_dim(t_.group_inputs()),
                       outs = size_of_dim(t_.group_outputs());
    const std::int32_t all_ins = product_of(std::array{groups, ins}), all_outs = product_of(std::array{groups, outs});
    if (kind_ == Operation::DepthwiseConv2d)
      return body_.constant(t_.filter(), {height, width, all_outs}, {2, 0, 1}, {all_outs, 1, height, width});
    if (is_transposed())
      return body_.constant(t_.filter(), {groups, outs, height, width, ins}, {0, 4, 1, 2, 3},
                            {all_ins, outs, height, width});
    return body_.constant(t_.filter(), {all_outs, height, width, ins}, {0, 3, 1, 2}, {all_outs, ins, height, width});
  }

  Index operator()(Index x, Index filter, std::optional<Index> bias) const {
    const Padding border = padding_of(t_);
    const bool even = border.is_even();
    const auto padding = even ? pair(border.top, border.left) : pair(0, 0);
    const auto adjustment = is_transposed() ? pair(t_.adjustment_height(), t_.adjustment_width()) : pair(0, 0);
    Sizes sizes = body_.sizes(t_.output(), order);
    if (!even && is_transposed()) sizes = border.around(sizes);
    PlanBuilder& plan = body_.plan();
    const Index result =
        body_.call("aten::convolution.out",
                   {{"input", even || is_transposed() ? x : pad(body_, x, border, body_.plan().real(0))},
                    {"weight", filter},
                    {"bias", bias ? *bias : plan.none()},
                    {"stride", plan.integers(pair(t_.stride_height(), t_.stride_width()))},
                    {"padding", plan.integers(padding)},
                    {"dilation", plan.integers(pair(t_.dilation_height(), t_.dilation_width()))},
                    {"transposed", plan.boolean(is_transposed())},
                    {"output_padding", plan.integers(adjustment)},
                    {"groups", body_.number(t_.groups())}},
                   body_.dtype_of(x), sizes);
    if (even || !is_transposed()) return result;
    return cut(cut(result, 2, border.top, border.bottom), 3, border.left, border.right);
  }

 private:
  bool is_transposed() const { return kind_ == Operation::ConvTranspose2d; }

  // Without the first and the last indices of a dim.
  Index cut(Index x, std::size_t dim, std::uint32_t before, std::uint32_t after) const {
    Sizes sizes = body_.sizes_of(x);
    sizes[dim] -= static_cast<std::int32_t>(before + after);
    return body_.call("aten::slice_copy.Tensor_out",
                      {{"self", x},
                       {"dim", body_.number(static_cast<Int>(dim))},
                       {"start", body_.number(before)},
                       {"end", after > 0 ? body_.number(-Int{after}) : body_.plan().none()}},
                      body_.dtype_of(x), sizes);
  }

  Body& body_;
  const xnn::Convolution& t_;
  Operation kind_;
};

// The calls of one node. With the steps i = q - z of the input, the filter w and its scale s of a channel:
//   floats          clamp(sum(x w) + b), in float32 if the datatypes differ, with w s in place of a quantized filter;
//                   a float32 filter of a float16 input is rounded to float16
//   8-bit input     clip(rne(f32(sum(i w) + b) r) + z), where r = s1 s / s2 and b is an integer
//   rows            clamp(f32(sum(i w)) (1 / k) s + b); the product with s and the sum with b are rounded once
//   rows, groups    clamp(f32(sum(i w s)) (1 / k) + b), where s is the scale of a group
// Sums of integers are computed in float64, in which they are exact. Every other operation is rounded to float32.
template <class Table, class Multiply>
class Product {
 public:
  Product(Body& body, const Table& table, const xnn::Node& node, Multiply multiply)
      : body_(body), t_(table), node_(node), multiply_(multiply), has_bias_(t_.bias() != format::xnnpack::no_id) {}

  void run() {
    const Datatype input = body_.graph().datatype(t_.input());
    const Index result = is_quantized(body_, t_.input()) ? of_codes()
                         : input == Datatype::qdint8     ? of_rows()
                                                         : of_floats();
    body_.define(t_.output(), result, Multiply::order);
  }

 private:
  using enum DType;

  DType filter_dtype() const { return body_.dtype(t_.filter()); }
  bool has_codes() const { return filter_dtype() == int8 || filter_dtype() == uint8; }
  Index clamped(Index x) { return clamp(body_, x, bounds_of(node_)); }

  std::optional<Index> bias(DType dtype) {
    return has_bias_ ? std::optional(body_.cast(body_.read(t_.bias()), dtype)) : std::nullopt;
  }
  // The scale of the filter, or those of its channels times `factor`, as numbers along the channels of the output.
  Index per_channel(std::vector<float> numbers) {
    const Sizes sizes = numbers.size() == 1 ? Sizes(1, 1) : multiply_.of_channels(numbers.size());
    return body_.floats(numbers, sizes);
  }
  Index times(Index x, Index factor) {
    return body_.call("aten::mul.out", {{"self", x}, {"other", factor}}, body_.dtype_of(x), body_.sizes_of(x));
  }
  Index plus(Index x, Index other) {
    return body_.call("aten::add.out", {{"self", x}, {"other", other}}, body_.dtype_of(x), body_.sizes_of(x));
  }

  // A filter of codes as integers in this dtype.
  Index integers(DType dtype) {
    if (!body_.graph().is_constant(t_.filter())) refuse("its filter of 8-bit codes is not a constant");
    const std::int32_t zero = body_.graph().zero_point(t_.filter());
    const Index codes = multiply_.filter();
    return zero == 0 ? body_.cast(codes, dtype) : steps(body_, codes, codes_of(body_, t_.filter()), dtype);
  }

  // -- floats ---------------------------------------------------------------------------------------------------------

  Index of_floats() {
    const DType in = body_.dtype(t_.input()), out = body_.dtype(t_.output());
    const bool one_dtype = filter_dtype() == in && out == in && (!has_bias_ || body_.dtype(t_.bias()) == in);
    const DType dtype = one_dtype ? in : float32;
    const Index x = body_.cast(body_.read(t_.input(), Multiply::order), dtype);
    const Index filter = has_codes() ? scaled_filter() : body_.cast(multiply_.filter(), in);
    const Index product = multiply_(x, body_.cast(filter, dtype), bias(dtype));
    return body_.cast(clamped(product), out);
  }
  // A filter of codes as the numbers that they are, in float32.
  Index scaled_filter() {
    const Index filter = integers(float32);
    const auto scales = body_.graph().scales(t_.filter());
    const auto n = static_cast<std::int32_t>(scales.size());
    const bool is_matrix = Multiply::order == Order::listed;
    return times(filter, body_.floats(scales, is_matrix ? Sizes{n} : Sizes{n, 1, 1, 1}));
  }

  // -- codes ----------------------------------------------------------------------------------------------------------

  Index of_codes() {
    const Codes from = codes_of(body_, t_.input()), to = within(codes_of(body_, t_.output()), bounds_of(node_));
    const Index codes = body_.read(t_.input(), Multiply::order);
    const Index x =
        steps(body_, multiply_.flat(codes), from, float64);  // views of codes, so that kernels see no others
    const Index sums = body_.cast(multiply_(x, integers(float64), bias(float64)), float32);
    std::vector<float> ratios = body_.graph().scales(t_.filter());
    for (float& scale : ratios) {
      const float product = from.scale * scale;
      scale = product / to.scale;
    }
    return multiply_.shaped(shifted(body_, times(sums, per_channel(std::move(ratios))), to), codes);
  }

  // -- rows -----------------------------------------------------------------------------------------------------------

  Index of_rows() {
    const Rows& rows = body_.rows(t_.input(), Multiply::order);
    const Index x = body_.cast(rows.steps, float64);
    const bool groups = body_.graph().datatype(t_.filter()) == Datatype::qbint4;
    const Index sums = body_.cast(multiply_(x, groups ? grouped_filter() : integers(float64), {}), float32);
    Index result = times(sums, rows.inverse);
    if (!groups) result = with_scale_and_bias(result);
    if (groups && has_bias_) result = plus(result, bias_of_channels(float32));
    return body_.cast(clamped(result), body_.dtype(t_.output()));
  }
  Index with_scale_and_bias(Index x) {
    const Index scales = body_.cast(per_channel(body_.graph().scales(t_.filter())), float64);
    const Index product = times(body_.cast(x, float64), scales);
    return body_.cast(has_bias_ ? plus(product, bias_of_channels(float64)) : product, float32);
  }
  // The bias along the channels of the output.
  Index bias_of_channels(DType dtype) {
    const Index elements = body_.read(t_.bias());
    const Sizes sizes = multiply_.of_channels(static_cast<std::size_t>(body_.sizes_of(elements)[0]));
    return body_.cast(sizes.size() == 1 ? elements : body_.view(elements, sizes), dtype);
  }
  // [in, out] in float64: an element times the scale of its group, which is exact.
  Index grouped_filter() {
    const auto scales = body_.graph().scales(t_.filter());
    const Sizes dims = body_.sizes(t_.filter());  // [out, in]
    const auto groups = static_cast<std::int32_t>(scales.size()) / std::max(dims[0], 1);
    const std::int32_t group = dims[1] / std::max(groups, 1);
    const Index codes = body_.constant(t_.filter(), {dims[0], groups, group}, {0, 1, 2}, {dims[0], groups, group});
    const Index numbers =
        times(body_.cast(codes, float64), body_.cast(body_.floats(scales, {dims[0], groups, 1}), float64));
    return body_.permute(body_.view(numbers, dims), {1, 0});
  }

  Body& body_;
  const Table& t_;
  const xnn::Node& node_;
  Multiply multiply_;
  bool has_bias_;
};

// Batches of matrices as one batch: [batch, rows, columns] from [..., rows, columns].
Index as_batch(Body& body, Index x) {
  const Sizes sizes = body.sizes_of(x);
  if (sizes.size() == 3) return x;
  const std::int32_t batch = product_of(std::span(sizes).first(sizes.size() - 2));
  const std::size_t rows = sizes.size() - 2, columns = sizes.size() - 1;
  return body.view(x, {batch, sizes[rows], sizes[columns]},
                   {body.number(body.is_dynamic() ? -1 : batch), body.size(x, rows), body.size(x, columns)});
}

// Repeats matrices so that x has the batch dims `batch`, which the tensor `other` has at run time where x has 1.
Index repeated(Body& body, Index x, const Sizes& batch, Index other) {
  Sizes sizes = body.sizes_of(x);
  const Sizes others = body.sizes_of(other);
  const std::size_t own = sizes.size() - 2;
  if (std::equal(batch.begin(), batch.end(), sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(own))) return x;
  std::vector<Index> list;
  for (std::size_t d = 0; d < batch.size(); ++d) {
    const bool is_own = d + own >= batch.size() && sizes[d + own - batch.size()] == batch[d];
    if (!is_own && d + others.size() < batch.size() + 2) refuse("the dims of its inputs do not fit its output");
    list.push_back(is_own ? body.size(x, d + own - batch.size())
                          : body.size(other, d + others.size() - 2 - batch.size()));
  }
  for (const std::size_t d : {own, own + 1}) list.push_back(body.size(x, d));
  Sizes all = batch;
  all.insert(all.end(), sizes.end() - 2, sizes.end());
  return body.call("aten::expand_copy.out", {{"self", x}, {"size", body.numbers(list)}}, body.dtype_of(x), all);
}

Index turned(Body& body, Index x, bool turn) {
  if (!turn) return x;
  std::vector<std::size_t> perm;
  for (std::size_t d = 0; d < body.sizes_of(x).size(); ++d) perm.push_back(d);
  std::swap(perm[perm.size() - 2], perm.back());
  return body.permute(x, perm);
}

}  // namespace

void product(Body& body, const xnn::Node& node) {
  if (const auto* linear = node.operation_as_FullyConnected())
    return Product<xnn::FullyConnected, Linear>(body, *linear, node, {body, *linear}).run();
  format::xnnpack::visit(node, [&]<class Table>(const Table& table) {
    if constexpr (std::is_same_v<Table, xnn::Convolution>)
      Product<Table, Convolution>(body, table, node, {body, table, node.operation_type()}).run();
  });
}

void multiply_matrices(Body& body, const xnn::Binary& table) {
  require_floats(body, table.output());
  if (body.graph().datatype(table.input1()) == Datatype::qdint8) refuse("exporters do not quantize its inputs");
  const Index a = turned(body, body.read(table.input1()), (table.flags() & format::xnnpack::transposed_a) != 0),
              b = turned(body, body.read(table.input2()), (table.flags() & format::xnnpack::transposed_b) != 0);
  const DType dtype = body.dtype(table.output());
  const Sizes sizes = body.sizes(table.output());
  if (sizes.size() == 2)
    return body.define(table.output(), body.call("aten::mm.out", {{"self", a}, {"mat2", b}}, dtype, sizes));
  const Sizes batch(sizes.begin(), sizes.end() - 2);
  const Index all_a = repeated(body, a, batch, b), all_b = repeated(body, b, batch, a);
  const Index first = as_batch(body, all_a), second = as_batch(body, all_b);
  const Index product = body.call("aten::bmm.out", {{"self", first}, {"mat2", second}}, dtype,
                                  {body.sizes_of(first)[0], body.sizes_of(first)[1], body.sizes_of(second)[2]});
  if (sizes.size() == 3) return body.define(table.output(), product);
  std::vector<Index> list;
  for (std::size_t d = 0; d < batch.size(); ++d) list.push_back(body.size(all_a, d));
  list.push_back(body.size(first, 1)), list.push_back(body.size(second, 2));
  body.define(table.output(), body.view(product, sizes, list));
}

}  // namespace assay::xnnpack
