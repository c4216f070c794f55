#include <algorithm>

#include "optimized/operators/views.h"
#include "optimized/prepare/build.h"
#include "optimized/runtime/table.h"

// Rewrites of the calls of a method whose instructions run in order. Each says why nobody sees it. What is moved is
// moved to later calls, past none that changes what it reads.
namespace assay::optimized {
namespace {

bool same_sizes(const Tensor& a, const Tensor& b) { return std::ranges::equal(a.shape(), b.shape()); }
bool same_order(const Tensor& a, const Tensor& b) {
  return a.rank == b.rank && std::equal(a.dim_order, a.dim_order + a.rank, b.dim_order);
}

// The elements of a follow each other in memory as those of b do.
bool same_elements(const Tensor& a, const Tensor& b) {
  if (a.dtype != b.dtype || a.moves || b.moves || a.count() != b.count()) return false;
  return (a.is_contiguous() && b.is_contiguous()) || (same_sizes(a, b) && same_order(a, b));
}

// A call of an operator of each element by itself has the result that it says: of the sizes that its operands have
// together.
bool has_sizes_of_operands(const Call& call) {
  Shape shape;
  if (call.arguments.back()->kind != ValueKind::tensor) return false;
  for (std::size_t i = 0; i + 1 < call.arguments.size(); ++i)
    if (call[i].kind == ValueKind::tensor && (call.tensor(i).moves || !broadcast(shape, call.tensor(i)))) return false;
  const Tensor& out = *call.arguments.back()->tensor;
  return !out.moves && std::ranges::equal(shape.span(), out.shape());
}

// Likewise, all its tensors of f32.
bool is_pointwise_f32(const Call& call) {
  return has_sizes_of_operands(call) && std::ranges::all_of(call.arguments, [](const Value* v) {
           return v->kind != ValueKind::tensor || v->tensor->dtype == DType::float32;
         });
}

// A reduction along one dimension, which stays as one, has the result that it says.
bool is_reduced(const Call& call) {
  const Tensor &self = call.tensor(0), &out = *call.arguments.back()->tensor;
  const int dim = dim_of(call[1], self.rank);
  Shape shape = shape_of(self);
  if (dim < 0 || self.moves || out.moves || !call[2].boolean) return false;
  shape.sizes[dim] = 1;
  return std::ranges::equal(shape.span(), out.shape());
}

// A number that never changes, or the only element of a constant.
std::optional<double> number_of(const Value& v) {
  if (v.changes) return {};
  if (v.kind == ValueKind::integer) return static_cast<double>(v.integer);
  if (v.kind == ValueKind::real) return v.real;
  if (v.kind != ValueKind::tensor || !v.tensor->constant || !v.tensor->data || v.tensor->count() != 1) return {};
  if (v.tensor->dtype == DType::float32) return *v.tensor->elements<float>();
  if (v.tensor->dtype == DType::int64) return static_cast<double>(*v.tensor->elements<std::int64_t>());
  return {};
}
bool is_number(const Value& v, double n) { return number_of(v) == n; }

// As what a copy whose operands never change sees its first argument; none: it is no copy, or will be refused.
std::optional<View> view_of(const Call& call) {
  const Viewer viewer = find_viewer(call.roles->name);
  View view;
  if (!viewer || !is_fixed(call) || call.arguments.back()->kind != ValueKind::tensor) return {};
  const Tensor &self = call.tensor(0), &out = *call.arguments.back()->tensor;
  if (self.dtype != out.dtype || !viewer(call, view) || !std::ranges::equal(view.shape.span(), out.shape())) return {};
  return view;
}

// Whether its elements follow each other in memory, from the first on, in this order of its dimensions.
bool lies_in(const View& view, const std::uint8_t* dim_order) {
  const Strides strides = strides_of(view.shape, dim_order);
  for (int d = 0; d < view.shape.rank; ++d)
    if (view.shape.sizes[d] > 1 && view.strides.of[d] != strides.of[d]) return false;
  return view.first == 0;
}

// Its dimensions, those of larger strides first.
void sort_dimensions(const View& view, std::uint8_t* dim_order) {
  for (int d = 0; d < view.shape.rank; ++d) {
    int at = d;
    for (; at > 0 && view.strides.of[dim_order[at - 1]] < view.strides.of[d]; --at) dim_order[at] = dim_order[at - 1];
    dim_order[at] = static_cast<std::uint8_t>(d);
  }
}

}  // namespace

// Nobody but calls sees it, and all that do see the same elements.
bool Builder::is_seen_alike(std::uint32_t v) {
  const std::uint64_t members = flow_->group(v).members;
  if (!flow_->is_private(v) || looks_ < members) return false;
  looks_ -= members;
  bool alike = true;
  flow_->each_member(v, [&](std::uint32_t m) {
    alike = alike && method_.tensor(m) && (m == v || same_elements(tensors_[m], tensors_[v]));
  });
  return alike;
}

// A copy in the order of its source is its source, if neither changes while the other is of use.
void Builder::drop_copies() {
  for (Planned& p : calls_) {
    if (p.dead || !p.is_typed) continue;
    const auto view = view_of(p.call);
    const Value &from = p.call[0], &to = *p.call.arguments.back();
    if (!view || !lies_in(*view, to.tensor->dim_order)) continue;
    const std::uint32_t a = index_of(&to), b = index_of(&from);
    if (!flow_->is_private(a) || flow_->place(a).size != flow_->place(b).size) continue;
    if (from.tensor->constant) {
      flow_->each_member(a, [&](std::uint32_t v) {
        tensors_[v].constant = true, tensors_[v].data = from.tensor->data, tensors_[v].capacity = from.tensor->capacity;
      });
    } else if (flow_->is_steady(b)) {
      flow_->merge(a, b);
    } else {
      continue;
    }
    p.dead = true;
  }
}

// Copies of constants: a number of another dtype is made here, what only changes the order of dimensions keeps its
// elements where who reads it takes them in any order.
void Builder::fold_constants() {
  for (Planned& p : calls_) {
    if (is_op(p, "dim_order_ops::_to_dim_order_copy.out")) {
      const auto n = number_of(p.call[0]);
      Tensor& out = p.call.tensor(p.call.arguments.size() - 1);
      const std::uint32_t v = index_of(p.call.arguments.back());
      if (!n || !is_format_order(p.call[2], out.rank) || !flow_->is_private(v) || out.dtype != DType::float32 ||
          !same_sizes(p.call.tensor(0), out) || out.moves)
        continue;
      const auto element = tables_.take<float>(1);
      if (element.empty()) return;
      element[0] = static_cast<float>(*n);
      flow_->each_member(v, [&](std::uint32_t m) {
        tensors_[m].constant = true, tensors_[m].data = reinterpret_cast<std::byte*>(element.data());
        tensors_[m].capacity = sizeof(float);
      });
      p.dead = true;
    } else if (const auto view = p.dead || !p.is_typed ? std::nullopt : view_of(p.call)) {
      const Tensor& self = p.call.tensor(0);
      Tensor& out = *p.call.arguments.back()->tensor;
      const std::uint32_t v = index_of(p.call.arguments.back());
      if (!self.constant || self.count() != out.count() || !flow_->is_private(v) || flow_->group(v).members != 1)
        continue;
      const auto order = tables_.take<std::uint8_t>(out.rank);
      if (order.size() != out.rank) return;
      sort_dimensions(*view, order.data());
      if (!lies_in(*view, order.data())) continue;
      const Tensor before = out;
      out.constant = true, out.data = self.data, out.capacity = self.capacity, out.dim_order = order.data();
      p.dead = true;
      if (looks_ < calls_.size()) return;
      looks_ -= calls_.size();
      for (const Planned& reader : calls_) {
        if (reader.dead || !reader.call.roles) continue;
        if (std::ranges::find(reader.call.arguments, p.call.arguments.back()) != reader.call.arguments.end() &&
            !find_kernel(reader.call))
          p.dead = false;
      }
      if (!p.dead) out = before;
    }
  }
}

// Does what follows a call where its result is stored. What was between is not stored any more, so that nobody else may
// read it; the call moves to where the last of them was.
class Fuser {
 public:
  Fuser(Builder& b, std::uint32_t at) : b_(b), at_(at), out_(b.calls_[at].call.arguments.back()) {}

