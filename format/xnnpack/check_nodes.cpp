#include <algorithm>
#include <cmath>

#include "format/header.h"
#include "format/xnnpack/check.h"

// Nodes: their parameters, and the datatypes, ranks and dims of their operands.
namespace assay::format::xnnpack {
namespace {

using xnn::Operation;

// -- datatypes --------------------------------------------------------------------------------------------------------

bool is_any(Datatype type, std::initializer_list<Datatype> types) {
  return std::ranges::find(types, type) != types.end();
}
bool is_float(Datatype type) { return is_any(type, {Datatype::fp32, Datatype::fp16, Datatype::bf16}); }
bool is_byte(Datatype type) { return is_any(type, {Datatype::qint8, Datatype::quint8}); }
bool is_four_bits(Datatype type) { return is_any(type, {Datatype::qcint4, Datatype::qbint4}); }

bool is_product(Operation kind) {
  return kind == Operation::FullyConnected || kind == Operation::Conv2d || kind == Operation::DepthwiseConv2d ||
         kind == Operation::ConvTranspose2d;
}
bool moves(Operation kind) {
  return kind == Operation::StaticTranspose || kind == Operation::StaticReshape || kind == Operation::StaticSlice ||
         kind == Operation::StaticConstantPad || kind == Operation::Copy ||
         (kind >= Operation::Concatenate2 && kind <= Operation::Concatenate4) || kind == Operation::Concatenate5;
}

// The datatypes of a product. `bias` is invalid if the node has no bias.
struct ProductTypes {
  Datatype input, filter, bias, output;

  bool bias_is(std::initializer_list<Datatype> types) const { return bias == Datatype::invalid || is_any(bias, types); }
  bool fit() const {
    using enum Datatype;
    switch (input) {
      case fp32:
      case fp16:
        return (filter == input || is_any(filter, {fp32, qcint8, qcint4})) && bias_is({input, fp32}) && output == input;
      case bf16:
        return filter == bf16 && bias_is({fp32}) && is_any(output, {bf16, fp32});
      case qdint8:
        return is_any(filter, {qcint8, qcint4, qbint4}) && bias_is({fp32}) && is_any(output, {fp32, fp16});
      case qint8:
        return is_any(filter, {qint8, qcint8, qcint4}) && bias_is({filter == qint8 ? qint32 : qcint32}) &&
               output == qint8;
      case quint8:
        return filter == quint8 && bias_is({qint32}) && output == quint8;
      default:
        return false;
    }
  }
};

class NodeCheck {
 public:
  NodeCheck(const xnn::Node& node, const Values& values, bool fixed, const Place& place, Findings& findings)
      : node_(node),
        kind_(node.operation_type()),
        operands_(operands_of(node)),
        values_(values),
        fixed_(fixed),
        place_(place),
        f_(findings) {}

  void run() {
    datatypes();
    flags();
    numbers();
    const std::uint64_t before = f_.count();
    ranks();
    if (f_.count() > before) return;  // what follows indexes dims
    visit(node_, [this](const auto& table) { parameters(table); });
    if (f_.count() == before && fixed_ && !is_row_image(input(0)) && !is_row_image(output())) dims();
  }

 private:
  const xnn::Tensor& tensor(const Operand& o) const { return values_.tensor(values_.find(o.id)); }
  const xnn::Tensor& input(std::size_t i) const { return tensor(operands_.inputs[i]); }
  const xnn::Tensor& output() const { return tensor(operands_.outputs[0]); }
  static std::uint32_t dim(const xnn::Tensor& t, std::size_t i) { return t.dims()->Get(static_cast<std::uint32_t>(i)); }
  static std::size_t rank(const xnn::Tensor& t) { return size_of(t.dims()); }
  // Exporters list the dims of an image that is quantized row by row as [batch, channels, height, width].
  static bool is_row_image(const xnn::Tensor& t) { return datatype_of(t) == Datatype::qdint8 && rank(t) == 4; }

  // -- datatypes ------------------------------------------------------------------------------------------------------

  void datatypes() {
    if (f_.check(types_fit(), "X35", place_, "cannot compute ", name(output()), " from ", name(input(0)),
                 operands_.inputs.size() > 1 ? " and " : "",
                 operands_.inputs.size() > 1 ? name(input(1)) : std::string_view(),
                 operands_.inputs.size() > 2 ? " and " : "",
                 operands_.inputs.size() > 2 ? name(input(2)) : std::string_view()))
      return;
  }
  static std::string_view name(const xnn::Tensor& t) { return find_datatype(t.datatype())->name; }

