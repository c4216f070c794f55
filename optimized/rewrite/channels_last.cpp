#include "optimized/draft/draft.h"
#include "optimized/runtime/table.h"
#include "rewrites.gen.h"

// Stores images in the layout channels last, in which convolutions are faster. An image keeps its elements; only their
// places in memory change. Every call that uses the image has a kernel that accepts the layout; otherwise the image
// keeps its old layout. Inputs, outputs and states of the method keep their layout, so the caller sees no change.
namespace assay::optimized {
namespace {

constexpr std::uint8_t channels_last[] = {0, 2, 3, 1};
constexpr int most_rounds = 64;

// Kernels of these operators find elements by strides, so that the sizes of an image do not decide whether a kernel
// accepts its layout. Other kernels examine images whose sizes move only when they run.
constexpr std::string_view accept_all_sizes[] = {"aten::_adaptive_avg_pool2d.out",
                                                 "aten::add.out",
                                                 "aten::avg_pool2d.out",
                                                 "aten::clamp.out",
                                                 "aten::convolution.out",
                                                 "aten::div.out",
                                                 "aten::gelu.out",
                                                 "aten::hardtanh.out",
                                                 "aten::max_pool2d_with_indices.out",
                                                 "aten::mean.out",
                                                 "aten::mul.out",
                                                 "aten::relu.out",
                                                 "aten::sigmoid.out"};

// Images that lie channels last; by value, the dim order that they had before.
class Images {
 public:
  explicit Images(Draft& draft)
      : draft_(draft), before_(draft.workspace.take<const std::uint8_t*>(draft.values.size())) {}

  bool has_turned(std::uint32_t v) const { return before_[v]; }
  bool any_has_turned() const {
    return std::ranges::any_of(before_, [](const std::uint8_t* order) { return order; });
  }
  // Whether a kernel accepts the images of a call as they are now.
  bool may_be_used(const Instruction& p) const {
    bool move = false;
    each_tensor(p.call, [&](const Value& v) { move = move || (v.tensor->moves && before_[draft_.index_of(v)]); });
    return p.call.roles &&
           (!move || std::ranges::find(accept_all_sizes, p.call.roles->name) != std::end(accept_all_sizes)) &&
           find_kernel(p.call);
  }
  bool turn(std::uint32_t v) {
    if (before_[v] || !may_turn(v)) return false;
    draft_.flow.each_member(v, [&](std::uint32_t m) {
      before_[m] = draft_.tensors[m].dim_order, draft_.tensors[m].dim_order = channels_last;
    });
    return true;
  }
  bool turn_back(std::uint32_t v) {
    if (!before_[v]) return false;
    draft_.flow.each_member(v,
                            [&](std::uint32_t m) { draft_.tensors[m].dim_order = before_[m], before_[m] = nullptr; });
    return true;
  }

 private:
  bool may_turn(std::uint32_t v) {
    const Tensor& t = draft_.tensors[v];
    if (draft_.values[v].kind != ValueKind::tensor || t.constant || t.rank != 4 || !t.is_contiguous()) return false;
    bool may = draft_.is_seen_alike(v) && t.size(1) != 1 && t.size(2) * t.size(3) != 1;
    draft_.flow.each_member(v, [&](std::uint32_t m) { may = may && draft_.same_sizes(draft_.tensors[m], t); });
    return may;
  }

  Draft& draft_;
  std::span<const std::uint8_t*> before_;
};

// Keeps images channels last from convolution to convolution, and in the calls between them. Convolutions are faster
// so. Only kernels that accept channels last may see these images.
bool use(Draft& draft) {
  if (!draft.find_sizes()) return false;
  Images images(draft);
  if (!draft.has_room()) return false;
  bool changed = true;
  for (int round = 0; changed && round < most_rounds; ++round) {
    changed = false;
    for (const Instruction& p : draft.calls) {
      if (p.dead || !p.call.roles) continue;
      bool wants = draft.is_op(p, "aten::convolution.out");
      each_tensor(p.call, [&](const Value& v) { wants = wants || images.has_turned(draft.index_of(v)); });
      if (wants) each_tensor(p.call, [&](const Value& v) { changed |= images.turn(draft.index_of(v)); });
    }
  }
  changed = true;
  for (int round = 0; changed; ++round) {
    changed = false;
    for (const Instruction& p : draft.calls)
      if (!p.dead && (round >= most_rounds || !images.may_be_used(p)))
        each_tensor(p.call, [&](const Value& v) { changed |= images.turn_back(draft.index_of(v)); });
  }
  return images.any_has_turned();
}

}  // namespace

const Rewrite use_channels_last{"use_channels_last", use};

}  // namespace assay::optimized
