#include <cmath>
#include <cstring>

#include "kernels.gen.h"
#include "optimized/selection/elements.h"
#include "optimized/selection/layout.h"
#include "optimized/selection/numbers.h"

// The number of elements of a sorted row that come before a number. Each number is found by a binary search.
namespace assay::optimized {
namespace {

// A call of either operator. `found` is the tensor of numbers, or the number, that are searched in `rows`.
struct Search {
  const Value* found = nullptr;
  const Tensor* rows = nullptr;
  const Tensor* sorter = nullptr;  // null if the rows are sorted
  bool right = false;              // whether elements that are equal to the number come before it
  DType common = DType::float32;
  bool is_computed = false;  // whether numbers of the common dtype are compared
};

// Operands: self, boundaries, out_int32, right, out.
bool bucketized(const Call& call, Search& s) {
  s.found = call.arguments[0];
  if (!call[1].is_tensor() || call[3].kind != ValueKind::boolean) return false;
  s.rows = call[1].tensor, s.right = call[3].boolean;
  return s.rows->rank == 1;
}

// Operands: sorted_sequence, self, out_int32, right, side, sorter, out.
bool searched(const Call& call, Search& s) {
  s.found = call.arguments[1];
  if (!call[0].is_tensor() || call[3].kind != ValueKind::boolean || call[0].tensor->rank == 0) return false;
  s.rows = call[0].tensor, s.right = call[3].boolean;
  if (call[4].kind == ValueKind::string) {
    const bool is_right = call[4].string() == "right";
    if ((!is_right && call[4].string() != "left") || (s.right && !is_right)) return false;
    s.right = is_right;
  } else if (call[4].kind != ValueKind::none) {
    return false;
  }
  if (call[5].is_tensor()) s.sorter = call[5].tensor;
  return !s.sorter || s.sorter->dtype == DType::int64;
}

// The place of element i in row-major order.
std::ptrdiff_t place_of(const Tensor& t, std::int64_t i) {
  if (t.is_contiguous()) return i;
  const Strides strides = strides_of(t);
  std::ptrdiff_t place = 0;
  for (int d = t.rank - 1; d >= 0; i /= t.sizes[d], --d) place += i % t.sizes[d] * strides.of[d];
  return place;
}

// Whether there is one row, or one for each row of the numbers.
bool has_rows(const Search& s) {
  if (s.sorter && !std::ranges::equal(s.sorter->shape(), s.rows->shape())) return false;
  if (!s.found->is_tensor()) return s.rows->rank == 1;
  const Tensor& found = *s.found->tensor;
  if (s.rows->rank == 1) return true;
  if (found.rank != s.rows->rank) return false;
  for (int d = 0; d + 1 < found.rank; ++d)
    if (found.sizes[d] != s.rows->sizes[d]) return false;
  return true;
}

using Asked = bool (*)(const Call&, Search&);

template <Asked asked>
bool plan(const Call& call, Search& s) {
  if (!asked(call, s) || !call.arguments.back()->is_tensor() || call[2].kind != ValueKind::boolean || call[2].changes)
    return false;
  const Tensor& out = *call.arguments.back()->tensor;
  Promotion promotion;
  promotion.add(*s.found);
  Value rows;
  rows.kind = ValueKind::tensor, rows.tensor = const_cast<Tensor*>(s.rows);
  promotion.add(rows);
  s.common = promotion.result().value_or(DType::boolean);
  s.is_computed = is_number(s.common);
  return (s.is_computed || s.found->is_tensor()) && out.dtype == (call[2].boolean ? DType::int32 : DType::int64) &&
         has_rows(s);
}

template <Asked asked>
bool accepts(const Call& call) {
  Search s;
  return plan<asked>(call, s);
}

// An element as an integer, if the common dtype is one, or as a float that is rounded to the common dtype.
template <class T>
T element(const Search& s, const Tensor& t, std::int64_t i) {
  const std::byte* at = t.at(place_of(t, i));
  if constexpr (std::is_same_v<T, double>) {
    return stored_as(s.common, find_reader(t.dtype)(at));
  } else {
    std::int64_t x;
    find_gather(t.dtype, Element::i64)(at, 1, &x, 1);
    return x;
  }
}

template <class T>
T number(const Search& s) {
  T x{};
  if constexpr (std::is_same_v<T, double>)
    x = stored_as(s.common, s.found->kind == ValueKind::real      ? s.found->real
                            : s.found->kind == ValueKind::boolean ? s.found->boolean
                                                                  : static_cast<double>(s.found->integer));
  else
    number_as(s.common, *s.found, &x, true);
  return x;
}

template <class T>
std::int64_t places_before(const Search& s, std::int64_t row, std::int64_t n, T x) {
  std::int64_t begin = 0, end = n;
  while (begin < end) {
    const std::int64_t middle = begin + (end - begin) / 2;
    const std::int64_t at = s.sorter ? s.sorter->elements<std::int64_t>()[place_of(*s.sorter, row + middle)] : middle;
    const T y = element<T>(s, *s.rows, row + at);
    if (s.right ? y > x : y >= x)
      end = middle;
    else
      begin = middle + 1;
  }
  return begin;
}

bool is_sorter_inside(const Search& s, std::int64_t n) {
  const std::int64_t count = s.sorter ? s.sorter->count() : 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = s.sorter->elements<std::int64_t>()[i];
    if (at < 0 || at >= n) return false;
  }
  return true;
}

template <class T>
void search(const Search& s, Tensor& out) {
  const bool has_many = s.found->is_tensor();
  const std::int64_t n = s.rows->sizes[s.rows->rank - 1], count = out.count();
  const std::int64_t of_row =
      s.rows->rank > 1 ? s.found->tensor->sizes[s.rows->rank - 1] : std::max<std::int64_t>(count, 1);
  for (std::int64_t i = 0; i < count; ++i) {
    const T x = has_many ? element<T>(s, *s.found->tensor, i) : number<T>(s);
    const std::int64_t before = places_before(s, i / of_row * n, n, x);
    if (out.dtype == DType::int64)
      out.elements<std::int64_t>()[place_of(out, i)] = before;
    else
      out.elements<std::int32_t>()[place_of(out, i)] = static_cast<std::int32_t>(before);
  }
}

template <Asked asked>
bool run(const Step& step, Execution&) {
  Search s;
  Tensor& out = *step.call.arguments.back()->tensor;
  if (!plan<asked>(step.call, s) || !is_sorter_inside(s, s.rows->sizes[s.rows->rank - 1])) return false;
  const Shape shape = s.found->is_tensor() ? shape_of(*s.found->tensor) : Shape{};
  if ((!s.is_computed && shape.count() > 0) || !resize(out, shape.span())) return false;
  is_floating(s.common) ? search<double>(s, out) : search<std::int64_t>(s, out);
  return true;
}

}  // namespace

constexpr Kernel searchsorted{"searchsorted", accepts<searched>, nullptr, run<searched>};
constexpr Kernel bucketize{"bucketize", accepts<bucketized>, nullptr, run<bucketized>};

}  // namespace assay::optimized