  bool types_fit() const {
    const Datatype in = datatype_of(input(0)), out = datatype_of(output());
    if (kind_ == Operation::Convert)
      return (is_float(in) || is_byte(in)) &&
             (is_float(out) || is_byte(out) || (is_float(in) && out == Datatype::qdint8));
    if (is_product(kind_)) {
      const bool bias = operands_.inputs.size() > 2;
      const ProductTypes types{in, datatype_of(input(1)), bias ? datatype_of(input(2)) : Datatype::invalid, out};
      const bool only_linear = in == Datatype::bf16 || is_four_bits(types.filter);
      return types.fit() && (kind_ == Operation::FullyConnected || !only_linear);
    }
    if (kind_ == Operation::BatchMatrixMultiply && in == Datatype::qdint8)
      return datatype_of(input(1)) == Datatype::qcint8 && out == Datatype::fp32;
    if (kind_ == Operation::ArgMaxPooling2d) {
      // Exporters declare the positions, which are 32-bit integers, as fp32.
      const Datatype index = datatype_of(tensor(operands_.outputs[1]));
      return is_float(in) && out == in && is_any(index, {Datatype::fp32, Datatype::int32});
    }
    const auto same = [&](const Operand& o) { return datatype_of(tensor(o)) == in; };
    return (is_float(in) || is_byte(in) || (moves(kind_) && in == Datatype::int32)) &&
           std::ranges::all_of(operands_.inputs, same) && out == in;
  }

  // -- flags and numbers ----------------------------------------------------------------------------------------------

  static std::uint32_t known_flags(Operation kind) {
    switch (kind) {
      case Operation::FullyConnected:
        return transposed_filter;
      case Operation::BatchMatrixMultiply:
        return transposed_a | transposed_b;
      case Operation::StaticResizeBilinear2D:
        return legacy_coordinates | aligned_corners;
      case Operation::AvgPooling2d:
      case Operation::MaxPooling2d:
      case Operation::GlobalAvgPooling2d:
        return kept_dims;
      default:
        return 0;
    }
  }

  void flags() {
    f_.check((flags_of(node_) & ~known_flags(kind_)) == 0, "X40", place_, "has flags ", flags_of(node_),
             ", but this kind of node has only ", known_flags(kind_));
  }

  void numbers() {
    const auto [least, most] = bounds_of(node_);
    f_.check(least < most, "X41", place_, "its lower bound is not below its upper bound");
    if (const auto* leaky = node_.operation_as_LeakyReLU())
      f_.check(std::isfinite(leaky->slope()), "X41", place_, "its slope is not finite");
    if (const auto* elu = node_.operation_as_ELU())
      f_.check(is_scale(elu->alpha()), "X41", place_, "its alpha is not a number above 0");
  }

  // -- ranks ----------------------------------------------------------------------------------------------------------

  bool works_on_images() const {
    return (is_product(kind_) && kind_ != Operation::FullyConnected) || kind_ == Operation::AvgPooling2d ||
           kind_ == Operation::MaxPooling2d || kind_ == Operation::ArgMaxPooling2d ||
           kind_ == Operation::GlobalAvgPooling2d || kind_ == Operation::StaticResizeBilinear2D ||
           kind_ == Operation::ScaledDotProductAttention;
  }

  void ranks() {
    if (works_on_images()) {
      constexpr std::size_t image = 4;
      check_rank("input", input(0), image);
      for (const Operand& o : operands_.outputs) check_rank(o.name, tensor(o), image);
      if (is_product(kind_)) check_rank("filter", input(1), image);
      if (kind_ == Operation::ScaledDotProductAttention)
        for (const std::size_t i : {1u, 2u}) check_rank(operands_.inputs[i].name, input(i), image);
    } else if (kind_ == Operation::FullyConnected) {
      constexpr std::size_t matrix = 2;
      check_rank("filter", input(1), matrix);
      check_rank("output", output(), std::max<std::size_t>(rank(input(0)), 1));
    } else if (kind_ == Operation::BatchMatrixMultiply) {
      f_.check(rank(input(0)) >= 2 && rank(input(1)) >= 2, "X36", place_, "its inputs have ", rank(input(0)), " and ",
               rank(input(1)), " dims, but must have at least 2");
      check_rank("output", output(), std::max(rank(input(0)), rank(input(1))));
    } else {
      visit(node_, [this](const auto& table) { list_ranks(table); });
    }
    if (is_product(kind_) && operands_.inputs.size() > 2) check_rank("bias", input(2), 1);
    const bool works_on_rows = kind_ == Operation::FullyConnected || kind_ == Operation::Softmax;
    f_.check(!works_on_rows || rank(input(0)) > 0, "X36", place_, "its input has no dims");
  }

