#include <algorithm>

#include "kernels.gen.h"
#include "optimized/selection/copy.h"
#include "optimized/selection/scalars.h"
#include "optimized/selection/views.h"

// Results whose elements are elements of arguments.
namespace assay::optimized {
namespace {

// The second argument broadcast to the sizes of the first. The result has the dtype of the first.
bool copied_view(const Call& call, View& v) {
  const Tensor& self = call.tensor(0);
  const View from = view_of(call, 1);
  v = {shape_of(self), from.first, {}};
  Shape shape = v.shape;
  if (from.shape.rank > self.rank || !broadcast(shape, from.shape) || !std::ranges::equal(shape.span(), self.shape()))
    return false;
  v.strides = strides_in(v.shape, from);
  return true;
}

struct State {
  bool fixed = false, fits = false;
  std::ptrdiff_t first = 0;
  Nest nest;
};

// Operators that change an argument in place have no out.
Tensor& out_of(const Call& call) {
  return call.roles->has(format::Use::written) ? *call.arguments.back()->tensor : call.tensor(0);
}

void plan(const View& v, const Tensor& out, State& s) {
  const Strides strides[] = {strides_of(v.shape, out.dim_order), v.strides};
  s.first = v.first;
  s.nest = nest_of(v.shape, out.dim_order, strides);
}

// The argument that a call copies: the first or, where the call changes the first, the second.
std::size_t source_of(const Call& call) { return find_viewer(call.roles->name) ? 0 : 1; }
bool view(const Call& call, View& v) {
  const Viewer viewer = find_viewer(call.roles->name);
  if (!viewer) return copied_view(call, v);
  v = view_of(call, 0);
  return viewer(call, v);
}

// copy: self, src, ..., whose result has the dtype of self.
bool takes_dtype(const Call& call) {
  return source_of(call) == 0 || (call[0].is_tensor() && call.tensor(0).dtype == out_of(call).dtype);
}

bool accepts(const Call& call) {
  const Value& source = call[source_of(call)];
  if (!has_views_only_of(call, source_of(call), source_of(call)) || source.kind != ValueKind::tensor ||
      call.arguments.back()->kind > ValueKind::tensor)
    return false;
  View v;
  return source.tensor->dtype == out_of(call).dtype && takes_dtype(call) &&
         (is_fixed(call) ? view(call, v) && (!call.fusion || has_sizes(v, out_of(call))) : !call.fusion);
}

const void* prepare(const Call& call, Stores& stores) {
  const auto made = stores.tables.take<State>(1);
  if (made.empty()) return nullptr;
  State& s = made[0];
  View v;
  s.fixed = is_fixed(call);
  if (!s.fixed || !view(call, v)) return &s;
  s.fits = std::ranges::equal(v.shape.span(), out_of(call).shape());
  if (s.fits) plan(v, out_of(call), s);
  return &s;
}

bool run(const Step& step, Execution& execution) {
  const State* s = static_cast<const State*>(step.state);
  State now;
  Tensor& out = out_of(step.call);
  const Tensor& self = step.call.tensor(source_of(step.call));
  if (!s->fixed) {
    View v;
    if (!view(step.call, v) || self.dtype != out.dtype || !resize(out, v.shape.span())) return false;
    plan(v, out, now);
    s = &now;
  } else if (!s->fits) {
    return false;
  }
  copy(s->nest, out.data, self.data + s->first * static_cast<std::ptrdiff_t>(self.element_bytes()),
       self.element_bytes(), execution.threads);
  return true;
}

// Copies of any dtype and layout, element by element. `converts` tells whether the out may have another dtype.
template <bool converts>
bool accepts_any(const Call& call) {
  const Value& source = call[source_of(call)];
  if (!source.is_tensor() || !takes_dtype(call) || call.arguments.back()->kind > ValueKind::tensor) return false;
  const DType from = source.tensor->dtype, to = out_of(call).dtype;
  return from == to || (converts && find_reader<Complex>(from) && find_reader<Complex>(to));
}

// The elements that a call copies, in row-major order, and the sizes of the result.
bool source_view(const Call& call, View& v, Shape& shape) {
  if (call.roles->name == "aten::view_copy.out") {
    v = whole(call.tensor(0));
    return viewed_shape(call, v.shape.count(), shape);
  }
  if (!view(call, v)) return false;
  shape = v.shape;
  return true;
}

bool run_any(const Step& step, Execution&) {
  const Tensor& from = step.call.tensor(source_of(step.call));
  Tensor& out = out_of(step.call);
  View v;
  Shape shape;
  if (!source_view(step.call, v, shape) || !resize(out, shape.span())) return false;
  Walk source(v.shape, v.strides), to(out);
  for (std::int64_t n = out.count(); n > 0; --n, source.next(), to.next())
    convert(from.dtype, from.at(v.first + source.place()), out.dtype, out.at(to.place()));
  return true;
}

// Operands: self, repeats, out.
bool accepts_repeat(const Call& call) {
  return call[0].kind == ValueKind::tensor && call[2].kind == ValueKind::tensor &&
         call.tensor(0).dtype == call.tensor(2).dtype && integers(call[1]) && call[1].count == call.tensor(2).rank &&
         call[1].count >= call.tensor(0).rank;
}

// Each dimension of the result becomes two: the repeats, and the elements.
bool run_repeat(const Step& step, Execution& execution) {
  const Tensor& self = step.call.tensor(0);
  Tensor& out = step.call.tensor(2);
  const auto repeats = step.call[1].items();
  Shape shape{out.rank, {}}, elements = shape;
  for (int d = 0; d < out.rank; ++d) {
    const int at = d - (out.rank - self.rank);
    const std::int64_t times = repeats[static_cast<std::size_t>(d)]->integer;
    elements.sizes[d] = at < 0 ? 1 : self.sizes[at];
    if (times < 0 || times > INT32_MAX || times * elements.sizes[d] > INT32_MAX) return false;
    shape.sizes[d] = static_cast<std::int32_t>(times * elements.sizes[d]);
  }
  const Strides of_out = strides_of(shape, out.dim_order), of_self = strides_in(elements, self);
  Shape pairs;
  Strides strides[2]{};
  std::uint8_t order[max_rank];
  const auto add = [&](std::int32_t n, std::ptrdiff_t to, std::ptrdiff_t from) {
    if (n == 1 || pairs.rank == static_cast<int>(max_rank)) return n == 1;
    order[pairs.rank] = static_cast<std::uint8_t>(pairs.rank);
    strides[0].of[pairs.rank] = to, strides[1].of[pairs.rank] = from, pairs.sizes[pairs.rank++] = n;
    return true;
  };
  for (int i = 0; i < out.rank; ++i) {
    const int d = out.dim_order[i];
    const std::int32_t n = elements.sizes[d];
    if (!add(static_cast<std::int32_t>(repeats[static_cast<std::size_t>(d)]->integer), n * of_out.of[d], 0) ||
        !add(n, of_out.of[d], of_self.of[d]))
      return false;
  }
  if (!resize(out, shape.span())) return false;
  copy(nest_of(pairs, order, strides), out.data, self.data, self.element_bytes(), execution.threads);
  return true;
}

}  // namespace

constexpr Kernel copy_elements = {"copy_elements", accepts, prepare, run, true};
constexpr Kernel copy_any = {"copy_any", accepts_any<false>, nullptr, run_any};
constexpr Kernel convert_any = {"convert_any", accepts_any<true>, nullptr, run_any};
constexpr Kernel repeat = {"repeat", accepts_repeat, nullptr, run_repeat};

}  // namespace assay::optimized
