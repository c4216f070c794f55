#include "optimized/draft/symbolic_sizes.h"

#include <algorithm>

#include "optimized/draft/effects.h"
#include "optimized/selection/convolution_call.h"
#include "optimized/selection/views.h"
#include "optimized/selection/window.h"

namespace assay::optimized {

using format::Use;

namespace {

constexpr std::int32_t no_bound = INT32_MAX;
// A dimension adds at most two symbols: one for itself, and one for the places of a window along it.
constexpr std::uint64_t symbols_of_dimension = 2;

std::size_t index_of(std::int32_t symbol) { return static_cast<std::size_t>(-(symbol + 1)); }

// Whether no instruction changes the operands from `first` on, except the outs.
bool has_fixed(const Call& call, std::size_t first) {
  const auto roles = call.roles->arguments();
  for (std::size_t i = first; i < roles.size(); ++i)
    if (roles[i].use != Use::written && roles[i].use != Use::viewed && !is_fixed(call[i])) return false;
  return true;
}

// One size of a broadcast. It is unknown if it depends on which operand has size 1.
std::int32_t broadcast_size(std::int32_t a, std::int32_t b) {
  if ((a == b && a != unknown_size) || b == 1 || (a > 1 && b < 0)) return a;
  return a == 1 || (b > 1 && a < 0) ? b : unknown_size;
}

void broadcast_symbols(Shape& a, const Shape& b) {
  const int rank = std::max(a.rank, b.rank);
  Shape to{rank, {}};
  for (int i = 1; i <= rank; ++i)
    to.sizes[rank - i] = broadcast_size(i <= a.rank ? a.sizes[a.rank - i] : 1, i <= b.rank ? b.sizes[b.rank - i] : 1);
  a = to;
}

bool is(const Value& v, std::int64_t n) { return v.kind == ValueKind::integer && !v.changes && v.integer == n; }

// The rules of operators: the sizes of the first result. A rule relies on the success of the call. It returns false if
// it does not know the sizes.
using Rule = bool (*)(SymbolicSizes& all, const Call& call, Shape& sizes);

bool elementwise(SymbolicSizes& all, const Call& call, Shape& sizes) {
  const auto known = all.broadcast_operands(call);
  if (known) sizes = *known;
  return known.has_value();
}

bool like_first(SymbolicSizes& all, const Call& call, Shape& sizes) { return all.sizes_of(call[0], sizes); }

// Turns a size into the places of a window along it. Returns false if the numbers of the window are invalid.
bool move_window(SymbolicSizes& all, const Axis& axis, std::int32_t& size) {
  if (axis.kernel < 1 || axis.stride < 1 || axis.padding < 0 || axis.dilation < 1) return false;
  size = all.places(size, 2 * axis.padding - axis.extent(), axis.stride);
  return true;
}

bool convolved(SymbolicSizes& all, const Call& call, Shape& sizes) {
  using namespace convolution;
  Shape w;
  if (!all.sizes_of(call[input], sizes) || !all.sizes_of(call[weight], w) || w.rank != sizes.rank || w.rank < 3 ||
      !has_fixed(call, stride) || call[transposed].boolean)
    return false;
  sizes.sizes[1] = w.sizes[0];
  const auto dims = static_cast<std::size_t>(w.rank - 2);
  for (std::size_t d = 0; d < dims; ++d) {
    const auto of = [&](Operand list) { return entry(call[list], dims, d, -1); };
    if (!move_window(all, {w.sizes[d + 2], of(stride), of(padding), of(dilation)}, sizes.sizes[d + 2])) return false;
  }
  return true;
}

// Operands: self, kernel_size, stride, padding, dilation, ceil_mode. Without a stride, windows lie side by side.
bool pooled(SymbolicSizes& all, const Call& call, Shape& sizes) {
  constexpr int dims = 2;
  if (!all.sizes_of(call[0], sizes) || sizes.rank < dims || !has_fixed(call, 1) || call[5].boolean) return false;
  for (int d = 0; d < dims; ++d) {
    const auto of = [&](std::size_t list, std::int64_t otherwise) {
      return entry(call[list], dims, static_cast<std::size_t>(d), otherwise);
    };
    const std::int64_t kernel = of(1, -1);
    if (!move_window(all, {kernel, of(2, kernel), of(3, -1), of(4, -1)}, sizes.sizes[sizes.rank - dims + d]))
      return false;
  }
  return true;
}

// Products of matrices a [..., rows, depth] and b [..., depth, columns].
template <std::size_t a, std::size_t b>
bool multiplied(SymbolicSizes& all, const Call& call, Shape& sizes) {
  Shape other;
  if (!all.sizes_of(call[a], sizes) || !all.sizes_of(call[b], other) || sizes.rank < 2 || other.rank != sizes.rank)
    return false;
  sizes.sizes[sizes.rank - 1] = other.sizes[other.rank - 1];
  return true;
}

// The weight is [columns, depth].
bool linear(SymbolicSizes& all, const Call& call, Shape& sizes) {
  Shape weight;
  if (!all.sizes_of(call[0], sizes) || !all.sizes_of(call[1], weight) || sizes.rank < 1 || weight.rank != 2)
    return false;
  sizes.sizes[sizes.rank - 1] = weight.sizes[0];
  return true;
}

// Operands: weight, indices, ...
bool embedded(SymbolicSizes& all, const Call& call, Shape& sizes) {
  Shape weight;
  if (!all.sizes_of(call[1], sizes) || !all.sizes_of(call[0], weight) || weight.rank != 2 ||
      sizes.rank == static_cast<int>(max_rank))
    return false;
  sizes.sizes[sizes.rank++] = weight.sizes[1];
  return true;
}

// Operands that only reorder, add or drop sizes.
bool viewed(SymbolicSizes& all, const Call& call, Shape& sizes) {
  const Viewer viewer = find_viewer(call.roles->name);
  View view;
  if (!all.sizes_of(call[0], view.shape) || !has_fixed(call, 1) || !viewer(call, view)) return false;
  sizes = view.shape;
  return true;
}

// What is left of the counts of two shapes a and b after the symbols that both have were cancelled.
struct Rest {
  std::int64_t of_a = 1, of_b = 1;  // the products of numbers
  std::int32_t symbol = 0;          // the symbol that is left of a, or 0
  int partner[max_rank];            // for each size of b: the size of a that it cancelled, or -1
};
// Returns nothing if a size is unknown, or more than one symbol is left.
std::optional<Rest> cancel(const Shape& a, const Shape& b) {
  Rest rest;
  std::uint32_t taken = 0;
  const auto multiply = [](std::int64_t& n, std::int32_t by) { return !__builtin_mul_overflow(n, by, &n); };
  for (int d = 0; d < b.rank; ++d) {
    int k = b.sizes[d] < 0 && b.sizes[d] != unknown_size ? 0 : a.rank;
    while (k < a.rank && ((taken >> k & 1) || a.sizes[k] != b.sizes[d])) ++k;
    rest.partner[d] = k < a.rank ? k : -1;
    if (k < a.rank)
      taken |= std::uint32_t{1} << k;
    else if (b.sizes[d] < 0 || !multiply(rest.of_b, b.sizes[d]))
      return {};
  }
  for (int k = 0; k < a.rank; ++k) {
    if (taken >> k & 1) continue;
    if (a.sizes[k] < 0 ? a.sizes[k] == unknown_size || rest.symbol != 0 : !multiply(rest.of_a, a.sizes[k])) return {};
    if (a.sizes[k] < 0) rest.symbol = a.sizes[k];
  }
  return rest;
}

// The size that is left if a tensor gets sizes of which one is open.
std::int32_t left_of(const Shape& tensor, Shape sizes, int open) {
  sizes.sizes[open] = 1;
  const auto rest = cancel(tensor, sizes);
  if (!rest || rest->of_b == 0) return unknown_size;
  if (rest->symbol != 0) return rest->of_a == rest->of_b ? rest->symbol : unknown_size;
  const std::int64_t n = rest->of_a / rest->of_b;
  return rest->of_a % rest->of_b == 0 && n <= no_bound ? static_cast<std::int32_t>(n) : unknown_size;
}

// Operands: self, size. An open size of an expansion stays; that of a view takes all elements that are left.
template <bool expands>
bool sized(SymbolicSizes& all, const Call& call, Shape& sizes) {
  const auto items = call[1].items();
  Shape self;
  if (!integers(call[1]) || items.size() > max_rank || !all.sizes_of(call[0], self)) return false;
  sizes.rank = static_cast<int>(items.size());
  int open = -1;
  for (int d = 0; d < sizes.rank; ++d) {
    const Value& size = *items[static_cast<std::size_t>(d)];
    const int from = d - (sizes.rank - self.rank);
    if (is(size, -1)) open = d;
    sizes.sizes[d] = !is(size, -1) ? all.integer_of(size) : expands && from >= 0 ? self.sizes[from] : unknown_size;
  }
  if (!expands && open >= 0) sizes.sizes[open] = left_of(self, sizes, open);
  return true;
}

// Operands: size.
bool filled(SymbolicSizes& all, const Call& call, Shape& sizes) {
  const auto items = call[0].items();
  if (!integers(call[0]) || items.size() > max_rank) return false;
  sizes.rank = static_cast<int>(items.size());
  std::ranges::transform(items, sizes.sizes, [&](const Value* size) { return all.integer_of(*size); });
  return true;
}

// Operands: self, dim, start, end, step. Knows parts that begin at index 0.
bool sliced(SymbolicSizes& all, const Call& call, Shape& sizes) {
  const bool begins = (call[2].kind == ValueKind::none && !call[2].changes) || is(call[2], 0);
  if (!all.sizes_of(call[0], sizes) || sizes.rank == 0 || call[1].changes || !begins || !is(call[4], 1)) return false;
  const int d = dim_of(call[1], sizes.rank);
  if (d < 0) return false;
  std::int32_t& size = sizes.sizes[d];
  if (call[3].kind == ValueKind::none) return !call[3].changes;
  if (!call[3].changes && call[3].integer >= no_bound) return true;
  const std::int32_t end = all.integer_of(call[3]);
  if (size < 0 && size == end) return true;
  size = size >= 0 && end != unknown_size && all.is_at_most(end, size) ? end : unknown_size;
  return true;
}

// Operands: self, dim, keepdim. Knows results that keep the dimension.
bool reduced(SymbolicSizes& all, const Call& call, Shape& sizes) {
  if (!all.sizes_of(call[0], sizes) || call[1].changes || call[2].changes || !call[2].boolean) return false;
  const int d = sizes.rank > 0 ? dim_of(call[1], sizes.rank) : -1;
  if (d >= 0) sizes.sizes[d] = 1;
  return d >= 0;
}

// Operands: start, end, step. Knows ranges from 0 to a size.
bool ranged(SymbolicSizes& all, const Call& call, Shape& sizes) {
  if (!is(call[0], 0) || !is(call[2], 1)) return false;
  sizes.rank = 1, sizes.sizes[0] = all.integer_of(call[1]);
  return true;
}

// Operands: self, dim. The result is an integer.
bool size_along(SymbolicSizes& all, const Call& call, Shape& sizes) {
  Shape self;
  const int d = call[0].kind == ValueKind::tensor && !call[1].changes ? dim_of(call[1], call.tensor(0).rank) : -1;
  if (d < 0 || !all.sizes_of(call[0], self) || self.rank == 0) return false;
  sizes.rank = 1, sizes.sizes[0] = self.sizes[d];
  return true;
}

// Sorted by name.
constexpr struct {
  std::string_view op;
  Rule rule;
} rules[] = {
    {"aten::_log_softmax.out", like_first},
    {"aten::_native_batch_norm_legit_no_training.out", like_first},
    {"aten::_softmax.out", like_first},
    {"aten::addmm.out", multiplied<1, 2>},
    {"aten::any.out", reduced},
    {"aten::arange.start_out", ranged},
    {"aten::bmm.out", multiplied<0, 1>},
    {"aten::convolution.out", convolved},
    {"aten::copy.out", like_first},
    {"aten::embedding.out", embedded},
    {"aten::expand_copy.out", sized<true>},
    {"aten::fill.Tensor_out", like_first},
    {"aten::full.out", filled},
    {"aten::full_like.out", like_first},
    {"aten::linear.out", linear},
    {"aten::max_pool2d_with_indices.out", pooled},
    {"aten::mm.out", multiplied<0, 1>},
    {"aten::native_layer_norm.out", like_first},
    {"aten::permute_copy.out", viewed},
    {"aten::slice_copy.Tensor_out", sliced},
    {"aten::sym_size.int", size_along},
    {"aten::t_copy.out", viewed},
    {"aten::transpose_copy.int_out", viewed},
    {"aten::unsqueeze_copy.out", viewed},
    {"aten::view_copy.out", sized<false>},
    {"executorch_prim::et_view.default", sized<false>},
    {"quantized_decomposed::dequantize_per_channel.out", like_first},
    {"quantized_decomposed::dequantize_per_tensor.Tensor_out", like_first},
    {"quantized_decomposed::quantize_per_channel.out", like_first},
    {"quantized_decomposed::quantize_per_tensor.Tensor_out", like_first},
};

// Only elementwise operators may compute in place.
Rule find_rule(const format::OperatorRoles& roles) {
  const auto* found = std::ranges::lower_bound(rules, roles.name, {}, [](const auto& rule) { return rule.op; });
  if (found != std::end(rules) && found->op == roles.name) return found->rule;
  return roles.in_place ? elementwise : nullptr;
}

}  // namespace

bool are_equal(const Shape& a, const Shape& b) {
  return std::ranges::equal(a.span(), b.span(),
                            [](std::int32_t x, std::int32_t y) { return x == y && x != unknown_size; });
}

std::optional<Shape> SymbolicSizes::of(std::uint32_t v) const {
  const Tensor& t = source_->tensors[v];
  if (!source_->is_tensor(v) || !t.moves) return source_->is_tensor(v) ? std::optional(shape_of(t)) : std::nullopt;
  if (!known_[v].is_known) return {};
  Shape shape{t.rank, {}};
  std::ranges::copy(known_[v].sizes, shape.sizes);
  return shape;
}

bool SymbolicSizes::sizes_of(const Value& v, Shape& sizes) const {
  const auto known = v.kind == ValueKind::tensor ? of(source_->index_of(v)) : std::nullopt;
  if (known) sizes = *known;
  return known.has_value();
}

// The sizes of both tensors cancel, or a symbol is left that is 1 unless there are no elements.
bool SymbolicSizes::have_equal_counts(std::uint32_t a, std::uint32_t b) const {
  const auto x = of(a), y = of(b);
  const Tensor &t = source_->tensors[a], &u = source_->tensors[b];
  if (!x || !y || !t.moves || !u.moves || t.unbounded || u.unbounded) return false;
  const auto rest = cancel(*x, *y);
  if (!rest || rest->of_a != rest->of_b || rest->of_a <= 0) return false;
  bool has_beside = false;
  for (int d = 0; d < y->rank; ++d) {
    if (u.declared[d] != (rest->partner[d] < 0 ? y->sizes[d] : t.declared[rest->partner[d]])) return false;
    has_beside = has_beside || (rest->symbol != 0 && y->sizes[d] == symbols_[index_of(rest->symbol)].beside);
  }
  for (int k = 0; k < x->rank; ++k)
    if (x->sizes[k] >= 0 ? t.declared[k] != x->sizes[k] : x->sizes[k] == rest->symbol && t.declared[k] != 1)
      return false;
  return rest->symbol == 0 || is_unit(rest->symbol, has_beside, a) || is_unit(rest->symbol, has_beside, b);
}

// Whether the symbol is 1, or a tensor with it has no elements, after the sizes of a value are set.
bool SymbolicSizes::is_unit(std::int32_t symbol, bool has_beside, std::uint32_t value) const {
  const Symbol& s = symbols_[index_of(symbol)];
  const std::uint32_t setter = known_[value].setter;
  return s.unit_from != Flow::none && setter != Flow::none && setter > s.unit_from &&
         flow_->block(setter) == flow_->block(s.unit_from) && (has_beside || s.beside == 0);
}

// A view has as many elements as its base. If a size of at most 1 is left when both counts are compared, it is 1, or
// another size is 0.
void SymbolicSizes::learn_unit(std::uint32_t i, const Shape& base, const Shape& view) {
  const auto rest = cancel(base, view);
  if (!rest || rest->symbol == 0 || rest->of_a != rest->of_b || rest->of_a <= 0) return;
  Symbol& symbol = symbols_[index_of(rest->symbol)];
  std::int32_t beside = 0;
  for (int d = 0; d < view.rank; ++d) {
    if (rest->partner[d] < 0) continue;
    if (beside != 0 && beside != view.sizes[d]) return;
    beside = view.sizes[d];
  }
  if (symbol.most == 1 && symbol.unit_from == Flow::none) symbol.unit_from = i, symbol.beside = beside;
}

std::optional<Shape> SymbolicSizes::broadcast_operands(const Call& call) const {
  const auto roles = call.roles->arguments();
  Shape all, one;
  for (std::size_t i = 0; i < roles.size() && roles[i].use != Use::written; ++i) {
    if (call[i].kind != ValueKind::tensor) continue;
    if (!sizes_of(call[i], one)) return {};
    broadcast_symbols(all, one);
  }
  return all;
}

bool SymbolicSizes::always_fit(std::uint32_t v) const {
  const Tensor& t = source_->tensors[v];
  const auto sizes = of(v);
  return sizes && !t.unbounded &&
         std::ranges::equal(sizes->span(), std::span(t.declared, t.rank), [&](std::int32_t size, std::int32_t most) {
           return size != unknown_size && is_at_most(size, most);
         });
}

std::int32_t SymbolicSizes::integer_of(const Value& v) const {
  if (v.kind != ValueKind::integer) return unknown_size;
  if (!v.changes) return v.integer >= 0 && v.integer <= no_bound ? static_cast<std::int32_t>(v.integer) : unknown_size;
  const Known& known = known_[source_->index_of(v)];
  return known.is_known ? known.sizes[0] : unknown_size;
}

bool SymbolicSizes::is_at_most(std::int32_t size, std::int32_t most) const {
  return (size < 0 ? symbols_[index_of(size)].most : size) <= most;
}

std::int32_t SymbolicSizes::places(std::int32_t base, std::int64_t offset, std::int64_t stride) {
  if (base == unknown_size || (stride == 1 && offset == -1)) return base;
  if (base >= 0) {
    const std::int64_t n = (base + offset) / stride + 1;
    return n >= 0 && n <= no_bound ? static_cast<std::int32_t>(n) : unknown_size;
  }
  const Symbol wanted{no_bound, base, static_cast<std::int32_t>(stride), offset};
  for (std::size_t i = 0; i < count_ && lookups_left_ > 0; ++i, --lookups_left_) {
    const Symbol& s = symbols_[i];
    if (s.stride == wanted.stride && s.base == base && s.offset == offset) return -static_cast<std::int32_t>(i) - 1;
  }
  return add(wanted);
}

std::int32_t SymbolicSizes::add(const Symbol& symbol) {
  if (count_ == symbols_.size()) return unknown_size;
  symbols_[count_++] = symbol;
  return -static_cast<std::int32_t>(count_);
}

// One instruction may set the sizes of a value, and only later instructions of its block may use the value: if other
// instructions do, a loop could have set the sizes again.
void SymbolicSizes::use(std::uint32_t i) {
  const Instruction& instruction = source_->instructions[i];
  each_effect(*source_, instruction, [&](const ValueEffect& e) {
    Known& known = known_[source_->index_of(e.value)];
    const bool sets = e.use == Use::written || e.use == Use::viewed, is_used = known.block != Flow::none;
    if (!is_used) known.block = flow_->block(i);
    known.is_spread = known.is_spread || known.block != flow_->block(i);
    known.is_open = known.is_open || (sets ? is_used : format::writes(e.use) && e.use != Use::freed);
    known.is_set = known.is_set || sets;
    if (sets) known.setter = i;
    // The handle of a tensor is the same tensor: who resizes one of them resizes both.
    if (e.use == Use::moved) known_[source_->index_of(*instruction.call.arguments[0])].is_open = true;
    if (e.use == Use::returned) known_[source_->index_of(*changed_argument(instruction.call))].is_open = true;
  });
}

void SymbolicSizes::set(std::uint32_t v, const Shape* sizes) {
  Known& known = known_[v];
  const Tensor& t = source_->tensors[v];
  if (known.is_open) return;
  if (!source_->is_tensor(v)) {
    known.is_known = sizes && sizes->rank == 1 && known.sizes.size() == 1;
    if (known.is_known) known.sizes[0] = sizes->sizes[0];
  } else if (t.moves) {
    const bool fits = sizes && sizes->rank == t.rank;
    for (std::size_t d = 0; d < known.sizes.size(); ++d) {
      known.sizes[d] = fits ? sizes->sizes[d] : unknown_size;
      if (known.sizes[d] == unknown_size) known.sizes[d] = add({t.unbounded ? no_bound : t.declared[d], 0, 0, 0});
    }
    known.is_known = true;
  }
}

void SymbolicSizes::follow(std::uint32_t i) {
  const Instruction& instruction = source_->instructions[i];
  const Call& call = instruction.call;
  const Rule rule = instruction.kind == Instruction::Kind::call ? find_rule(*call.roles) : nullptr;
  Shape sizes;
  const bool known = rule && rule(*this, call, sizes);
  bool first = true;
  each_effect(*source_, instruction, [&](const ValueEffect& e) {
    if (e.use != Use::written && e.use != Use::viewed) return;
    set(source_->index_of(e.value), known && first ? &sizes : nullptr);
    first = false;
  });
  if (Shape self; known && call.roles->name == "executorch_prim::et_view.default" && sizes_of(call[0], self))
    learn_unit(i, self, sizes);
}

bool SymbolicSizes::take(format::Workspace& workspace) {
  const auto n = static_cast<std::uint32_t>(source_->values.size());
  std::uint64_t dimensions = 0;
  known_ = workspace.take<Known>(n);
  for (Known& known : known_) {
    const auto v = static_cast<std::uint32_t>(&known - known_.data());
    const Value& value = source_->values[v];
    const std::uint64_t rank = value.kind == ValueKind::tensor ? source_->tensors[v].rank : 1;
    known.sizes = workspace.take<std::int32_t>(rank);
    dimensions += rank;
  }
  symbols_ = workspace.take<Symbol>(dimensions * symbols_of_dimension);
  return workspace.has_room() && !workspace.counts_only();
}

std::optional<SymbolicSizes> SymbolicSizes::of(const Source& source, const Flow& flow, format::Workspace& workspace) {
  SymbolicSizes all(source, flow);
  if (!all.take(workspace)) return {};
  for (std::uint32_t i = 0; i < source.instructions.size(); ++i) all.use(i);
  for (const std::int32_t i : source.inputs) all.known_[static_cast<std::size_t>(i)].is_spread = true;
  for (std::uint32_t v = 0; v < source.values.size(); ++v) {
    Known& known = all.known_[v];
    known.is_open = known.is_open || (known.is_set && (known.is_spread || source.tensors[v].lasts));
    if (!known.is_set) all.set(v, nullptr);
  }
  for (std::uint32_t i = 0; i < source.instructions.size(); ++i) all.follow(i);
  return all;
}

}  // namespace assay::optimized
