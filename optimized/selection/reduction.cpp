#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels.gen.h"
#include "optimized/kernels/reduction.h"
#include "optimized/selection/elements.h"
#include "optimized/selection/moments.h"
#include "optimized/selection/reduced.h"

// Reductions: each result is computed from many elements, along the dimensions that are reduced.
namespace assay::optimized {
namespace {

using kernels::Fold;

union Total {
  double real;
  std::int64_t integer;
};

constexpr double infinity = std::numeric_limits<double>::infinity();

Total identity_of(Fold fold, bool real) {
  Total t;
  if (real)
    t.real = fold == Fold::max ? -infinity : fold == Fold::min ? infinity : fold == Fold::prod;
  else
    t.integer = fold == Fold::max   ? std::numeric_limits<std::int64_t>::min()
                : fold == Fold::min ? std::numeric_limits<std::int64_t>::max()
                                    : fold == Fold::prod;
  return t;
}

struct Sink {  // receives totals
  Element element;
  double scale;  // for floats: the divisor of a mean
  const Tensor& to;
  Store stored;  // for half floats, and integers narrower than int64

  void store(std::ptrdiff_t i, const Total& total) const {
    if (element == Element::f64) return static_cast<void>(to.elements<double>()[i] = total.real / scale);
    const float real = element == Element::f32 ? static_cast<float>(total.real / scale) : 0;
    const void* from = element == Element::f32 ? static_cast<const void*>(&real) : &total.integer;
    if (stored)
      stored(from, to.data + i * static_cast<std::ptrdiff_t>(to.element_bytes()), 1);
    else if (element == Element::f32)
      to.elements<float>()[i] = real;
    else if (element == Element::i64)
      to.elements<std::int64_t>()[i] = total.integer;
    else
      to.elements<std::uint8_t>()[i] = static_cast<std::uint8_t>(total.integer);
  }
};

// Elements as elements of another type, a few at a time.
class Source {
 public:
  Source(const Tensor& self, Element element, kernels::InstructionSet set)
      : data_(self.data),
        bytes_(static_cast<std::ptrdiff_t>(self.element_bytes())),
        gather_(find_gather(self.dtype, element, set)),
        as_they_lie_(self.dtype == dtype_of(element)) {}

  bool as_they_lie() const { return as_they_lie_; }
  const std::byte* at(std::ptrdiff_t i) const { return data_ + i * bytes_; }
  const void* block(std::ptrdiff_t first, std::ptrdiff_t stride, std::ptrdiff_t n) {  // n <= fold_columns
    gather_(at(first), stride, block_, static_cast<std::size_t>(n));
    return block_;
  }

