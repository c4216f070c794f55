#include "optimized/kernels/attention.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "kernels.gen.h"
#include "optimized/selection/views.h"

// Products of queries and keys that a rewrite has merged into attention.
namespace assay::optimized {
namespace {

// Matrices with the same leading dimensions, one matrix for each head: the offset and the strides of each matrix.
struct Matrices {
  View view;
  const Tensor* tensor = nullptr;

  std::size_t size(int from_last) const {
    return static_cast<std::size_t>(view.shape.sizes[view.shape.rank - from_last]);
  }
  std::ptrdiff_t stride(int from_last) const { return view.strides.of[view.shape.rank - from_last]; }
  // The offset of head i; heads are numbered in row-major order.
  std::ptrdiff_t first(std::size_t head) const {
    std::ptrdiff_t at = view.first;
    for (int d = view.shape.rank - 3; d >= 0; --d) {
      const auto n = static_cast<std::size_t>(view.shape.sizes[d]);
      at += static_cast<std::ptrdiff_t>(head % n) * view.strides.of[d];
      head /= n;
    }
    return at;
  }
};

struct State {
  kernels::Attention attention;
  std::size_t heads = 0, scratch = 0;  // floats of scratch of each thread
  Matrices q, k, v, mask, out;
  Shape written = {};  // the sizes of the out, if sizes move
};

View viewed(const Value& value, const View* view) { return view ? *view : whole(*value.tensor); }

bool view_through(std::span<const Call> calls, View& view) {
  return std::ranges::all_of(calls, [&](const Call& call) { return optimized::view_through(call, view); });
}

std::size_t heads_of(const Matrices& m) {
  std::size_t n = 1;
  for (int d = 0; d < m.view.shape.rank - 2; ++d) n *= static_cast<std::size_t>(m.view.shape.sizes[d]);
  return n;
}

bool columns_lie_together(const Matrices& m) { return m.stride(1) == 1 || m.size(1) == 1 || m.view.shape.count() == 0; }

// The calls that make the out of the result tell the sizes of the out, and where each element of the result lies in it.
bool place_result(State& s, std::span<const Call> calls) {
  Shape result = s.q.view.shape;
  result.sizes[result.rank - 1] = static_cast<std::int32_t>(s.v.size(1));
  View view{result, 0, strides_of(result, row_major)};
  if (!view_through(calls, view)) return false;
  s.written = view.shape;
  if (result.count() > 0 && !invert(view, strides_of(s.written, s.out.tensor->dim_order))) return false;
  s.out.view = view;
  return reshape(s.out.view, result.span());
}

// A mask is broadcast to the leading dimensions of its view, the queries and the keys.
bool broadcast_mask(State& s, const Value& mask, const View& like, std::span<const Call> calls) {
  View view = whole(*mask.tensor);
  if (!view_through(calls, view)) return false;
  Shape shape = like.shape;
  shape.sizes[shape.rank - 2] = static_cast<std::int32_t>(s.attention.queries);
  shape.sizes[shape.rank - 1] = static_cast<std::int32_t>(s.attention.keys);
  Shape both = shape;
  if (!broadcast(both, view.shape) || !std::ranges::equal(both.span(), shape.span())) return false;
  s.mask.view = {shape, view.first, strides_in(shape, view)};
  return true;
}

bool are_float32(const Call& call, const Attention& with) {
  const Value* all[] = {&call[0], &call[1], &call[2], with.values, with.mask ? with.mask : with.values};
  return std::ranges::all_of(
      all, with.moving ? is_float32 : is_f32, [](const Value* v) -> auto& { return *v; });
}

// Operands: q, k transposed, out. Returns nothing if kernels do not accept the sizes or the dim orders.
std::optional<State> plan(const Call& call) {
  const Attention& with = *call.fusion->attention;
  State s;
  s.q = {view_of(call, 0), &call.tensor(0)}, s.k = {view_of(call, 1), &call.tensor(1)};
  s.v = {viewed(*with.values, with.values_view), with.values->tensor};
  s.out = {view_of(call, 2), &call.tensor(2)};
  const MovingViews* moving = with.moving;
  if (moving && !(view_through(moving->q, s.q.view) && view_through(moving->k, s.k.view) &&
                  view_through(moving->values, s.v.view)))
    return {};
  for (const Matrices* m : {&s.q, &s.k, &s.v})
    if (m->view.shape.rank < 2) return {};
  if (moving && !place_result(s, moving->out)) return {};
  for (const Matrices* m : {&s.q, &s.k, &s.v, &s.out})
    if (m->view.shape.rank < 2 || (m->view.shape.count() == 0 && !moving) || !is_ascending(m->view)) return {};
  s.heads = heads_of(s.q);
  s.attention = {*call.set,   s.q.size(2), s.k.size(1), s.q.size(1),
                 s.v.size(1), with.scale,  with.safe,   s.k.stride(2) == 1 || s.q.size(1) == 1};
  if (s.k.size(2) != s.q.size(1) || s.v.size(2) != s.k.size(1) || s.out.size(2) != s.q.size(2) ||
      s.out.size(1) != s.v.size(1) || heads_of(s.k) != s.heads || heads_of(s.v) != s.heads ||
      heads_of(s.out) != s.heads)
    return {};
  if (!columns_lie_together(s.q) || !columns_lie_together(s.v) || !columns_lie_together(s.out)) return {};
  if (with.mask) {  // its leading dimensions are broadcast to the dimensions of the heads
    s.mask = {viewed(*with.mask, with.mask_view), with.mask->tensor};
    if (moving && !broadcast_mask(s, *with.mask, *with.mask_view, moving->mask)) return {};
    if (s.mask.view.shape.rank < 2 || heads_of(s.mask) != s.heads || s.mask.size(2) != s.q.size(2) ||
        s.mask.size(1) != s.k.size(1) || (s.mask.stride(1) != 0 && !columns_lie_together(s.mask)))
      return {};
  }
  s.scratch = kernels::attention_scratch(s.attention);
  return s;
}

bool accepts(const Call& call) {
  if (!call.set || !call.fusion || !call.fusion->attention || !are_float32(call, *call.fusion->attention)) return false;
  const MovingViews* moving = call.fusion->attention->moving;
  return (moving && moving->accepted) || plan(call);
}

// Scratch memory for the largest sizes suffices for smaller ones, if keys and values are packed. Few queries whose keys
// are not packed need less.
std::size_t largest_scratch(kernels::InstructionSet set, const MovingViews& most) {
  return kernels::attention_scratch({set, most.queries, most.keys, most.depth, most.width});
}

const void* prepare(const Call& call, Stores& stores) {
  const auto made = stores.tables.take<State>(1);
  if (made.empty()) return nullptr;
  if (const MovingViews* moving = call.fusion->attention->moving)
    made[0].scratch = largest_scratch(*call.set, *moving);
  else
    made[0] = *plan(call);
  stores.scratch = made[0].scratch * sizeof(float) * stores.threads;
  return &made[0];
}

// The sums of no values are zero.
bool fill_zeros(const Tensor& out) { return std::memset(out.data, 0, static_cast<std::size_t>(out.bytes())), true; }

void attend(const State& s, std::size_t scratch_of_task, const Execution& execution) {
  const kernels::Attention& a = s.attention;
  const std::size_t queries = s.heads * a.queries;  // each task has scratch of its own
  const std::size_t parts = kernels::parts_of(execution.threads, execution.threads.count, queries, a.keys * a.depth);
  kernels::for_each_task(execution.threads, parts, [&](std::size_t i) {
    auto* scratch = reinterpret_cast<float*>(execution.scratch.data()) + i * scratch_of_task;
    const kernels::Range range = kernels::part(queries, i, parts);
    for (std::size_t at = range.begin, end; at < range.end; at = end) {
      const std::size_t head = at / a.queries, begin = head * a.queries;
      end = std::min(begin + a.queries, range.end);
      const auto of = [&](const Matrices& m, int row, int column) {
        return kernels::Strided{m.tensor->elements<float>() + m.first(head), m.stride(row), m.stride(column)};
      };
      const kernels::AttentionHead matrices{of(s.q, 2, 1),
                                            of(s.k, 1, 2),
                                            of(s.v, 2, 1),
                                            s.mask.tensor ? of(s.mask, 2, 1) : kernels::Strided(),
                                            s.out.tensor->elements<float>() + s.out.first(head),
                                            s.out.stride(2)};
      kernels::attend(a, matrices, {at - begin, end - begin}, scratch);
    }
  });
}

bool run(const Step& step, Execution& execution) {
  const State& prepared = *static_cast<const State*>(step.state);
  if (!step.call.fusion->attention->moving) return attend(prepared, prepared.scratch, execution), true;
  const auto now = plan(step.call);
  if (!now || now->scratch > prepared.scratch || !resize(step.call.out(), now->written.span())) return false;
  if (now->attention.keys == 0) return fill_zeros(step.call.out());
  if (step.call.out().count() > 0) attend(*now, prepared.scratch, execution);
  return true;
}

}  // namespace

constexpr Kernel attention_f32{"attention_f32", accepts, prepare, run, true};

}  // namespace assay::optimized
