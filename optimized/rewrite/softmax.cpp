#include <limits>

#include "optimized/rewrite/fuser.h"
#include "optimized/selection/layout.h"
#include "rewrites.gen.h"

// Fuses a softmax with the calls that replace its result by 0 in rows whose elements are all -infinity. The fused
// softmax writes zeros for these rows and is unchanged for all other rows, which is what the calls compute together.
// No other call reads the intermediate results, and x does not change between the softmax and the comparison. Where
// sizes move, all results have the symbolic sizes of x, or those of its rows, and their bounds allow all sizes.
namespace assay::optimized {
namespace {

// A reduction along one dimension that keeps the dimension has a result of the right sizes.
bool is_reduced(const Draft& draft, const Call& call) {
  const auto self = draft.sizes_of(call.tensor(0)), out = draft.sizes_of(call.out());
  const int dim = dim_of(call[1], call.tensor(0).rank);
  if (dim < 0 || !self || !out || !call[2].boolean) return false;
  Shape shape = *self;
  shape.sizes[dim] = 1;
  return are_equal(shape, *out);
}

// y = softmax(x); where(not any(not (x == -infinity)), full_like(y, 0), y), along one dimension.
bool fuse_mask(Draft& draft, std::uint32_t at) {
  Fuser fuser(draft, at);
  const Call& softmax = fuser.call();
  const Value& y = fuser.result();
  std::uint32_t done[6], reads[2];
  if (fuser.readers(y, reads, 2) != 2) return false;
  done[5] = reads[1];
  const Instruction* where = &draft.calls[done[5]];
  if (!draft.is_op(*where, "aten::where.self_out") || where->call.arguments[2] != &y) return false;
  const Instruction* none = fuser.maker(where->call[0], "aten::logical_not.out", done[4]);
  const Instruction* any = none ? fuser.maker(none->call[0], "aten::any.out", done[3]) : nullptr;
  const Instruction* other = any ? fuser.maker(any->call[0], "aten::logical_not.out", done[2]) : nullptr;
  const Instruction* equal = other ? fuser.maker(other->call[0], "aten::eq.Scalar_out", done[1]) : nullptr;
  const Instruction* zeros = equal ? fuser.maker(where->call[1], "aten::full_like.out", done[0]) : nullptr;
  if (!zeros || done[0] != reads[0] || !is_number(equal->call[1], -std::numeric_limits<double>::infinity()) ||
      !is_number(zeros->call[1], 0))
    return false;
  const Value& x = softmax[0];
  for (const Instruction* mask : {equal, other, any, none})
    if (mask->call.arguments.back()->tensor->dtype != DType::boolean ||
        !draft.always_fits(*mask->call.arguments.back()) ||
        !(mask == any ? is_reduced(draft, mask->call) : draft.has_sizes_of_operands(mask->call)))
      return false;
  const bool sized = draft.is_pointwise_f32(zeros->call) && draft.has_sizes_of_operands(where->call) &&
                     draft.same_sizes(*x.tensor, *y.tensor) && draft.always_fits(y) &&
                     draft.always_fits(*zeros->call.arguments.back());
  const bool same_x = draft.root(equal->call[0]) == draft.root(x) && draft.flow.is_steady(draft.index_of(x));
  const bool same_rows = !softmax[1].changes && softmax[1].integer == any->call[1].integer && !any->call[1].changes &&
                         !any->call[2].changes;
  Value* out = where->call.arguments.back();
  if (!sized || !same_x || !same_rows || !is_float32(x) || !is_float32(y) || !is_float32(*out) ||
      !draft.same_elements(*x.tensor, *out->tensor))
    return false;
  Fusion fusion = fuser.fused();
  fusion.safe = true;
  if (!fuser.take(fusion, out, done)) return false;
  draft.flow.leave(draft.index_of(x));  // the comparison no longer reads it
  return true;
}

bool fuse(Draft& draft) {
  if (!draft.find_sizes()) return false;
  bool changed = false;
  for (std::uint32_t i = 0; i < draft.calls.size(); ++i)
    if (draft.is_op(draft.calls[i], "aten::_softmax.out")) changed |= fuse_mask(draft, i);
  return changed;
}

}  // namespace

const Rewrite fuse_into_softmax{"fuse_into_softmax", fuse};

}  // namespace assay::optimized
