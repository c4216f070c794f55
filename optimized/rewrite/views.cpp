#include "optimized/selection/views.h"

#include "optimized/draft/draft.h"
#include "optimized/runtime/table.h"
#include "rewrites.gen.h"

// Drops a copy that only changes strides if all calls that read it can read its source through a view. The source keeps
// the same elements until the last of these calls, because neither these calls nor a call in between writes the source.
// Each of these calls therefore reads the same elements as before.
namespace assay::optimized {
namespace {

constexpr std::size_t most_arguments = 12, most_uses = 4;

// A call that reads an argument through a view.
struct ViewUse {
  std::uint32_t call = 0;
  std::size_t argument = 0;
  View view;
};

// A copy that this rewrite may drop.
class Copy {
 public:
  Copy(Draft& draft, std::uint32_t at) : draft_(draft), at_(at), call_(draft.calls[at].call) {}

  bool leave_out() {
    const auto view = view_of_copy(call_);
    const Value& out = *call_.arguments.back();
    if (!view || !find_kernel(call_) || !draft_.flow.is_private(draft_.index_of(out)) || !out.tensor->is_contiguous() ||
        !find_uses(*view))
      return false;
    for (std::size_t i = 0; i < uses_; ++i)
      if (!can_read(all_[i])) return false;
    for (std::size_t i = 0; i < uses_; ++i) read(all_[i]);
    return draft_.calls[at_].dead = draft_.has_room();
  }

 private:
  // Whether a kernel has accepted the call for all sizes, so that it must not change.
  static bool reads_moving_views(const Call& call) {
    return call.fusion && call.fusion->attention && call.fusion->attention->moving;
  }

  Value& source() const { return *call_.arguments[0]; }

  bool find_uses(const View& view) {
    const Tensor& out = *call_.arguments.back()->tensor;
    const std::uint32_t group = draft_.root(*call_.arguments.back());
    for (std::uint32_t i = at_ + 1; i < draft_.calls.size(); ++i) {
      const Instruction& p = draft_.calls[i];
      if (p.dead) continue;
      std::size_t reads = 0;
      each_tensor(p.call, [&](const Value& v) { reads += draft_.root(v) == group; });
      if (reads > 0 && (!p.call.roles || reads_moving_views(p.call))) return false;
      const auto arguments = p.call.arguments;
      for (std::size_t k = 0; reads > 0 && k + 1 < arguments.size(); ++k) {
        const Value* v = arguments[k];
        if (!v || v->kind != ValueKind::tensor || draft_.root(*v) != group) continue;
        const View before = view_of(p.call, k);  // the call may read the copy through a view itself
        ViewUse use{i, k, before};
        if (uses_ == most_uses || !draft_.same_elements(*v->tensor, out) || !compose(use.view, view, strides_of(out)) ||
            !std::ranges::equal(use.view.shape.span(), before.shape.span()))
          return false;
        all_[uses_++] = use, --reads;
        break;
      }
      if (reads > 0) return false;  // the call reads it in a list, in its fusion or twice
    }
    return uses_ > 0;
  }

  bool can_read(const ViewUse& use) const {
    const Instruction& p = draft_.calls[use.call];
    const Value& from = source();
    if (!p.is_typed || p.call.arguments.size() > most_arguments || !find_kernel(p.call) ||
        !draft_.stays(from, at_, use.call))
      return false;
    for (const Value* v : p.call.arguments)
      if (v && v->kind == ValueKind::tensor && draft_.root(*v) == draft_.root(from) &&
          !draft_.flow.is_steady(draft_.index_of(from)) && !from.tensor->constant)
        return false;
    Value* arguments[most_arguments];
    const View* views[most_arguments] = {};
    Fusion fusion;
    return find_kernel(reading(use, &use.view, arguments, views, fusion));
  }

  // The call with its argument read through the view. The caller gives memory for the operands.
  Call reading(const ViewUse& use, const View* view, std::span<Value*> arguments, std::span<const View*> views,
               Fusion& fusion) const {
    Call call = draft_.calls[use.call].call;
    if (call.fusion) {
      fusion = *call.fusion;
      std::ranges::copy(fusion.views, views.begin());
    }
    std::ranges::copy(call.arguments, arguments.begin());
    arguments[use.argument] = &source(), views[use.argument] = view;
    fusion.views = views.first(call.arguments.size());
    call.arguments = arguments.first(call.arguments.size()), call.fusion = &fusion;
    return call;
  }

  void read(const ViewUse& use) {
    Call& call = draft_.calls[use.call].call;
    const std::size_t n = call.arguments.size();
    const auto view = draft_.tables.take<View>(1);
    const auto views = draft_.tables.take<const View*>(n);
    const auto arguments = draft_.tables.take<Value*>(n);
    const auto fusion = draft_.tables.take<Fusion>(1);
    if (!draft_.has_room()) return;
    view[0] = use.view;
    call = reading(use, view.data(), arguments, views, fusion[0]);
  }

  Draft& draft_;
  std::uint32_t at_;
  Call call_;
  ViewUse all_[most_uses];
  std::size_t uses_ = 0;
};

bool read(Draft& draft) {
  if (!draft.find_sizes()) return false;
  bool changed = false;
  for (std::uint32_t i = 0; i < draft.calls.size() && draft.lookups_left >= draft.calls.size(); ++i) {
    const Instruction& p = draft.calls[i];
    if (p.dead || !p.is_typed || !find_viewer(p.call.roles->name)) continue;
    draft.lookups_left -= draft.calls.size();
    changed |= Copy(draft, i).leave_out();
  }
  return changed;
}

}  // namespace

const Rewrite read_through_views{"read_through_views", read};

}  // namespace assay::optimized
