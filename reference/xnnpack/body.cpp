#include "reference/xnnpack/body.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "planning/arena.h"

namespace assay::xnnpack {
namespace {

constexpr std::uint64_t alignment_of_tensors = 16;  // as ExecuTorch plans them
constexpr double most_planned = 0x1p56;             // so that no sum of sizes overflows

// For each dim of an image [batch, channels, height, width], its dim in [batch, height, width, channels]; and for each
// dim of the latter, its dim in the former.
const std::vector<std::size_t> to_channels_first = {0, 3, 1, 2}, to_channels_last = {0, 2, 3, 1};
const std::vector<std::size_t>& perm_to(Order order) {
  return order == Order::listed ? to_channels_last : to_channels_first;
}

template <class T>
std::vector<T> permuted(const std::vector<T>& of, const std::vector<std::size_t>& perm) {
  std::vector<T> result;
  for (const std::size_t d : perm) result.push_back(of[d]);
  return result;
}

// The bytes of a tensor, which a double holds exactly up to 2^53.
double bytes_of(DType dtype, const Sizes& sizes) {
  double bytes = static_cast<double>(info(dtype).bytes);
  for (const std::int32_t n : sizes) bytes *= n;
  return bytes;
}

}  // namespace

std::size_t dim_in(Order order, std::size_t listed) {
  return order == Order::listed ? listed : to_channels_last[listed];
}

std::int32_t size_of_dim(std::uint64_t n) {
  if (n > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()))
    refuse("a dim is ", n, ", but a size of a tensor has 32 bits");
  return static_cast<std::int32_t>(n);
}

std::vector<Int> image_dims(Order order) {
  return {static_cast<Int>(dim_in(order, 1)), static_cast<Int>(dim_in(order, 2))};
}

// -- values of the graph ----------------------------------------------------------------------------------------------

DType Body::dtype(Id id) const {
  switch (graph_.datatype(id)) {
    case Datatype::fp32:
      return DType::float32;
    case Datatype::fp16:
      return DType::float16;
    case Datatype::bf16:
      return DType::bfloat16;
    case Datatype::quint8:
      return DType::uint8;
    case Datatype::qint32:
    case Datatype::qcint32:
    case Datatype::int32:
      return DType::int32;
    case Datatype::qint8:
    case Datatype::qcint8:
    case Datatype::qcint4:
    case Datatype::qbint4:
      return DType::int8;
    default:
      refuse("value ", id, " is of ", format::xnnpack::find_datatype(graph_.tensor(id).datatype())->name,
             ", which exporters do not write");
  }
}

Sizes Body::sizes(Id id, Order order) const {
  Sizes sizes;
  for (const std::uint32_t n : *graph_.tensor(id).dims()) sizes.push_back(size_of_dim(n));
  return order == Order::listed ? sizes : permuted(sizes, to_channels_first);
}

Index Body::read(Id id, Order order) {
  if (!is_image(id)) order = Order::listed;  // a number, or a constant that is broadcast
  auto& tensors = tensors_[id];
  auto& wanted = tensors[slot(order)];
  const Order other = order == Order::listed ? Order::channels_first : Order::listed;
  if (!wanted && graph_.is_constant(id)) {
    std::vector<std::size_t> perm(rank(id));
    std::iota(perm.begin(), perm.end(), std::size_t{0});
    if (order == Order::channels_first) perm = to_channels_first;
    wanted = constant(id, sizes(id), perm, sizes(id, order));
  }
  if (!wanted && !tensors[slot(other)]) refuse("value ", id, " has no elements that can be read");
  if (!wanted) wanted = permute(*tensors[slot(other)], perm_to(order));
  return *wanted;
}

void Body::define_rows(Id id, Id from) {
  auto& [is_wanted, in_order] = rows_[id];
  const auto row_dims = graph_.value(id).content_as_QuantizedTensor()->parameters_as_PerToken()->nonbatch_dims();
  for (const Order order : {Order::listed, Order::channels_first})
    if (is_wanted[slot(order)])
      in_order[slot(order)] = quantize_rows(*this, from, static_cast<std::size_t>(row_dims), order);
}

const Rows& Body::rows(Id id, Order order) const {
  const auto found = rows_.find(id);
  const auto* rows = found == rows_.end() ? nullptr : &found->second.in_order[slot(order_in(id, order))];
  if (!rows || !*rows) refuse("no node quantizes its input row by row");
  return **rows;
}

void Body::alias(Id from, Id to) {
  if (graph_.is_constant(from)) read(from);
  tensors_[to] = tensors_[from];
}

Order Body::order_of(std::span<const Id> ids) const {
  bool permuted = false;
  for (const Id id : ids) {
    const auto found = tensors_.find(id);
    const auto has = [&](Order order) { return found != tensors_.end() && found->second[slot(order)]; };
    const auto dims = sizes(id);
    const bool is_number = std::ranges::all_of(dims, [](std::int32_t n) { return n == 1; });
    if (graph_.is_constant(id) ? !is_image(id) && !is_number : !has(Order::channels_first)) return Order::listed;
    permuted = permuted || (!graph_.is_constant(id) && !has(Order::listed));
  }
  return permuted ? Order::channels_first : Order::listed;
}

// -- constants --------------------------------------------------------------------------------------------------------

