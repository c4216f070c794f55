#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels.gen.h"
#include "optimized/kernels/reduction.h"
#include "optimized/operators/elements.h"
#include "optimized/operators/layout.h"

// Results of many elements each, along dimensions that are reduced.
namespace assay::optimized {
namespace {

using kernels::Fold;

union Total {
  double real;
  std::int64_t integer;
};

// Of the schemas self, dim, keepdim, ...: which dimensions; a bit for each. False: they are none, or one twice.
enum class Dims { named, named_or_all, all };
bool reduced_dims(const Call& call, Dims dims, std::uint32_t& reduced) {
  const int rank = call.tensor(0).rank;
  const std::uint32_t all = (std::uint32_t{1} << rank) - 1;
  reduced = all;
  if (dims == Dims::all || (call[1].kind == ValueKind::none && dims == Dims::named_or_all)) return true;
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

struct Loops {
  Nest kept, reduced;      // operand 0 of the first is the result
  std::int64_t count = 1;  // elements of each result
};

Tensor& out_of(const Call& call) { return *call.arguments.back()->tensor; }

// What the call reduces, in loops, and the sizes of the result.
bool plan(const Call& call, Dims dims, Shape& result, std::uint32_t& reduced) {
  if (!reduced_dims(call, dims, reduced)) return false;
  const Tensor& self = call.tensor(0);
  bool keep = false;
  if (dims != Dims::all) {
    if (call[2].kind != ValueKind::boolean) return false;
    keep = call[2].boolean;
  }
  for (int d = 0; d < self.rank; ++d) {
    const bool gone = reduced >> d & 1;
    if (!gone || keep) result.sizes[result.rank++] = gone ? 1 : self.sizes[d];
  }
  return true;
}

Loops loops_of(const Tensor& self, const Tensor& out, const Shape& result, std::uint32_t reduced) {
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
  const Strides of_kept[] = {of_out, in_kept};
  loops.kept = nest_of(kept, out.dim_order, of_kept);
  loops.reduced = nest_of(inner, self.dim_order, {&strides, 1});
  return loops;
}

Total identity_of(Fold fold, bool real) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Total t;
  if (real)
    t.real = fold == Fold::max ? -infinity : fold == Fold::min ? infinity : 0;
  else
    t.integer = fold == Fold::max   ? std::numeric_limits<std::int64_t>::min()
                : fold == Fold::min ? std::numeric_limits<std::int64_t>::max()
                                    : 0;
  return t;
}

struct Sink {  // where totals go
  Element element;
  double scale;  // of floats: what a mean divides by
  std::byte* to;

