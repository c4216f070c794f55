#pragma once

#include <functional>
#include <initializer_list>
#include <span>

#include "conformance/corrupt/sample.h"
#include "format/xnnpack/nodes.h"

namespace assay::corrupt {

// A program with a delegate whose payload is a graph for XNNPACK. The constructor makes a graph of one node, which
// computes y = |x|.
class Delegated {
 public:
  using Id = std::uint32_t;
  using Dims = std::vector<std::uint32_t>;
  using Datatype = format::xnnpack::Datatype;

  XnnpackPayload payload;
  Id x, y;
  bool has_container = true;  // whether the payload has a header; otherwise it consists only of tables
  std::function<void(Bytes&)> edit = [](Bytes&) {};  // changes the bytes of the payload

  Delegated() {
    program_.constants();  // ExecuTorch refuses a program without them
    payload.graph.constants.push_back(std::make_unique<xnn::ConstantT>());
    x = input({2, 3}), y = output({2, 3});
    unary(xnn::Operation::Abs, x, y);
  }

  xnn::GraphT& graph() { return payload.graph; }
  pte::ExecutionPlanT& plan() { return plan_.plan(); }
  PlanBuilder& builder() { return plan_; }

  // -- values: each function adds a value and returns its id ----------------------------------------------------------

  Id inner(Dims dims, Datatype type = Datatype::fp32) {
    xnn::TensorT t;
    t.datatype = static_cast<std::int16_t>(type), t.rank = static_cast<std::uint32_t>(dims.size());
    t.dims = std::move(dims), t.external = format::xnnpack::no_id, t.id = static_cast<Id>(graph().values.size());
    auto value = std::make_unique<xnn::ValueT>();
    value->content.Set(std::move(t));
    graph().values.push_back(std::move(value));
    return static_cast<Id>(graph().values.size()) - 1;
  }
  Id input(const Dims& dims, Datatype type = Datatype::fp32, DType dtype = DType::float32) {
    return external(dims, type, dtype, format::xnnpack::input_flag, graph().inputs);
  }
  Id output(const Dims& dims, Datatype type = Datatype::fp32, DType dtype = DType::float32) {
    return external(dims, type, dtype, format::xnnpack::output_flag, graph().outputs);
  }
  Id constant(Dims dims, const Bytes& bytes, Datatype type = Datatype::fp32) {
    const Id id = inner(std::move(dims), type);
    tensor(id).constant = stored(bytes);
    return id;
  }
  Id zeros(Dims dims, Datatype type = Datatype::fp32) {
    const Id id = inner(std::move(dims), type);
    std::size_t bytes = sizeof(float);
    for (const std::uint32_t n : tensor(id).dims) bytes *= n;
    tensor(id).constant = stored(Bytes(bytes));
    return id;
  }

  // Adds a constant to the region of constants and returns its index.
  std::uint32_t stored(const Bytes& bytes) {
    auto c = std::make_unique<xnn::ConstantT>();
    c->offset = payload.constants.size(), c->size = bytes.size();
    payload.constants.insert(payload.constants.end(), bytes.begin(), bytes.end());
    graph().constants.push_back(std::move(c));
    return static_cast<std::uint32_t>(graph().constants.size()) - 1;
  }
  // Adds a constant that is named data of the program and returns its index.
  std::uint32_t named(const std::string& name, const Bytes& bytes) {
    auto c = std::make_unique<xnn::ConstantT>();
    c->offset = ~std::uint64_t{0}, c->size = bytes.size(), c->name = name;
    if (!bytes.empty()) program_.named(name, bytes);
    graph().constants.push_back(std::move(c));
    return static_cast<std::uint32_t>(graph().constants.size()) - 1;
  }

  xnn::TensorT& tensor(Id id) {
    auto& content = graph().values[id]->content;
    return content.type == xnn::Content::Tensor ? *content.AsTensor() : *content.AsQuantizedTensor()->tensor;
  }
  pte::TensorT& argument(std::uint32_t i) { return plan_.at(arguments_[i]); }
  std::vector<std::int32_t>& arguments() { return arguments_; }

