#include "format/xnnpack/nodes.h"

namespace assay::format::xnnpack {
namespace {

void add_optional(Operands& inputs, std::string_view name, std::uint32_t id) {
  if (id != no_id) inputs.add(name, id);
}

template <class Table>
void add_inputs(Operands& inputs, const Table& t, xnn::Operation) {
  inputs.add("input", t.input());
}
void add_inputs(Operands& inputs, const xnn::Binary& t, xnn::Operation) {
  inputs.add("input1", t.input1());
  inputs.add("input2", t.input2());
}
void add_filter(Operands& inputs, const auto& t) {
  inputs.add("input", t.input());
  inputs.add("filter", t.filter());
  add_optional(inputs, "bias", t.bias());
}
void add_inputs(Operands& inputs, const xnn::FullyConnected& t, xnn::Operation) { add_filter(inputs, t); }
void add_inputs(Operands& inputs, const xnn::Convolution& t, xnn::Operation) { add_filter(inputs, t); }
void add_inputs(Operands& inputs, const xnn::Concatenation& t, xnn::Operation kind) {
  inputs.add("input1", t.input1());
  inputs.add("input2", t.input2());
  if (kind == xnn::Operation::Concatenate2) return;
  inputs.add("input3", t.input3());
  if (kind == xnn::Operation::Concatenate3) return;
  inputs.add("input4", t.input4());
  if (kind == xnn::Operation::Concatenate5) inputs.add("input5", t.input5());
}
void add_inputs(Operands& inputs, const xnn::Attention& t, xnn::Operation) {
  inputs.add("query", t.query());
  inputs.add("key", t.key());
  inputs.add("value", t.value());
  inputs.add("scale", t.scale());
  add_optional(inputs, "mask", t.mask());
}

}  // namespace

NodeOperands operands_of(const xnn::Node& node) {
  NodeOperands operands;
  visit(node, [&](const auto& table) {
    add_inputs(operands.inputs, table, node.operation_type());
    operands.outputs.add("output", table.output());
    if constexpr (requires { table.index(); }) operands.outputs.add("index", table.index());
  });
  return operands;
}

std::uint32_t flags_of(const xnn::Node& node) {
  std::uint32_t flags = 0;
  visit(node, [&](const auto& table) { flags = table.flags(); });
  return flags;
}

OutputBounds bounds_of(const xnn::Node& node) {
  const xnn::Bounds* bounds = node.bounds();
  return bounds ? OutputBounds{bounds->min(), bounds->max()} : OutputBounds{};
}

}  // namespace assay::format::xnnpack