 private:
  const std::byte* data_;
  std::ptrdiff_t bytes_;
  Gather gather_;
  bool as_they_lie_;
  alignas(8) std::byte block_[8 * kernels::fold_columns];
};
constexpr std::ptrdiff_t most_at_once = kernels::fold_columns;

// Fewer elements are read row by row, even if columns are contiguous: that takes less time than a call for them.
constexpr std::ptrdiff_t few_elements = 64;

// The longer of the two innermost loops over results becomes the innermost.
void lengthen_rows(Nest& kept) {
  const int inner = kept.loops - 1;
  if (inner < 1 || kept.count[inner - 1] <= kept.count[inner]) return;
  std::swap(kept.count[inner - 1], kept.count[inner]);
  for (auto& stride : kept.stride) std::swap(stride[inner - 1], stride[inner]);
}

// Calls results(at, n, stride, visit) for n results that are computed together: the place of the first, and the stride.
// visit(row) then calls row(first, distance, stride, count) for `count` elements of each of the results: the place of
// the first element, its distance to the first element of the next result, and to the next element of the same result.
// A distance of 1 means that elements of the results are contiguous columns.
template <class Results>
void each_results(Loops loops, std::ptrdiff_t rows_at_once, Results results) {
  const int inner = loops.kept.loops - 1, last = loops.reduced.loops - 1;
  if (inner < 0) return;
  bool along_rows = last < 0 || loops.reduced.stride[0][last] == 1 || loops.kept.stride[1][inner] != 1;
  if (!along_rows && loops.kept.count[inner] * loops.reduced.count[last] < few_elements)
    along_rows = true, lengthen_rows(loops.kept);
  const std::ptrdiff_t out_stride = loops.kept.stride[0][inner], stride = loops.kept.stride[1][inner];
  const std::ptrdiff_t width = along_rows ? rows_at_once : most_at_once;
  each_row(loops.kept, 2, [&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
    for (std::ptrdiff_t begin = 0; begin < n; begin += width)
      results(at[0] + begin * out_stride, std::min(width, n - begin), out_stride, [&](auto rows) {
        each_row(loops.reduced, 1, [&](const std::ptrdiff_t* in, std::ptrdiff_t count) {
          rows(at[1] + begin * stride + in[0], stride, loops.reduced.stride[0][last], count, along_rows);
        });
      });
  });
}

void reduce(const kernels::FoldRows& fold, const Loops& loops, const Total& identity, Source source, const Sink& sink) {
  each_results(loops, most_at_once, [&](std::ptrdiff_t to, std::ptrdiff_t now, std::ptrdiff_t out_stride, auto each) {
    Total totals[kernels::fold_columns];
    std::fill_n(totals, now, identity);
    const auto columns = static_cast<std::size_t>(now);
    each(
        [&](std::ptrdiff_t first, std::ptrdiff_t distance, std::ptrdiff_t step, std::ptrdiff_t count, bool along_rows) {
          if (source.as_they_lie()) {
            const auto many = static_cast<std::size_t>(count);
            if (along_rows)
              fold.rows(source.at(first), {columns, many, distance, step}, totals);
            else
              fold.columns(source.at(first), step, many, columns, totals);
          } else if (along_rows) {
            for (std::ptrdiff_t r = 0; r < now; ++r, first += distance)
              for (std::ptrdiff_t i = 0; i < count; i += most_at_once) {
                const std::ptrdiff_t n = std::min(most_at_once, count - i);
                fold.rows(source.block(first + i * step, step, n), {1, static_cast<std::size_t>(n), 0, 1}, totals + r);
              }
          } else {
            for (std::ptrdiff_t i = 0; i < count; ++i)
              fold.columns(source.block(first + i * step, 1, now), 0, 1, columns, totals);
          }
        });
    for (std::ptrdiff_t i = 0; i < now; ++i) sink.store(to + i * out_stride, totals[i]);
  });
}

// The dtype that a call names, if kernels support it. Returns nothing if the dtype changes.
std::optional<DType> asked_dtype(const Call& call, DType otherwise, bool& asked) {
  asked = false;
  for (std::size_t i = 1; i + 1 < call.arguments.size(); ++i) {
    const format::ArgumentRole& role = call.roles->arguments()[i];
    if (role.kind != format::ArgumentKind::integer || !role.optional || call[i].kind == ValueKind::none) continue;
    if (call[i].changes || call[i].kind != ValueKind::integer) return std::nullopt;
    asked = true;
    return static_cast<DType>(call[i].integer);
  }
  return otherwise;
}

template <Fold fold, Element element, Dims dims, bool mean>
bool accepts(const Call& call) {
  if (!call.set || call[0].kind != ValueKind::tensor || call.arguments.back()->kind != ValueKind::tensor) return false;
  const Tensor &self = call.tensor(0), &out = call.out();
  bool asked = false;
  const bool gives_bytes = fold == Fold::any && out.dtype == DType::uint8 && self.dtype == DType::uint8;
  const bool is_any = fold == Fold::any && element_of(self.dtype);
  if ((element_of(out.dtype) != element && !gives_bytes) || !find_gather(self.dtype, element) ||
      (fold == Fold::any && (!is_any || (self.dtype == DType::uint8 && !gives_bytes))) ||
      asked_dtype(call, out.dtype, asked) != out.dtype)
    return false;
  // Without a dtype, a mean is of floats, a product over all elements has self's dtype or int64, and an extreme has
  // self's dtype.
  const bool promotes = element == Element::i64 ? out.dtype == DType::int64 : self.dtype == out.dtype;
  if ((mean || (fold == Fold::prod && dims == Dims::all)) && !asked && !promotes) return false;
  if ((fold == Fold::max || fold == Fold::min) && self.dtype != out.dtype) return false;
  // Elements become half floats before they are added; a product is rounded after each step.
  if (element == Element::f32 && out.dtype != DType::float32 && (fold == Fold::prod || self.dtype != out.dtype))
    return false;
  Shape result;
  std::uint32_t reduced = 0;
  return plan(call, dims, result, reduced);
}

template <Fold fold, Element element>
const void* prepare(const Call& call, Stores& stores) {
  const auto made = stores.tables.take<kernels::FoldRows>(1);
  if (!made.empty()) made[0] = kernels::find_fold<fold, element>(*call.set);
  return made.data();
}

template <Fold fold, Element element, Dims dims, bool mean>
bool run(const Step& step, Execution&) {
  const Tensor& self = step.call.tensor(0);
  Tensor& out = step.call.out();
  Shape result;
  std::uint32_t reduced = 0;
  if (!plan(step.call, dims, result, reduced) || !can_have(out, result)) return false;
  const Loops loops = loops_of(self, out, result, reduced, self.dim_order);
  const bool of_nothing = (fold == Fold::max || fold == Fold::min) && loops.count == 0;
  if (of_nothing) return false;
  resize(out, result.span());
  reduce(*static_cast<const kernels::FoldRows*>(step.state), loops,
         identity_of(fold, element == Element::f32 || element == Element::f64), Source(self, element, *step.call.set),
         {element, mean ? static_cast<double>(loops.count) : 1, out,
          element == Element::boolean ? nullptr : find_store(element, out.dtype)});
  return true;
}

template <Fold fold, Element element, Dims dims = Dims::named_or_all, bool mean = false>
constexpr Kernel reduction(const char* name) {
  return {name, accepts<fold, element, dims, mean>, prepare<fold, element>, run<fold, element, dims, mean>};
}

// The largest or smallest elements, and the first place of each, along a dimension or among all elements. NaN comes
// before all numbers.

// At most one dimension is reduced; places among all elements are counted row-major.
bool is_one(std::uint32_t reduced) { return (reduced & (reduced - 1)) == 0; }

// Operands: self, dim, keepdim, maybe the extremes, their places.
template <Element element>
bool accepts_first(const Call& call) {
  if (call[0].kind != ValueKind::tensor) return false;
  const Tensor& self = call.tensor(0);
  for (std::size_t i = 3; i < call.arguments.size(); ++i) {
    if (call[i].kind != ValueKind::tensor) return false;
    const Tensor &out = call.tensor(i), &last = call.out();
    if (out.dtype != (i + 1 < call.arguments.size() ? self.dtype : DType::int64) || out.rank != last.rank ||
        !std::equal(out.dim_order, out.dim_order + out.rank, last.dim_order))
      return false;
  }
  Shape result;
  std::uint32_t reduced = 0;
  return element_of(self.dtype) == element && plan(call, Dims::named_or_all, result, reduced) &&
         (is_one(reduced) || self.is_contiguous());
}

template <Element element, bool largest>
bool run_first(const Step& step, Execution&) {
  using T = std::conditional_t<element == Element::f64, double,
                               std::conditional_t<element == Element::f32, float, std::int64_t>>;
  using Limits = std::numeric_limits<T>;
  const Call& call = step.call;
  const Tensor& self = call.tensor(0);
  Tensor& places = call.out();
  Tensor* values = call.arguments.size() == 5 ? call.arguments[3]->tensor : nullptr;
  Shape result;
  std::uint32_t reduced = 0;
  if (!plan(call, Dims::named_or_all, result, reduced) || !can_have(places, result) ||
      (values && !can_have(*values, result)) || (!is_one(reduced) && !self.is_contiguous()))
    return false;
  const Loops loops = loops_of(self, places, result, reduced, self.dim_order);
  if (loops.count == 0) return false;
  resize(places, result.span());
  if (values) resize(*values, result.span());
  Source source(self, element, *step.call.set);
  const Store store = find_store(element, self.dtype);
  constexpr T lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest(),
              highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  each_results(loops, 1, [&](std::ptrdiff_t to, std::ptrdiff_t now, std::ptrdiff_t stride, auto each_rows) {
    T first[kernels::fold_columns];
    std::int64_t at[kernels::fold_columns] = {}, place = 0;
    std::fill_n(first, now, largest ? lowest : highest);
    const auto take = [&](T x, std::ptrdiff_t i) {
      const bool before = !(largest ? x <= first[i] : x >= first[i]) && first[i] == first[i];
      first[i] = before ? x : first[i], at[i] = before ? place : at[i];
    };
    each_rows([&](std::ptrdiff_t begin, std::ptrdiff_t, std::ptrdiff_t step_, std::ptrdiff_t count, bool along_rows) {
      const std::ptrdiff_t at_once = along_rows ? most_at_once : 1;
      for (std::ptrdiff_t k = 0; k < count; k += at_once) {
        const std::ptrdiff_t n = along_rows ? std::min(at_once, count - k) : now;
        const auto* x = static_cast<const T*>(source.block(begin + k * step_, along_rows ? step_ : 1, n));
        if (along_rows) {
          for (std::ptrdiff_t i = 0; i < n; ++i, ++place) take(x[i], 0);
        } else {
          for (std::ptrdiff_t i = 0; i < n; ++i) take(x[i], i);
          ++place;
        }
      }
    });
    for (std::ptrdiff_t i = 0; i < now; ++i) {
      places.elements<std::int64_t>()[to + i * stride] = at[i];
      if (values && store)
        store(first + i, values->data + (to + i * stride) * static_cast<std::ptrdiff_t>(values->element_bytes()), 1);
      else if (values)
        values->elements<T>()[to + i * stride] = first[i];
    }
  });
  return true;
}

template <Element element, bool largest>
constexpr Kernel first_of(const char* name) {
  return {name, accepts_first<element>, nullptr, run_first<element, largest>};
}

// Variances. Operands: self, dim, correction, keepdim, out, maybe the mean.

bool accepts_variance(const Call& call) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{4}, call.arguments.size() - 1})
    if (call[i].kind != ValueKind::tensor || call.tensor(i).dtype != DType::float32) return false;
  const Tensor& out = call.tensor(4);
  Shape result;
  std::uint32_t reduced = 0;
  return plan(call, Dims::named_or_all, result, reduced, 3) &&
         std::equal(out.dim_order, out.dim_order + out.rank, call.out().dim_order);
}

