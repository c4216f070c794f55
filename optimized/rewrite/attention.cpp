#include <cmath>
#include <optional>
#include <utility>

#include "optimized/draft/generic_sizes.h"
#include "optimized/rewrite/fuser.h"
#include "optimized/runtime/table.h"
#include "optimized/selection/views.h"
#include "rewrites.gen.h"

// Merges softmax(scale q k^T + mask) v into one call. The scores are not stored. The merged call computes the same
// formula, with one product of all factors as the scale; results change at most by rounding. No other call reads the
// intermediate results that are no longer stored, and no call changes an operand before the merged call reads it.
//
// Where sizes move, the merged call makes the views of its operands anew in each execution: it keeps the calls that
// only change strides. None of the calls that are no longer executed could refuse sizes: the sizes of their operands
// and results are equal symbols, views can be made of generic sizes, and the bounds of each result allow all its sizes.
namespace assay::optimized {
namespace {

constexpr std::size_t most_links = 12, most_calls = 10;
constexpr std::size_t most_moving_links = 20;  // of all operands, so that copies of the calls fit in the tables

// An operand and its origin: the chain of calls between them only changes strides or multiplies by numbers. The chain
// has the last call first.
struct Traced {
  Value* value = nullptr;
  View view{};
  double scale = 1;
  std::uint32_t chain[most_links] = {};
  std::size_t length = 0;
  // Where sizes move, the view is not known, but the calls of the chain that make it. They fill the array from its end.
  std::uint32_t all_links[most_links] = {};
  std::size_t link_count = 0;
  void add_link(std::uint32_t call) { all_links[most_links - ++link_count] = call; }
  std::span<const std::uint32_t> links() const { return {all_links + most_links - link_count, link_count}; }
};

class Attending : public Fuser {
 public:
  using Fuser::Fuser;

  bool fuse() {
    if (!find_kernel(call()) || !to_softmax() || !to_values() || !take_operands()) return false;
    moves_ ? take_moving_copies() : take_copies();
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
    if (!draft_.always_fits(*scores_) || !draft_.has_sizes_of_product(call())) return false;
    for (std::uint32_t at; done_ + 3 < most_calls && next(*scores_, at);) {
      const Instruction& p = draft_.calls[at];
      if (is_view(p)) {
        if (!follow(p, at)) return false;
        continue;
      }
      if (is_op(p, "aten::_softmax.out")) return take_softmax(p, at);
      const auto factor = factor_of(p);
      if (factor && !mask_.value)
        scale_ *= *factor;
      else if (!take_mask(p, at))
        return false;
      if (!follow(p, at)) return false;
    }
    return false;
  }

  // Whether the instruction makes a view whose sizes are known.
  bool is_view(const Instruction& p) const {
    return p.call.roles->has(format::Use::viewed) && out_of(p).moves && p.call.tensor(0).is_contiguous() &&
           out_of(p).is_contiguous() && p.call[1].kind == ValueKind::integers &&
           std::ranges::all_of(p.call[1].items(),
                               [&](const Value* size) { return draft_.sizes->integer_of(*size) != unknown_size; });
  }
  bool is_link(const Instruction& p) const { return is_view(p) || find_viewer(p.call.roles->name); }

  // The only call that reads a value, except the views of its bytes that were followed. A view comes before the calls
  // that read it.
  bool next(const Value& value, std::uint32_t& at) {
    std::uint32_t found[4];
    const std::size_t n = readers(value, found, std::size(found));
    if (n <= views_) return false;
    at = found[views_];
    if (is_view(draft_.calls[at])) return draft_.calls[at].call.arguments[0] == &value && ++views_;
    return n == std::exchange(views_, 0) + 1;
  }

  // Moves on to the result of a call. Returns false if an execution may give it sizes that it cannot have.
  bool follow(const Instruction& p, std::uint32_t at) {
    scores_ = p.call.arguments.back(), all_[done_++] = at;
    return draft_.always_fits(*scores_);
  }

  bool take_mask(const Instruction& p, std::uint32_t at) {
    if (mask_.value || !is_op(p, "aten::add.out") || !is_number(p.call[2], 1) || !draft_.is_pointwise_f32(p.call))
      return false;
    const bool first = draft_.root(p.call[0]) == draft_.root(*scores_);
    Value* mask = p.call.arguments[first];
    if (draft_.root(*mask) == draft_.root(*scores_) || !draft_.same_elements(p.call.tensor(!first), out_of(p)))
      return false;
    const Shape shape = shape_of(out_of(p));
    if (shape.rank < 2) return false;
    moves_ = moves_ || out_of(p).moves || mask->tensor->moves;
    if (moves_) mask_like_ = {*draft_.sizes_of(out_of(p)), 0, {}};
    mask_ = trace(*mask, {shape, 0, strides_in(shape, *mask->tensor)}, at, false);
    return !moves_ || std::all_of(mask_like_.shape.sizes, mask_like_.shape.sizes + mask_like_.shape.rank - 2,
                                  [](std::int32_t size) { return size >= 0; });
  }

