#include <cmath>

#include "reference/xnnpack/body.h"
#include "reference/xnnpack/quantized.h"

// Nodes that compute each element from the elements at its position, and softmax.
namespace assay::xnnpack {
namespace {

using xnn::Operation;

// The operator that computes a node of this kind from floats, or an empty text if it takes several.
std::string_view unary_operator(Operation kind) {
  switch (kind) {
    case Operation::Abs:
      return "aten::abs.out";
    case Operation::Ceiling:
      return "aten::ceil.out";
    case Operation::Cos:
      return "aten::cos.out";
    case Operation::Exp:
      return "aten::exp.out";
    case Operation::Floor:
      return "aten::floor.out";
    case Operation::Gelu:
      return "aten::gelu.out";
    case Operation::Log:
      return "aten::log.out";
    case Operation::Negate:
      return "aten::neg.out";
    case Operation::ReciprocalSquareRoot:
      return "aten::rsqrt.out";
    case Operation::Sigmoid:
      return "aten::sigmoid.out";
    case Operation::Sin:
      return "aten::sin.out";
    case Operation::SquareRoot:
      return "aten::sqrt.out";
    case Operation::Tanh:
      return "aten::tanh.out";
    default:
      return {};
  }
}

std::string_view binary_operator(Operation kind) {
  switch (kind) {
    case Operation::Add:
      return "aten::add.out";
    case Operation::Subtract:
      return "aten::sub.out";
    case Operation::Multiply:
      return "aten::mul.out";
    case Operation::Div:
      return "aten::div.out";
    case Operation::Maximum:
      return "aten::maximum.out";
    default:
      return "aten::minimum.out";
  }
}

// x min(max(x + 3, 0), 6) / 6
Index hardswish(Body& body, Index x) {
  constexpr int shift = 3, most = 6;
  const DType dtype = body.dtype_of(x);
  const Sizes sizes = body.sizes_of(x);
  const Index moved = body.call("aten::add.Scalar_out", {{"self", x}, {"other", body.number(shift)}}, dtype, sizes);
  const Index clamped = clamp(body, moved, {0, most});
  const Index product = body.call("aten::mul.out", {{"self", x}, {"other", clamped}}, dtype, sizes);
  return body.call("aten::div.Scalar_out", {{"self", product}, {"other", body.number(most)}}, dtype, sizes);
}

// slope x if x is negative, else x
Index with_slopes(Body& body, Index x, Index slopes) {
  const Sizes sizes = body.sizes_of(x);
  const Index negative =
      body.call("aten::lt.Scalar_out", {{"self", x}, {"other", body.number(0)}}, DType::boolean, sizes);
  const Index product = body.call("aten::mul.out", {{"self", x}, {"other", slopes}}, body.dtype_of(x), sizes);
  return body.call("aten::where.self_out", {{"condition", negative}, {"self", product}, {"other", x}}, body.dtype_of(x),
                   sizes);
}

void float_binary(Body& body, const xnn::Binary& table, const xnn::Node& node) {
  const Operation kind = node.operation_type();
  const Id inputs[] = {table.input1(), table.input2()};
  const Order order = body.order_of(inputs);
  const Index a = body.read(table.input1(), order), b = body.read(table.input2(), order);
  const Index result = kind == Operation::PReLU
                           ? with_slopes(body, a, b)
                           : body.call(binary_operator(kind), {{"self", a}, {"other", b}}, body.dtype(table.output()),
                                       body.sizes(table.output(), order));
  const bool clamps =
      kind == Operation::Add || kind == Operation::Subtract || kind == Operation::Multiply || kind == Operation::Div;
  body.define(table.output(), clamps ? clamp(body, result, format::xnnpack::bounds_of(node)) : result, order);
}

void float_unary(Body& body, Id input, Id output, const xnn::Node& node) {
  const Order order = body.order_of({&input, 1});
  body.define(output, unary(body, body.read(input, order), node), order);
}

template <class Table>
void add_elementwise(Body& body, const Table& table, const xnn::Node& node) {
  if (is_quantized(body, table.output()))
    quantized_unary(body, table.input(), table.output(), node);
  else
    float_unary(body, table.input(), table.output(), node);
}
void add_elementwise(Body& body, const xnn::Binary& table, const xnn::Node& node) {
  if (is_quantized(body, table.output()))
    quantized_binary(body, table, node);
  else
    float_binary(body, table, node);
}

}  // namespace

Index clamp(Body& body, Index x, const format::xnnpack::OutputBounds& bounds) {
  const auto [least, most] = bounds;
  if (std::isinf(least) && std::isinf(most)) return x;
  const DType dtype = body.dtype_of(x);
  const Sizes sizes = body.sizes_of(x);
  if (least == 0 && std::isinf(most)) return body.call("aten::relu.out", {{"self", x}}, dtype, sizes);
  const auto bound = [&](float b) { return std::isinf(b) ? body.plan().none() : body.plan().real(b); };
  return body.call("aten::clamp.out", {{"self", x}, {"min", bound(least)}, {"max", bound(most)}}, dtype, sizes);
}

Index unary(Body& body, Index x, const xnn::Node& node) {
  const DType dtype = body.dtype_of(x);
  const Sizes sizes = body.sizes_of(x);
  switch (node.operation_type()) {
    case Operation::Clamp:
      return clamp(body, x, format::xnnpack::bounds_of(node));
    case Operation::Hardswish:
      return hardswish(body, x);
    case Operation::Square:
      return body.call("aten::mul.out", {{"self", x}, {"other", x}}, dtype, sizes);
    case Operation::LeakyReLU:
      return body.call("aten::leaky_relu.out",
                       {{"self", x}, {"negative_slope", body.plan().real(node.operation_as_LeakyReLU()->slope())}},
                       dtype, sizes);
    case Operation::ELU:
      return body.call("aten::elu.out", {{"self", x}, {"alpha", body.plan().real(node.operation_as_ELU()->alpha())}},
                       dtype, sizes);
    default:
      return body.call(unary_operator(node.operation_type()), {{"self", x}}, dtype, sizes);
  }
}

void elementwise(Body& body, const xnn::Node& node) {
  format::xnnpack::visit(node, [&](const auto& table) {
    if constexpr (requires { table.input(); } || std::is_same_v<decltype(table), const xnn::Binary&>)
      add_elementwise(body, table, node);
  });
}

void softmax(Body& body, const xnn::Unary& table) {
  require_floats(body, table.output());
  const Index x = body.read(table.input());
  body.define(table.output(),
              body.call("aten::_softmax.out",
                        {{"self", x}, {"dim", body.number(-1)}, {"half_to_float", body.plan().boolean(false)}},
                        body.dtype_of(x), body.sizes_of(x)));
}

}  // namespace assay::xnnpack
