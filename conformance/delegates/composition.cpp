#include "conformance/delegates/composition.h"

#include <algorithm>

#include "conformance/hosts/host.h"
#include "reference/xnnpack/translate.h"

namespace assay::delegates {
namespace {

using xnnpack::Graph;

bool is_code(const Graph& graph, xnnpack::Id id) {
  using enum format::xnnpack::Datatype;
  const auto type = graph.datatype(id);
  return type == qint8 || type == quint8 || type == qdint8;
}

bool is_half(const Graph& graph, xnnpack::Id id) { return graph.datatype(id) == format::xnnpack::Datatype::fp16; }

Arithmetic arithmetic_of(const Graph& graph, const xnn::Node& node, HalfSums sums) {
  const auto [inputs, outputs] = format::xnnpack::operands_of(node);
  const auto half = [&](const auto& o) { return is_half(graph, o.id); };
  if (std::ranges::all_of(outputs, [&](const auto& o) { return is_code(graph, o.id); })) return Arithmetic::exact;
  if (node.operation_type() == xnn::Operation::Hardswish) return Arithmetic::hardswish;
  const bool has_halves = std::ranges::any_of(inputs, half) || std::ranges::any_of(outputs, half);
  return sums == HalfSums::in_float16 && has_halves ? Arithmetic::half_sums : Arithmetic::rounded;
}

struct Composition {
  ValidProgram program;
  std::vector<Arithmetic> arithmetic;  // of each call of a node
};

Composition composition_of(const Payload& payload, xnnpack::Form form, HalfSums sums, Reserved& memory) {
  const Graph graph(payload.bytes, {}, payload.finder(), form);
  const xnnpack::PlainProgram plain = xnnpack::plain_program(
      graph, [&](std::size_t bytes) { memory.add(2 * bytes, "a payload"); });  // in the program and in its file
  std::vector<Arithmetic> arithmetic;
  for (std::uint32_t n = 0; n < plain.ends.size(); ++n)
    arithmetic.resize(plain.ends[n], arithmetic_of(graph, *graph.tables().nodes()->Get(n), sums));
  return {hosts::valid_program(in_memory(encode(plain.program))), std::move(arithmetic)};
}

}  // namespace

std::vector<Tensor> outputs_of(const Payload& payload, xnnpack::Form form, std::span<const Tensor> inputs,
                               const Budget& budget) {
  RuntimeOptions options;
  options.budget = budget;
  Reserved memory(budget);
  hosts::Host host(composition_of(payload, form, HalfSums::in_float32, memory).program, std::move(options));
  std::vector<Tensor> outputs;
  for (Value& out : host.call("forward", {inputs.begin(), inputs.end()}))
    outputs.push_back(std::get<Tensor>(std::move(out)));
  return outputs;
}

std::vector<RightOutput> right_outputs(const Payload& payload, xnnpack::Form form, HalfSums sums,
                                       std::span<const Tensor> inputs, const Budget& budget) {
  Reserved memory(budget);
  Composition composition = composition_of(payload, form, sums, memory);
  const std::vector<Value> values(inputs.begin(), inputs.end());
  return IntervalMethod(composition.program, "forward", std::move(composition.arithmetic), budget).run(values);
}

bool is_folded(const Payload& payload) {
  return Graph(payload.bytes, {}, payload.finder(), xnnpack::Form::folded).is_changed();
}

bool has_halves(const Payload& payload) {
  const Graph graph(payload.bytes, {}, payload.finder(), xnnpack::Form::literal);
  return std::ranges::any_of(graph.ids(), [&](xnnpack::Id id) { return is_half(graph, id); });
}

}  // namespace assay::delegates