  // A batch norm of constants behind a convolution or a matrix product, a sum with what is of as many elements, an
  // activation.
  void fuse_into_product() {
    if (!find_kernel(b_.calls_[at_].call)) return;
    take_norm();
    take_residual();
    take_activation();
  }

  // y = softmax(x); where(not any(not (x == -infinity)), full_like(y, 0), y), along one dimension.
  void fuse_into_softmax() {
    const Call& softmax = b_.calls_[at_].call;
    std::uint32_t done[6], reads[2];
    if (readers(*out_, reads, 2) != 2) return;
    done[5] = reads[1];
    const Planned* where = &b_.calls_[done[5]];
    if (!b_.is_op(*where, "aten::where.self_out") || where->call.arguments[2] != out_) return;
    const Planned* none = maker(where->call[0], "aten::logical_not.out", done[4]);
    const Planned* any = none ? maker(none->call[0], "aten::any.out", done[3]) : nullptr;
    const Planned* other = any ? maker(any->call[0], "aten::logical_not.out", done[2]) : nullptr;
    const Planned* equal = other ? maker(other->call[0], "aten::eq.Scalar_out", done[1]) : nullptr;
    const Planned* zeros = equal ? maker(where->call[1], "aten::full_like.out", done[0]) : nullptr;
    if (!zeros || done[0] != reads[0] || !is_number(equal->call[1], -std::numeric_limits<double>::infinity()) ||
        !is_number(zeros->call[1], 0))
      return;
    const Value& x = softmax[0];
    for (const Planned* mask : {equal, other, any, none})
      if (mask->call.arguments.back()->tensor->dtype != DType::boolean ||
          !(mask == any ? is_reduced(mask->call) : has_sizes_of_operands(mask->call)))
        return;
    const bool sized =
        is_pointwise_f32(zeros->call) && has_sizes_of_operands(where->call) && same_sizes(*x.tensor, *out_->tensor);
    const bool same_x = b_.flow_->root(b_.index_of(&equal->call[0])) == b_.flow_->root(b_.index_of(&x)) &&
                        b_.flow_->is_steady(b_.index_of(&x));
    const bool same_rows = !softmax[1].changes && softmax[1].integer == any->call[1].integer && !any->call[1].changes &&
                           !any->call[2].changes;
    Value* out = where->call.arguments.back();
    if (!sized || !same_x || !same_rows || !is_f32(x) || !is_f32(*out_) || !is_f32(*out) ||
        !same_elements(*x.tensor, *out->tensor))
      return;
    Fusion fusion = fusion_;
    fusion.safe = true;
    take(fusion, out, done);
  }

