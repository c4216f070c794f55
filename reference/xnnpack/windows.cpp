#include <limits>

#include "reference/xnnpack/body.h"
#include "reference/xnnpack/quantized.h"

// Windows that move over images, means of images, and resized images.
namespace assay::xnnpack {
namespace {

using format::xnnpack::bounds_of;

constexpr Order images = Order::channels_first;

// ATen's pools take a padding of at most half the kernel, which is the same on opposite sides.
bool is_plain(const Padding& p, const auto& table) {
  return p.is_even() && p.top <= table.kernel_height() / 2 && p.left <= table.kernel_width() / 2;
}

// The values and the positions that max_pool2d_with_indices computes. A position is one in the padded image unless ATen
// takes the padding.
struct Largest {
  Index values, positions;
};
struct Steps {
  std::vector<Int> stride, dilation;
};
Largest largest(Body& body, Index x, const auto& table, const Padding& padding, const Steps& steps) {
  PlanBuilder& plan = body.plan();
  const Sizes sizes = body.sizes(table.output(), images);
  const Largest out{body.tensor(body.dtype_of(x), sizes), body.tensor(DType::int64, sizes)};
  body.call("aten::max_pool2d_with_indices.out",
            {{"self", x},
             {"kernel_size", plan.integers(pair(table.kernel_height(), table.kernel_width()))},
             {"stride", plan.integers(steps.stride)},
             {"padding", plan.integers(pair(padding.top, padding.left))},
             {"dilation", plan.integers(steps.dilation)},
             {"out", out.values},
             {"indices", out.positions}});
  return out;
}

// The images with elements around them that are no maximum.
Index padded(Body& body, Id id, const Padding& padding) {
  const Index lowest = is_quantized(body, id) ? body.number(codes_of(body, id).least)
                                              : body.plan().real(-std::numeric_limits<double>::infinity());
  return pad(body, body.read(id, images), padding, lowest);
}

void largest_of_windows(Body& body, const xnn::Pooling& table, const xnn::Node& node) {
  const Padding border = padding_of(table);
  const bool plain = is_plain(border, table);
  const Index x = plain ? body.read(table.input(), images) : padded(body, table.input(), border);
  const Index result = largest(body, x, table, plain ? border : Padding{},
                               {pair(table.stride_height(), table.stride_width()),
                                pair(table.dilation_height(), table.dilation_width())})
                           .values;
  const OutputBounds bounds = bounds_of(node);
  const bool codes = is_quantized(body, table.output());
  body.define(table.output(),
              codes ? clamp_codes(body, result, codes_of(body, table.output()), bounds) : clamp(body, result, bounds),
              images);
}

// The mean of the elements of each window that are not padding.
Index mean_of_windows(Body& body, Index x, const xnn::Pooling& table) {
  const Padding border = padding_of(table);
  const bool plain = is_plain(border, table);
  const Sizes sizes = body.sizes(table.output(), images);
  PlanBuilder& plan = body.plan();
  const auto pooled = [&](Index of, Operands operands) {
    operands.insert(operands.end(), {{"self", of},
                                     {"kernel_size", plan.integers(pair(table.kernel_height(), table.kernel_width()))},
                                     {"stride", plan.integers(pair(table.stride_height(), table.stride_width()))}});
    return body.call("aten::avg_pool2d.out", std::move(operands), body.dtype_of(of), sizes);
  };
  if (plain)
    return pooled(
        x, {{"padding", plan.integers(pair(border.top, border.left))}, {"count_include_pad", plan.boolean(false)}});
  const auto sum = [&](Index of) {
    return pooled(pad(body, of, border, plan.real(0)), {{"divisor_override", body.number(1)}});
  };
  const Index ones = body.call("aten::full_like.out", {{"self", x}, {"fill_value", body.number(1)}}, body.dtype_of(x),
                               body.sizes_of(x));
  return body.call("aten::div.out", {{"self", sum(x)}, {"other", sum(ones)}}, body.dtype_of(x), sizes);
}

}  // namespace

Sizes Padding::around(Sizes sizes) const {
  sizes[2] = size_of_dim(static_cast<std::uint64_t>(sizes[2]) + top + bottom);
  sizes[3] = size_of_dim(static_cast<std::uint64_t>(sizes[3]) + left + right);
  return sizes;
}

Index pad(Body& body, Index x, const Padding& p, Index value) {
  const std::vector<Int> amounts{p.left, p.right, p.top, p.bottom};
  return body.call("aten::constant_pad_nd.out", {{"self", x}, {"pad", body.plan().integers(amounts)}, {"value", value}},
                   body.dtype_of(x), p.around(body.sizes_of(x)));
}

void pool(Body& body, const xnn::Pooling& table, const xnn::Node& node) {
  if (node.operation_type() == xnn::Operation::MaxPooling2d) return largest_of_windows(body, table, node);
  require_floats(body, table.output());
  const Index mean = mean_of_windows(body, body.read(table.input(), images), table);
  body.define(table.output(), clamp(body, mean, bounds_of(node)), images);
}

// The position of a maximum in its window, row by row, from its position p in the padded image of this width:
//   (p / width) % kernel height * kernel width + (p % width) % kernel width
void arg_max_pool(Body& body, const xnn::ArgMaxPooling& table) {
  require_floats(body, table.output());
  const Index x = padded(body, table.input(), padding_of(table));
  const auto kernel = pair(table.kernel_height(), table.kernel_width());
  const auto [values, positions] = largest(body, x, table, {}, {kernel, pair(1, 1)});
  const Sizes sizes = body.sizes(table.output(), images);
  const auto with = [&](std::string_view op, Index of, Index number, Operands operands = {}) {
    operands.insert(operands.end(), {{"self", of}, {"other", number}});
    return body.call(op, std::move(operands), DType::int64, sizes);
  };
  constexpr std::string_view remainder = "aten::remainder.Scalar_out";
  const Index image_width = body.size(x, 3), width = body.number(kernel[1]), height = body.number(kernel[0]);
  const Index line =
      with("aten::div.Scalar_mode_out", positions, image_width, {{"rounding_mode", body.plan().string("floor")}});
  const Index row = with("aten::mul.Scalar_out", with(remainder, line, height), width);
  const Index column = with(remainder, with(remainder, positions, image_width), width);
  body.define(table.output(), values, images);
  body.define(table.index(), with("aten::add.out", row, column), images);
}

void average(Body& body, const xnn::Unary& table, const xnn::Node& node) {
  if (is_quantized(body, table.output())) return quantized_average(body, table, node);
  const Id input = table.input();
  const Order from = body.order_of({&input, 1});
  const Index mean = body.call("aten::mean.out",
                               {{"self", body.read(input, from)},
                                {"dim", body.plan().integers(image_dims(from))},
                                {"keepdim", body.plan().boolean(true)}},
                               body.dtype(table.output()), body.sizes(table.output(), from));
  body.define(table.output(), clamp(body, mean, bounds_of(node)), from);
}

void resize(Body& body, const xnn::Resize& table) {
  require_floats(body, table.output());
  if ((table.flags() & format::xnnpack::legacy_coordinates) != 0) refuse("exporters do not write its flag 4");
  const bool corners = (table.flags() & format::xnnpack::aligned_corners) != 0;
  const Index x = body.read(table.input(), images);
  const Index size = body.plan().integers(pair(table.height(), table.width()));
  body.define(table.output(),
              body.call("aten::upsample_bilinear2d.vec_out",
                        {{"input", x},
                         {"output_size", size},
                         {"align_corners", body.plan().boolean(corners)},
                         {"scale_factors", body.plan().none()}},
                        body.dtype_of(x), body.sizes(table.output(), images)),
              images);
}

}  // namespace assay::xnnpack