  // Whether the last sizes of two tensors are equal in every execution.
  bool same_columns(const Tensor& a, const Tensor& b) const {
    const auto x = draft_.sizes_of(a), y = draft_.sizes_of(b);
    return x && y && x->sizes[x->rank - 1] == y->sizes[y->rank - 1] && x->sizes[x->rank - 1] != unknown_size;
  }

  bool take_softmax(const Instruction& p, std::uint32_t at) {
    const Tensor& self = p.call.tensor(0);
    if (!find_kernel(p.call) || self.rank == 0 || dim_of(p.call[1], self.rank) != self.rank - 1 ||
        !draft_.same_sizes(self, out_of(p)) || !self.is_contiguous() || !same_columns(self, *result().tensor))
      return false;
    safe_ = p.call.fusion && p.call.fusion->safe;
    return follow(p, at);
  }

  bool to_values() {
    std::uint32_t at;
    if (!next(*scores_, at)) return false;
    if (is_view(draft_.calls[at]) && (!follow(draft_.calls[at], at) || !next(*scores_, at))) return false;
    const Instruction& p = draft_.calls[at];
    if (!is_op(p, "aten::bmm.out") || p.call.fusion || !find_kernel(p.call) ||
        draft_.root(p.call[0]) != draft_.root(*scores_) || draft_.root(p.call[1]) == draft_.root(*scores_) ||
        !draft_.same_sizes(p.call.tensor(0), *result().tensor) || !draft_.has_sizes_of_product(p.call))
      return false;
    moves_ = moves_ || call().tensor(0).moves || call().tensor(1).moves || p.call.tensor(1).moves || p.call.out().moves;
    values_ = trace(*p.call.arguments[1], whole(p.call.tensor(1)), at, false);
    return follow(p, at);
  }

  // The origin of the elements of an operand that call `reader` reads through a view.
  Traced trace(Value& operand, const View& view, std::uint32_t reader, bool scales) const {
    Traced traced{&operand, view};
    const auto take = operand.tensor->moves ? &Attending::take_moving_link : &Attending::take_link;
    while (traced.length < most_links && (this->*take)(traced, reader, scales)) continue;
    return traced;
  }

  // The call that makes exactly this value: its operands tell the sizes.
  bool take_moving_link(Traced& traced, std::uint32_t reader, bool scales) const {
    const std::uint32_t v = draft_.index_of(*traced.value), at = draft_.sizes->setter(v);
    if (!is_float32(*traced.value) || !draft_.flow.is_private(v) || at >= reader) return false;
    const Instruction& p = draft_.calls[at];
    if (p.dead || !p.call.roles || p.call.fusion || p.call.arguments.back() != traced.value || !is_float32(p.call[0]) ||
        !draft_.always_fits(*traced.value))
      return false;
    Traced longer = traced;
    longer.chain[longer.length++] = at, longer.value = p.call.arguments[0];
    if (const auto factor = scales ? factor_of(p) : std::nullopt)
      longer.scale *= *factor;
    else if (longer.add_link(at); !is_link(p) || !make_views(*longer.value, longer.links()))
      return false;
    return traced = longer, true;
  }