 private:
  using Planned = Builder::Planned;

  bool reads(const Planned& p, std::uint32_t group) const {
    if (p.dead || !p.is_typed) return false;
    for (std::size_t i = 0; i + 1 < p.call.arguments.size(); ++i) {
      const Value* v = p.call.arguments[i];
      if (v && v->kind == ValueKind::tensor && b_.flow_->root(b_.index_of(v)) == group) return true;
    }
    return false;
  }

  // The calls that read a value, in order, if they are no more than `most`, read it once each, and nothing else does.
  std::size_t readers(const Value& value, std::uint32_t* found, std::size_t most) const {
    const std::uint32_t v = b_.index_of(&value), group = b_.flow_->root(v);
    if (!b_.is_seen_alike(v) || b_.flow_->group(v).readers > most) return 0;
    std::size_t n = 0;
    for (std::uint32_t i = at_ + 1; i < b_.calls_.size() && n < b_.flow_->group(v).readers; ++i) {
      if (b_.looks_ == 0) return 0;
      --b_.looks_;
      if (reads(b_.calls_[i], group)) found[n++] = i;
    }
    return n == b_.flow_->group(v).readers ? n : 0;
  }
  // The one call that reads what is computed.
  Planned* reader(std::uint32_t& at) const { return readers(*out_, &at, 1) == 1 ? &b_.calls_[at] : nullptr; }

  // The call of this operator that makes a value which only one call reads; null: there is none.
  const Planned* maker(const Value& value, std::string_view op, std::uint32_t& at) const {
    if (value.kind != ValueKind::tensor) return nullptr;
    const Flow::Group& group = b_.flow_->group(b_.index_of(&value));
    if (!b_.is_seen_alike(b_.index_of(&value)) || group.readers != 1) return nullptr;
    at = group.writer;
    return b_.is_op(b_.calls_[at], op) ? &b_.calls_[at] : nullptr;
  }

  // Nothing between here and there writes what the call reads.
  bool may_move_to(std::uint32_t to) const {
    const auto changed = [&](const Value* v, std::uint32_t i) {
      return v && v->kind == ValueKind::tensor && !v->tensor->constant && !b_.flow_->is_steady(b_.index_of(v)) &&
             writes(b_.calls_[i], b_.flow_->root(b_.index_of(v)));
    };
    const Call& call = b_.calls_[at_].call;
    for (std::uint32_t i = at_ + 1; i < to; ++i) {
      for (std::size_t k = 0; k + 1 < call.arguments.size(); ++k)
        if (changed(call.arguments[k], i)) return false;
      if (fusion_.residual && changed(fusion_.residual, i)) return false;
    }
    return true;
  }
  bool writes(const Planned& p, std::uint32_t group) const {
    if (p.dead) return false;
    for (const Value* v : p.call.arguments)
      if (v && v->kind == ValueKind::tensor && b_.flow_->root(b_.index_of(v)) == group) return true;
    return false;
  }

