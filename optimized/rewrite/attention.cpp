#include <cmath>
#include <optional>

#include "optimized/rewrite/fuser.h"
#include "optimized/runtime/table.h"
#include "optimized/selection/views.h"
#include "rewrites.gen.h"

// Merges softmax(scale q k^T + mask) v into one call. The scores are not stored. The merged call computes the same
// formula, with one product of all factors as the scale; results change at most by rounding. No other call reads the
// intermediate results that are no longer stored, and no call changes an operand before the merged call reads it.
namespace assay::optimized {
namespace {

constexpr std::size_t most_links = 12;

// An operand and its origin: the chain of calls between them only changes strides or multiplies by numbers. The chain
// has the last call first.
struct Traced {
  Value* value = nullptr;
  View view{};
  double scale = 1;
  std::uint32_t chain[most_links] = {};
  std::size_t length = 0;
};

class Attending : public Fuser {
 public:
  using Fuser::Fuser;

  bool fuse() {
    if (!find_kernel(call()) || !to_softmax() || !to_values() || !take_operands()) return false;
    take_copies();
    return true;
  }

 private:
  // The factor by which a call multiplies each element. Returns nothing if the call does something else.
  std::optional<double> factor_of(const Instruction& p) const {
    const bool multiplies = is_op(p, "aten::mul.out") || is_op(p, "aten::mul.Scalar_out");
    if (!multiplies && !is_op(p, "aten::div.out") && !is_op(p, "aten::div.Scalar_out")) return {};
    const auto n = number_of(p.call[1]);
    if (!n || p.call.fusion || !draft_.is_pointwise_f32(p.call) || !draft_.same_elements(p.call.tensor(0), out_of(p)))
      return {};
    const double factor = multiplies ? *n : 1 / *n;
    return std::isfinite(factor) ? std::optional(factor) : std::nullopt;
  }

  static const Tensor& out_of(const Instruction& p) { return *p.call.arguments.back()->tensor; }

  // From the product to the softmax: each call reads the result of the one before, and no other call does.
  bool to_softmax() {
    scores_ = &result();
    for (std::uint32_t at; done_ < 5 && readers(*scores_, &at, 1) == 1;) {
      const Instruction& p = draft_.calls[at];
      if (is_op(p, "aten::_softmax.out")) return take_softmax(p, at);
      const auto factor = factor_of(p);
      if (factor && !mask_.value)
        scale_ *= *factor;
      else if (!take_mask(p, at))
        return false;
      follow(p, at);
    }
    return false;
  }

  void follow(const Instruction& p, std::uint32_t at) { scores_ = p.call.arguments.back(), all_[done_++] = at; }

  bool take_mask(const Instruction& p, std::uint32_t at) {
    if (mask_.value || !is_op(p, "aten::add.out") || !is_number(p.call[2], 1) || !draft_.is_pointwise_f32(p.call))
      return false;
    const bool first = draft_.root(p.call[0]) == draft_.root(*scores_);
    Value* mask = p.call.arguments[first];
    if (draft_.root(*mask) == draft_.root(*scores_) || !draft_.same_elements(p.call.tensor(!first), out_of(p)))
      return false;
    const Shape shape = shape_of(out_of(p));
    if (shape.rank < 2) return false;
    mask_ = trace(*mask, {shape, 0, strides_in(shape, *mask->tensor)}, at, false);
    return true;
  }

  bool take_softmax(const Instruction& p, std::uint32_t at) {
    const Tensor& self = p.call.tensor(0);
    if (!find_kernel(p.call) || self.rank == 0 || dim_of(p.call[1], self.rank) != self.rank - 1 ||
        !draft_.same_sizes(self, out_of(p)) || !self.is_contiguous() ||
        self.size(self.rank - 1) != result().tensor->size(result().tensor->rank - 1))
      return false;
    safe_ = p.call.fusion && p.call.fusion->safe;
    follow(p, at);
    return true;
  }

  bool to_values() {
    std::uint32_t at;
    if (readers(*scores_, &at, 1) != 1) return false;
    const Instruction& p = draft_.calls[at];
    if (!is_op(p, "aten::bmm.out") || p.call.fusion || !find_kernel(p.call) ||
        draft_.root(p.call[0]) != draft_.root(*scores_) || draft_.root(p.call[1]) == draft_.root(*scores_) ||
        !draft_.same_sizes(p.call.tensor(0), *result().tensor))
      return false;
    values_ = trace(*p.call.arguments[1], whole(p.call.tensor(1)), at, false);
    follow(p, at);
    return true;
  }

  // The origin of the elements of an operand that call `reader` reads through a view.
  Traced trace(Value& operand, const View& view, std::uint32_t reader, bool scales) const {
    Traced traced{&operand, view};
    while (traced.length < most_links && take_link(traced, reader, scales)) {
    }
    return traced;
  }

  // A view is a view of memory: a call may read the bytes as any value of the group.
  bool take_link(Traced& traced, std::uint32_t reader, bool scales) const {
    const std::uint32_t v = draft_.index_of(*traced.value), at = draft_.flow.group(v).writer;
    if (!is_f32(*traced.value) || !draft_.flow.is_private(v) || at >= reader) return false;
    const Instruction& p = draft_.calls[at];
    if (p.dead || !p.is_typed || p.call.fusion || !is_f32(*p.call.arguments.back())) return false;
    if (const auto copied = view_of_copy(p.call)) {
      View view = traced.view;
      if (!compose(view, *copied, strides_of(out_of(p))) || !has_matrices_of(view, traced.view)) return false;
      traced.view = view;
    } else if (const auto factor = scales ? factor_of(p) : std::nullopt) {
      traced.scale *= *factor;
    } else {
      return false;
    }
    traced.chain[traced.length++] = at, traced.value = p.call.arguments[0];
    return true;
  }

