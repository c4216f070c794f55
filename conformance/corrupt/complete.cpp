#include "conformance/corrupt/complete.h"

#include "conformance/corrupt/delegated.h"
#include "conformance/corrupt/sample.h"

namespace assay::corrupt {
namespace {

constexpr std::size_t alignment = 128;

void describe(Sample& s) {
  s.plan().container_meta_type->encoded_inp_str = "inputs";
  s.plan().container_meta_type->encoded_out_str = "outputs";
  pte::FrameT& frame = *s.plan().chains[0]->stacktrace[0]->items[0];
  frame.filename = "model.py", frame.name = "forward", frame.context = "x + y";
  s.plan().chains[0]->inputs = {s.at.x}, s.plan().chains[0]->outputs = {s.at.out};
}

// The method has inputs of each type of number.
void take_numbers(Sample& s) {
  const std::int32_t real = s.at.string + 1;
  s.plan().inputs.insert(s.plan().inputs.end(), {s.at.boolean, real});
  auto& inputs = s.suite().test_cases[0]->inputs;
  for (int i = 0; i < 2; ++i) inputs.push_back(std::make_unique<bpte::ValueT>());
  inputs[2]->val.Set(bpte::BoolT{});
  inputs[3]->val.Set(bpte::DoubleT{});
}

Sample complete_sample() {
  Sample s;
  describe(s), take_numbers(s);
  return s;
}

// Constants in constant_buffer, as in programs before 1.0.
Bytes with_constant_buffer() {
  Sample s = complete_sample();
  auto& buffer = s.program.tables.constant_buffer;
  for (int i = 0; i < 2; ++i) buffer.push_back(std::make_unique<pte::BufferT>());
  buffer[1]->storage.resize(16);
  s.program.tables.constant_segment = nullptr;
  return encode(s.program, alignment, true);
}

Bytes plain_program() {
  Sample s;
  describe(s);
  s.make_plain();
  s.tensor(s.at.external).extra_tensor_info = nullptr;
  return encode(s.program, alignment, true);
}

// A graph with a node of each table, and a value with each kind of quantization parameters.
void fill(Delegated& d) {
  using xnn::Operation;
  using Datatype = format::xnnpack::Datatype;
  const Delegated::Dims image{1, 4, 4, 2}, halves{1, 2, 2, 2};
  d.graph().version = "0";
  d.linear();
  d.unary(Operation::Abs, d.x, d.inner({3, 4}));
  d.binary(Operation::Add, d.x, d.x, d.inner({3, 4}));
  const Delegated::Id x = d.input(image);
  xnn::ConvolutionT convolution;
  convolution.padding_top = convolution.padding_bottom = convolution.padding_left = convolution.padding_right = 1;
  convolution.kernel_height = convolution.kernel_width = 3;
  convolution.stride_height = convolution.stride_width = convolution.dilation_height = convolution.dilation_width = 1;
  convolution.groups = 1, convolution.group_inputs = convolution.group_outputs = 2;
  convolution.input = x, convolution.filter = d.zeros({2, 3, 3, 2}), convolution.bias = d.zeros({2});
  convolution.output = d.inner(image);
  d.node(Operation::Conv2d, convolution);
  xnn::PoolingT pool;
  pool.kernel_height = pool.kernel_width = pool.stride_height = pool.stride_width = 2;
  pool.dilation_height = pool.dilation_width = 1;
  pool.input = x, pool.output = d.inner(halves);
  d.node(Operation::MaxPooling2d, pool);
  xnn::ArgMaxPoolingT arg_max;
  arg_max.kernel_height = arg_max.kernel_width = 2;
  arg_max.input = x, arg_max.output = d.inner(halves), arg_max.index = d.inner(halves, Datatype::int32);
  d.node(Operation::ArgMaxPooling2d, arg_max);
  xnn::TransposeT transpose;
  transpose.rank = 4, transpose.perm = {0, 3, 1, 2}, transpose.input = x, transpose.output = d.inner({1, 2, 4, 4});
  d.node(Operation::StaticTranspose, transpose);
  xnn::ReshapeT reshape;
  reshape.rank = 2, reshape.shape = {8, 4}, reshape.input = x, reshape.output = d.inner({8, 4});
  d.node(Operation::StaticReshape, reshape);
  xnn::SliceT slice;
  slice.rank = 4, slice.offsets = {0, 1, 1, 0}, slice.sizes = {1, 2, 3, 1}, slice.input = x;
  slice.output = d.inner({1, 2, 3, 1});
  d.node(Operation::StaticSlice, slice);
  xnn::PadT pad;
  pad.before = {0, 1, 0, 0}, pad.after = {0, 1, 0, 0}, pad.value = 1, pad.input = x, pad.output = d.inner({1, 6, 4, 2});
  d.node(Operation::StaticConstantPad, pad);
  xnn::ResizeT resize;
  resize.height = resize.width = 2, resize.input = x, resize.output = d.inner(halves);
  d.node(Operation::StaticResizeBilinear2D, resize);
  xnn::LeakyReLUT leaky;
  leaky.slope = 0.5f, leaky.input = x, leaky.output = d.inner(image);
  d.node(Operation::LeakyReLU, leaky);
  xnn::ELUT elu;
  elu.alpha = 1, elu.input = x, elu.output = d.inner(image);
  d.node(Operation::ELU, elu);
  xnn::ConcatenationT cat;
  cat.axis = 1, cat.input1 = cat.input2 = cat.input3 = cat.input4 = cat.input5 = x, cat.output = d.inner({1, 20, 4, 2});
  d.node(Operation::Concatenate5, cat);
  xnn::AttentionT attention;
  attention.query = attention.key = attention.value = x, attention.scale = d.zeros({2}),
  attention.mask = d.zeros({4, 4});
  attention.output = d.output(image);
  d.node(Operation::ScaledDotProductAttention, attention);
  d.graph().nodes[0]->bounds = std::make_unique<xnn::BoundsT>();
  d.graph().nodes[0]->bounds->max = 1;
  d.unary(Operation::Abs, d.x, d.output({3, 4}));
}

void quantize(Delegated& d) {
  using Datatype = format::xnnpack::Datatype;
  d.per_tensor(d.inner({2}));
  d.per_channel(d.inner({2}), Datatype::qcint8, 0, {1, 1}).scale = {1, 1};
  xnn::PerTokenT token;
  token.nonbatch_dims = 1;
  d.quantize(d.inner({2}), Datatype::qdint8, token);
  const Delegated::Id grouped = d.inner({2, 64});
  xnn::PerGroupT& groups = d.groups(grouped);
  groups.scale = {1, 1, 1, 1}, groups.scale_bf16 = {1};
}

Bytes complete_payload() {
  Delegated d;
  fill(d), quantize(d);
  d.named("weight", {});
  return encode(d.payload, true);
}

// Constants in buffers, as in payloads without a header.
Bytes payload_with_buffers() {
  Delegated d;
  for (int i = 0; i < 2; ++i) d.graph().buffers.push_back(std::make_unique<xnn::BufferT>());
  for (auto& buffer : d.graph().buffers) buffer->storage.resize(24);
  d.graph().buffer_sizes = {24, 24}, d.graph().constants.clear();
  const Delegated::Id id = d.inner({2, 3});
  d.tensor(id).constant = 1;
  return encode_tables(d.graph(), true);
}

}  // namespace

std::vector<CompleteFile> complete_files() {
  const Sample s = complete_sample();
  return {{&format::program_kind, encode(s.program, alignment, true)},
          {&format::program_kind, with_constant_buffer()},
          {&format::data_kind, encode(s.data, alignment, true)},
          {&format::bundle_kind, s.encoded_bundle(true)},
          {&format::xnnpack_kind, complete_payload()},
          {&format::xnnpack_kind, payload_with_buffers()}};
}

std::vector<SampleProgram> sample_programs() {
  return {{"sample:plain", plain_program()},
          {"sample:complete", encode(complete_sample().program, alignment, true)},
          {"sample:old", with_constant_buffer()}};
}

}  // namespace assay::corrupt
