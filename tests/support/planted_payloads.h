#pragma once

#include <algorithm>
#include <cctype>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "conformance/delegates/payload.h"
#include "reference/call.h"
#include "reference/numerics/bounds.h"
#include "reference/runtime/runtime.h"
#include "reference/xnnpack/translate.h"

// Faults of backends for XNNPACK payloads: a backend may change the payload, and it may compute calls of operators
// wrongly.
namespace assay::planted_payloads {

struct Fault {
  std::string name, program;  // the program is in golden/delegated
  std::string kind;           // the kind of node that has the fault
  std::function<void(XnnpackPayload&, delegates::Payload&)> payload = {};
  CallOperator call = {};
};

// -- faults in payloads -----------------------------------------------------------------------------------------------

// Changes the table of each node of these kinds.
template <class Table>
inline auto in_nodes(std::initializer_list<xnn::Operation> kinds, void (*change)(Table&)) {
  return [kinds = std::vector(kinds), change](XnnpackPayload& payload, delegates::Payload&) {
    for (auto& node : payload.graph.nodes)
      if (std::ranges::find(kinds, node->operation.type) != kinds.end())
        change(*static_cast<Table*>(node->operation.value));
  };
}
inline auto in_convolutions(void (*change)(xnn::ConvolutionT&)) {
  return in_nodes<xnn::ConvolutionT>(
      {xnn::Operation::Conv2d, xnn::Operation::DepthwiseConv2d, xnn::Operation::ConvTranspose2d}, change);
}
inline auto in_linears(void (*change)(xnn::FullyConnectedT&)) {
  return in_nodes<xnn::FullyConnectedT>({xnn::Operation::FullyConnected}, change);
}
inline auto in_bounds(void (*change)(xnn::BoundsT&)) {
  return [change](XnnpackPayload& payload, delegates::Payload&) {
    for (auto& node : payload.graph.nodes)
      if (node->bounds) change(*node->bounds);
  };
}
// Computes nodes of one kind as if they were of another kind with the same table.
inline auto as(xnn::Operation from, xnn::Operation to) {
  return [from, to](XnnpackPayload& payload, delegates::Payload&) {
    for (auto& node : payload.graph.nodes)
      if (node->operation.type == from) node->operation.type = to;
  };
}
// Changes the bytes of constants. `is_filter` selects values of these datatypes.
inline auto in_constants(std::initializer_list<format::xnnpack::Datatype> types, void (*change)(Bytes&)) {
  return [types = std::vector(types), change](XnnpackPayload& payload, delegates::Payload& files) {
    for (auto& value : payload.graph.values) {
      const auto* quantized = value->content.AsQuantizedTensor();
      const xnn::TensorT& t = quantized ? *quantized->tensor : *value->content.AsTensor();
      if (t.constant == 0 ||
          std::ranges::find(types, static_cast<format::xnnpack::Datatype>(t.datatype)) == types.end())
        continue;
      change(files.named.at(payload.graph.constants[t.constant]->name));
    }
  };
}
// Changes the scales of channels or groups.
inline auto in_scales(void (*change)(Bytes&)) {
  return [change](XnnpackPayload& payload, delegates::Payload& files) {
    for (auto& value : payload.graph.values) {
      const auto* quantized = value->content.AsQuantizedTensor();
      const auto* channels = quantized ? quantized->parameters.AsPerChannel() : nullptr;
      const auto* groups = quantized ? quantized->parameters.AsPerGroup() : nullptr;
      if (const std::uint32_t i = channels ? channels->scales : groups ? groups->scales : 0; i > 0)
        change(files.named.at(payload.graph.constants[i]->name));
    }
  };
}
// Changes the parameters of values of codes that nodes read, or of values that nodes write.
inline auto in_codes(std::uint32_t flag, void (*change)(xnn::PerTensorT&)) {
  return [flag, change](XnnpackPayload& payload, delegates::Payload&) {
    for (auto& value : payload.graph.values)
      if (auto* quantized = value->content.AsQuantizedTensor(); quantized && quantized->tensor->flags == flag)
        if (auto* whole = quantized->parameters.AsPerTensor()) change(*whole);
  };
}
template <std::size_t size>
inline void reverse_items(Bytes& bytes) {
  for (std::size_t i = 0, j = bytes.size(); i + size <= j; i += size) {
    j -= size;
    if (i >= j) break;
    std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                     bytes.begin() + static_cast<std::ptrdiff_t>(i + size),
                     bytes.begin() + static_cast<std::ptrdiff_t>(j));
  }
}
inline void exchange_nibbles(Bytes& bytes) {
  for (std::byte& b : bytes) b = (b << 4) | (b >> 4);
}

// -- faults in calls --------------------------------------------------------------------------------------------------