  // Gives a value quantization parameters and returns them.
  template <class Parameters>
  Parameters& quantize(Id id, Datatype type, Parameters parameters) {
    xnn::QuantizedTensorT q;
    q.tensor = std::make_unique<xnn::TensorT>(tensor(id));
    q.tensor->datatype = static_cast<std::int16_t>(type);
    q.parameters.Set(std::move(parameters));
    graph().values[id]->content.Set(std::move(q));
    return *static_cast<Parameters*>(graph().values[id]->content.AsQuantizedTensor()->parameters.value);
  }
  xnn::PerTensorT& per_tensor(Id id, Datatype type = Datatype::qint8, float scale = 0.5f, std::int32_t zero_point = 0) {
    xnn::PerTensorT p;
    p.scale = scale, p.zero_point = zero_point;
    return quantize(id, type, std::move(p));
  }
  // Scales in a constant.
  xnn::PerChannelT& per_channel(Id id, Datatype type, std::int32_t dim, const std::vector<float>& scales) {
    xnn::PerChannelT p;
    p.channel_dim = dim, p.scale_count = static_cast<std::uint32_t>(scales.size());
    const auto bytes = std::as_bytes(std::span(scales));
    p.scales = stored(Bytes(bytes.begin(), bytes.end()));
    return quantize(id, type, std::move(p));
  }

  // -- nodes: each function adds a node and returns its table ---------------------------------------------------------

  template <class Table>
  Table& node(xnn::Operation kind, Table table) {
    auto n = std::make_unique<xnn::NodeT>();
    auto* owned = new Table(std::move(table));  // the node owns it
    n->operation.type = kind, n->operation.value = owned;
    graph().nodes.push_back(std::move(n));
    return *owned;
  }
  xnn::UnaryT& unary(xnn::Operation kind, Id from, Id to) {
    xnn::UnaryT t;
    t.input = from, t.output = to;
    return node(kind, t);
  }
  xnn::BinaryT& binary(xnn::Operation kind, Id a, Id b, Id to) {
    xnn::BinaryT t;
    t.input1 = a, t.input2 = b, t.output = to;
    return node(kind, t);
  }

  // -- graphs: each function replaces the graph -----------------------------------------------------------------------

