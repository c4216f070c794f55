#include "reference/xnnpack/quantized.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay::xnnpack {
namespace {

using format::xnnpack::bounds_of;
using xnn::Operation;

Index dtype_number(Body& body, DType dtype) { return body.number(static_cast<Int>(dtype)); }

Index dequantized(Body& body, Index codes, const Codes& from, double scale, DType dtype) {
  return body.call("quantized_decomposed::dequantize_per_tensor.out",
                   {{"input", codes},
                    {"scale", body.plan().real(scale)},
                    {"zero_point", body.number(from.zero_point)},
                    {"quant_min", body.number(from.least)},
                    {"quant_max", body.number(from.most)},
                    {"dtype", dtype_number(body, from.dtype)},
                    {"out_dtype", dtype_number(body, dtype)}},
                   dtype, body.sizes_of(codes));
}

// An operator of a tensor and a number.
Index with_number(Body& body, std::string_view op, Index x, Index number) {
  return body.call(op, {{"self", x}, {"other", number}}, body.dtype_of(x), body.sizes_of(x));
}
Index with_number(Body& body, std::string_view op, Index x, double number) {
  return with_number(body, op, x, body.plan().real(number));
}

bool same_codes(const Codes& a, const Codes& b) { return a.scale == b.scale && a.zero_point == b.zero_point; }

// The parameters of rows, whose smallest and largest elements include 0:
//   k = 255 / (most - least), or 1 if they are equal;  a = least k;  b = most k
//   z = rne(clip(-128 + a + (127 + b) > 0 ? -128 - a : 127 - b))
// A step of a row is rne(clip(x k, -128 - z, 127 - z)), and the scale of the row is 1 / k.
class RowQuantization {
 public:
  RowQuantization(Body& body, Index x, std::vector<Int> dims, Sizes row_sizes)
      : body_(body), x_(x), dims_(std::move(dims)), sizes_(std::move(row_sizes)) {}

  Rows run() {
    const Index low = bound("aten::amin.out", "max"), high = bound("aten::amax.out", "min");
    const Index k = factor(binary("aten::sub.out", high, low));
    const Index a = binary("aten::mul.out", low, k), b = binary("aten::mul.out", high, k);
    const Index z = zero_point(a, b);
    const Index scaled = wide("aten::mul.out", {{"self", x_}, {"other", k}});
    const Index clipped =
        wide("aten::clamp.Tensor_out", {{"self", scaled},
                                        {"min", with_number(body_, "aten::rsub.Scalar_out", z, least)},
                                        {"max", with_number(body_, "aten::rsub.Scalar_out", z, most)}});
    const Index inverse = row("aten::reciprocal.out", {{"self", k}});
    return {wide("aten::round.out", {{"self", clipped}}), inverse};
  }

 private:
  static constexpr double least = -128, most = 127;

  Index row(std::string_view op, Operands operands) {
    return body_.call(op, std::move(operands), DType::float32, sizes_);
  }
  Index wide(std::string_view op, Operands operands) {
    return body_.call(op, std::move(operands), DType::float32, body_.sizes_of(x_));
  }
  Index binary(std::string_view op, Index a, Index b) { return row(op, {{"self", a}, {"other", b}}); }
  Index truth(std::string_view op, Index x) {
    return body_.call(op, {{"self", x}, {"other", body_.number(0)}}, DType::boolean, sizes_);
  }
  Index where(Index condition, Index a, Index b) {
    return row("aten::where.self_out", {{"condition", condition}, {"self", a}, {"other", b}});
  }