  void check_rank(std::string_view operand, const xnn::Tensor& t, std::size_t wanted) {
    f_.check(rank(t) == wanted, "X36", place_, "its ", operand, " has ", rank(t), " dims, but must have ", wanted);
  }

  template <class Table>
  void list_ranks(const Table&) {
    check_rank("output", output(), rank(input(0)));
  }
  void list_ranks(const xnn::Binary&) { check_rank("output", output(), std::max(rank(input(0)), rank(input(1)))); }
  void list_ranks(const xnn::Concatenation&) {
    for (const Operand& o : operands_.inputs) check_rank(o.name, tensor(o), rank(output()));
  }
  void list_ranks(const xnn::Transpose& t) {
    check_list("perm", t.perm(), t.rank(), input(0));
    check_rank("output", output(), rank(input(0)));
  }
  void list_ranks(const xnn::Reshape& t) { check_list("shape", t.shape(), t.rank(), output()); }
  void list_ranks(const xnn::Slice& t) {
    check_list("offsets", t.offsets(), t.rank(), input(0));
    check_list("sizes", t.sizes(), t.rank(), input(0));
    check_rank("output", output(), rank(input(0)));
  }
  void list_ranks(const xnn::Pad& t) {
    check_list("before", t.before(), size_of(t.before()), input(0));
    check_list("after", t.after(), size_of(t.after()), input(0));
    check_rank("output", output(), rank(input(0)));
  }
  void check_list(std::string_view name, const flatbuffers::Vector<std::uint32_t>* list, std::uint32_t stated,
                  const xnn::Tensor& t) {
    f_.check(size_of(list) == rank(t) && stated == size_of(list), "X24", place_, "its list ", name, " has ",
             size_of(list), " elements, and its rank is ", stated, ", but the tensor has ", rank(t), " dims");
  }

  // -- parameters -----------------------------------------------------------------------------------------------------

  template <class Table>
  void parameters(const Table&) {}

  void at_least_one(std::string_view name, std::uint32_t height, std::uint32_t width) {
    f_.check(height > 0 && width > 0, "X37", place_, "its ", name, " is ", height, " by ", width,
             ", but must be at least 1 by 1");
  }
  void parameters(const xnn::Pooling& t) {
    at_least_one("kernel", t.kernel_height(), t.kernel_width());
    at_least_one("stride", t.stride_height(), t.stride_width());
    if (kind_ == Operation::MaxPooling2d) at_least_one("dilation", t.dilation_height(), t.dilation_width());
  }
  void parameters(const xnn::ArgMaxPooling& t) { at_least_one("kernel", t.kernel_height(), t.kernel_width()); }
  void parameters(const xnn::Resize& t) { at_least_one("size", t.height(), t.width()); }

  void parameters(const xnn::Transpose& t) {
    std::uint32_t seen = 0;
    for (const std::uint32_t d : items(t.perm()))
      if (d < rank(input(0))) seen |= 1u << d;
    f_.check(seen == (1u << rank(input(0))) - 1, "X37", place_, "its perm does not name each dim once");
  }
  void parameters(const xnn::Reshape& t) {
    f_.check(std::ranges::count(items(t.shape()), 0u) <= 1, "X37", place_, "its shape has more than one 0");
  }
  void parameters(const xnn::Concatenation& t) {
    f_.check(t.axis() < rank(output()), "X37", place_, "its axis is ", t.axis(), ", but there are ", rank(output()),
             " dims");
  }
  void parameters(const xnn::Slice& t) {
    for (std::size_t i = 0; i < rank(input(0)); ++i) {
      const std::uint32_t offset = items(t.offsets())[i], size = items(t.sizes())[i];
      f_.check(within(offset, std::max<std::uint32_t>(size, 1), dim(input(0), i)), "X37", place_, "takes ", size,
               " elements from index ", offset, " on, but dim ", i, " has ", dim(input(0), i));
    }
  }

