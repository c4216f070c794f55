#include "reference/xnnpack/translate.h"

#include <algorithm>

namespace assay::xnnpack {
namespace {

using xnn::Operation;

void add_node(Body& body, const xnn::Node& node) {
  switch (node.operation_type()) {
    case Operation::FullyConnected:
    case Operation::Conv2d:
    case Operation::DepthwiseConv2d:
    case Operation::ConvTranspose2d:
      return product(body, node);
    case Operation::BatchMatrixMultiply:
      return multiply_matrices(body, *node.operation_as_BatchMatrixMultiply());
    case Operation::Softmax:
      return softmax(body, *node.operation_as_Softmax());
    case Operation::AvgPooling2d:
      return pool(body, *node.operation_as_AvgPooling2d(), node);
    case Operation::MaxPooling2d:
      return pool(body, *node.operation_as_MaxPooling2d(), node);
    case Operation::ArgMaxPooling2d:
      return arg_max_pool(body, *node.operation_as_ArgMaxPooling2d());
    case Operation::GlobalAvgPooling2d:
      return average(body, *node.operation_as_GlobalAvgPooling2d(), node);
    case Operation::StaticResizeBilinear2D:
      return resize(body, *node.operation_as_StaticResizeBilinear2D());
    case Operation::Convert:
      return convert(body, *node.operation_as_Convert());
    case Operation::StaticTranspose:
    case Operation::StaticReshape:
    case Operation::StaticSlice:
    case Operation::StaticConstantPad:
    case Operation::Concatenate2:
    case Operation::Concatenate3:
    case Operation::Concatenate4:
    case Operation::Concatenate5:
    case Operation::Copy:
      return move(body, node);
    case Operation::ScaledDotProductAttention:
      refuse("no runtime of the versions 1.0.1 to 1.5.1 executes it");
    default:
      return elementwise(body, node);
  }
}

// The external values in the order of their external ids.
std::vector<Id> externals_of(const Graph& graph) {
  std::vector<std::optional<Id>> found(graph.tables().externals());
  for (const Id id : graph.ids())
    if (const xnn::Tensor& t = graph.tensor(id); format::xnnpack::is_external(t)) found[t.external()] = id;
  std::vector<Id> ids;
  for (const auto& id : found) {
    if (!id) refuse("external value ", ids.size(), " does not exist");
    ids.push_back(*id);
  }
  if (!std::ranges::is_partitioned(ids, [&](Id id) { return !graph.is_output(id); }))
    refuse("an output has a lower external id than an input");
  return ids;
}

}  // namespace

std::string place_of_node(const Graph& graph, std::uint32_t node) {
  const Place place{nullptr, "node", node};
  return text_of(place.in(format::xnnpack::kind_name(*graph.tables().nodes()->Get(node))));
}

std::vector<std::uint32_t> translate(Body& body) {
  const auto& nodes = *body.graph().tables().nodes();
  for (const xnn::Node* node : nodes)
    for (const auto& operand : format::xnnpack::operands_of(*node).inputs)
      if (body.graph().datatype(operand.id) == Datatype::qdint8)
        body.want_rows(operand.id,
                       node->operation_type() == Operation::FullyConnected ? Order::listed : Order::channels_first);
  std::vector<std::uint32_t> ends;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    try {
      add_node(body, *nodes.Get(i));
    } catch (Fault& fault) {
      fault.place = place_of_node(body.graph(), i);
      throw;
    }
    ends.push_back(body.calls());
  }
  return ends;
}

Tensor as_value(Tensor argument) {
  Dims sizes;
  for (const Int d : argument.dim_order) sizes.push_back(argument.sizes[static_cast<int>(d)]);
  if (argument.rank() == 0) sizes.push_back(1);
  return {argument.dtype == DType::uint8 ? DType::int8 : argument.dtype, sizes, Dims::counting(sizes.size()),
          std::move(argument.bytes)};
}

namespace {

using AddConstant = std::function<std::uint32_t(ProgramBuilder& program, const Constant& constant)>;

PlainProgram plain_program(const Graph& graph, const AddConstant& add_constant) {
  using enum pte::TensorShapeDynamism;
  ProgramBuilder program;
  PlanBuilder plan = program.method();
  plan.new_chain();
  Body body(graph, plan, true, [&](const Constant& constant) { return add_constant(program, constant); });
  const std::vector<Id> externals = externals_of(graph);
  auto &inputs = plan.plan().inputs, &outputs = plan.plan().outputs;
  for (const Id id : externals) {
    const Index tensor = plan.tensor(body.dtype(id), body.sizes(id), DYNAMIC_BOUND);
    (graph.is_output(id) ? outputs : inputs).push_back(tensor);
    if (!graph.is_output(id)) body.define(id, tensor);
  }
  PlainProgram result{{}, translate(body)};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Id id = externals[inputs.size() + i];
    plan.at(outputs[i]).scalar_type = static_cast<std::int8_t>(body.dtype_of(body.read(id)));  // positions are int64
    body.write_output(id, outputs[i], false);
  }
  body.finish(1);
  result.program = std::move(program.program());
  return result;
}

}  // namespace

PlainProgram plain_program(const Graph& graph, const std::function<void(std::size_t)>& charge) {
  return plain_program(graph, [&](ProgramBuilder& program, const Constant& constant) {
    charge(constant.size());
    Bytes bytes(constant.size());
    constant.write(bytes);
    return program.constant(bytes);
  });
}

PlainProgram without_constants(const Graph& graph) {
  return plain_program(graph, [](ProgramBuilder&, const Constant&) { return 0u; });
}

}  // namespace assay::xnnpack