// Calls the operator with changed arguments.
inline CallOperator with_arguments(std::string_view name, std::function<void(std::span<Value>)> change) {
  return [name, change](const Operator& op, std::span<Value> arguments, const Budget& budget) {
    if (op.name == name) change(arguments);
    return call(op, arguments, budget);
  };
}
// Changes the numbers of the operator's first result.
inline CallOperator with_results(std::string_view name, std::function<void(Array<Real>&)> change) {
  return [name, change](const Operator& op, std::span<Value> arguments, const Budget& budget) {
    Answer answer = call(op, arguments, budget);
    if (op.name != name || answer.outcome != Outcome::ok) return answer;
    Tensor& out = std::get<Tensor>(arguments[op.arguments.size() - op.outs()]);
    Array<Real> numbers = read<Real>(out);
    change(numbers);
    write(numbers, out);
    return answer;
  };
}
inline CallOperator times(std::string_view name, Real factor) {
  return with_results(name, [factor](Array<Real>& numbers) {
    for (Real& x : numbers.data) x *= factor;
  });
}
inline CallOperator replaced(std::string_view name, std::size_t argument, const Value& by) {
  return with_arguments(name, [argument, by](std::span<Value> arguments) { arguments[argument] = by; });
}
inline CallOperator swapped(std::string_view name, std::size_t a, std::size_t b) {
  return with_arguments(name, [a, b](std::span<Value> arguments) { std::swap(arguments[a], arguments[b]); });
}
inline CallOperator turned(std::string_view name, std::size_t list) {
  return with_arguments(name,
                        [list](std::span<Value> arguments) { std::ranges::reverse(std::get<Ints>(arguments[list])); });
}
inline Tensor rounded_otherwise(const Tensor& t, Real (*round)(Real)) {
  Tensor result = t;
  Array<Real> numbers = read<Real>(t);
  for (Real& x : numbers.data) x = round(x);
  write(numbers, result);
  return result;
}

constexpr Real four_ulp = 1 + 0x1p-21;  // of float32

// -- faults of a few steps in one value -------------------------------------------------------------------------------

enum class Where : std::uint8_t { everywhere, in_one_element };

// A number of this many steps more: units in the last place of a float, away from 0, or 1 of an integer. 0 stays 0.
inline Real stepped(DType dtype, Real x, Int steps) {
  if (is_floating(dtype)) return x == 0 ? x : x + std::copysign(static_cast<Real>(steps) * ulp(dtype, x), x);
  return x + static_cast<Real>(x + static_cast<Real>(steps) <= largest_integer(dtype) ? steps : -steps);
}

inline void step(Tensor& t, Int steps, Where where) {
  Array<Real> numbers = read<Real>(t);
  const auto change = [&](Real& x) { x = stepped(t.dtype, x, steps); };
  if (where == Where::everywhere) std::ranges::for_each(numbers.data, change);
  const auto middle = numbers.data.begin() + static_cast<std::ptrdiff_t>(numbers.data.size() / 2);
  const auto one = std::find_if(middle, numbers.data.end(), [](Real x) { return x != 0; });
  if (where == Where::in_one_element && one != numbers.data.end()) change(*one);
  write(numbers, t);
}

// Computes a graph as the reference does, except that the node which writes the value writes it some steps too large.
// Computes it rightly if no node writes the value. Without an id, each node writes its value so.
inline CallOperator off_in_value(const xnnpack::Graph& graph, std::optional<xnnpack::Id> id, Int steps, Where where) {
  const xnnpack::PlainProgram plain = xnnpack::without_constants(graph);
  const std::size_t calls = plain.program.tables.execution_plan.front()->chains.front()->instructions.size();
  std::vector<bool> is_last(calls);  // whether the call writes the value
  for (std::uint32_t n = 0; n < plain.ends.size(); ++n)
    for (const auto& output : format::xnnpack::operands_of(*graph.tables().nodes()->Get(n)).outputs)
      if (plain.ends[n] > 0 && (!id || output.id == *id)) is_last[plain.ends[n] - 1] = true;
  return [=, next = std::size_t{0}](const Operator& op, std::span<Value> arguments, const Budget& budget) mutable {
    const bool is_wrong = is_last[next];
    next = (next + 1) % calls;
    Answer answer = call(op, arguments, budget);
    if (is_wrong && answer.outcome == Outcome::ok)
      step(std::get<Tensor>(arguments[op.arguments.size() - op.outs()]), steps, where);
    return answer;
  };
}