  // The call does this, too, if there is a kernel for all of it; its result is `out`, and those calls are done.
  bool take(const Fusion& fusion, Value* out, std::span<const std::uint32_t> done) {
    const std::uint32_t to = done.back();
    const Fusion before = fusion_;
    fusion_ = fusion;
    const auto kept = b_.tables_.take<Fusion>(1);
    const auto arguments = b_.tables_.take<Value*>(b_.calls_[at_].call.arguments.size());
    if (!b_.has_room() || !may_move_to(to)) return fusion_ = before, false;
    Call call = b_.calls_[at_].call;
    std::ranges::copy(call.arguments, arguments.begin());
    arguments.back() = out;
    call.arguments = arguments;
    kept[0] = fusion;
    call.fusion = kept.data();
    if (!find_kernel(call)) return fusion_ = before, false;
    b_.calls_[at_].dead = true, b_.calls_[at_].into = to;
    for (const std::uint32_t i : done) b_.calls_[i].dead = true, b_.calls_[i].into = to;
    b_.calls_[to].call = call, b_.calls_[to].dead = false;
    at_ = to, out_ = out;
    return true;
  }

  void take_norm() {
    std::uint32_t at;
    const Planned* p = reader(at);
    if (!p || !b_.is_op(*p, "aten::_native_batch_norm_legit_no_training.out") || p->call.arguments[0] != out_) return;
    const Tensor& images = *out_->tensor;
    for (std::size_t i = 1; i < 5; ++i) {
      const Value& v = p->call[i];
      if (v.kind == ValueKind::none) continue;
      if (!is_f32(v) || !v.tensor->constant || images.rank < 2 || v.tensor->rank != 1 ||
          v.tensor->count() != images.size(1))
        return;
    }
    for (const std::size_t i : {8u, 9u})  // of statistics, which it does not make
      if (!is_f32(p->call[i]) || p->call.tensor(i).rank != 1 || p->call.tensor(i).count() != 0) return;
    if (p->call[6].kind != ValueKind::real || p->call[6].changes || !is_f32(p->call[7]) ||
        !same_sizes(images, p->call.tensor(7)) || !same_elements(images, p->call.tensor(7)))
      return;
    Fusion fusion = fusion_;
    fusion.norm = p->call.arguments;
    take(fusion, p->call.arguments[7], {&at, 1});
  }

  void take_residual() {
    std::uint32_t at;
    const Planned* p = reader(at);
    if (!p || !b_.is_op(*p, "aten::add.out") || !is_number(p->call[2], 1) || !is_pointwise_f32(p->call)) return;
    Value *a = p->call.arguments[0], *b = p->call.arguments[1];
    const std::uint32_t group = b_.flow_->root(b_.index_of(out_));
    Value* other = b_.flow_->root(b_.index_of(a)) == group ? b : a;
    if (!is_f32(*a) || !is_f32(*b) || !same_elements(*a->tensor, *b->tensor) ||
        !same_elements(*a->tensor, p->call.tensor(3)))
      return;
    if (other->tensor->constant) return;
    Fusion fusion = fusion_;
    fusion.residual = other;
    take(fusion, p->call.arguments[3], {&at, 1});
  }

  bool take_clamp(double low, double high, Value* out, std::uint32_t at) {
    Fusion fusion = fusion_;
    const bool first = fusion.activation == kernels::Activation::none;
    if (!first && fusion.activation != kernels::Activation::clamp) return false;
    fusion.activation = kernels::Activation::clamp;
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const float before_low = first ? -infinity : fusion_.low, before_high = first ? infinity : fusion_.high;
    if (!(low <= high) || static_cast<float>(low) > before_high || static_cast<float>(high) < before_low) return false;
    fusion.low = std::max(static_cast<float>(low), before_low);
    fusion.high = std::min(static_cast<float>(high), before_high);
    return take(fusion, out, {&at, 1});
  }

