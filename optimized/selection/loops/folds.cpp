#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels.gen.h"
#include "optimized/selection/creation.h"
#include "optimized/selection/reduced.h"
#include "optimized/selection/scalars.h"

// Reductions of any dtype, by plain loops.
namespace assay::optimized {
namespace {

// Where a result is in the first out and in the second one, if there is a second.
struct Place {
  std::ptrdiff_t first, second;
};

// Calls result(to, from) for each result: its place, and the place of its first element.
template <class Result>
void each_result(const Loops& loops, Result result) {
  const int inner = loops.kept.loops - 1;
  each_row(loops.kept, 3, [&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
    const auto& strides = loops.kept.stride;
    for (std::ptrdiff_t i = 0; i < n; ++i)
      result(Place{at[0] + i * strides[0][inner], at[2] + i * strides[2][inner]}, at[1] + i * strides[1][inner]);
  });
}

// Calls element(i) for the place of each element of a result, in row-major order.
template <class Element>
void each_element(const Loops& loops, std::ptrdiff_t from, Element element) {
  const int inner = loops.reduced.loops - 1;
  each_row(loops.reduced, 1, [&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
    for (std::ptrdiff_t i = 0; i < n; ++i) element(from + at[0] + i * loops.reduced.stride[0][inner]);
  });
}

bool has_tensors(const Call& call) {
  return call[0].is_tensor() && call.arguments.back()->is_tensor() && find_reader<Complex>(call.tensor(0).dtype);
}

// How a call names its dimensions and its dtype. `dtype` is the index of the argument.
struct Form {
  Dims dims = Dims::named_or_all;
  std::size_t dtype = 0, keepdim = 2;
};

// The loops of a call, whose results get the sizes that they must have.
bool make_loops(const Call& call, const Form& form, Loops& loops, std::size_t first_out) {
  Shape result;
  std::uint32_t reduced = 0;
  if (!plan(call, form.dims, result, reduced, form.keepdim)) return false;
  for (std::size_t k = first_out; k < call.arguments.size(); ++k)
    if (!can_have(call.tensor(k), result)) return false;
  for (std::size_t k = first_out; k < call.arguments.size(); ++k) resize(call.tensor(k), result.span());
  loops = loops_of(call.tensor(0), call.tensor(first_out), result, reduced, row_major, &call.out());
  return true;
}
bool make_loops(const Call& call, const Form& form, Loops& loops) {
  return make_loops(call, form, loops, call.arguments.size() - 1);
}

// Sums, means and products. Elements are converted to the common dtype, which is the dtype of the result; float32 for
// means of a half type.

enum class Fold { sum, mean, prod };

bool computes(DType common, const Tensor& self, Fold fold) {
  if (fold == Fold::mean) return is_number_or_complex(common) && !(common <= DType::int64);
  return is_real(common) || is_number_or_complex(common) || self.count() == 0;
}

template <Fold fold, const Form& form>
bool accepts_fold(const Call& call) {
  if (!has_tensors(call)) return false;
  const DType self = call.tensor(0).dtype, out = call.out().dtype;
  const Value& asked = call[form.dtype];
  const bool has_own = is_floating(self) || is_complex(self), is_asked = asked.kind != ValueKind::none;
  if (named(asked, out) != out || !find_reader<Complex>(out)) return false;
  if (fold == Fold::mean && !has_own && !is_asked) return false;
  if (fold == Fold::mean && form.dims == Dims::all && is_complex(self) && !is_complex(out)) return false;
  // A product of all elements does not take the dtype of its out.
  return fold != Fold::prod || form.dims != Dims::all || is_asked || out == (has_own ? self : DType::int64);
}

template <Fold fold, const Form& form>
bool run_fold(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor &self = call.tensor(0), &out = call.out();
  const DType common = fold == Fold::mean ? computed_in(out.dtype) : out.dtype;
  Loops loops;
  if (!computes(common, self, fold) || !make_loops(call, form, loops)) return false;
  return with_number(common, [&]<class T>() {
    const Reading<T> x(self, common);
    const Writing<T> y(out);
    each_result(loops, [&](Place to, std::ptrdiff_t from) {
      T total = fold == Fold::prod ? T(1) : T(0);
      each_element(loops, from,
                   [&](std::ptrdiff_t i) { total = fold == Fold::prod ? times(total, x[i]) : plus(total, x[i]); });
      if constexpr (fold == Fold::mean && !std::is_integral_v<T>)
        total = quotient(total, T(static_cast<double>(loops.count)));
      y.set(to.first, total);
    });
    return true;
  });
}

template <Fold fold, const Form& form>
constexpr Kernel folded(const char* name) {
  return {name, accepts_fold<fold, form>, nullptr, run_fold<fold, form>};
}

constexpr Form sum_form{.dtype = 3}, all_form{.dims = Dims::all, .dtype = 1},
    along_form{.dims = Dims::named, .dtype = 3}, plain_form{}, all{.dims = Dims::all}, listed{.dims = Dims::named},
    correction_form{.keepdim = 3};

// Whether any element is true. Elements are converted to the dtype of the result, which is bool or uint8.
bool accepts_any(const Call& call) {
  return has_tensors(call) && (call.out().dtype == DType::boolean || call.out().dtype == DType::uint8);
}
template <const Form& form>
bool run_any(const Step& step, Execution&) {
  const Tensor& out = step.call.out();
  Loops loops;
  if (!make_loops(step.call, form, loops)) return false;
  const Reading<std::int64_t> x(step.call.tensor(0), out.dtype);
  each_result(loops, [&](Place to, std::ptrdiff_t from) {
    bool any = false;
    each_element(loops, from, [&](std::ptrdiff_t i) { any = any || x[i] != 0; });
    out.elements<std::uint8_t>()[to.first] = any;
  });
  return true;
}

// Variances. Operands: self, dim, correction, keepdim, out, maybe the mean.
std::size_t outs_of_variance(const Call& call) {
  return call.roles->name == "aten::var_mean.correction_out" ? 4 : call.arguments.size() - 1;
}

bool accepts_variance(const Call& call) {
  if (!has_tensors(call) || !call[4].is_tensor()) return false;
  const DType self = call.tensor(0).dtype, out = call.tensor(4).dtype, last = call.out().dtype;
  if (!is_floating(self) && !is_complex(self)) return false;
  return outs_of_variance(call) + 1 == call.arguments.size() ? is_floating(out) || is_complex(out)
                                                             : out == part_of(self) && last == self;
}

double correction_of(const Value& v) {
  return v.kind == ValueKind::none      ? 1
         : v.kind == ValueKind::real    ? v.real
         : v.kind == ValueKind::boolean ? v.boolean
                                        : static_cast<double>(v.integer);
}

double square(double x) { return x * x; }
double square(Complex x) { return std::norm(x); }

bool run_variance(const Step& step, Execution&) {
  const Call& call = step.call;
  const Tensor& self = call.tensor(0);
  const std::size_t first = outs_of_variance(call);
  Loops loops;
  if (!make_loops(call, correction_form, loops, first)) return false;
  const double n = static_cast<double>(loops.count), rest = n - correction_of(call[2]);
  const double degrees = loops.count == 0 ? std::numeric_limits<double>::quiet_NaN() : rest > 0 ? rest : 0;
  const auto fold = [&]<class T>() {
    const Reading<T> x(self, self.dtype);
    const Writing<double> y(call.tensor(first));
    each_result(loops, [&](Place to, std::ptrdiff_t from) {
      T sum = 0;
      double squares = 0;
      each_element(loops, from, [&](std::ptrdiff_t i) { sum += x[i]; });
      const T mean = sum / n;  // divides the parts of a complex number
      each_element(loops, from, [&](std::ptrdiff_t i) { squares += square(x[i] - mean); });
      y.set(to.first, squares / degrees);
      if (first == 4 && call.arguments.size() == 6) Writing<T>(call.tensor(5)).set(to.second, mean);
    });
    return true;
  };
  return is_complex(self.dtype) ? fold.operator()<Complex>() : fold.operator()<double>();
}

// The largest or smallest elements, their places, or both. NaN comes before all numbers.

// Whether x comes before the best element so far.
template <class T>
bool comes_before(T x, T best, bool largest) {
  return best == best && (x != x || (largest ? x > best : x < best));
}

// Calls found(to, best, place) for each result. Returns false if a result has no elements.
template <class T, class Found>
bool each_extreme(const Tensor& self, const Loops& loops, bool largest, Found found) {
  if (loops.count == 0) return loops.kept.loops == 0;
  const Reading<T> x(self, self.dtype);
  each_result(loops, [&](Place to, std::ptrdiff_t from) {
    T best{};
    std::int64_t place = 0, k = 0;
    each_element(loops, from, [&](std::ptrdiff_t i) {
      const T now = x[i];
      if (k == 0 || comes_before(now, best, largest)) best = now, place = k;
      ++k;
    });
    found(to, best, place);
  });
  return true;
}

template <class F>
bool with_ordered(DType dtype, F f) {
  return is_floating(dtype) ? f.template operator()<double>() : f.template operator()<std::int64_t>();
}

// amax and amin: self, dim, keepdim, out.
bool accepts_extremes(const Call& call) {
  return has_tensors(call) && is_readable(call.tensor(0).dtype) && call.out().dtype == call.tensor(0).dtype;
}
template <bool largest>
bool run_extremes(const Step& step, Execution&) {
  const Tensor &self = step.call.tensor(0), &out = step.call.out();
  Loops loops;
  if ((!is_real(self.dtype) && self.count() > 0) || !make_loops(step.call, plain_form, loops)) return false;
  return with_ordered(self.dtype, [&]<class T>() {
    const Writing<T> y(out);
    return each_extreme<T>(self, loops, largest, [&](Place to, T best, std::int64_t) { y.set(to.first, best); });
  });
}

// argmax and argmin: self, dim, keepdim, out. max.dim and min.dim have the extremes besides.
bool accepts_places(const Call& call) {
  if (!has_tensors(call) || call.out().dtype != DType::int64 || !is_readable(call.tensor(0).dtype)) return false;
  return call.arguments.size() == 4 ? call.tensor(0).dtype != DType::boolean
                                    : call[3].is_tensor() && call.tensor(3).dtype == call.tensor(0).dtype;
}
template <bool largest>
bool run_places(const Step& step, Execution&) {
  const Call& call = step.call;
  Loops loops;
  const Tensor& self = call.tensor(0);
  const bool has_values = call.arguments.size() == 5;
  Shape result;
  std::uint32_t reduced = 0;
  if (!plan(call, Dims::named_or_all, result, reduced)) return false;
  std::int64_t count = 1;
  for (int d = 0; d < self.rank; ++d) count *= reduced >> d & 1 ? self.sizes[d] : 1;
  if (count == 0) return false;
  // Wide unsigned numbers are not compared: argmax takes them along a named dimension of size 1 or without elements.
  const bool compares = has_values ? self.rank > 0 : count > 1 || self.rank == 0 || call[1].kind == ValueKind::none;
  if (is_wide_unsigned(self.dtype) && compares && self.count() > 0) return false;
  if (!make_loops(call, plain_form, loops, 3)) return false;
  return with_ordered(self.dtype, [&]<class T>() {
    return each_extreme<T>(self, loops, largest, [&](Place to, T best, std::int64_t place) {
      if (has_values) Writing<T>(call.tensor(3)).set(to.first, best);
      call.out().elements<std::int64_t>()[to.second] = place;
    });
  });
}

// The extreme of all elements, which fills an out of any dtype that holds it.
bool accepts_extreme(const Call& call) {
  const auto kind = [](DType dtype) { return find_dtype(static_cast<int>(dtype))->kind; };
  return has_tensors(call) && is_real(call.tensor(0).dtype) && kind(call.out().dtype) >= kind(call.tensor(0).dtype);
}
template <bool largest>
bool run_extreme(const Step& step, Execution&) {
  const Tensor &self = step.call.tensor(0), &out = step.call.out();
  Loops loops;
  if (self.count() == 0 || !make_loops(step.call, all, loops)) return false;
  return with_ordered(self.dtype, [&]<class T>() {
    Value extreme;
    each_extreme<T>(self, loops, largest, [&](Place, T best, std::int64_t) {
      if constexpr (std::is_integral_v<T>)
        extreme.kind = ValueKind::integer, extreme.integer = best;
      else
        extreme.kind = ValueKind::real, extreme.real = best;
      if (self.dtype == DType::boolean) extreme.kind = ValueKind::boolean, extreme.boolean = best != T{};
    });
    return element_of(extreme, out.dtype, out.data);
  });
}

// The middle of the sorted elements, the lower of two, or the first NaN. Elements are sorted in scratch memory.
template <class T>
struct Entry {
  T x;
  std::int64_t at;
};
template <class T>
bool is_less(const Entry<T>& a, const Entry<T>& b) {
  return a.x < b.x || (a.x == b.x && a.at < b.at);
}

bool accepts_median(const Call& call) {
  if (!has_tensors(call) || call.tensor(0).unbounded) return false;
  const DType self = call.tensor(0).dtype;
  if (call.arguments.size() == 2) return call.out().dtype == self;
  return is_number(self) && call[3].is_tensor() && call.tensor(3).dtype == self && call.out().dtype == DType::int64;
}
const void* prepare_median(const Call& call, Stores& stores) {
  std::uint64_t most = 1;
  for (int d = 0; d < call.tensor(0).rank; ++d) most *= static_cast<std::uint64_t>(call.tensor(0).declared[d]);
  stores.scratch = std::max(stores.scratch, most * sizeof(Entry<double>));
  return nullptr;
}
template <class T>
Entry<T> median_of(const Reading<T>& x, const Loops& loops, std::ptrdiff_t from, Entry<T>* entries) {
  std::int64_t n = 0, missing = -1;
  each_element(loops, from, [&](std::ptrdiff_t i) {
    entries[n] = {x[i], n};
    if (missing < 0 && entries[n].x != entries[n].x) missing = n;
    ++n;
  });
  if (missing >= 0) return entries[missing];
  Entry<T>* middle = entries + (n - 1) / 2;
  std::nth_element(entries, middle, entries + n, is_less<T>);
  return *middle;
}
// NaN. PyTorch converts this number to uint32 through int64, whose low bits are then 0.
void write_missing(DType dtype, void* element) {
  if (dtype == DType::uint32)
    *static_cast<std::uint32_t*>(element) = 0;
  else
    find_writer<Complex>(dtype)(std::numeric_limits<double>::quiet_NaN(), element);
}
bool run_median(const Step& step, Execution& execution) {
  const Call& call = step.call;
  const Tensor& self = call.tensor(0);
  const bool has_places = call.arguments.size() == 5;
  Loops loops;
  if (self.count() > 0 && !is_number(self.dtype)) return false;
  if (has_places && self.rank > 0 && dim_of(call[1], self.rank) >= 0 && self.size(dim_of(call[1], self.rank)) == 0)
    return false;
  if (!make_loops(call, has_places ? listed : all, loops, has_places ? 3 : 1)) return false;
  Tensor& values = call.tensor(has_places ? 3 : 1);
  if (loops.count == 0) {
    if (loops.kept.loops > 0) write_missing(values.dtype, values.data);
    return true;
  }
  return with_ordered(self.dtype, [&]<class T>() {
    const Reading<T> x(self, self.dtype);
    const Writing<T> y(values);
    auto* entries = reinterpret_cast<Entry<T>*>(execution.scratch.data());
    each_result(loops, [&](Place to, std::ptrdiff_t from) {
      const Entry<T> middle = median_of(x, loops, from, entries);
      y.set(to.first, middle.x);
      if (has_places) call.out().elements<std::int64_t>()[to.second] = middle.at;
    });
    return true;
  });
}

}  // namespace

constexpr Kernel sum_any = folded<Fold::sum, sum_form>("sum_any");
constexpr Kernel mean_any = folded<Fold::mean, sum_form>("mean_any");
constexpr Kernel mean_all_any = folded<Fold::mean, all_form>("mean_all_any");
constexpr Kernel prod_any = folded<Fold::prod, along_form>("prod_any");
constexpr Kernel prod_all_any = folded<Fold::prod, all_form>("prod_all_any");
constexpr Kernel any_any{"any_any", accepts_any, nullptr, run_any<listed>};
constexpr Kernel any_all_any{"any_all_any", accepts_any, nullptr, run_any<all>};
constexpr Kernel variance_any{"variance_any", accepts_variance, nullptr, run_variance};
constexpr Kernel amax_any{"amax_any", accepts_extremes, nullptr, run_extremes<true>};
constexpr Kernel amin_any{"amin_any", accepts_extremes, nullptr, run_extremes<false>};
constexpr Kernel largest_any{"largest_any", accepts_places, nullptr, run_places<true>};
constexpr Kernel smallest_any{"smallest_any", accepts_places, nullptr, run_places<false>};
constexpr Kernel max_all_any{"max_all_any", accepts_extreme, nullptr, run_extreme<true>};
constexpr Kernel min_all_any{"min_all_any", accepts_extreme, nullptr, run_extreme<false>};
constexpr Kernel median{"median", accepts_median, prepare_median, run_median};

}  // namespace assay::optimized
