#include <algorithm>
#include <map>

#include "reference/xnnpack/graph.h"

// The changes that XNNPACK makes to a graph when it loads a payload, as far as they change results. A convolution that
// multiplies single pixels is a fully connected layer for XNNPACK, whose rows are pixels: images that are quantized row
// by row for it have a scale and a zero point for each pixel, whatever the payload states. XNNPACK also
// computes chains of 8-bit nodes by tables, merges a padding of zeros into a convolution and drops copies; the results
// of these are those of the nodes one by one.
namespace assay::xnnpack {
namespace {

using xnn::Operation;

// The field `output` of a node that can clamp in place of a Clamp after it, else null.
Id* foldable_output(xnn::NodeT& node) {
  auto& operation = node.operation;
  switch (operation.type) {
    case Operation::Conv2d:
    case Operation::DepthwiseConv2d:
    case Operation::ConvTranspose2d:
      return &static_cast<xnn::ConvolutionT*>(operation.value)->output;
    case Operation::FullyConnected:
      return &operation.AsFullyConnected()->output;
    case Operation::MaxPooling2d:
    case Operation::AvgPooling2d:
      return &static_cast<xnn::PoolingT*>(operation.value)->output;
    case Operation::Clamp:
      return &operation.AsClamp()->output;
    default:
      return nullptr;
  }
}

// Clamps to the bounds of both nodes.
void clamp_too(xnn::NodeT& node, const xnn::NodeT& clamp) {
  if (!clamp.bounds) return;
  if (!node.bounds) {
    node.bounds = std::make_unique<xnn::BoundsT>(*clamp.bounds);
    return;
  }
  node.bounds->min = std::max(node.bounds->min, clamp.bounds->min);
  node.bounds->max = std::min(node.bounds->max, clamp.bounds->max);
}

bool multiplies_pixels(const xnn::ConvolutionT& c) {
  return c.kernel_height == 1 && c.kernel_width == 1 && c.stride_height == 1 && c.stride_width == 1 &&
         c.padding_top == 0 && c.padding_right == 0 && c.padding_bottom == 0 && c.padding_left == 0 && c.groups == 1;
}

class Fold {
 public:
  Fold(xnn::GraphT& graph, const format::xnnpack::PayloadView& view) : graph_(graph) {
    for (const xnn::Node* node : *view.tables->nodes())
      for (const auto& operand : format::xnnpack::operands_of(*node).inputs) ++readers_[operand.id];
    for (const xnn::Value* value : *view.tables->values())
      if (format::xnnpack::is_external(format::xnnpack::tensor_of(*value)))
        ++readers_[format::xnnpack::tensor_of(*value).id()];  // the caller reads it
  }

  bool run() {
    bool changed = false;
    for (auto& node : graph_.nodes) changed |= square(*node);
    for (auto& node : graph_.nodes)
      if (fold_clamp(*node))
        node.reset(), changed = true;
      else if (const Id* output = foldable_output(*node))
        writer_[*output] = node.get();
    std::erase(graph_.nodes, nullptr);
    return quantize_pixels() || changed;
  }

 private:
  // Gives each convolution that multiplies pixels an input whose rows are pixels. Its old input, if other nodes read
  // it, keeps its rows.
  bool quantize_pixels() {
    std::map<Id, std::vector<Id*>> inputs;  // of these convolutions, by their values
    for (const auto& node : graph_.nodes)
      if (auto* c = node->operation.AsConv2d(); c && multiplies_pixels(*c)) inputs[c->input].push_back(&c->input);
    bool changed = false;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto* convert = graph_.nodes[i]->operation.AsConvert();
      if (!convert || !inputs.contains(convert->output)) continue;
      xnn::QuantizedTensorT* rows = rows_of(convert->output);
      if (!rows || rows->parameters.AsPerToken()->nonbatch_dims == 1) continue;
      const auto& ids = inputs[convert->output];
      if (ids.size() < readers_[convert->output]) {
        rows = add_copy(*rows);
        for (Id* id : ids) *id = rows->tensor->id;
        auto node = std::make_unique<xnn::NodeT>(*graph_.nodes[i]);
        node->operation.AsConvert()->output = rows->tensor->id;
        graph_.nodes.insert(graph_.nodes.begin() + static_cast<std::ptrdiff_t>(++i), std::move(node));
      }
      rows->parameters.AsPerToken()->nonbatch_dims = 1, changed = true;
    }
    return changed;
  }

  // The value if it is quantized row by row, else null.
  xnn::QuantizedTensorT* rows_of(Id id) const {
    for (const auto& value : graph_.values)
      if (auto* t = value->content.AsQuantizedTensor(); t && t->tensor->id == id && t->parameters.AsPerToken())
        return t;
    return nullptr;
  }

  // A value with a new id.
  xnn::QuantizedTensorT* add_copy(const xnn::QuantizedTensorT& of) {
    Id last = 0;
    for (const auto& value : graph_.values)
      last = std::max(last, value->content.AsTensor() ? value->content.AsTensor()->id
                                                      : value->content.AsQuantizedTensor()->tensor->id);
    auto copy = std::make_unique<xnn::QuantizedTensorT>(of);
    copy->tensor->id = last + 1;
    auto value = std::make_unique<xnn::ValueT>();
    value->content.type = xnn::Content::QuantizedTensor, value->content.value = copy.release();
    graph_.values.push_back(std::move(value));
    return graph_.values.back()->content.AsQuantizedTensor();
  }

  static bool square(xnn::NodeT& node) {
    const auto* multiply = node.operation.AsMultiply();
    if (!multiply || multiply->input1 != multiply->input2) return false;
    auto unary = std::make_unique<xnn::UnaryT>();
    unary->input = multiply->input1, unary->output = multiply->output;
    node.operation.Reset();
    node.operation.type = Operation::Square, node.operation.value = unary.release();
    return true;
  }

  bool fold_clamp(const xnn::NodeT& node) {
    const auto* clamp = node.operation.AsClamp();
    if (!clamp || readers_[clamp->input] != 1 || !writer_.contains(clamp->input)) return false;
    xnn::NodeT& writer = *writer_[clamp->input];
    clamp_too(writer, node);
    *foldable_output(writer) = clamp->output;
    writer_[clamp->output] = &writer;
    return true;
  }

  xnn::GraphT& graph_;
  std::map<Id, std::size_t> readers_;
  std::map<Id, xnn::NodeT*> writer_;  // of the values that a node which can clamp writes
};

}  // namespace

bool fold(xnn::GraphT& graph, const format::xnnpack::PayloadView& view) { return Fold(graph, view).run(); }

}  // namespace assay::xnnpack