  // The smallest or the largest element of each row and 0.
  Index bound(std::string_view op, std::string_view limit) {
    const Index found =
        row(op, {{"self", x_}, {"dim", body_.plan().integers(dims_)}, {"keepdim", body_.plan().boolean(true)}});
    return row("aten::clamp.out", {{"self", found}, {limit, body_.plan().real(0)}});
  }
  Index factor(Index range) {
    const Sizes one(sizes_.size(), 1);
    const Index quotient = binary("aten::div.out", body_.floats({static_cast<float>(most - least)}, one), range);
    return where(truth("aten::eq.Scalar_out", range), body_.floats({1}, one), quotient);
  }
  Index zero_point(Index a, Index b) {
    const Index errors = binary("aten::add.out", with_number(body_, "aten::add.Scalar_out", a, least),
                                with_number(body_, "aten::add.Scalar_out", b, most));
    const Index exact =
        where(truth("aten::gt.Scalar_out", errors), with_number(body_, "aten::rsub.Scalar_out", a, least),
              with_number(body_, "aten::rsub.Scalar_out", b, most));
    return row("aten::round.out",
               {{"self", clamp(body_, exact, {static_cast<float>(least), static_cast<float>(most)})}});
  }

  Body& body_;
  Index x_;
  std::vector<Int> dims_;
  Sizes sizes_;
};

// -- nodes of codes ---------------------------------------------------------------------------------------------------

// Two codes with the ratios of their scales to the scale of the result: a = s1 / s, b = s2 / s.
struct Operands2 {
  Codes first, second, result;
  float a, b;
};

// q = clip((2^(shift - 1) + m (q1 - z1) + n (q2 - z2)) >> shift) + z, with the integers m = rne(a 2^shift) and
// n = rne(b 2^shift). The larger of them has 21 bits. The shift rounds down, so that halves are rounded up.
Index fixed_point_sum(Body& body, Index x, Index y, const Operands2& o, double sign, const Sizes& sizes) {
  constexpr int bits = 20;
  constexpr float least_ratio = 0x1p-10f, most_ratio = 0x1p8f;
  if (std::min(o.a, o.b) < least_ratio || std::max(o.a, o.b) >= most_ratio)
    refuse("the ratios of the scales of its inputs to the scale of its output are ", o.a, " and ", o.b,
           ", but must be at least 2^-10 and below 2^8");
  const int shift = bits - std::ilogb(std::max(o.a, o.b));
  const Int m = std::llrint(std::ldexp(o.a, shift)), n = std::llrint(std::ldexp(sign * o.b, shift));
  const Int half = Int{1} << (shift - 1), offset = half - m * o.first.zero_point - n * o.second.zero_point;
  const auto scaled = [&](Index codes, Int factor) {
    return with_number(body, "aten::mul.Scalar_out", body.cast(codes, DType::int64), body.number(factor));
  };
  const Index sum = body.call("aten::add.out", {{"self", scaled(x, m)}, {"other", scaled(y, n)}}, DType::int64, sizes);
  const Index from_zero = with_number(body, "aten::add.Scalar_out", sum, body.number(offset));
  const Index rounded = body.call(
      "aten::div.Scalar_mode_out",
      {{"self", from_zero}, {"other", body.number(Int{1} << shift)}, {"rounding_mode", body.plan().string("floor")}},
      DType::int64, sizes);
  const Index moved = with_number(body, "aten::add.Scalar_out", rounded, body.number(o.result.zero_point));
  const Index clipped = body.call(
      "aten::clamp.out", {{"self", moved}, {"min", body.number(o.result.least)}, {"max", body.number(o.result.most)}},
      DType::int64, sizes);
  return body.cast(clipped, o.result.dtype);
}

// q = clip(rne((q1 - z1) (q2 - z2) (s1 s2 / s)) + z)
Index quantized_product(Body& body, Index x, Index y, const Operands2& o, const Sizes& sizes) {
  const Index product = body.call(
      "aten::mul.out",
      {{"self", steps(body, x, o.first, DType::float32)}, {"other", steps(body, y, o.second, DType::float32)}},
      DType::float32, sizes);
  const float ratio = o.first.scale * o.second.scale / o.result.scale;
  return shifted(body, with_number(body, "aten::mul.Scalar_out", product, double{ratio}), o.result);
}

}  // namespace

