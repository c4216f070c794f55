#pragma once

#include <functional>
#include <map>

#include "reference/program/build.h"
#include "reference/xnnpack/constant.h"
#include "reference/xnnpack/graph.h"

namespace assay::xnnpack {

using Index = PlanBuilder::Index;  // of a value of a method
using Sizes = PlanBuilder::Sizes;
using Operands = std::vector<PlanBuilder::Operand>;

// Throws the fault X46: nothing in assay computes the node.
template <class... Parts>
[[noreturn]] void refuse(const Parts&... sentence) {
  throw broken("X46", {}, sentence...);
}

// The order of the dims of a tensor that has a value of a graph: as the payload lists them, or [batch, channels,
// height, width] for an image that the payload lists as [batch, height, width, channels].
enum class Order { listed, channels_first };
// The dim of an image in this order, from its dim as the payload lists it.
std::size_t dim_in(Order order, std::size_t listed);
std::int32_t size_of_dim(std::uint64_t n);  // refuses what does not fit 32 bits
std::vector<Int> image_dims(Order order);   // the dims of height and width

// A value that is quantized row by row. An element is steps * inverse of its row's scale.
struct Rows {
  Index steps;    // codes less the zero point of their row, as float32
  Index inverse;  // float32; its size is 1 in each dim of a row
};

// A part of a method: the calls that compute a graph. Values of the graph become tensors of the method. Each tensor
// that the body adds has memory in one planned memory, in which tensors share bytes if their lifetimes do not overlap.
class Body {
 public:
  // Adds a constant to the program and returns its index. The graph has the stored bytes.
  using AddConstant = std::function<std::uint32_t(const Constant& constant)>;

  // `is_dynamic` states whether the dims of the graph's values are upper bounds. If it is false, they are sizes.
  Body(const Graph& graph, PlanBuilder plan, bool is_dynamic, AddConstant add_constant)
      : graph_(graph), plan_(plan), is_dynamic_(is_dynamic), add_constant_(std::move(add_constant)) {}

  const Graph& graph() const { return graph_; }
  PlanBuilder& plan() { return plan_; }

  // -- values of the graph --------------------------------------------------------------------------------------------

  DType dtype(Id id) const;  // of the tensors that have the value
  Sizes sizes(Id id, Order order = Order::listed) const;
  std::size_t rank(Id id) const { return graph_.tensor(id).dims()->size(); }
  bool is_image(Id id) const { return rank(id) == 4; }

  // The value as a tensor. Permutes another tensor of the value if that is the only one.
  Index read(Id id, Order order = Order::listed);
  // Requires that `tensor` has the sizes and the dtype of the value.
  void define(Id id, Index tensor, Order order = Order::listed) { tensors_[id][slot(order)] = tensor; }
  // The value `to` is the value `from`.
  void alias(Id from, Id to);
  // channels_first if that needs no permutation of these values, else listed. Constants are permuted ahead.
  Order order_of(std::span<const Id> ids) const;

  // A node will read rows of the value in this order.
  void want_rows(Id id, Order order) { rows_[id].is_wanted[slot(order_in(id, order))] = true; }
  // The value is the value `from`, quantized row by row. Makes the rows that are wanted.
  void define_rows(Id id, Id from);
  const Rows& rows(Id id, Order order) const;

  // -- constants ------------------------------------------------------------------------------------------------------

  // A constant of the graph whose elements are regarded as a tensor of sizes `dims`, permuted, and then regarded as a
  // tensor of sizes `sizes`. 4-bit elements become int8.
  Index constant(Id id, const Sizes& dims, const std::vector<std::size_t>& perm, const Sizes& sizes);
  Index floats(const std::vector<float>& elements, const Sizes& sizes);

  // -- calls ----------------------------------------------------------------------------------------------------------

  // Adds a tensor with memory.
  Index tensor(DType dtype, const Sizes& sizes);
  // Adds a call, and returns its result: a tensor that is added.
  Index call(std::string_view op, Operands operands, DType dtype, const Sizes& sizes);
  // Adds a call of an operator with these outs.
  void call(std::string_view op, const Operands& operands);
  Index cast(Index from, DType dtype);  // the tensor itself if it has the dtype
  Index permute(Index from, const std::vector<std::size_t>& perm);
  // Regards the elements as a tensor of other sizes. An element of `list` is the index of a number, see number() and
  // size().
  Index view(Index from, const Sizes& sizes, const std::vector<Index>& list);
  Index view(Index from, const Sizes& sizes);     // Requires a body that is not dynamic, or sizes that are fixed.
  Index numbers(const std::vector<Index>& list);  // a list of numbers
  Index number(Int n) { return plan_.integer(n); }
  Index size(Index tensor, std::size_t dim);  // the tensor's size at run time
  // The dtype and the sizes with which a tensor was added.
  DType dtype_of(Index tensor) { return static_cast<DType>(plan_.at(tensor).scalar_type); }
  Sizes sizes_of(Index tensor) { return plan_.at(tensor).sizes; }
  bool is_dynamic() const { return is_dynamic_; }