  void store(std::ptrdiff_t i, const Total& total) const {
    if (element == Element::f32)
      reinterpret_cast<float*>(to)[i] = static_cast<float>(total.real / scale);
    else if (element == Element::i64)
      reinterpret_cast<std::int64_t*>(to)[i] = total.integer;
    else
      reinterpret_cast<std::uint8_t*>(to)[i] = static_cast<std::uint8_t>(total.integer);
  }
};

void reduce(const kernels::FoldRows& fold, const Loops& loops, const Total& identity, const std::byte* self,
            std::size_t element_bytes, const Sink& sink) {
  const int inner = loops.kept.loops - 1, last = loops.reduced.loops - 1;
  if (inner < 0) return;
  const std::ptrdiff_t out_stride = loops.kept.stride[0][inner], stride = loops.kept.stride[1][inner];
  const bool along_rows = last < 0 || loops.reduced.stride[0][last] == 1 || stride != 1;
  const std::ptrdiff_t width = along_rows ? 1 : static_cast<std::ptrdiff_t>(kernels::fold_columns);
  const auto place = [&](std::ptrdiff_t i) { return self + i * static_cast<std::ptrdiff_t>(element_bytes); };
  each_row(loops.kept, 2, [&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
    for (std::ptrdiff_t begin = 0; begin < n; begin += width) {
      const std::ptrdiff_t now = std::min(width, n - begin), from = at[1] + begin * stride;
      Total totals[kernels::fold_columns];
      std::fill_n(totals, now, identity);
      each_row(loops.reduced, 1, [&](const std::ptrdiff_t* in, std::ptrdiff_t count) {
        const auto many = static_cast<std::size_t>(count);
        const std::ptrdiff_t step = loops.reduced.stride[0][last];
        if (along_rows)
          fold.row(place(from + in[0]), step, many, totals);
        else
          fold.columns(place(from + in[0]), step, many, static_cast<std::size_t>(now), totals);
      });
      for (std::ptrdiff_t i = 0; i < now; ++i) sink.store(at[0] + (begin + i) * out_stride, totals[i]);
    }
  });
}

template <Fold fold, Element element, Dims dims>
bool accepts(const Call& call) {
  if (!call.set || call[0].kind != ValueKind::tensor || call.arguments.back()->kind != ValueKind::tensor) return false;
  const Tensor &self = call.tensor(0), &out = out_of(call);
  const DType dtype = dtype_of(element);
  for (std::size_t i = 1; i + 1 < call.arguments.size(); ++i)  // a dtype that is asked for
    if (call.roles->arguments()[i].kind == format::ArgumentKind::number && call.roles->arguments()[i].optional &&
        call[i].kind != ValueKind::none && (call[i].changes || call[i].integer != static_cast<int>(dtype)))
      return false;
  Shape result;
  std::uint32_t reduced = 0;
  return self.dtype == dtype && out.dtype == dtype && plan(call, dims, result, reduced);
}

template <Fold fold, Element element>
const void* prepare(const Call& call, Stores& stores) {
  const auto made = stores.tables.take<kernels::FoldRows>(1);
  if (!made.empty()) made[0] = kernels::find_fold<fold, element>(*call.set);
  return made.data();
}

template <Fold fold, Element element, Dims dims, bool mean>
bool run(const Step& step, Run&) {
  const Tensor& self = step.call.tensor(0);
  Tensor& out = out_of(step.call);
  Shape result;
  std::uint32_t reduced = 0;
  if (!plan(step.call, dims, result, reduced) || !can_have(out, result)) return false;
  const Loops loops = loops_of(self, out, result, reduced);
  const bool of_nothing = (fold == Fold::max || fold == Fold::min) && loops.count == 0;
  if (of_nothing) return false;
  resize(out, result.span());
  reduce(*static_cast<const kernels::FoldRows*>(step.state), loops, identity_of(fold, element == Element::f32),
         self.data, self.element_bytes(), {element, mean ? static_cast<double>(loops.count) : 1, out.data});
  return true;
}

template <Fold fold, Element element, Dims dims = Dims::named_or_all, bool mean = false>
constexpr Kernel reduction(const char* name) {
  return {name, accepts<fold, element, dims>, prepare<fold, element>, run<fold, element, dims, mean>};
}

using enum Element;

}  // namespace

constexpr Kernel sum_f32 = reduction<Fold::sum, f32>("sum_f32");
constexpr Kernel sum_i64 = reduction<Fold::sum, i64>("sum_i64");
constexpr Kernel mean_f32 = reduction<Fold::sum, f32, Dims::named_or_all, true>("mean_f32");
constexpr Kernel mean_all_f32 = reduction<Fold::sum, f32, Dims::all, true>("mean_all_f32");
constexpr Kernel amax_f32 = reduction<Fold::max, f32>("amax_f32");
constexpr Kernel amax_i64 = reduction<Fold::max, i64>("amax_i64");
constexpr Kernel amin_f32 = reduction<Fold::min, f32>("amin_f32");
constexpr Kernel amin_i64 = reduction<Fold::min, i64>("amin_i64");
constexpr Kernel max_all_f32 = reduction<Fold::max, f32, Dims::all>("max_all_f32");
constexpr Kernel min_all_f32 = reduction<Fold::min, f32, Dims::all>("min_all_f32");
constexpr Kernel any_bool = reduction<Fold::any, boolean, Dims::named>("any_bool");
constexpr Kernel any_all_bool = reduction<Fold::any, boolean, Dims::all>("any_all_bool");

}  // namespace assay::optimized