// -- codes ------------------------------------------------------------------------------------------------------------

bool is_quantized(const Body& body, Id id) {
  return body.graph().datatype(id) == Datatype::qint8 || body.graph().datatype(id) == Datatype::quint8;
}

void require_floats(const Body& body, Id id) {
  if (is_quantized(body, id)) refuse("exporters do not write such a node of 8-bit codes");
}

Codes codes_of(const Body& body, Id id) {
  const auto& type = *format::xnnpack::find_datatype(body.graph().tensor(id).datatype());
  return {body.graph().scales(id)[0], body.graph().zero_point(id), type.least, type.most, body.dtype(id)};
}

Codes within(Codes codes, const OutputBounds& bounds) {
  const auto code = [&](float bound) {
    const float exact = bound / codes.scale + static_cast<float>(codes.zero_point);
    return std::llrint(std::clamp(exact, static_cast<float>(codes.least), static_cast<float>(codes.most)));
  };
  const Int least = code(bounds.least), most = code(bounds.most);
  codes.least = least, codes.most = most;
  return codes;
}

Index steps(Body& body, Index codes, const Codes& from, DType dtype) {
  return dequantized(body, codes, from, 1, dtype);
}

Index numbers(Body& body, Index codes, const Codes& from) {
  return dequantized(body, codes, from, double{from.scale}, DType::float32);
}

Index quantize(Body& body, Index x, const Codes& to) {
  return body.call("quantized_decomposed::quantize_per_tensor.out",
                   {{"input", x},
                    {"scale", body.plan().real(to.scale)},
                    {"zero_point", body.number(to.zero_point)},
                    {"quant_min", body.number(to.least)},
                    {"quant_max", body.number(to.most)},
                    {"dtype", dtype_number(body, to.dtype)}},
                   to.dtype, body.sizes_of(x));
}

Index shifted(Body& body, Index x, Codes to) {
  to.scale = 1;
  return quantize(body, x, to);
}

Index clamp_codes(Body& body, Index x, const Codes& codes, const OutputBounds& bounds) {
  const Codes to = within(codes, bounds);
  if (to.least == codes.least && to.most == codes.most) return x;
  return body.call("aten::clamp.out", {{"self", x}, {"min", body.number(to.least)}, {"max", body.number(to.most)}},
                   to.dtype, body.sizes_of(x));
}

// -- rows -------------------------------------------------------------------------------------------------------------

Rows quantize_rows(Body& body, Id from, std::size_t row_dims, Order order) {
  const std::size_t rank = body.rank(from);
  Sizes sizes = body.sizes(from, order);
  std::vector<Int> dims;
  for (std::size_t listed = rank - row_dims; listed < rank; ++listed) {
    const std::size_t d = dim_in(order, listed);
    dims.push_back(static_cast<Int>(d)), sizes[d] = 1;
  }
  std::ranges::sort(dims);
  const Index x = body.cast(body.read(from, order), DType::float32);
  return RowQuantization(body, x, std::move(dims), std::move(sizes)).run();
}

// -- nodes ------------------------------------------------------------------------------------------------------------

// XNNPACK computes such a node by a table: y is computed in float32 from (q - z) s, and its code is
// clip(rne(y (1 / s) + z)). LeakyReLU has its own arithmetic.
void quantized_unary(Body& body, Id input, Id output, const xnn::Node& node) {
  if (node.operation_type() == Operation::LeakyReLU) require_floats(body, output);
  const Order order = body.order_of({&input, 1});
  const Codes from = codes_of(body, input);
  Codes to = codes_of(body, output);
  const Index x = body.read(input, order);
  if (node.operation_type() == Operation::Clamp && same_codes(from, to))
    return body.define(output, clamp_codes(body, x, to, bounds_of(node)), order);
  const Index y = unary(body, numbers(body, x, from), node);
  const Index scaled = with_number(body, "aten::mul.Scalar_out", y, double{1 / to.scale});
  const Index moved = with_number(body, "aten::add.Scalar_out", scaled, double(to.zero_point));
  to.zero_point = 0;
  body.define(output, shifted(body, moved, to), order);
}

