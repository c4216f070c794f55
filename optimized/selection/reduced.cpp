#include "optimized/selection/reduced.h"

namespace assay::optimized {
namespace {

// A bit for each reduced dimension.
bool reduced_dims(const Call& call, Dims dims, std::uint32_t& reduced) {
  const int rank = call.tensor(0).rank;
  const std::uint32_t all = (std::uint32_t{1} << rank) - 1;
  reduced = all;
  if (dims == Dims::all || call[1].kind == ValueKind::none) return true;
  reduced = 0;
  const auto add = [&](const Value& v) {
    const int d = dim_of(v, rank);
    if (d < 0 || (reduced >> d & 1)) return false;
    reduced |= std::uint32_t{1} << d;
    return true;
  };
  if (call[1].kind != ValueKind::integers) return add(call[1]) && ((reduced &= all), true);
  for (const Value* v : call[1].items())
    if (!add(*v)) return false;
  reduced = call[1].count == 0 && dims == Dims::named_or_all ? all : reduced & all;
  return true;
}

}  // namespace

bool plan(const Call& call, Dims dims, Shape& result, std::uint32_t& reduced, std::size_t keepdim) {
  if (!reduced_dims(call, dims, reduced)) return false;
  const Tensor& self = call.tensor(0);
  bool keep = false;
  if (dims != Dims::all) {
    if (call[keepdim].kind != ValueKind::boolean) return false;
    keep = call[keepdim].boolean;
  }
  for (int d = 0; d < self.rank; ++d) {
    const bool gone = reduced >> d & 1;
    if (!gone || keep) result.sizes[result.rank++] = gone ? 1 : self.sizes[d];
  }
  return true;
}

Loops loops_of(const Tensor& self, const Tensor& out, const Shape& result, std::uint32_t reduced,
               const std::uint8_t* order, const Tensor* second) {
  const Strides strides = strides_of(self), of_out = strides_of(result, out.dim_order);
  Shape kept = result, inner{self.rank, {}};
  Strides in_kept{};
  Loops loops;
  int at = 0;
  const bool keeps = result.rank == self.rank;
  for (int d = 0; d < self.rank; ++d) {
    const bool gone = reduced >> d & 1;
    inner.sizes[d] = gone ? self.sizes[d] : 1;
    loops.count *= inner.sizes[d];
    if (!gone) in_kept.of[at] = strides.of[d];
    at += !gone || keeps;
  }
  const Strides of_kept[] = {of_out, in_kept, second ? strides_of(result, second->dim_order) : of_out};
  loops.kept = nest_of(kept, out.dim_order, of_kept);
  loops.reduced = nest_of(inner, order, {&strides, 1});
  return loops;
}

}  // namespace assay::optimized