  // One that is a single call.
  bool take_call(const Planned& p, std::uint32_t at) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const Call& call = p.call;
    Value* out = call.arguments.back();
    if (call[0].kind != ValueKind::tensor || b_.flow_->root(b_.index_of(&call[0])) != b_.flow_->root(b_.index_of(out_)))
      return false;
    if (!is_pointwise_f32(call) || !same_elements(call.tensor(0), *out->tensor)) return false;
    const auto limit = [&](const Value& v, double none) {
      return v.kind == ValueKind::none ? std::optional(none) : number_of(v);
    };
    if (b_.is_op(p, "aten::relu.out")) return take_clamp(0, infinity, out, at);
    if (b_.is_op(p, "aten::hardtanh.out") || b_.is_op(p, "aten::clamp.out")) {
      const auto low = limit(call[1], -infinity), high = limit(call[2], infinity);
      return low && high && take_clamp(*low, *high, out, at);
    }
    if (fusion_.activation != kernels::Activation::none) return false;
    Fusion fusion = fusion_;
    if (b_.is_op(p, "aten::sigmoid.out")) fusion.activation = kernels::Activation::sigmoid;
    if (b_.is_op(p, "aten::gelu.out"))
      fusion.activation = call[1].string() == "tanh" ? kernels::Activation::gelu_tanh : kernels::Activation::gelu;
    return fusion.activation != kernels::Activation::none && take(fusion, out, {&at, 1});
  }

  // The calls from x + 3 on that make clamp(x + 3, 0, 6); their result, or null.
  Value* clamped_by_six(std::uint32_t at, std::uint32_t* done, std::size_t& n) const {
    const Planned& add = b_.calls_[at];
    const bool adds = (b_.is_op(add, "aten::add.out") || b_.is_op(add, "aten::add.Scalar_out")) &&
                      is_number(add.call[1], 3) && is_number(add.call[2], 1) && is_pointwise_f32(add.call);
    if (!adds) return nullptr;
    done[n++] = at;
    Value* v = add.call.arguments.back();
    double low = -1, high = -1;
    for (int i = 0; i < 2 && (low < 0 || high < 0); ++i) {
      std::uint32_t next;
      if (readers(*v, &next, 1) != 1) return nullptr;
      const Planned& clamp = b_.calls_[next];
      if (!(b_.is_op(clamp, "aten::clamp.out") || b_.is_op(clamp, "aten::hardtanh.out")) ||
          !is_pointwise_f32(clamp.call))
        return nullptr;
      if (clamp.call[1].kind != ValueKind::none) low = number_of(clamp.call[1]).value_or(-2);
      if (clamp.call[2].kind != ValueKind::none) high = number_of(clamp.call[2]).value_or(-2);
      done[n++] = next, v = clamp.call.arguments.back();
    }
    return low == 0 && high == 6 ? v : nullptr;
  }

  // x / 6 of a value that nothing else reads; null: there is none.
  Value* divided_by_six(const Value& v, std::uint32_t* done, std::size_t& n) const {
    std::uint32_t next;
    if (readers(v, &next, 1) != 1) return nullptr;
    const Planned& p = b_.calls_[next];
    if (!(b_.is_op(p, "aten::div.out") || b_.is_op(p, "aten::div.Scalar_out")) || !is_number(p.call[1], 6) ||
        !is_pointwise_f32(p.call))
      return nullptr;
    done[n++] = next;
    return p.call.arguments.back();
  }

  bool take_activation() {
    std::uint32_t found[2], done[6];
    std::size_t n = 0;
    const std::size_t count = readers(*out_, found, 2);
    if (count == 0 ||
        (fusion_.activation != kernels::Activation::none && fusion_.activation != kernels::Activation::clamp))
      return false;
    Fusion fusion = fusion_;
    if (count == 1) {
      if (take_call(b_.calls_[found[0]], found[0]))
        return fusion_.activation == kernels::Activation::clamp && take_activation();
      if (fusion_.activation != kernels::Activation::none) return false;
      Value* v = clamped_by_six(found[0], done, n);
      if (v) v = divided_by_six(*v, done, n);
      fusion.activation = kernels::Activation::hardsigmoid;
      return v && is_f32(*v) && same_elements(*out_->tensor, *v->tensor) && take(fusion, v, {done, n});
    }
    if (fusion_.activation != kernels::Activation::none) return false;
    const Planned& product = b_.calls_[found[1]];
    if (!b_.is_op(product, "aten::mul.out") || !is_pointwise_f32(product.call)) return false;
    Value* gate = nullptr;
    if (const Planned& p = b_.calls_[found[0]]; b_.is_op(p, "aten::sigmoid.out") && is_pointwise_f32(p.call)) {
      done[n++] = found[0], gate = b_.calls_[found[0]].call.arguments.back();
      fusion.activation = kernels::Activation::silu;
    } else {
      gate = clamped_by_six(found[0], done, n);
      fusion.activation = kernels::Activation::hardswish;
    }
    std::uint32_t reads_gate;
    if (!gate || readers(*gate, &reads_gate, 1) != 1 || reads_gate != found[1]) return false;
    done[n++] = found[1];
    Value* v = product.call.arguments.back();
    if (fusion.activation == kernels::Activation::hardswish) v = divided_by_six(*v, done, n);
    return v && is_f32(*v) && same_elements(*out_->tensor, *v->tensor) && take(fusion, v, {done, n});
  }