bool run_variance(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor& self = call.tensor(0);
  Tensor &out = call.tensor(4), *mean = call.arguments.size() == 6 ? call.arguments[5]->tensor : nullptr;
  Shape result;
  std::uint32_t reduced = 0;
  if (!plan(call, Dims::named_or_all, result, reduced, 3) || !can_have(out, result) ||
      (mean && !can_have(*mean, result)))
    return false;
  resize(out, result.span());
  if (mean) resize(*mean, result.span());
  const Loops loops = loops_of(self, out, result, reduced, self.dim_order);
  const Value& correction = call[2];
  const double less = correction.kind == ValueKind::none      ? 1
                      : correction.kind == ValueKind::real    ? correction.real
                      : correction.kind == ValueKind::boolean ? correction.boolean
                                                              : static_cast<double>(correction.integer);
  const double rest = static_cast<double>(loops.count) - less;
  const double degrees = loops.count == 0 ? std::numeric_limits<double>::quiet_NaN() : rest > 0 ? rest : 0;
  const int inner = loops.kept.loops - 1;
  each_row(loops.kept, 2, [&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const Moments m = moments(self.elements<float>() + at[1] + i * loops.kept.stride[1][inner], loops.reduced);
      const std::ptrdiff_t to = at[0] + i * loops.kept.stride[0][inner];
      out.elements<float>()[to] = static_cast<float>(m.squares / degrees);
      if (mean) mean->elements<float>()[to] = static_cast<float>(m.mean);
    }
  });
  return true;
}