  // -- the end --------------------------------------------------------------------------------------------------------

  // Makes the body write an output of the graph to the tensor `to` of the method, which has the sizes and the dtype of
  // the value. If `copies` is false, the call that computes the output may write it there. Requires then that the
  // memory of `to` is not that of another argument.
  void write_output(Id id, Index to, bool copies);
  // Ends the body: gives memory to the tensors that the body added.
  void finish(std::uint32_t memory);
  std::uint32_t calls() const { return calls_; }

 private:
  struct Lifetime {
    std::uint32_t first, last;
  };
  static std::size_t slot(Order order) { return static_cast<std::size_t>(order); }
  // Only images have two orders.
  Order order_in(Id id, Order order) const { return is_image(id) ? order : Order::listed; }
  void use(Index value);
  void rename(std::vector<Index>& values) const;

  const Graph& graph_;
  PlanBuilder plan_;
  bool is_dynamic_;
  AddConstant add_constant_;
  std::map<Id, std::array<std::optional<Index>, 2>> tensors_;
  struct RowsOfValue {
    std::array<bool, 2> is_wanted = {};
    std::array<std::optional<Rows>, 2> in_order = {};
  };
  std::map<Id, RowsOfValue> rows_;
  std::map<std::pair<Id, std::vector<std::size_t>>, Index> constants_;
  std::map<Index, Lifetime> lifetimes_;  // of the tensors that need memory, in calls
  std::map<Index, Index> outputs_;       // by tensor, the output in whose place the body added it
  double planned_ = 0;                   // the bytes of all tensors that the body added
  std::uint32_t calls_ = 0;
};

using format::xnnpack::OutputBounds;

// The elements of x between these bounds; x itself if the bounds are infinite.
Index clamp(Body& body, Index x, const OutputBounds& bounds);
// The result of a node of the table Unary, LeakyReLU or ELU for floats x.
Index unary(Body& body, Index x, const xnn::Node& node);
// Refuses a node of 8-bit codes whose meaning is not defined.
void require_floats(const Body& body, Id id);

// Quantizes the value `from` into rows: slices over its last `row_dims` dims as the payload lists them.
Rows quantize_rows(Body& body, Id from, std::size_t row_dims, Order order);  // quantized.cpp

inline std::vector<Int> pair(std::uint32_t height, std::uint32_t width) { return {Int{height}, Int{width}}; }

// Rows and columns around images, in elements.
struct Padding {
  std::uint32_t top, right, bottom, left;
  bool is_even() const { return top == bottom && left == right; }
  Sizes around(Sizes sizes) const;  // sizes in the order channels_first
};
Padding padding_of(const auto& table) {
  return {table.padding_top(), table.padding_right(), table.padding_bottom(), table.padding_left()};
}
// The images x, whose order is channels_first, with elements of this value around them.
Index pad(Body& body, Index x, const Padding& padding, Index value);

// The functions that add the calls of a node. Each file has the nodes of one family.
void elementwise(Body& body, const xnn::Node& node);                       // elementwise.cpp
void softmax(Body& body, const xnn::Unary& table);                         // elementwise.cpp
void convert(Body& body, const xnn::Unary& table);                         // quantized.cpp
void product(Body& body, const xnn::Node& node);                           // products.cpp
void multiply_matrices(Body& body, const xnn::Binary& table);              // products.cpp
void pool(Body& body, const xnn::Pooling& table, const xnn::Node& node);   // windows.cpp
void arg_max_pool(Body& body, const xnn::ArgMaxPooling& table);            // windows.cpp
void average(Body& body, const xnn::Unary& table, const xnn::Node& node);  // windows.cpp
void resize(Body& body, const xnn::Resize& table);                         // windows.cpp
void move(Body& body, const xnn::Node& node);                              // moves.cpp

}  // namespace assay::xnnpack