  Builder& b_;
  std::uint32_t at_;
  Value* out_;
  Fusion fusion_;
};

void Builder::fuse_into_products() {
  for (std::uint32_t i = 0; i < calls_.size(); ++i)
    for (const std::string_view op : {"aten::convolution.out", "aten::addmm.out", "aten::mm.out", "aten::linear.out"})
      if (is_op(calls_[i], op) && !calls_[i].call.fusion && is_f32(*calls_[i].call.arguments.back())) {
        Fuser(*this, i).fuse_into_product();
        break;
      }
}

void Builder::fuse_into_softmax() {
  for (std::uint32_t i = 0; i < calls_.size(); ++i)
    if (is_op(calls_[i], "aten::_softmax.out")) Fuser(*this, i).fuse_into_softmax();
}

// Indices of a pool are not written where nobody reads them.
void Builder::leave_out_indices() {
  for (Planned& p : calls_) {
    if (!is_op(p, "aten::max_pool2d_with_indices.out") || p.call.tensor(0).moves || !find_kernel(p.call)) continue;
    const std::uint32_t indices = index_of(p.call.arguments.back());
    if (!flow_->is_private(indices) || flow_->group(indices).readers > 0) continue;
    const auto fusion = tables_.take<Fusion>(1);
    if (!has_room()) return;
    fusion[0] = {};
    fusion[0].unread = true;
    p.call.fusion = fusion.data();
  }
}

// Images that only kernels see which take them channels last are kept so from convolution to convolution, which want
// them, and in what is between.
void Builder::use_channels_last() {
  static constexpr std::uint8_t channels_last[] = {0, 2, 3, 1};
  constexpr int most_rounds = 64;
  const auto kept = workspace_.take<const std::uint8_t*>(method_.values());
  if (!has_room()) return;
  const auto may_turn = [&](std::uint32_t v) {
    const Tensor& t = tensors_[v];
    if (!method_.tensor(v) || t.moves || t.constant || t.rank != 4 || !t.is_contiguous()) return false;
    bool may = is_seen_alike(v) && t.size(1) != 1 && t.size(2) * t.size(3) != 1;
    flow_->each_member(v, [&](std::uint32_t m) { may = may && same_sizes(tensors_[m], t); });
    return may;
  };
  const auto turn = [&](std::uint32_t v) {
    if (kept[v] || !may_turn(v)) return false;
    flow_->each_member(
        v, [&](std::uint32_t m) { kept[m] = tensors_[m].dim_order, tensors_[m].dim_order = channels_last; });
    return true;
  };
  const auto turn_back = [&](std::uint32_t v) {
    if (!kept[v]) return false;
    flow_->each_member(v, [&](std::uint32_t m) { tensors_[m].dim_order = kept[m], kept[m] = nullptr; });
    return true;
  };
  bool changed = true;
  for (int round = 0; changed && round < most_rounds; ++round) {
    changed = false;
    for (const Planned& p : calls_) {
      if (p.dead || !p.call.roles) continue;
      bool wants = is_op(p, "aten::convolution.out");
      each_tensor(p.call, [&](std::uint32_t v) { wants = wants || kept[v]; });
      if (wants) each_tensor(p.call, [&](std::uint32_t v) { changed |= turn(v); });
    }
  }
  changed = true;
  for (int round = 0; changed; ++round) {
    changed = false;
    for (const Planned& p : calls_)
      if (!p.dead && p.call.roles && (round >= most_rounds || !find_kernel(p.call)))
        each_tensor(p.call, [&](std::uint32_t v) { changed |= turn_back(v); });
  }
}

void Builder::rewrite() {
  fold_constants();
  drop_copies();
  fuse_into_products();
  fuse_into_softmax();
  leave_out_indices();
  use_channels_last();
}

}  // namespace assay::optimized
