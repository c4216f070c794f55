#include "conformance/delegates/payload.h"

#include <algorithm>
#include <set>

#include "reference/program/taken.h"
#include "reference/xnnpack/translate.h"

namespace assay::delegates {
namespace {

using xnnpack::Graph;
using xnnpack::Id;

xnn::TensorT& tensor_in(xnn::ValueT& value) {
  xnn::QuantizedTensorT* quantized = value.content.AsQuantizedTensor();
  return quantized ? *quantized->tensor : *value.content.AsTensor();
}

// The values that some nodes of a graph read and write.
struct Uses {
  std::set<Id> read, written;

  void add(const xnn::Node& node) {
    const auto operands = format::xnnpack::operands_of(node);
    for (const auto& operand : operands.inputs) read.insert(operand.id);
    for (const auto& operand : operands.outputs) written.insert(operand.id);
  }
};

// Makes the graph of a part from the graph of the whole.
class Trim {
 public:
  Trim(const Graph& whole, std::span<const std::uint32_t> nodes, Outputs outputs)
      : whole_(whole), nodes_(nodes.begin(), nodes.end()), outputs_(outputs) {
    const auto& all = *whole.tables().nodes();
    for (std::uint32_t i = 0; i < all.size(); ++i) (nodes_.contains(i) ? inside_ : outside_).add(*all.Get(i));
  }

  void apply(xnn::GraphT& graph) {
    keep_nodes(graph);
    std::erase_if(graph.values, [&](const auto& value) { return !is_used(tensor_in(*value).id); });
    graph.inputs.clear(), graph.outputs.clear(), graph.externals = 0;
    for (auto& value : graph.values) make_internal(tensor_in(*value));
    for (auto& value : graph.values)
      if (is_input(tensor_in(*value).id)) make_external(graph, tensor_in(*value), format::xnnpack::input_flag);
    for (auto& value : graph.values)
      if (is_output(tensor_in(*value).id)) make_external(graph, tensor_in(*value), format::xnnpack::output_flag);
  }

 private:
  bool is_used(Id id) const { return inside_.read.contains(id) || inside_.written.contains(id); }
  bool is_input(Id id) const { return !inside_.written.contains(id) && !whole_.is_constant(id); }
  bool is_output(Id id) const {
    if (!inside_.written.contains(id) || is_of_rows(whole_, id)) return false;
    return outputs_ == Outputs::all || whole_.is_output(id) || outside_.read.contains(id);
  }

  void keep_nodes(xnn::GraphT& graph) const {
    for (std::uint32_t i = 0; i < graph.nodes.size(); ++i)
      if (!nodes_.contains(i)) graph.nodes[i].reset();
    std::erase(graph.nodes, nullptr);
  }
  static void make_internal(xnn::TensorT& t) {
    if ((t.flags & format::xnnpack::input_flag) == 0) t.row_datatype = 0;
    t.external = format::xnnpack::no_id, t.flags = 0;
  }
  static void make_external(xnn::GraphT& graph, xnn::TensorT& t, std::uint32_t flag) {
    t.external = graph.externals++, t.flags = flag;
    (flag == format::xnnpack::input_flag ? graph.inputs : graph.outputs).push_back(t.id);
  }

