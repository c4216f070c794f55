#include <algorithm>
#include <limits>

#include "conformance/corrupt/cases.h"
#include "conformance/corrupt/delegated.h"
#include "format/header.h"

// Programs with a delegate whose payload keeps or breaks a rule of area X.
namespace assay::corrupt {
namespace {

using D = Delegated;
using format::load;
using xnn::Operation;
using Datatype = format::xnnpack::Datatype;

constexpr float infinite = std::numeric_limits<float>::infinity(), tiny = std::numeric_limits<float>::denorm_min();
constexpr std::uint32_t no_id = format::xnnpack::no_id;

// -- changes of the payload's bytes -----------------------------------------------------------------------------------

template <class T>
void set(D& d, std::size_t at, T value) {
  d.edit = [=](Bytes& bytes) { std::memcpy(&bytes[at], &value, sizeof value); };
}
template <class T>
void raise(D& d, std::size_t at, T more) {
  d.edit = [=](Bytes& bytes) {
    const T value = load<T>(bytes, at) + more;
    std::memcpy(&bytes[at], &value, sizeof value);
  };
}
void cut(D& d, std::size_t size) {
  d.edit = [=](Bytes& bytes) { bytes.resize(size); };
}
// The identifier of the tables.
void identify(D& d, std::string_view id) {
  d.edit = [=](Bytes& bytes) { std::memcpy(&bytes[36], id.data(), id.size()); };
}
// Moves the tables and the constants by `bytes`, a multiple of 4.
void move_tables(D& d, std::uint32_t more) {
  d.edit = [=](Bytes& bytes) {
    bytes.insert(bytes.begin() + 32, more, std::byte{0});
    for (const std::size_t at : {format::xnnpack::begin_at, format::xnnpack::constants_at}) {
      const std::uint32_t moved = load<std::uint32_t>(bytes, at) + more;
      std::memcpy(&bytes[at], &moved, sizeof moved);
    }
  };
}

// -- graphs -----------------------------------------------------------------------------------------------------------

void dims(D& d, D::Id id, D::Dims dims) {
  d.tensor(id).rank = static_cast<std::uint32_t>(dims.size()), d.tensor(id).dims = std::move(dims);
}
xnn::NodeT& last_node(D& d) { return *d.graph().nodes.back(); }

xnn::TransposeT& transpose(D& d, std::vector<std::uint32_t> perm) {
  auto& t = d.on<xnn::TransposeT>(Operation::StaticTranspose, {2, 3}, {3, 2});
  t.rank = 2, t.perm = std::move(perm);
  return t;
}
xnn::ReshapeT& reshape(D& d, std::vector<std::uint32_t> shape) {
  auto& t = d.on<xnn::ReshapeT>(Operation::StaticReshape, {2, 3}, {3, 2});
  t.rank = 2, t.shape = std::move(shape);
  return t;
}
xnn::SliceT& slice(D& d, std::vector<std::uint32_t> offsets, std::vector<std::uint32_t> sizes) {
  auto& t = d.on<xnn::SliceT>(Operation::StaticSlice, {2, 3}, {2, 2});
  t.rank = 2, t.offsets = std::move(offsets), t.sizes = std::move(sizes);
  return t;
}
xnn::PadT& pad(D& d, std::vector<std::uint32_t> before, std::vector<std::uint32_t> after) {
  auto& t = d.on<xnn::PadT>(Operation::StaticConstantPad, {2, 3}, {2, 5});
  t.before = std::move(before), t.after = std::move(after);
  return t;
}
xnn::ConcatenationT& concatenate(D& d, const D::Dims& a, const D::Dims& b, const D::Dims& to) {
  d.clear();
  xnn::ConcatenationT t;
  t.axis = 1, t.input1 = d.x = d.input(a), t.input2 = d.input(b);
  t.input3 = t.input4 = t.input5 = no_id, t.output = d.y = d.output(to);
  return d.node(Operation::Concatenate2, t);
}
xnn::ResizeT& resize(D& d, std::uint32_t height, const D::Dims& to) {
  auto& t = d.on<xnn::ResizeT>(Operation::StaticResizeBilinear2D, {1, 4, 4, 2}, to);
  t.height = t.width = height;
  return t;
}
xnn::ArgMaxPoolingT& arg_max(D& d, Datatype index, DType dtype) {
  auto& t = d.on<xnn::ArgMaxPoolingT>(Operation::ArgMaxPooling2d, {1, 4, 4, 2}, {1, 2, 2, 2});
  t.kernel_height = t.kernel_width = 2;
  t.index = d.output({1, 2, 2, 2}, index, dtype);
  return t;
}
// A fully connected layer of half types with a float32 filter and bias.
void half_linear(D& d, Datatype type, DType dtype) {
  d.linear();
  for (const D::Id id : {d.x, d.y}) d.tensor(id).datatype = static_cast<std::int16_t>(type);
  for (const std::uint32_t argument : {0u, 1u}) d.argument(argument).scalar_type = static_cast<std::int8_t>(dtype);
}
// y = |x| in 8 bits, from an argument to an argument.
void bytes_throughout(D& d, DType dtype, std::int32_t zero_point = 0) {
  d.clear();
  d.x = d.input({2, 3}, Datatype::fp32, dtype), d.y = d.output({2, 3}, Datatype::fp32, dtype);
  d.per_tensor(d.x, Datatype::qint8, 0.5f, zero_point), d.per_tensor(d.y);
  d.unary(Operation::Abs, d.x, d.y);
}
// A value of bytes between two nodes: x is quantized to it, and it is dequantized to y.
D::Id quantized_between(D& d) {
  d.clear();
  d.x = d.input({2, 3}), d.y = d.output({2, 3});
  const D::Id q = d.inner({2, 3});
  d.per_tensor(q);
  d.unary(Operation::Convert, d.x, q), d.unary(Operation::Convert, q, d.y);
  return q;
}
// x is quantized to bytes, which a node copies.
xnn::UnaryT& copy_of_bytes(D& d, float scale) {
  d.clear();
  d.x = d.input({2, 3}), d.y = d.output({2, 3});
  const D::Id a = d.inner({2, 3}), b = d.inner({2, 3});
  d.per_tensor(a), d.per_tensor(b, Datatype::qint8, scale);
  d.unary(Operation::Convert, d.x, a), d.unary(Operation::Convert, b, d.y);
  auto& copy = d.unary(Operation::Copy, a, b);
  std::swap(d.graph().nodes[1], d.graph().nodes[2]);
  return copy;
}
// The quantized linear with 4-bit filters in groups.
xnn::PerGroupT& grouped(D& d) { return d.groups(d.dynamic_linear().filter); }
// A linear from bytes to bytes with a filter and a bias of these datatypes.
void static_linear(D& d, Datatype filter, Datatype bias) {
  auto& t = d.linear();
  const auto ids = t;
  const D::Id q = d.inner({3, 4}), r = d.inner({3, 2});
  d.per_tensor(q), d.per_tensor(r);
  const auto weight = [&](D::Id id, Datatype type) {
    if (type == Datatype::qcint8 || type == Datatype::qcint32) d.per_channel(id, type, 0, {1, 1});
    if (type == Datatype::qint8 || type == Datatype::qint32) d.per_tensor(id, type);
  };
  weight(ids.filter, filter), weight(ids.bias, bias);
  d.graph().nodes.clear();
  d.unary(Operation::Convert, d.x, q);
  xnn::FullyConnectedT changed = ids;
  changed.input = q, changed.output = r;
  d.node(Operation::FullyConnected, changed);
  d.unary(Operation::Convert, r, d.y);
}
xnn::ConvolutionT& quantized_filter(D& d, std::int32_t dim, Operation kind = Operation::Conv2d) {
  auto& t = d.convolution(kind);
  d.per_channel(t.filter, Datatype::qcint8, dim, {1, 1});
  return t;
}
void bounds(D& d, float least, float most) {
  last_node(d).bounds = std::make_unique<xnn::BoundsT>();
  last_node(d).bounds->min = least, last_node(d).bounds->max = most;
}
Bytes floats(std::size_t n, int different, float unit) {
  Bytes bytes(n * sizeof(float));
  for (std::size_t i = 0; i < n; ++i) {
    const float x = unit * static_cast<float>(static_cast<int>(i) % different - 4);
    std::memcpy(&bytes[i * sizeof x], &x, sizeof x);
  }
  return bytes;
}
// A linear whose filter has `rows` rows of 8 elements.
void linear_with_filter(D& d, std::uint32_t rows, int different, float unit) {
  d.clear();
  d.x = d.input({1, 8}), d.y = d.output({1, rows});
  xnn::FullyConnectedT t;
  t.input = d.x, t.filter = d.constant({rows, 8}, floats(std::size_t{rows} * 8, different, unit));
  t.bias = no_id, t.output = d.y;
  d.node(Operation::FullyConnected, t);
}
// `inputs` inputs of which the node reads the first.
void externals(D& d, std::uint32_t all) {
  while (d.graph().externals < all) d.input({1});
}
void into_buffer(D& d, std::size_t bytes, std::uint32_t stated) {
  d.has_container = false;
  d.graph().constants.clear();
  for (int i = 0; i < 2; ++i) d.graph().buffers.push_back(std::make_unique<xnn::BufferT>());
  d.graph().buffers[1]->storage.resize(bytes);
  d.graph().buffer_sizes = {0, stated};
}
// y = x + constant
void add_constant(D& d) {
  d.clear();
  d.x = d.input({2, 3}), d.y = d.output({2, 3});
  d.binary(Operation::Add, d.x, d.zeros({2, 3}), d.y);
}
xnn::TensorT& constant_of(D& d) { return d.tensor(2); }  // of add_constant
void shared_scales(D& d, int filters) {
  d.clear();
  d.x = d.input({1, 1}), d.y = d.output({1, 1});
  constexpr std::uint32_t channels = 1 << 15;
  xnn::PerChannelT p;
  p.scale_count = channels;
  Bytes ones(channels * sizeof(float));
  for (std::size_t i = 0; i < channels; ++i) std::memcpy(&ones[i * sizeof(float)], "\0\0\x80\x3f", sizeof(float));
  p.scales = d.stored(ones);
  const std::uint32_t elements = d.stored(Bytes(channels));
  for (int i = 0; i < filters; ++i) {
    const D::Id id = d.inner({channels});
    d.tensor(id).constant = elements;
    d.quantize(id, Datatype::qcint8, p);
  }
  d.unary(Operation::Abs, d.x, d.y);
}

const PayloadCase every_payload_case[] = {
    {"X1", [](D&) {}, [](D& d) { cut(d, 29); }},
    {"X2", [](D& d) { set(d, 8, std::uint16_t{32}); }, [](D& d) { set(d, 8, std::uint16_t{33}); }},
    {"X2", [](D&) {}, [](D& d) { set(d, 8, std::uint16_t{29}); }},
    {"X3", [](D& d) { add_constant(d); }, [](D& d) { add_constant(d), raise(d, 22, std::uint64_t{1}); }},
    {"X3", [](D&) {}, [](D& d) { raise(d, 18, std::uint32_t{0} - 16); }},
    {"X3", [](D&) {}, [](D& d) { set(d, 14, std::uint32_t{0xffffffff}); }},
    {"X4", [](D& d) { move_tables(d, 16); }, [](D& d) { move_tables(d, 4); }},
    {"X5", [](D& d) { identify(d, "XN00"); }, [](D& d) { identify(d, "XN02"); }},
    {"X5", [](D& d) { d.has_container = false; }, [](D& d) { set(d, 32, std::uint32_t{7}); }},

    {"X6", [](D& d) { externals(d, 4096); }, [](D& d) { externals(d, 4097); }},
    {"X7",
     [](D& d) {
       d.clear();
       const D::Id from = d.input({1}, Datatype::bf16, DType::bfloat16);
       d.unary(Operation::Abs, from, d.output({1}, Datatype::bf16, DType::bfloat16));
     },
     [](D& d) { d.tensor(d.inner({1})).datatype = 15; }},
    {"X7", [](D& d) { d.inner({1}); }, [](D& d) { d.tensor(d.inner({1})).datatype = 0; }},
    {"X8", [](D&) {}, [](D& d) { d.tensor(d.x).flags |= 4; }},
    {"X9",
     [](D& d) {
       d.inner({1, 1, 1, 1, 1, 1});
     },
     [](D& d) {
       d.inner({1, 1, 1, 1, 1, 1, 1});
     }},
    {"X9", [](D&) {}, [](D& d) { d.tensor(d.x).rank = 3; }},
    {"X9",
     [](D& d) {
       d.inner({0x7fffffff, 0x3fffffff});
     },
     [](D& d) {
       d.inner({0x7fffffff, 0x7fffffff});
     }},
    {"X10", [](D&) {}, [](D& d) { d.graph().externals = 1, d.arguments().pop_back(); }},
    {"X10", [](D& d) { externals(d, 3); }, [](D& d) { externals(d, 3), d.tensor(2).external = 0; }},
    {"X10", [](D& d) { d.tensor(d.inner({1})).id = 7; }, [](D& d) { d.tensor(d.inner({1})).id = 0; }},
    {"X11", [](D& d) { add_constant(d); }, [](D& d) { add_constant(d), constant_of(d).constant = 2; }},
    {"X11",
     [](D& d) {
       d.per_channel(d.linear().filter, Datatype::qcint8, 0, {1, 1});
     },
     [](D& d) {
       d.per_channel(d.linear().filter, Datatype::qcint8, 0, {1, 1}).scales = 0;
       d.graph().constants[0]->size = 8;
     }},
    {"X12", [](D& d) { add_constant(d); }, [](D& d) { add_constant(d), d.graph().constants[1]->offset = 1; }},
    {"X12", [](D& d) { add_constant(d); },
     [](D& d) { add_constant(d), d.graph().constants[1]->size = ~std::uint64_t{0}; }},
    {"X13", [](D& d) { add_constant(d); }, [](D& d) { add_constant(d), d.graph().constants[1]->size = 23; }},
    {"X13", [](D& d) { add_constant(d), into_buffer(d, 24, 24); },
     [](D& d) { add_constant(d), into_buffer(d, 23, 23); }},
    {"X13",
     [](D& d) {
       d.per_channel(d.linear().filter, Datatype::qcint8, 0, {1, 1});
     },
     [](D& d) {
       d.per_channel(d.linear().filter, Datatype::qcint8, 0, {1, 1});
       d.graph().constants.back()->size = 7;
     }},
    {"X14", [](D& d) { add_constant(d), constant_of(d).constant = d.named("w", Bytes(24)); },
     [](D& d) {
       add_constant(d), constant_of(d).constant = d.named("w", Bytes(24));
       d.graph().constants.back()->offset = 0;
     }},
    {"X14", [](D& d) { add_constant(d); },
     [](D& d) { add_constant(d), d.graph().constants[1]->offset = ~std::uint64_t{0}; }},
    {"X15", [](D& d) { add_constant(d), constant_of(d).constant = d.named("w", Bytes(24)); },
     [](D& d) { add_constant(d), constant_of(d).constant = d.named("w", Bytes(23)); }},
    {"X16", [](D& d) { d.per_tensor(quantized_between(d), Datatype::qint8, std::numeric_limits<float>::min()); },
     [](D& d) { d.per_tensor(quantized_between(d), Datatype::qint8, tiny); }},
    {"X16", [](D& d) { d.per_tensor(quantized_between(d), Datatype::qint8, std::numeric_limits<float>::max()); },
     [](D& d) { d.per_tensor(quantized_between(d), Datatype::qint8, infinite); }},
    {"X16", [](D& d) { quantized_between(d); },
     [](D& d) { d.per_tensor(quantized_between(d), Datatype::qint8, -0.5f); }},
    {"X16", [](D& d) { d.per_tensor(quantized_between(d), Datatype::qint8, 1, -128); },
     [](D& d) { d.per_tensor(quantized_between(d), Datatype::qint8, 1, -129); }},
    {"X16", [](D& d) { d.per_tensor(quantized_between(d), Datatype::quint8, 1, 255); },
     [](D& d) { d.per_tensor(quantized_between(d), Datatype::qint8, 1, 128); }},
    {"X16", [](D& d) { d.per_tensor(d.inner({1}), Datatype::qint32, 1, 0); },
     [](D& d) { d.per_tensor(d.inner({1}), Datatype::qint32, 1, 1); }},
    {"X17", [](D& d) { d.per_tensor(d.inner({1}), Datatype::qint8); },
     [](D& d) { d.per_tensor(d.inner({1}), Datatype::qcint8); }},
    {"X17", [](D& d) { d.inner({1}, Datatype::fp16); }, [](D& d) { d.inner({1}, Datatype::qint8); }},
    {"X18", [](D& d) { grouped(d); },
     [](D& d) {
       grouped(d);
       d.graph().values[2]->content.AsQuantizedTensor()->parameters.AsPerToken()->nonbatch_dims = 0;
     }},
    {"X18", [](D& d) { grouped(d); },
     [](D& d) {
       grouped(d);
       d.graph().values[2]->content.AsQuantizedTensor()->parameters.AsPerToken()->nonbatch_dims = 3;
     }},
    {"X18", [](D& d) { d.tensor(d.x).row_datatype = 9; }, [](D& d) { d.tensor(d.x).row_datatype = 1; }},
    {"X18", [](D& d) { d.tensor(d.x).row_datatype = 9; }, [](D& d) { d.tensor(d.inner({1})).row_datatype = 9; }},
    {"X19",
     [](D& d) {
       d.per_channel(d.inner({2, 3}), Datatype::qcint8, 1, {1, 1, 1});
     },
     [](D& d) {
       d.per_channel(d.inner({2, 3}), Datatype::qcint8, 1, {1, 1});
     }},
    {"X19",
     [](D& d) {
       d.per_channel(d.inner({2, 3}), Datatype::qcint8, 1, {1, 1, 1});
     },
     [](D& d) {
       d.per_channel(d.inner({2, 3}), Datatype::qcint8, 2, {});
     }},
    {"X19",
     [](D& d) {
       d.per_channel(d.inner({2, 3}), Datatype::qcint8, 0, {1, 1});
     },
     [](D& d) {
       d.per_channel(d.inner({2, 3}), Datatype::qcint8, -1, {1, 1});
     }},
    {"X19",
     [](D& d) {
       d.per_channel(d.inner({2, 3}), Datatype::qcint8, 0, {1}).scale = {1, 1};
     },
     [](D& d) {
       d.per_channel(d.inner({2, 3}), Datatype::qcint8, 0, {1, 1}).scale = {1, 1, 1};
     }},
    {"X20", [](D& d) { grouped(d); }, [](D& d) { grouped(d).group_size = 0; }},
    {"X20",
     [](D& d) {
       auto& p = grouped(d);
       p.group_size = 64, p.scale_count = 2;
     },
     [](D& d) {
       auto& p = grouped(d);
       p.group_size = 16, p.scale_count = 8;
     }},
    {"X20", [](D& d) { grouped(d); },
     [](D& d) {
       auto& p = grouped(d);
       p.group_size = 96, p.scale_count = 0;
     }},
    {"X20", [](D& d) { grouped(d); }, [](D& d) { grouped(d).channel_dim = 1; }},
    {"X20", [](D& d) { grouped(d); }, [](D& d) { grouped(d).scale_count = 3; }},
    {"X20", [](D& d) { grouped(d); },
     [](D& d) {
       d.groups(d.inner({2, 2, 64}));
     }},

    {"X22", [](D&) {}, [](D& d) { last_node(d).operation.AsAbs()->input = 2; }},
    {"X22", [](D&) {}, [](D& d) { last_node(d).operation.AsAbs()->output = 2; }},
    {"X23", [](D& d) { d.convolution(Operation::DepthwiseConv2d); },
     [](D& d) {
       d.convolution(Operation::DepthwiseConv2d).group_inputs = 0;
       dims(d, d.x, {1, 4, 4, 0});
       d.argument(0).sizes = {1, 4, 4, 0};
     }},
    {"X24",
     [](D& d) {
       transpose(d, {1, 0});
     },
     [](D& d) {
       transpose(d, {1, 0, 2}).rank = 3;
     }},
    {"X24",
     [](D& d) {
       transpose(d, {1, 0});
     },
     [](D& d) {
       transpose(d, {1, 0}).rank = 3;
     }},
    {"X24",
     [](D& d) {
       reshape(d, {3, 2});
     },
     [](D& d) { reshape(d, {6}).rank = 1; }},
    {"X24",
     [](D& d) {
       slice(d, {0, 1}, {2, 2});
     },
     [](D& d) {
       slice(d, {0}, {2, 2});
     }},
    {"X24",
     [](D& d) {
       slice(d, {0, 1}, {2, 0});
     },
     [](D& d) {
       slice(d, {0, 1}, {2});
     }},
    {"X24",
     [](D& d) {
       pad(d, {0, 1}, {0, 1});
     },
     [](D& d) {
       pad(d, {0}, {0, 1});
     }},
    {"X24",
     [](D& d) {
       pad(d, {0, 2}, {0, 0});
     },
     [](D& d) {
       pad(d, {0, 1}, {0, 1, 0});
     }},
    {"X25", [](D&) {}, [](D& d) { d.graph().inputs = {d.y}; }},
    {"X25", [](D& d) { externals(d, 3); },
     [](D& d) {
       externals(d, 3);
       d.graph().inputs = {d.x, d.x};
     }},
    {"X25", [](D&) {}, [](D& d) { d.graph().outputs.push_back(7); }},
    {"X25", [](D&) {}, [](D& d) { d.graph().outputs = {7}; }},
    {"X25", [](D&) {}, [](D& d) { d.graph().inputs.clear(); }},  // absent in the file
    {"X25", [](D& d) { add_constant(d), into_buffer(d, 24, 24); },
     [](D& d) { add_constant(d), into_buffer(d, 24, 25); }},
    {"X25", [](D& d) { add_constant(d), into_buffer(d, 24, 24); },
     [](D& d) { add_constant(d), into_buffer(d, 24, 24), d.graph().buffer_sizes.push_back(0); }},
    {"X26",
     [](D& d) {
       d.graph().externals = 3;
       d.arguments().push_back(d.builder().tensor(DType::float32, {1}));
     },
     [](D& d) { d.arguments().pop_back(); }},
    {"X27", [](D&) {}, [](D& d) { d.argument(0).scalar_type = static_cast<std::int8_t>(DType::float64); }},
    {"X27", [](D&) {}, [](D& d) { d.arguments()[0] = d.builder().integer(3); }},
    {"X27",
     [](D& d) {
       d.argument(0).sizes = {3, 2}, d.argument(0).dim_order = {1, 0};
     },
     [](D& d) {
       d.argument(0).sizes = {3, 2};
     }},
    {"X27",
     [](D& d) {
       dims(d, d.x, {1}), dims(d, d.y, {1});
       for (std::uint32_t i : {0u, 1u}) d.argument(i).sizes = {}, d.argument(i).dim_order = {};
     },
     [](D& d) { d.argument(0).sizes = {}, d.argument(0).dim_order = {}; }},
    {"X27",
     [](D& d) {
       d.argument(0).sizes = {8, 3}, d.argument(0).shape_dynamism = pte::TensorShapeDynamism::DYNAMIC_BOUND;
     },
     [](D& d) { d.argument(0).sizes = {6}, d.argument(0).dim_order = {0}; }},
    {"X27", [](D& d) { bytes_throughout(d, DType::int8); }, [](D& d) { bytes_throughout(d, DType::int16); }},
    {"X27", [](D& d) { arg_max(d, Datatype::fp32, DType::int64); },
     [](D& d) { arg_max(d, Datatype::fp32, DType::float32); }},

    {"X29", [](D& d) { d.on<xnn::UnaryT>(Operation::Gelu, {2}, {2}); },
     [](D& d) { d.on<xnn::UnaryT>(Operation::ApproxGelu, {2}, {2}); }},
    {"X30", [](D& d) { add_constant(d), into_buffer(d, 24, 24); },
     [](D& d) { add_constant(d), d.graph().buffers.push_back(std::make_unique<xnn::BufferT>()); }},
    {"X31", [](D&) {}, [](D& d) { d.tensor(d.x).flags = 3; }},
    {"X31", [](D&) {}, [](D& d) { d.tensor(d.x).flags = 0; }},
    {"X31", [](D& d) { d.inner({1}); },
     [](D& d) {
       const D::Id id = d.inner({1});
       d.tensor(id).flags = 1, d.graph().inputs.push_back(id);
     }},
    {"X31", [](D& d) { d.inner({1}); },
     [](D& d) {
       const D::Id id = d.inner({1});
       d.tensor(id).flags = 3, d.graph().inputs.push_back(id), d.graph().outputs.push_back(id);
     }},
    {"X31", [](D& d) { add_constant(d); }, [](D& d) { add_constant(d), d.tensor(d.x).constant = 1; }},
    {"X32", [](D& d) { shared_scales(d, 10); }, [](D& d) { shared_scales(d, 11); }},
    {"X33", [](D& d) { copy_of_bytes(d, 0.5f); },
     [](D& d) {
       copy_of_bytes(d, 0.5f);
       std::swap(d.graph().nodes[1], d.graph().nodes[2]);
     }},
    {"X33", [](D&) {}, [](D& d) { last_node(d).operation.AsAbs()->input = d.y; }},
    {"X34",
     [](D& d) {
       d.unary(Operation::Abs, d.x, d.inner({2, 3}));
     },
     [](D& d) { d.unary(Operation::Abs, d.x, d.y); }},
    {"X34",
     [](D& d) {
       d.unary(Operation::Abs, d.x, d.inner({2, 3}));
     },
     [](D& d) { d.unary(Operation::Abs, d.x, d.x); }},
    {"X34", [](D&) {},
     [](D& d) {
       d.output({2, 3});
     }},

    {"X35", [](D& d) { d.on<xnn::UnaryT>(Operation::Convert, {2}, {2}); },
     [](D& d) {
       d.on<xnn::UnaryT>(Operation::Abs, {2}, {2});
       d.tensor(d.y).datatype = static_cast<std::int16_t>(Datatype::fp16);
       d.argument(1).scalar_type = static_cast<std::int8_t>(DType::float16);
     }},
    {"X35", [](D& d) { quantized_between(d); },
     [](D& d) { d.tensor(quantized_between(d)).datatype = static_cast<std::int16_t>(Datatype::qint32); }},
    {"X35", [](D& d) { static_linear(d, Datatype::qcint8, Datatype::qcint32); },
     [](D& d) { static_linear(d, Datatype::qcint8, Datatype::qint32); }},
    {"X35", [](D& d) { static_linear(d, Datatype::qint8, Datatype::qint32); },
     [](D& d) { static_linear(d, Datatype::qint8, Datatype::fp32); }},
    {"X35", [](D& d) { grouped(d); }, [](D& d) { d.dynamic_linear(); }},
    {"X35", [](D& d) { quantized_filter(d, 0); },
     [](D& d) {
       d.per_channel(d.convolution().filter, Datatype::qcint4, 0, {1, 1});
     }},
    {"X35", [](D& d) { half_linear(d, Datatype::fp16, DType::float16); },
     [](D& d) { half_linear(d, Datatype::bf16, DType::bfloat16); }},
    {"X35", [](D& d) { arg_max(d, Datatype::int32, DType::int32); },
     [](D& d) { arg_max(d, Datatype::fp16, DType::int32); }},

    {"X36", [](D& d) { d.linear(); },
     [](D& d) {
       dims(d, d.linear().filter, {2, 4, 1});
     }},
    {"X36", [](D& d) { d.linear(); },
     [](D& d) {
       dims(d, d.linear().bias, {2, 1});
     }},
    {"X36", [](D& d) { d.convolution(); },
     [](D& d) {
       dims(d, d.convolution().filter, {2, 9, 2});
     }},
    {"X36", [](D& d) { d.pool(); },
     [](D& d) {
       d.pool();
       dims(d, d.y, {1, 2, 4});
       d.argument(1).sizes = {1, 2, 4}, d.argument(1).dim_order = {0, 1, 2};
     }},
    {"X36",
     [](D& d) {
       d.on_two(Operation::BatchMatrixMultiply, {2, 3}, {3, 4}, {2, 4});
     },
     [](D& d) {
       d.on_two(Operation::BatchMatrixMultiply, {3}, {3, 4}, {1, 4});
     }},
    {"X36",
     [](D& d) {
       d.on_two(Operation::Add, {2, 3}, {3}, {2, 3});
     },
     [](D& d) {
       d.on_two(Operation::Add, {2, 3}, {3}, {1, 2, 3});
     }},
    {"X36", [](D& d) { d.unary(Operation::Softmax, d.zeros({1}), d.inner({1})); },
     [](D& d) { d.unary(Operation::Softmax, d.zeros({}), d.inner({})); }},
    {"X36",
     [](D& d) {
       d.on_two(Operation::BatchMatrixMultiply, {2, 3}, {3, 4}, {2, 4});
     },
     [](D& d) {
       d.on_two(Operation::BatchMatrixMultiply, {2, 3}, {3}, {2, 1});
     }},
    {"X36", [](D& d) { d.on<xnn::UnaryT>(Operation::Softmax, {2}, {2}); },
     [](D& d) {
       d.on<xnn::UnaryT>(Operation::Softmax, {2}, {1, 2});
     }},
    {"X36",
     [](D& d) {
       concatenate(d, {2, 1}, {2, 2}, {2, 3});
     },
     [](D& d) {
       concatenate(d, {2, 1}, {2}, {2, 3});
     }},

    {"X37", [](D& d) { d.pool(); }, [](D& d) { d.pool().kernel_height = 0; }},
    {"X37", [](D& d) { d.pool(); }, [](D& d) { d.pool().stride_width = 0; }},
    {"X37", [](D& d) { d.pool(Operation::AvgPooling2d).dilation_height = 0; },
     [](D& d) { d.pool().dilation_height = 0; }},
    {"X37", [](D& d) { d.convolution(); }, [](D& d) { d.convolution().stride_height = 0; }},
    {"X37", [](D& d) { d.convolution(); }, [](D& d) { d.convolution().dilation_width = 0; }},
    {"X37", [](D& d) { d.convolution(); },
     [](D& d) {
       auto& t = d.convolution();
       t.groups = 0;
       dims(d, d.x, {1, 4, 4, 0}), dims(d, d.y, {1, 2, 2, 0}), dims(d, t.filter, {0, 3, 3, 2}), dims(d, t.bias, {0});
       d.argument(0).sizes = {1, 4, 4, 0}, d.argument(1).sizes = {1, 2, 2, 0};
     }},
    {"X37",
     [](D& d) {
       transpose(d, {1, 0});
     },
     [](D& d) {
       transpose(d, {1, 1});
     }},
    {"X37",
     [](D& d) {
       reshape(d, {3, 0});
     },
     [](D& d) {
       reshape(d, {0, 0});
       dims(d, d.y, {6, 0});
       d.argument(1).sizes = {6, 0};
     }},
    {"X37",
     [](D& d) {
       concatenate(d, {2, 1}, {2, 2}, {2, 3});
     },
     [](D& d) {
       concatenate(d, {2, 2}, {2, 2}, {2, 2}).axis = 2;
     }},
    {"X37",
     [](D& d) {
       slice(d, {0, 1}, {2, 2});
     },
     [](D& d) {
       slice(d, {0, 2}, {2, 2});
     }},
    {"X37",
     [](D& d) {
       resize(d, 1, {1, 1, 1, 2});
     },
     [](D& d) {
       resize(d, 0, {1, 0, 0, 2});
     }},
    {"X37", [](D& d) { arg_max(d, Datatype::int32, DType::int32); },
     [](D& d) { arg_max(d, Datatype::int32, DType::int32).kernel_width = 0; }},

    {"X38", [](D& d) { d.linear(); },
     [](D& d) {
       dims(d, d.linear().filter, {2, 3});
     }},
    {"X38", [](D& d) { d.linear(); }, [](D& d) { dims(d, d.linear().bias, {1}); }},
    {"X38", [](D& d) { d.linear(); },
     [](D& d) {
       dims(d, d.linear().filter, {1, 4});
     }},
    {"X38",
     [](D& d) {
       auto& t = d.linear();
       t.flags = 1;
       dims(d, t.filter, {4, 2});
     },
     [](D& d) { d.linear().flags = 1; }},
    {"X38", [](D& d) { d.convolution(); }, [](D& d) { d.convolution().groups = 2; }},
    {"X38", [](D& d) { d.convolution(); }, [](D& d) { d.convolution().group_outputs = 1; }},
    {"X38", [](D& d) { d.convolution(); },
     [](D& d) {
       dims(d, d.convolution().filter, {2, 3, 1, 2});
     }},
    {"X38", [](D& d) { d.convolution(Operation::DepthwiseConv2d); },
     [](D& d) {
       dims(d, d.convolution(Operation::DepthwiseConv2d).filter, {2, 3, 3, 1});
     }},
    {"X38", [](D& d) { d.convolution(Operation::DepthwiseConv2d); },
     [](D& d) {
       auto& t = d.convolution(Operation::DepthwiseConv2d);
       t.groups = 1, t.group_inputs = t.group_outputs = 2;
     }},
    {"X38", [](D& d) { quantized_filter(d, 0); }, [](D& d) { quantized_filter(d, 3); }},
    {"X38", [](D& d) { quantized_filter(d, 3, Operation::DepthwiseConv2d); },
     [](D& d) { d.per_channel(d.convolution(Operation::DepthwiseConv2d).filter, Datatype::qcint8, 0, {1}); }},
    {"X38", [](D& d) { d.convolution(); },
     [](D& d) {
       auto& t = d.convolution();
       t.filter = d.input({2, 3, 3, 2});
     }},

    {"X39", [](D&) {},
     [](D& d) {
       d.on<xnn::UnaryT>(Operation::Abs, {2, 3}, {2, 4});
     }},
    {"X39",
     [](D& d) {
       d.on_two(Operation::Add, {2, 1}, {3}, {2, 3});
     },
     [](D& d) {
       d.on_two(Operation::Add, {2, 2}, {3}, {2, 3});
     }},
    {"X39",
     [](D& d) {
       d.on_two(Operation::BatchMatrixMultiply, {5, 2, 3}, {1, 3, 4}, {5, 2, 4});
     },
     [](D& d) {
       d.on_two(Operation::BatchMatrixMultiply, {5, 2, 3}, {1, 2, 4}, {5, 2, 4});
     }},
    {"X39", [](D& d) { d.convolution(); },
     [](D& d) {
       d.convolution();
       d.graph().nodes.back()->operation.AsConv2d()->padding_top = 1;
     }},
    {"X39", [](D& d) { d.convolution(Operation::ConvTranspose2d); },
     [](D& d) { d.convolution(Operation::ConvTranspose2d).adjustment_height = 1; }},
    {"X39", [](D& d) { d.pool(); }, [](D& d) { d.pool().kernel_height = 5; }},
    {"X39",
     [](D& d) {
       reshape(d, {3, 2});
     },
     [](D& d) {
       reshape(d, {3, 3});
     }},
    {"X39",
     [](D& d) {
       slice(d, {0, 1}, {2, 0});
     },
     [](D& d) {
       slice(d, {0, 0}, {2, 0});
     }},
    {"X39",
     [](D& d) {
       pad(d, {0, 1}, {0, 1});
     },
     [](D& d) {
       pad(d, {0, 1}, {0, 2});
     }},
    {"X39",
     [](D& d) {
       concatenate(d, {2, 1}, {2, 2}, {2, 3});
     },
     [](D& d) {
       concatenate(d, {2, 1}, {3, 2}, {2, 3});
     }},
    {"X39",
     [](D& d) {
       resize(d, 8, {1, 8, 8, 2});
     },
     [](D& d) {
       resize(d, 8, {1, 8, 9, 2});
     }},
    {"X39",
     [](D& d) {
       d.on<xnn::UnaryT>(Operation::GlobalAvgPooling2d, {1, 4, 4, 2}, {1, 1, 1, 2}).flags = 64;
     },
     [](D& d) {
       d.on<xnn::UnaryT>(Operation::GlobalAvgPooling2d, {1, 4, 4, 2}, {1, 1, 2, 2}).flags = 64;
     }},
    {"X39",
     [](D& d) {
       d.on<xnn::UnaryT>(Operation::Abs, {2, 3}, {2, 4});
       d.argument(0).shape_dynamism = pte::TensorShapeDynamism::DYNAMIC_BOUND;
     },
     [](D& d) {
       transpose(d, {0, 1});
     }},

    {"X40", [](D& d) { d.pool().flags = 64; }, [](D& d) { last_node(d).operation.AsAbs()->flags = 64; }},
    {"X40",
     [](D& d) {
       resize(d, 4, {1, 4, 4, 2}).flags = 8;
     },
     [](D& d) {
       resize(d, 4, {1, 4, 4, 2}).flags = 1;
     }},
    {"X40",
     [](D& d) {
       d.on_two(Operation::BatchMatrixMultiply, {3, 2}, {4, 3}, {2, 4}).flags = 3;
     },
     [](D& d) {
       d.on_two(Operation::Add, {3, 2}, {3, 2}, {3, 2}).flags = 3;
     }},
    {"X41", [](D& d) { bounds(d, -infinite, infinite); },
     [](D& d) { bounds(d, std::numeric_limits<float>::quiet_NaN(), infinite); }},
    {"X41", [](D& d) { bounds(d, 0, tiny); }, [](D& d) { bounds(d, 0, 0); }},
    {"X41", [](D& d) { d.on<xnn::LeakyReLUT>(Operation::LeakyReLU, {2}, {2}).slope = 0.1f; },
     [](D& d) { d.on<xnn::LeakyReLUT>(Operation::LeakyReLU, {2}, {2}).slope = infinite; }},
    {"X41", [](D& d) { d.on<xnn::ELUT>(Operation::ELU, {2}, {2}).alpha = 1; },
     [](D& d) { d.on<xnn::ELUT>(Operation::ELU, {2}, {2}).alpha = -1; }},
    {"X42",
     [](D& d) {
       d.per_channel(d.inner({2}), Datatype::qcint8, 0, {1, std::numeric_limits<float>::min()});
     },
     [](D& d) {
       d.per_channel(d.inner({2}), Datatype::qcint8, 0, {1, 0});
     }},
    {"X42", [](D& d) { d.per_channel(d.inner({1}), Datatype::qcint8, 0, {1}).scale = {1}; },
     [](D& d) { d.per_channel(d.inner({1}), Datatype::qcint8, 0, {1}).scale = {infinite}; }},
    {"X42", [](D& d) { grouped(d); },
     [](D& d) {
       grouped(d);
       std::ranges::fill(std::span(d.payload.constants).last(2), std::byte{0});
     }},

    {"X43", [](D& d) { linear_with_filter(d, 8, 8, 0.5f); }, [](D& d) { linear_with_filter(d, 8, 8, 1); }},
    {"X43", [](D& d) { linear_with_filter(d, 7, 8, 1); }, [](D& d) { linear_with_filter(d, 8, 9, 1); }},
    {"X43", [](D& d) { linear_with_filter(d, 8, 7, 1); }, [](D& d) { linear_with_filter(d, 9, 8, 1); }},
    {"X44", [](D& d) { copy_of_bytes(d, 0.5f); }, [](D& d) { copy_of_bytes(d, 0.25f); }},
    {"X45", [](D& d) { bytes_throughout(d, DType::int8); }, [](D& d) { bytes_throughout(d, DType::uint8); }},
};

}  // namespace

std::span<const PayloadCase> payload_cases() { return every_payload_case; }

}  // namespace assay::corrupt