  static bool has_matrices_of(const View& a, const View& b) {
    return std::equal(a.shape.sizes + a.shape.rank - 2, a.shape.sizes + a.shape.rank, b.shape.sizes + b.shape.rank - 2);
  }

  const View* kept(const View& view) const {
    const auto kept = draft_.tables.take<View>(1);
    if (!kept.empty()) kept[0] = view;
    return kept.data();
  }

  bool take_operands() {
    const std::uint32_t from = at(), to = all_[done_ - 1];
    const Traced q = trace(*call().arguments[0], whole(call().tensor(0)), from, true);
    const Traced k = trace(*call().arguments[1], whole(call().tensor(1)), from, true);
    for (const Traced* t : std::initializer_list<const Traced*>{&q, &k, &values_, &mask_})
      if (t->value && !draft_.stays(*t->value, t->length > 0 ? t->chain[t->length - 1] : from, to)) return false;
    const auto attention = draft_.tables.take<Attention>(1);
    const auto views = draft_.tables.take<const View*>(3);
    const auto arguments = draft_.tables.take<Value*>(3);
    if (!draft_.has_room()) return false;
    attention[0] = {values_.value,
                    mask_.value,
                    kept(values_.view),
                    mask_.value ? kept(mask_.view) : nullptr,
                    static_cast<float>(scale_ * q.scale * k.scale),
                    safe_};
    views[0] = kept(q.view), views[1] = kept(k.view), views[2] = nullptr;
    arguments[0] = q.value, arguments[1] = k.value, arguments[2] = &result();
    Fusion fusion;
    fusion.attention = attention.data(), fusion.views = views;
    if (!take(fusion, arguments, scores_, {all_, done_})) return false;
    for (const Traced* t : std::initializer_list<const Traced*>{&q, &k, &values_, &mask_}) {
      if (t->length > 0) draft_.flow.enter(draft_.index_of(*t->value));
      for (std::size_t i = 0; i < t->length; ++i) draft_.leave_if_unread(t->chain[i], to);
    }
    return true;
  }

  // Where the result is copied, it is written to the place of the copy, as far as strides can tell that place.
  void take_copies() {
    const Tensor written = *result().tensor;
    View view = whole(written), to;
    std::uint32_t done[most_links];
    Value *v = &result(), *last = nullptr;
    std::size_t n = 0, length = 0;
    while (n < most_links && readers(*v, &done[n], 1) == 1) {
      const Instruction& p = draft_.calls[done[n]];
      const auto copied = p.is_typed && !p.call.fusion ? view_of_copy(p.call) : std::nullopt;
      if (!copied) break;
      View all = *copied;
      if (!compose(all, view, strides_of(*v->tensor)) || !has_sizes(all, out_of(p)) ||
          !is_f32(*p.call.arguments.back()))
        break;
      v = p.call.arguments.back(), view = all, ++n;
      if (invert(all, strides_of(*v->tensor)) && reshape(all, written.shape())) to = all, last = v, length = n;
    }
    const auto views = draft_.tables.take<const View*>(3);
    if (length == 0 || !draft_.has_room()) return;
    Fusion fusion = fused();
    std::ranges::copy(fusion.views, views.begin());
    views[2] = kept(to), fusion.views = views;
    take(fusion, last, {done, length});
  }

  // `view` has each element of a tensor once. Given the strides of another tensor along the view's dimensions, these
  // are the places in the other tensor of the elements in the tensor's own order.
  static bool invert(View& view, const Strides& other) {
    View to;
    for (int d = 0; d < view.shape.rank; ++d) {
      if (view.shape.sizes[d] == 1) continue;
      int at = to.shape.rank++;
      for (; at > 0 && view.strides.of[to.shape.sizes[at - 1]] < view.strides.of[d]; --at)
        to.shape.sizes[at] = to.shape.sizes[at - 1];
      to.shape.sizes[at] = d;
    }
    std::ptrdiff_t next = 1;
    for (int i = to.shape.rank - 1; i >= 0; --i) {
      const int d = to.shape.sizes[i];
      if (view.strides.of[d] != next) return false;
      next *= view.shape.sizes[d];
      to.shape.sizes[i] = view.shape.sizes[d], to.strides.of[i] = other.of[d];
    }
    return view = to, true;
  }

  Value* scores_ = nullptr;  // the scores, or what is computed of them
  double scale_ = 1;
  bool safe_ = false;
  Traced mask_, values_;
  std::uint32_t all_[6];
  std::size_t done_ = 0;
};

bool fuse_attention(Draft& draft) {
  if (!draft.find_sizes()) return false;
  bool changed = false;
  for (std::uint32_t i = 0; i < draft.calls.size(); ++i)
    if (draft.is_op(draft.calls[i], "aten::bmm.out") && !draft.calls[i].call.fusion)
      changed |= Attending(draft, i).fuse();
  return changed;
}

}  // namespace

const Rewrite fuse_into_attention{"fuse_into_attention", fuse_attention};

}  // namespace assay::optimized