Index Body::constant(Id id, const Sizes& dims, const std::vector<std::size_t>& perm, const Sizes& sizes) {
  const auto [found, is_new] = constants_.try_emplace({id, perm});
  if (!is_new) return found->second;
  const Datatype type = graph_.datatype(id);
  const DType dtype = this->dtype(id);
  const Constant constant{.stored = graph_.elements(id),
                          .element = static_cast<std::size_t>(info(dtype).bytes),
                          .is_packed = type == Datatype::qcint4 || type == Datatype::qbint4,
                          .dims = {dims.begin(), dims.end()},
                          .perm = perm};
  Budget::Scope::work(static_cast<Int>(constant.size() / constant.element));
  return found->second = plan_.constant(dtype, sizes, add_constant_(constant));
}

Index Body::floats(const std::vector<float>& elements, const Sizes& sizes) {
  const auto constant = Constant::copy_of(std::as_bytes(std::span(elements)));
  return plan_.constant(DType::float32, sizes, add_constant_(constant));
}

// -- calls ------------------------------------------------------------------------------------------------------------

Index Body::tensor(DType dtype, const Sizes& sizes) {
  using enum pte::TensorShapeDynamism;
  planned_ += bytes_of(dtype, sizes);
  if (planned_ > most_planned) refuse("its tensors have more than 2^56 bytes");
  const Index index = plan_.tensor(dtype, sizes, is_dynamic_ ? DYNAMIC_BOUND : STATIC);
  lifetimes_[index] = {calls_, calls_};
  return index;
}

void Body::use(Index value) {
  if (const auto* list = plan_.plan().values[static_cast<std::size_t>(value)]->val.AsTensorList())
    for (const std::int32_t item : list->items) use(item);
  if (const auto found = lifetimes_.find(value); found != lifetimes_.end()) found->second.last = calls_;
}

void Body::call(std::string_view op, const Operands& operands) {
  for (const auto& operand : operands) use(operand.value);
  plan_.call_named(op, operands);
  ++calls_;
}

Index Body::call(std::string_view op, Operands operands, DType dtype, const Sizes& sizes) {
  operands.push_back({"out", tensor(dtype, sizes)});
  const Index out = operands.back().value;
  call(op, operands);
  return out;
}

Index Body::cast(Index from, DType dtype) {
  return dtype_of(from) == dtype ? from : call("aten::_to_copy.out", {{"self", from}}, dtype, sizes_of(from));
}

Index Body::permute(Index from, const std::vector<std::size_t>& perm) {
  const std::vector<Int> dims(perm.begin(), perm.end());
  return call("aten::permute_copy.out", {{"self", from}, {"dims", plan_.integers(dims)}}, dtype_of(from),
              permuted(sizes_of(from), perm));
}

Index Body::numbers(const std::vector<Index>& list) {
  return plan_.list<pte::IntListT>(std::vector<Int>(list.begin(), list.end()));
}

Index Body::view(Index from, const Sizes& sizes, const std::vector<Index>& list) {
  return call("aten::view_copy.out", {{"self", from}, {"size", numbers(list)}}, dtype_of(from), sizes);
}

Index Body::view(Index from, const Sizes& sizes) {
  std::vector<Index> list;
  for (const std::int32_t n : sizes) list.push_back(number(n));
  return view(from, sizes, list);
}

Index Body::size(Index tensor, std::size_t dim) {
  if (!is_dynamic_) return number(sizes_of(tensor)[dim]);
  const Index n = number(0);
  call("aten::sym_size.int", {{"self", tensor}, {"dim", number(static_cast<Int>(dim))}, {"result", n}});
  return n;
}

// -- the end ----------------------------------------------------------------------------------------------------------

void Body::write_output(Id id, Index to, bool copies) {
  const Index from = read(id);
  if (!copies && lifetimes_.contains(from) && outputs_.try_emplace(from, to).second) return;
  call("aten::clone.out", {{"self", from}, {"out", to}});
}

void Body::rename(std::vector<Index>& values) const {
  for (Index& value : values)
    if (const auto found = outputs_.find(value); found != outputs_.end()) value = found->second;
}

void Body::finish(std::uint32_t memory) {
  auto& instructions = plan_.plan().chains.back()->instructions;
  for (std::size_t i = instructions.size() - calls_; i < instructions.size(); ++i) {
    auto& args = instructions[i]->instr_args.AsKernelCall()->args;
    for (const Index value : args)
      if (auto* list = plan_.plan().values[static_cast<std::size_t>(value)]->val.AsTensorList()) rename(list->items);
    rename(args);
  }
  std::vector<Index> tensors;
  std::vector<planning::Lifetime> lifetimes;
  for (const auto& [tensor, lifetime] : lifetimes_) {
    if (outputs_.contains(tensor)) continue;
    const auto bytes = static_cast<std::uint64_t>(bytes_of(dtype_of(tensor), sizes_of(tensor)));
    tensors.push_back(tensor);
    lifetimes.push_back({lifetime.first, lifetime.last, bytes, alignment_of_tensors});
  }
  std::vector<std::uint64_t> offsets(lifetimes.size());
  with_workspace([&](format::Workspace& w) { planning::plan_arena(lifetimes, offsets, w); });
  for (std::size_t i = 0; i < tensors.size(); ++i) plan_.place(tensors[i], memory, offsets[i]);
}

}  // namespace assay::xnnpack