void quantized_binary(Body& body, const xnn::Binary& table, const xnn::Node& node) {
  const Operation kind = node.operation_type();
  if (kind != Operation::Add && kind != Operation::Subtract && kind != Operation::Multiply)
    require_floats(body, table.output());
  const Id inputs[] = {table.input1(), table.input2()};
  const Order order = body.order_of(inputs);
  const Index x = body.read(table.input1(), order), y = body.read(table.input2(), order);
  const Sizes sizes = body.sizes(table.output(), order);
  Operands2 o{codes_of(body, table.input1()), codes_of(body, table.input2()),
              within(codes_of(body, table.output()), bounds_of(node)), 0, 0};
  o.a = o.first.scale / o.result.scale, o.b = o.second.scale / o.result.scale;
  const double sign = kind == Operation::Subtract ? -1 : 1;
  body.define(table.output(),
              kind == Operation::Multiply ? quantized_product(body, x, y, o, sizes)
                                          : fixed_point_sum(body, x, y, o, sign, sizes),
              order);
}

// With the sum S of the N codes of a channel and r = s1 / s / N: q = clip(rne(S r + (z - N z1 r))).
void quantized_average(Body& body, const xnn::Unary& table, const xnn::Node& node) {
  const Id input = table.input();
  const Order order = body.order_of({&input, 1});
  const Codes from = codes_of(body, input);
  Codes to = within(codes_of(body, table.output()), bounds_of(node));
  const Sizes sizes = body.sizes(table.output(), order);
  const Index x = body.cast(body.read(input, order), DType::float64);
  const auto sum = [&](Index of) {  // float64, so that the sum of many codes is exact
    const Index dims = body.plan().integers(image_dims(order)), kept = body.plan().boolean(true);
    return body.cast(
        body.call("aten::sum.IntList_out", {{"self", of}, {"dim", dims}, {"keepdim", kept}}, DType::float64, sizes),
        DType::float32);
  };
  const auto product = [&](Index a, Index b) {
    return body.call("aten::mul.out", {{"self", a}, {"other", b}}, DType::float32, sizes);
  };
  const Index ones =
      body.call("aten::full_like.out", {{"self", x}, {"fill_value", body.number(1)}}, DType::float64, body.sizes_of(x));
  const Index count = sum(ones);
  const Index ratio =
      body.call("aten::div.out", {{"self", body.floats({from.scale / to.scale}, Sizes(4, 1))}, {"other", count}},
                DType::float32, sizes);
  const Index zeros = product(with_number(body, "aten::mul.Scalar_out", count, double(from.zero_point)), ratio);
  const Index offset = with_number(body, "aten::rsub.Scalar_out", zeros, double(to.zero_point));
  const Index average =
      body.call("aten::add.out", {{"self", product(sum(x), ratio)}, {"other", offset}}, DType::float32, sizes);
  to.zero_point = 0;
  body.define(table.output(), shifted(body, average, to), order);
}

void convert(Body& body, const xnn::Unary& table) {
  const Id input = table.input(), output = table.output();
  if (body.graph().datatype(output) == Datatype::qdint8) return body.define_rows(output, input);
  const Order order = body.order_of({&input, 1});
  Index x = body.read(input, order);
  if (is_quantized(body, input)) x = numbers(body, x, codes_of(body, input));
  if (is_quantized(body, output)) {
    x = quantize(body, body.cast(x, DType::float32), codes_of(body, output));
  } else {
    x = body.cast(x, body.dtype(output));
  }
  body.define(output, x, order);
}

}  // namespace assay::xnnpack