  void clear() {
    graph().nodes.clear(), graph().values.clear(), graph().inputs.clear(), graph().outputs.clear();
    graph().constants.resize(1), payload.constants.clear();
    graph().externals = 0;
    arguments_.clear();
  }
  // y = x · filterᵀ + bias with 4 inputs and 2 outputs
  xnn::FullyConnectedT& linear() {
    clear();
    x = input({3, 4}), y = output({3, 2});
    xnn::FullyConnectedT t;
    t.input = x, t.filter = zeros({2, 4}), t.bias = zeros({2}), t.output = y;
    return node(xnn::Operation::FullyConnected, t);
  }
  // A quantized linear with filters of `type` and 64 inputs, on rows that are quantized while it runs.
  xnn::FullyConnectedT& dynamic_linear() {
    clear();
    x = input({3, 64}), y = output({3, 2});
    const Id rows = inner({3, 64});
    xnn::PerTokenT token;
    token.nonbatch_dims = 1;
    quantize(rows, Datatype::qdint8, token);
    unary(xnn::Operation::Convert, x, rows);
    xnn::FullyConnectedT t;
    t.input = rows, t.filter = zeros({2, 64}), t.bias = zeros({2}), t.output = y;
    return node(xnn::Operation::FullyConnected, t);
  }
  // A 4-bit filter of the quantized linear, with groups of 32.
  xnn::PerGroupT& groups(Id filter) {
    xnn::PerGroupT p;
    p.group_size = 32, p.scale_count = 4;
    const std::uint16_t one = 0x3f80;  // as bfloat16
    Bytes bytes(4 * sizeof one);
    for (std::size_t i = 0; i < 4; ++i) std::memcpy(&bytes[i * sizeof one], &one, sizeof one);
    p.scales = stored(bytes);
    return quantize(filter, Datatype::qbint4, std::move(p));
  }
  // A convolution of an image of 4 x 4 with 2 channels by a kernel of 3 x 3.
  xnn::ConvolutionT& convolution(xnn::Operation kind = xnn::Operation::Conv2d) {
    const bool depthwise = kind == xnn::Operation::DepthwiseConv2d, grows = kind == xnn::Operation::ConvTranspose2d;
    clear();
    x = input({1, 4, 4, 2}), y = grows ? output({1, 6, 6, 2}) : output({1, 2, 2, 2});
    xnn::ConvolutionT t;
    t.kernel_height = t.kernel_width = 3;
    t.stride_height = t.stride_width = t.dilation_height = t.dilation_width = 1;
    t.groups = depthwise ? 2 : 1, t.group_inputs = t.group_outputs = depthwise ? 1 : 2;
    t.input = x, t.filter = depthwise ? zeros({1, 3, 3, 2}) : zeros({2, 3, 3, 2}), t.bias = zeros({2}), t.output = y;
    return node(kind, t);
  }
  // A pool of 2 x 2 windows of an image of 4 x 4.
  xnn::PoolingT& pool(xnn::Operation kind = xnn::Operation::MaxPooling2d) {
    clear();
    x = input({1, 4, 4, 2}), y = output({1, 2, 2, 2});
    xnn::PoolingT t;
    t.kernel_height = t.kernel_width = t.stride_height = t.stride_width = 2;
    t.dilation_height = t.dilation_width = 1;
    t.input = x, t.output = y;
    return node(kind, t);
  }
  // A node of one input with other dims of its output.
  template <class Table>
  Table& on(xnn::Operation kind, const Dims& from, const Dims& to, Table t = {}) {
    clear();
    t.input = x = input(from), t.output = y = output(to);
    return node(kind, std::move(t));
  }
  xnn::BinaryT& on_two(xnn::Operation kind, const Dims& a, const Dims& b, const Dims& to) {
    clear();
    x = input(a);
    const Id other = input(b);
    return binary(kind, x, other, y = output(to));
  }

  Bytes payload_bytes() const {
    Bytes bytes = has_container ? encode(payload) : encode_tables(payload.graph);
    edit(bytes);
    return bytes;
  }
  // The program, with its calls of the delegate. All arguments of the delegate are inputs of the method, so that they
  // need no memory.
  Bytes file() {
    pte::ExecutionPlanT& p = plan();
    p.inputs = arguments_, p.outputs.clear();
    return called();
  }
  // The program, whose method has the inputs and outputs of the graph. Its outputs have planned memory.
  Bytes method_file() {
    const auto inputs = arguments_.begin() + static_cast<std::ptrdiff_t>(graph().inputs.size());
    constexpr std::uint64_t apart = 4096;
    for (auto out = inputs; out != arguments_.end(); ++out)
      plan_.place(*out, 1, apart * static_cast<std::uint64_t>(out - inputs));
    plan().inputs.assign(arguments_.begin(), inputs), plan().outputs.assign(inputs, arguments_.end());
    return called();
  }

 private:
  Bytes called() {
    plan_.delegate_call(0, arguments_);
    plan_.delegate(std::string(format::xnnpack::backend), pte::DataLocation::SEGMENT,
                   program_.segment(payload_bytes()));
    return program_.bytes();
  }

  Id external(const Dims& dims, Datatype type, DType dtype, std::uint32_t flag, std::vector<Id>& list) {
    const Id id = inner(dims, type);
    tensor(id).external = graph().externals++, tensor(id).flags = flag;
    list.push_back(id);
    arguments_.push_back(plan_.tensor(dtype, {dims.begin(), dims.end()}));
    return id;
  }

  ProgramBuilder program_;
  PlanBuilder plan_ = program_.method();
  std::vector<std::int32_t> arguments_;  // the values that the calls of the delegate get
};

}  // namespace assay::corrupt
