#pragma once

#include <array>
#include <tuple>

#include "format/xnnpack/payload.h"

// The nodes of a payload: their kinds, operands and flags.
namespace assay::format::xnnpack {

// Calls f(table) with the table of the node's kind, such as a `const xnn::Binary&`.
template <class F>
void visit(const xnn::Node& node, F f) {
  using xnn::Node;
  constexpr std::tuple accessors{&Node::operation_as_Add,
                                 &Node::operation_as_FullyConnected,
                                 &Node::operation_as_Softmax,
                                 &Node::operation_as_Sigmoid,
                                 &Node::operation_as_StaticTranspose,
                                 &Node::operation_as_Clamp,
                                 &Node::operation_as_Conv2d,
                                 &Node::operation_as_Div,
                                 &Node::operation_as_StaticResizeBilinear2D,
                                 &Node::operation_as_StaticConstantPad,
                                 &Node::operation_as_AvgPooling2d,
                                 &Node::operation_as_Minimum,
                                 &Node::operation_as_DepthwiseConv2d,
                                 &Node::operation_as_MaxPooling2d,
                                 &Node::operation_as_Multiply,
                                 &Node::operation_as_Subtract,
                                 &Node::operation_as_Floor,
                                 &Node::operation_as_Convert,
                                 &Node::operation_as_GlobalAvgPooling2d,
                                 &Node::operation_as_StaticReshape,
                                 &Node::operation_as_ArgMaxPooling2d,
                                 &Node::operation_as_SquareRoot,
                                 &Node::operation_as_Ceiling,
                                 &Node::operation_as_Hardswish,
                                 &Node::operation_as_LeakyReLU,
                                 &Node::operation_as_Maximum,
                                 &Node::operation_as_Negate,
                                 &Node::operation_as_Square,
                                 &Node::operation_as_ELU,
                                 &Node::operation_as_Abs,
                                 &Node::operation_as_PReLU,
                                 &Node::operation_as_Concatenate2,
                                 &Node::operation_as_Concatenate3,
                                 &Node::operation_as_Concatenate4,
                                 &Node::operation_as_StaticSlice,
                                 &Node::operation_as_ScaledDotProductAttention,
                                 &Node::operation_as_BatchMatrixMultiply,
                                 &Node::operation_as_Concatenate5,
                                 &Node::operation_as_ConvTranspose2d,
                                 &Node::operation_as_ReciprocalSquareRoot,
                                 &Node::operation_as_Log,
                                 &Node::operation_as_Gelu,
                                 &Node::operation_as_Tanh,
                                 &Node::operation_as_Exp,
                                 &Node::operation_as_Sin,
                                 &Node::operation_as_Copy,
                                 &Node::operation_as_Cos,
                                 &Node::operation_as_ApproxGelu};
  std::apply(
      [&](auto... accessor) {
        const auto call = [&](const auto* table) {
          if (table) f(*table);
        };
        (call((node.*accessor)()), ...);
      },
      accessors);
}

// The name of the node's kind, such as "Conv2d".
inline std::string_view kind_name(const xnn::Node& node) { return EnumNameOperation(node.operation_type()); }

struct Operand {
  std::string_view name;  // "input", "filter"
  std::uint32_t id;       // the id of a value
};

// A list of operands in the order of the kind's table, without operands that are left out.
class Operands {
 public:
  void add(std::string_view name, std::uint32_t id) { operands_[size_++] = {name, id}; }
  const Operand* begin() const { return operands_.data(); }
  const Operand* end() const { return operands_.data() + size_; }
  std::size_t size() const { return size_; }
  const Operand& operator[](std::size_t i) const { return operands_[i]; }

 private:
  std::array<Operand, 5> operands_;
  std::size_t size_ = 0;
};

struct NodeOperands {
  Operands inputs, outputs;
};
NodeOperands operands_of(const xnn::Node& node);

std::uint32_t flags_of(const xnn::Node& node);
// Flags of nodes. Every other flag is unknown.
inline constexpr std::uint32_t transposed_filter = 1,  // FullyConnected: the filter is [in, out]
    transposed_b = 1, transposed_a = 2,                // BatchMatrixMultiply
    legacy_coordinates = 4, aligned_corners = 8,       // StaticResizeBilinear2D
    kept_dims = 64;                                    // reductions and pools

// The bounds to which the node clamps its output; infinite bounds if it states none.
struct OutputBounds {
  float least = -std::numeric_limits<float>::infinity(), most = std::numeric_limits<float>::infinity();
};
OutputBounds bounds_of(const xnn::Node& node);

}  // namespace assay::format::xnnpack