inline const std::vector<Fault>& faults() {
  using enum xnn::Operation;
  using enum format::xnnpack::Datatype;
  constexpr std::string_view quantize = "quantized_decomposed::quantize_per_tensor.out",
                             dequantize = "quantized_decomposed::dequantize_per_tensor.out";
  static const std::vector<Fault> all{
      {"bias dropped", "f32_linear", "FullyConnected", in_linears([](auto& t) { t.bias = format::xnnpack::no_id; })},
      {"filter read as [in, out]", "f32_products", "FullyConnected",
       in_constants({fp32}, reverse_items<sizeof(float)>)},
      {"bias of a convolution dropped", "f32_images", "ConvTranspose2d",
       in_nodes<xnn::ConvolutionT>({ConvTranspose2d}, [](auto& t) { t.bias = format::xnnpack::no_id; })},
      {"lower bound ignored", "static_int8_residual", "Add",
       in_bounds([](auto& b) { b.min = -std::numeric_limits<float>::infinity(); })},
      {"upper bound ignored", "f32_glue", "Clamp",
       in_bounds([](auto& b) { b.max = std::numeric_limits<float>::infinity(); })},
      {"zero point of inputs", "static_int8_product", "Multiply",
       [](XnnpackPayload& p, delegates::Payload& f) {
         if (p.graph.nodes.front()->operation.type == Multiply)
           in_codes(format::xnnpack::input_flag, [](auto& q) { ++q.zero_point; })(p, f);
       }},
      {"zero point of outputs", "static_int8_product", "Add",
       [](XnnpackPayload& p, delegates::Payload& f) {
         if (p.graph.nodes.front()->operation.type == Add)
           in_codes(format::xnnpack::output_flag, [](auto& q) { ++q.zero_point; })(p, f);
       }},
      {"scale of outputs", "static_int8_conv", "Conv2d",
       [](XnnpackPayload& p, delegates::Payload& f) {
         if (p.graph.nodes.front()->operation.type == Conv2d)
           in_codes(format::xnnpack::output_flag, [](auto& q) { q.scale *= 1.03125f; })(p, f);
       }},
      {"scales of channels reversed", "static_int8_product", "FullyConnected", in_scales(reverse_items<sizeof(float)>)},
      {"scales of groups reversed", "8da4w_linear", "FullyConnected", in_scales(reverse_items<2>)},
      {"nibbles exchanged", "dynamic_int4_linear", "FullyConnected", in_constants({qcint4, qbint4}, exchange_nibbles)},
      {"nibbles of groups exchanged", "8da4w_linear", "FullyConnected",
       in_constants({qcint4, qbint4}, exchange_nibbles)},
      {"add for subtract", "f32_binary", "Subtract", as(Subtract, Add)},
      {"minimum for maximum", "f32_binary", "Maximum", as(Maximum, Minimum)},
      {"floor for ceil", "f32_unary", "Ceiling", as(Ceiling, Floor)},
      {"sine for cosine", "f32_unary", "Cos", as(Cos, Sin)},
      {"negation ignored", "f32_unary", "Negate", as(Negate, Copy)},
      {"absolute value ignored", "f32_glue", "Abs", as(Abs, Copy)},
      {"division swapped", "f32_binary", "Div",
       in_nodes<xnn::BinaryT>({Div}, [](auto& t) { std::swap(t.input1, t.input2); })},
      {"subtraction swapped", "f32_glue", "Subtract",
       in_nodes<xnn::BinaryT>({Subtract}, [](auto& t) { std::swap(t.input1, t.input2); })},
      {"slope of negative numbers", "f32_unary", "LeakyReLU",
       in_nodes<xnn::LeakyReLUT>({LeakyReLU}, [](auto& t) { t.slope = 0.01f; })},
      {"pad by another number", "f32_moves", "StaticConstantPad",
       in_nodes<xnn::PadT>({StaticConstantPad}, [](auto& t) { t.value = 0; })},
      {"pad before and after swapped", "f32_glue", "StaticConstantPad",
       in_nodes<xnn::PadT>({StaticConstantPad}, [](auto& t) { std::swap(t.before, t.after); })},
      {"slice begins one too early", "f32_moves", "StaticSlice",
       in_nodes<xnn::SliceT>({StaticSlice},
                             [](auto& t) {
                               for (auto& o : t.offsets) o -= o > 0;
                             })},
      {"corners not aligned", "f32_pools", "StaticResizeBilinear2D",
       in_nodes<xnn::ResizeT>({StaticResizeBilinear2D}, [](auto& t) { t.flags = 0; })},
      {"inputs of a concatenation swapped", "f32_moves", "Concatenate4",
       in_nodes<xnn::ConcatenationT>({Concatenate4},
                                     [](auto& t) { std::swap(t.input2, t.input4), std::swap(t.input1, t.input2); })},
      {"padding at the other side", "f32_pools", "MaxPooling2d",
       in_nodes<xnn::PoolingT>({MaxPooling2d}, [](auto& t) { std::swap(t.padding_top, t.padding_bottom); })},
      {"padding counted in an average", "f32_pools", "AvgPooling2d", {}, replaced("aten::avg_pool2d.out", 5, true)},
      {"kernel of an average turned", "f32_pools", "AvgPooling2d", {}, times("aten::avg_pool2d.out", 6.0 / 5)},
      {"tanh form of gelu", "f32_linear", "Gelu", {}, replaced("aten::gelu.out", 1, std::string("tanh"))},
      {"a sixth with 11 bits", "f32_unary", "Hardswish", {}, times("aten::div.Scalar_out", 1 + 0x1p-12)},
      {"exponential with 11 bits", "f32_unary", "Exp", {}, times("aten::exp.out", 1 + 0x1p-12)},
      {"sigmoid is 8 ulp too large", "f32_unary", "Sigmoid", {}, times("aten::sigmoid.out", 1 + 0x1p-20)},
      {"tanh is 8 ulp too large", "f32_glue", "Tanh", {}, times("aten::tanh.out", 1 + 0x1p-20)},
      {"square root is 4 ulp too large", "f32_glue", "SquareRoot", {}, times("aten::sqrt.out", four_ulp)},
      {"reciprocal root by a table", "f32_unary", "ReciprocalSquareRoot", {}, times("aten::rsqrt.out", 1 - 0x1p-11)},
      {"logarithm to base 2", "f32_unary", "Log", {}, times("aten::log.out", 1.4426950408889634)},
      {"product is 4 ulp too large", "f32_binary", "Multiply", {}, times("aten::mul.out", four_ulp)},
      {"softmax along another dim", "f32_add", "Softmax", {}, replaced("aten::_softmax.out", 1, Int{0})},
      {"matrix product is 1/4096 too small",
       "f32_products",
       "BatchMatrixMultiply",
       {},
       times("aten::bmm.out", 1 - 0x1p-12)},
      {"last channel not computed",
       "f32_conv",
       "Conv2d",
       {},
       with_results("aten::convolution.out", [](Array<Real>& x) { x.data.back() = 0; })},
      {"mean of one element too few", "f32_pools", "GlobalAvgPooling2d", {}, times("aten::mean.out", 42.0 / 41)},
      {"elements of a transpose reversed",
       "f32_glue",
       "StaticTranspose",
       {},
       with_results("aten::permute_copy.out", [](Array<Real>& x) { std::ranges::reverse(x.data); })},
      {"elements of a view reversed",
       "f32_glue",
       "StaticReshape",
       {},
       with_results("aten::view_copy.out", [](Array<Real>& x) { std::ranges::reverse(x.data); })},
      {"codes rounded down",
       "static_int8_conv",
       "Convert",
       {},
       with_arguments(quantize,
                      [](std::span<Value> a) {
                        a[0] = rounded_otherwise(std::get<Tensor>(a[0]), [](Real x) { return x - 0.004; });
                      })},
      {"one code too large",
       "static_int8_activations",
       "Sigmoid",
       {},
       with_results("aten::sigmoid.out",
                    [](Array<Real>& x) {
                      for (Real& y : x.data) y += 0.01;
                    })},
      {"codes read without zero point",
       "static_int8_residual",
       "Convert",
       {},
       [dequantize](const Operator& op, std::span<Value> a, const Budget& budget) {
         if (op.name == dequantize && std::get<double>(a[1]) != 1) a[2] = Int{0};
         return call(op, a, budget);
       }},
      {"sum of codes rounded down",
       "static_int8_residual",
       "Add",
       {},
       with_arguments("aten::add.Scalar_out",
                      [](std::span<Value> a) {
                        if (auto* n = std::get_if<Int>(&a[1]); n && *n > (1 << 16)) *n -= Int{1} << 18;
                      })},
      {"range of rows without zero",
       "dynamic_int8_linear",
       "FullyConnected",
       {},
       with_results("aten::amin.out",
                    [](Array<Real>& x) {
                      for (Real& y : x.data) y /= 2;
                    })},
      {"zero point of rows is one too large",
       "8da4w_linear",
       "FullyConnected",
       {},
       times("aten::reciprocal.out", 1.01)},
      {"average of codes is one step too large",
       "static_int8_residual",
       "GlobalAvgPooling2d",
       {},
       with_arguments("aten::rsub.Scalar_out", [](std::span<Value> a) { a[1] = std::get<double>(a[1]) + 1; })},
      {"sums of halves are 1/16 too large", "f16_linear", "FullyConnected", {}, times("aten::addmm.out", 1 + 0x1p-4)},
      {"batch computed as one",
       "dynamic_sequence",
       "BatchMatrixMultiply",
       {},
       with_results("aten::bmm.out", [](Array<Real>& x) { x.data.back() = x.data.front(); })},
  };
  return all;
}

}  // namespace assay::planted_payloads