using enum Element;

}  // namespace

constexpr Kernel sum_f32 = reduction<Fold::sum, f32>("sum_f32");
constexpr Kernel sum_f64 = reduction<Fold::sum, f64>("sum_f64");
constexpr Kernel sum_i64 = reduction<Fold::sum, i64>("sum_i64");
constexpr Kernel mean_f32 = reduction<Fold::sum, f32, Dims::named_or_all, true>("mean_f32");
constexpr Kernel mean_f64 = reduction<Fold::sum, f64, Dims::named_or_all, true>("mean_f64");
constexpr Kernel mean_all_f32 = reduction<Fold::sum, f32, Dims::all, true>("mean_all_f32");
constexpr Kernel mean_all_f64 = reduction<Fold::sum, f64, Dims::all, true>("mean_all_f64");
constexpr Kernel amax_f32 = reduction<Fold::max, f32>("amax_f32");
constexpr Kernel amax_f64 = reduction<Fold::max, f64>("amax_f64");
constexpr Kernel amax_i64 = reduction<Fold::max, i64>("amax_i64");
constexpr Kernel amin_f32 = reduction<Fold::min, f32>("amin_f32");
constexpr Kernel amin_f64 = reduction<Fold::min, f64>("amin_f64");
constexpr Kernel amin_i64 = reduction<Fold::min, i64>("amin_i64");
constexpr Kernel max_all_f32 = reduction<Fold::max, f32, Dims::all>("max_all_f32");
constexpr Kernel max_all_f64 = reduction<Fold::max, f64, Dims::all>("max_all_f64");
constexpr Kernel min_all_f32 = reduction<Fold::min, f32, Dims::all>("min_all_f32");
constexpr Kernel min_all_f64 = reduction<Fold::min, f64, Dims::all>("min_all_f64");
constexpr Kernel amax_bool = reduction<Fold::max, boolean>("amax_bool");
constexpr Kernel amin_bool = reduction<Fold::min, boolean>("amin_bool");
constexpr Kernel max_all_bool = reduction<Fold::max, boolean, Dims::all>("max_all_bool");
constexpr Kernel min_all_bool = reduction<Fold::min, boolean, Dims::all>("min_all_bool");
constexpr Kernel max_all_i64 = reduction<Fold::max, i64, Dims::all>("max_all_i64");
constexpr Kernel min_all_i64 = reduction<Fold::min, i64, Dims::all>("min_all_i64");
constexpr Kernel prod_f32 = reduction<Fold::prod, f32, Dims::named>("prod_f32");
constexpr Kernel prod_f64 = reduction<Fold::prod, f64, Dims::named>("prod_f64");
constexpr Kernel prod_i64 = reduction<Fold::prod, i64, Dims::named>("prod_i64");
constexpr Kernel prod_all_f32 = reduction<Fold::prod, f32, Dims::all>("prod_all_f32");
constexpr Kernel prod_all_f64 = reduction<Fold::prod, f64, Dims::all>("prod_all_f64");
constexpr Kernel prod_all_i64 = reduction<Fold::prod, i64, Dims::all>("prod_all_i64");
constexpr Kernel any_bool = reduction<Fold::any, boolean, Dims::named>("any_bool");
constexpr Kernel any_all_bool = reduction<Fold::any, boolean, Dims::all>("any_all_bool");
constexpr Kernel largest_f32 = first_of<f32, true>("largest_f32");
constexpr Kernel largest_f64 = first_of<f64, true>("largest_f64");
constexpr Kernel largest_i64 = first_of<i64, true>("largest_i64");
constexpr Kernel smallest_f32 = first_of<f32, false>("smallest_f32");
constexpr Kernel smallest_f64 = first_of<f64, false>("smallest_f64");
constexpr Kernel smallest_i64 = first_of<i64, false>("smallest_i64");
constexpr Kernel variance_f32{"variance_f32", accepts_variance, nullptr, run_variance};

}  // namespace assay::optimized