  const Graph& whole_;
  std::set<std::uint32_t> nodes_;
  Outputs outputs_;
  Uses inside_, outside_;
};

// The constants of a value and of its scales.
std::vector<std::uint32_t> constants_of(xnn::ValueT& value) {
  std::vector<std::uint32_t> all{tensor_in(value).constant};
  if (xnn::QuantizedTensorT* quantized = value.content.AsQuantizedTensor()) {
    if (const auto* channels = quantized->parameters.AsPerChannel()) all.push_back(channels->scales);
    if (const auto* groups = quantized->parameters.AsPerGroup()) all.push_back(groups->scales);
  }
  return all;
}

// Copies the named data that the values of a graph need.
std::map<std::string, Bytes, std::less<>> needed(const xnn::GraphT& graph, const Graph::FindNamed& find,
                                                 const std::function<void(std::size_t)>& charge) {
  std::map<std::string, Bytes, std::less<>> named;
  for (const auto& value : graph.values)
    for (const std::uint32_t i : constants_of(*value)) {
      if (i >= graph.constants.size() || graph.constants[i]->name.empty()) continue;
      const std::string& key = graph.constants[i]->name;
      const auto bytes = named.contains(key) ? std::nullopt : find(key);
      if (!bytes) continue;
      charge(bytes->size());
      named.try_emplace(key, bytes->begin(), bytes->end());
    }
  return named;
}

std::uint64_t bytes_of(const pte::TensorT& t) {
  auto bytes = static_cast<std::uint64_t>(info(static_cast<DType>(t.scalar_type)).bytes);
  for (const std::int32_t n : t.sizes) bytes *= static_cast<std::uint64_t>(n);
  return bytes;
}

}  // namespace

std::size_t Payload::size() const {
  std::size_t size = bytes.size();
  for (const auto& [key, data] : named) size += data.size();
  return size;
}

Graph::FindNamed Payload::finder() const {
  return [this](std::string_view key) -> std::optional<std::span<const std::byte>> {
    const auto found = named.find(key);
    if (found == named.end()) return {};
    return found->second;
  };
}

Payload copied(std::span<const std::byte> bytes, const Graph::FindNamed& find_named,
               const std::function<void(std::size_t)>& charge) {
  charge(bytes.size());
  return {{bytes.begin(), bytes.end()}, needed(taken(decode_xnnpack(bytes)).graph, find_named, charge)};
}

bool is_of_rows(const Graph& graph, Id id) { return graph.datatype(id) == format::xnnpack::Datatype::qdint8; }

Cutter::Cutter(const Payload& whole)
    : whole_(whole),
      graph_(whole.bytes, {}, whole.finder(), xnnpack::Form::literal),
      decoded_(taken(decode_xnnpack(whole.bytes))) {}

Part Cutter::part_of(std::span<const std::uint32_t> nodes, Outputs outputs) const {
  XnnpackPayload payload = decoded_;
  Trim(graph_, nodes, outputs).apply(payload.graph);
  return {{encode(payload), needed(payload.graph, whole_.finder(), [](std::size_t) {})},
          payload.graph.inputs,
          payload.graph.outputs};
}

Program program_of(const Payload& payload, bool is_dynamic) {
  const Graph graph(payload.bytes, {}, payload.finder(), xnnpack::Form::literal);
  const Program plain = xnnpack::without_constants(graph).program;
  const pte::ExecutionPlanT& declared = *plain.tables.execution_plan.front();
  ProgramBuilder program;
  program.constants();
  PlanBuilder plan = program.method();
  std::vector<PlanBuilder::Index> arguments;
  std::uint64_t offset = 0;
  const auto add = [&](const std::vector<std::int32_t>& tensors, std::vector<std::int32_t>& list) {
    for (const std::int32_t i : tensors) {
      const pte::TensorT& t = *declared.values[static_cast<std::size_t>(i)]->val.AsTensor();
      arguments.push_back(plan.planned(static_cast<DType>(t.scalar_type), t.sizes, 1, offset));
      if (is_dynamic) plan.at(arguments.back()).shape_dynamism = pte::TensorShapeDynamism::DYNAMIC_BOUND;
      list.push_back(arguments.back());
      constexpr std::uint64_t alignment = 16;
      offset += (bytes_of(t) + alignment - 1) / alignment * alignment;
    }
  };
  add(declared.inputs, plan.plan().inputs), add(declared.outputs, plan.plan().outputs);
  for (const auto& [key, bytes] : payload.named) program.named(key, bytes);
  plan.delegate_call(0, arguments);
  plan.delegate(std::string(format::xnnpack::backend), pte::DataLocation::SEGMENT, program.segment(payload.bytes));
  return std::move(program.program());
}

}  // namespace assay::delegates