  // -- products -------------------------------------------------------------------------------------------------------

  void parameters(const xnn::FullyConnected& t) {
    const std::size_t out = t.flags() & transposed_filter ? 1 : 0;
    agrees("filter", input(1), 1 - out, dim(input(0), rank(input(0)) - 1));
    agrees("output", output(), rank(output()) - 1, dim(input(1), out));
    channels(out, dim(input(1), out));
  }

  void parameters(const xnn::Convolution& t) {
    at_least_one("kernel", t.kernel_height(), t.kernel_width());
    at_least_one("stride", t.stride_height(), t.stride_width());
    at_least_one("dilation", t.dilation_height(), t.dilation_width());
    const bool depthwise = kind_ == Operation::DepthwiseConv2d;
    f_.check(!depthwise || t.group_inputs() > 0, "X23", place_, "its groups have no input channels");
    const bool some = t.groups() > 0 && t.group_outputs() > 0 && (depthwise || t.group_inputs() > 0);
    f_.check(some, "X37", place_, "has ", t.groups(), " groups with ", t.group_inputs(), " input and ",
             t.group_outputs(), " output channels");
    f_.check(!depthwise || t.group_inputs() <= 1, "X38", place_, "is depthwise, but its groups have ", t.group_inputs(),
             " input channels");
    const std::uint64_t inputs = std::uint64_t{t.groups()} * t.group_inputs(),
                        outputs = std::uint64_t{t.groups()} * t.group_outputs();
    if (!is_row_image(input(0))) agrees("input", input(0), 3, inputs);
    agrees("output", output(), 3, outputs);
    agrees("filter", input(1), 0, depthwise ? 1 : outputs);
    agrees("filter", input(1), 1, t.kernel_height());
    agrees("filter", input(1), 2, t.kernel_width());
    agrees("filter", input(1), 3, depthwise ? outputs : t.group_inputs());
    f_.check(input(1).constant() > 0, "X38", place_, "its filter is not a constant");
    channels(depthwise ? 3 : 0, outputs);
  }

  void agrees(std::string_view operand, const xnn::Tensor& t, std::size_t d, std::uint64_t wanted) {
    f_.check(dim(t, d) == wanted, "X38", place_, "dim ", d, " of its ", operand, " is ", dim(t, d), ", but must be ",
             wanted);
  }

  // The filter has its channels along dim `out`, and the bias has an element for each of them.
  void channels(std::size_t out, std::uint64_t outputs) {
    const auto scales = scales_of(values_.value(values_.find(operands_.inputs[1].id)));
    f_.check(!scales || static_cast<std::size_t>(scales->channel_dim) == out, "X38", place_,
             "its filter has its scales along dim ", scales ? scales->channel_dim : 0,
             ", but must have them along dim ", out);
    if (operands_.inputs.size() > 2) agrees("bias", input(2), 0, outputs);
  }

  // -- dims -----------------------------------------------------------------------------------------------------------

  void dims() {
    const auto wanted = output_shape(node_, values_);
    if (!f_.check(wanted.has_value(), "X39", place_, "the dims of its inputs do not fit each other and its parameters"))
      return;
    for (const Operand& o : operands_.outputs) {
      const Shape found = shape_of(tensor(o));
      std::size_t d = 0;
      while (d + 1 < found.rank && found.dims[d] == wanted->dims[d]) ++d;
      f_.check(equal(found, *wanted), "X39", place_, "dim ", d, " of its ", o.name, " is ", found.dims[d],
               ", but it computes ", wanted->dims[d]);
    }
  }

  const xnn::Node& node_;
  Operation kind_;
  NodeOperands operands_;
  const Values& values_;
  bool fixed_;
  const Place& place_;
  Findings& f_;
};

}  // namespace

bool is_known_kind(Operation kind) { return kind != Operation::ApproxGelu; }

void check_node(const xnn::Node& node, const Values& values, bool fixed, const Place& place, Findings& findings) {
  NodeCheck(node, values, fixed, place, findings).run();
}

}  // namespace assay::format::xnnpack
