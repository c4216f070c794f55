#include "format/header.h"
#include "reference/xnnpack/body.h"
#include "reference/xnnpack/quantized.h"

// Nodes that move elements.
namespace assay::xnnpack {
namespace {

using format::items;

// The permutation between the two orders of an image needs no call: a tensor of the one value is a tensor of the other.
void add_move(Body& body, const xnn::Transpose& table) {
  const std::vector<std::size_t> perm(items(table.perm()).begin(), items(table.perm()).end());
  const Id from = table.input(), to = table.output();
  const Order order = body.order_of({&from, 1});
  if (perm == std::vector<std::size_t>{0, 2, 3, 1} && order == Order::listed)
    return body.define(to, body.read(from), Order::channels_first);
  if (perm == std::vector<std::size_t>{0, 3, 1, 2})
    return body.define(to, body.read(from, Order::channels_first), Order::listed);
  body.define(to, body.permute(body.read(from), perm));
}

void add_move(Body& body, const xnn::Reshape& table) {
  std::vector<Index> list;
  for (const std::uint32_t n : items(table.shape())) list.push_back(body.number(n == 0 ? -1 : Int{n}));
  body.define(table.output(), body.view(body.read(table.input()), body.sizes(table.output()), list));
}

void add_move(Body& body, const xnn::Slice& table) {
  const Id from = table.input();
  const Order order = body.order_of({&from, 1});
  Index x = body.read(from, order);
  for (std::size_t d = 0; d < body.rank(from); ++d) {
    const std::uint32_t offset = items(table.offsets())[d], size = items(table.sizes())[d];
    const std::size_t dim = dim_in(order, d);
    Sizes sizes = body.sizes_of(x);
    const bool whole = size == 0 || (!body.is_dynamic() && size == static_cast<std::uint32_t>(sizes[dim]));
    if (offset == 0 && whole) continue;
    sizes[dim] = static_cast<std::int32_t>(size == 0 ? static_cast<std::uint32_t>(sizes[dim]) - offset : size);
    x = body.call("aten::slice_copy.Tensor_out",
                  {{"self", x},
                   {"dim", body.number(static_cast<Int>(dim))},
                   {"start", body.number(offset)},
                   {"end", size == 0 ? body.plan().none() : body.number(Int{offset} + size)}},
                  body.dtype_of(x), sizes);
  }
  body.define(table.output(), x, order);
}

void add_move(Body& body, const xnn::Pad& table) {
  const Id from = table.input();
  const Order order = body.order_of({&from, 1});
  std::vector<Int> amounts(2 * body.rank(from));  // of the last dim first
  for (std::size_t d = 0; d < body.rank(from); ++d) {
    const std::size_t at = 2 * (body.rank(from) - 1 - dim_in(order, d));
    amounts[at] = items(table.before())[d], amounts[at + 1] = items(table.after())[d];
  }
  Index value = body.plan().real(table.value());
  if (is_quantized(body, table.output())) {
    const Codes code = within(codes_of(body, table.output()), {table.value(), table.value()});
    value = body.number(code.least);
  }
  body.define(table.output(),
              body.call("aten::constant_pad_nd.out",
                        {{"self", body.read(from, order)}, {"pad", body.plan().integers(amounts)}, {"value", value}},
                        body.dtype(table.output()), body.sizes(table.output(), order)),
              order);
}

void add_move(Body& body, const xnn::Concatenation& table, const xnn::Node& node) {
  std::vector<Id> ids;
  for (const auto& operand : format::xnnpack::operands_of(node).inputs) ids.push_back(operand.id);
  const Order order = body.order_of(ids);
  std::vector<Index> tensors;
  for (const Id id : ids) tensors.push_back(body.read(id, order));
  body.define(table.output(),
              body.call("aten::cat.out",
                        {{"tensors", body.plan().list<pte::TensorListT>(std::move(tensors))},
                         {"dim", body.number(static_cast<Int>(dim_in(order, table.axis())))}},
                        body.dtype(table.output()), body.sizes(table.output(), order)),
              order);
}

void add_move(Body& body, const xnn::Unary& table) { body.alias(table.input(), table.output()); }  // Copy

}  // namespace

void move(Body& body, const xnn::Node& node) {
  format::xnnpack::visit(node, [&](const auto& table) {
    if constexpr (requires { add_move(body, table, node); })
      add_move(body, table, node);
    else if constexpr (requires { add_move(body, table); })
      add_move(body, table);
  });
}

}  // namespace assay::xnnpack