  // Whether the calls make views of the sizes of their results, whatever the sizes are.
  bool make_views(const Value& from, std::span<const std::uint32_t> links) const {
    GenericSizes generic(draft_);
    if (!generic.take(from)) return false;
    View view = whole(*from.tensor);
    return std::ranges::all_of(links, [&](std::uint32_t i) {
      const Call& call = draft_.calls[i].call;
      return generic.take(call) && view_through(call, view) && has_sizes(view, call.out());
    });
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

  std::span<const Call> kept_calls(std::span<const std::uint32_t> links) const {
    const auto kept = draft_.tables.take<Call>(links.size());
    if (!kept.empty())
      std::ranges::transform(links, kept.begin(), [&](std::uint32_t i) { return draft_.calls[i].call; });
    return kept;
  }

  // Merges calls with views of sizes that move, if a kernel accepts the generic sizes.
  bool take_moving(const Fusion& with, MovingViews& moving, std::span<Value* const> arguments, Value* out,
                   std::span<const std::uint32_t> done) {
    const Attention& attention = *with.attention;
    GenericSizes generic(draft_);
    const std::span<const Call> chains[] = {moving.q, moving.k, moving.values, moving.mask, moving.out};
    for (const auto calls : chains)
      if (!std::ranges::all_of(calls, [&](const Call& c) { return generic.take(c); })) return false;
    for (const Value* v : {arguments[0], arguments[1], attention.values, attention.mask, out})
      if (v && !generic.take(*v)) return false;
    return moving.accepted = take(with, arguments, out, done);
  }

  // Fills in how operands whose sizes move are read. Returns false if the depth or the width moves, or there are too
  // many calls.
  bool find_views(MovingViews& moving, const Traced& q, const Traced& k) const {
    const Tensor &scores = *result().tensor, &out = *scores_->tensor;
    const auto depth = draft_.sizes_of(call().tensor(0)), width = draft_.sizes_of(out);
    // The kernel broadcasts the mask itself, so that no view of the largest sizes may be left.
    if (mask_.length != mask_.link_count || !depth || !width || depth->sizes[depth->rank - 1] < 1 ||
        width->sizes[width->rank - 1] < 1 ||
        q.link_count + k.link_count + values_.link_count + mask_.link_count > most_moving_links)
      return false;
    const auto most = [](const Tensor& t, int from_last) {
      return static_cast<std::size_t>(t.declared[t.rank - from_last]);
    };
    moving.q = kept_calls(q.links()), moving.k = kept_calls(k.links());
    moving.values = kept_calls(values_.links()), moving.mask = kept_calls(mask_.links());
    moving.queries = most(scores, 2), moving.keys = most(scores, 1);
    moving.depth = most(call().tensor(0), 1), moving.width = most(out, 1);
    return draft_.has_room();
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
    if (!(moves_ ? take_moving_operands(fusion, attention[0], views, arguments, q, k)
                 : take(fusion, arguments, scores_, {all_, done_})))
      return false;
    for (const Traced* t : std::initializer_list<const Traced*>{&q, &k, &values_, &mask_}) {
      if (t->length > 0) draft_.flow.enter(draft_.index_of(*t->value));
      for (std::size_t i = 0; i < t->length; ++i) draft_.leave_if_unread(t->chain[i], to);
    }
    return true;
  }

  bool take_moving_operands(const Fusion& fusion, Attention& attention, std::span<const View*> views,
                            std::span<Value* const> arguments, const Traced& q, const Traced& k) {
    const auto moving = draft_.tables.take<MovingViews>(1);
    if (!draft_.has_room() || !find_views(moving[0], q, k)) return false;
    if (arguments[0]->tensor->moves) views[0] = nullptr;
    if (arguments[1]->tensor->moves) views[1] = nullptr;
    if (attention.values->tensor->moves) attention.values_view = nullptr;
    if (attention.mask) attention.mask_view = kept(mask_like_);
    attention.moving = moving.data();
    return draft_.has_room() && take_moving(fusion, moving[0], arguments, scores_, {all_, done_});
  }

  // The same for copies of a result whose sizes move.
  void take_moving_copies() {
    std::uint32_t done[most_links];
    const Value& first = result();
    Value *v = &result(), *last = nullptr;
    std::size_t n = 0, length = 0;
    views_ = 0;
    while (n < most_links && next(*v, done[n])) {
      const Instruction& p = draft_.calls[done[n]];
      if (p.call.fusion || !is_float32(*p.call.arguments.back()) || !draft_.always_fits(*p.call.arguments.back()) ||
          p.call.arguments[0] != v || !is_link(p) || !make_views(first, {done, n + 1}))
        break;
      v = p.call.arguments.back(), ++n;
      if (!is_view(p)) last = v, length = n;
    }
    const auto moving = draft_.tables.take<MovingViews>(1);
    const auto attention = draft_.tables.take<Attention>(1);
    const auto calls = kept_calls({done, length});
    if (length == 0 || !draft_.has_room()) return;
    Fusion fusion = fused();
    attention[0] = *fusion.attention;
    moving[0] = *attention[0].moving;
    moving[0].out = calls, moving[0].accepted = false;
    attention[0].moving = moving.data(), fusion.attention = attention.data();
    take_moving(fusion, moving[0], call().arguments, last, {done, length});
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

  Value* scores_ = nullptr;  // the scores, or what is computed of them
  double scale_ = 1;
  bool safe_ = false, moves_ = false;
  Traced mask_, values_;
  View mask_like_{};  // the sizes to which the mask is broadcast
  std::uint32_t all_[most_calls];
  std::size_t done_ = 0;
  std::size_t views_ = 0;  // the views of the bytes of the last value that were followed
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
