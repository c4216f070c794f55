#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels.gen.h"
#include "optimized/selection/elements.h"
#include "optimized/selection/numbers.h"
#include "optimized/selection/rows.h"

// Running sums and sorted orders along a dimension.
namespace assay::optimized {
namespace {

template <Element element>
using Number = std::conditional_t<element == Element::f64, double,
                                  std::conditional_t<element == Element::f32, float, std::int64_t>>;

// Operands: self, dim, dtype, out. Elements are converted to the dtype of the result before they are added.
template <Element element>
bool accepts_sums(const Call& call) {
  if (call[0].kind != ValueKind::tensor || call[3].kind != ValueKind::tensor) return false;
  const Tensor &self = call.tensor(0), &out = call.tensor(3);
  const bool asked = call[2].kind != ValueKind::none;
  return out.dtype == dtype_of(element) && find_gather(self.dtype, element) &&
         (!asked || (is_fixed(call[2]) && call[2].integer == static_cast<int>(out.dtype))) && is_fixed(call[1]) &&
         dim_of(call[1], self.rank) >= 0;
}

template <Element element>
bool run_sums(const Step& step, Execution&) {
  using Total = std::conditional_t<element == Element::i64, std::uint64_t, double>;
  const Tensor& self = step.call.tensor(0);
  Tensor& out = step.call.tensor(3);
  if (!resize(out, self.shape())) return false;
  const Rows rows = rows_of(dim_of(step.call[1], self.rank), {&self, &out});
  const Gather gather = find_gather(self.dtype, element);
  each_of(rows, [&](const std::ptrdiff_t* row) {
    const std::ptrdiff_t from = row[0], to = row[1];
    constexpr std::int64_t most = 64;
    Number<element> block[most];
    Total total = 0;
    for (std::int64_t begin = 0; begin < rows.n; begin += most) {
      const std::int64_t n = std::min(most, rows.n - begin);
      gather(self.at(from + begin * rows.step[0]), rows.step[0], block, static_cast<std::size_t>(n));
      for (std::int64_t i = 0; i < n; ++i) {
        total += static_cast<Total>(block[i]);
        out.elements<Number<element>>()[to + (begin + i) * rows.step[1]] = static_cast<Number<element>>(total);
      }
    }
  });
  return true;
}

// An element and its place.
template <class T>
struct Entry {
  T x;
  std::int64_t at;
};

// NaN is larger than every number. Of equal elements the first one comes first.
template <class T, bool largest>
bool comes_first(const Entry<T>& a, const Entry<T>& b) {
  const bool a_is_nan = a.x != a.x, b_is_nan = b.x != b.x;
  if (a_is_nan != b_is_nan) return a_is_nan == largest;
  if (!a_is_nan && a.x != b.x) return largest ? a.x > b.x : a.x < b.x;
  return a.at < b.at;
}

// Which elements of each row are wanted: the first k of the order.
struct Order {
  int dim = 0;
  std::int64_t k = 0;
  bool largest = true;
};
using Asked = bool (*)(const Call&, Order&);
// self, dim, descending, values, indices
bool sorted(const Call& call, Order& order) {
  const Tensor& self = call.tensor(0);
  order.dim = dim_of(call[1], self.rank), order.largest = call[2].boolean;
  if (order.dim < 0 || call[2].kind != ValueKind::boolean) return false;
  order.k = self.rank > 0 ? self.size(order.dim) : 1;
  return true;
}
// self, stable, dim, descending, values, indices. The order is always stable.
bool sorted_stably(const Call& call, Order& order) {
  const Tensor& self = call.tensor(0);
  order.dim = dim_of(call[2], self.rank), order.largest = call[3].boolean;
  if (order.dim < 0 || call[3].kind != ValueKind::boolean) return false;
  order.k = self.rank > 0 ? self.size(order.dim) : 1;
  return true;
}
// self, k, dim, largest, sorted, values, indices. A tensor of rank 0 keeps its element also with k = 0.
bool first_few(const Call& call, Order& order) {
  const Tensor& self = call.tensor(0);
  const bool is_row = self.rank > 0;
  order.dim = dim_of(call[2], self.rank), order.k = is_row ? call[1].integer : 1, order.largest = call[3].boolean;
  return order.dim >= 0 && call[1].kind == ValueKind::integer && call[3].kind == ValueKind::boolean &&
         call[1].integer >= 0 && call[1].integer <= (is_row ? self.size(order.dim) : 1);
}

// The type that holds the elements of a dtype in their order. sort orders also bools and unsigned integers.
template <Asked asked>
std::optional<Element> key_of(const Tensor& self) {
  const bool is_other = self.dtype == DType::boolean || is_wide_unsigned(self.dtype);
  if (is_other) return asked == Asked(first_few) && self.rank > 0 ? std::nullopt : std::optional(Element::i64);
  return element_of(self.dtype);
}

template <Asked asked, Element element>
bool accepts_order(const Call& call) {
  const std::size_t last = call.arguments.size() - 1;
  if (call[0].kind != ValueKind::tensor || call[last - 1].kind != ValueKind::tensor ||
      call[last].kind != ValueKind::tensor)
    return false;
  const Tensor &self = call.tensor(0), &values = call.tensor(last - 1), &places = call.tensor(last);
  return key_of<asked>(self) == element && values.dtype == self.dtype && places.dtype == DType::int64 &&
         values.rank == self.rank && places.rank == self.rank && !self.unbounded;
}

// A row is sorted in scratch, which is as long as a row can become.
template <Element element>
const void* prepare_order(const Call& call, Stores& stores) {
  const Tensor& self = call.tensor(0);
  std::int64_t most = 1;
  for (int d = 0; d < self.rank; ++d)
    most = self.moves ? most * std::max<std::int32_t>(self.declared[d], 1)
                      : std::max<std::int64_t>(most, self.declared[d]);
  stores.scratch = static_cast<std::uint64_t>(most) * sizeof(Entry<Number<element>>);
  return nullptr;
}

template <Asked asked, Element element>
bool run_order(const Step& step, Execution& execution) {
  using T = Number<element>;
  const Call& call = step.call;
  const std::size_t last = call.arguments.size() - 1;
  const Tensor& self = call.tensor(0);
  Tensor &values = call.tensor(last - 1), &places = call.tensor(last);
  Order order;
  if (!asked(call, order)) return false;
  Shape shape = shape_of(self);
  if (self.rank > 0) shape.sizes[order.dim] = static_cast<std::int32_t>(order.k);
  if (!can_have(values, shape) || !resize(places, shape.span())) return false;
  resize(values, shape.span());
  const Rows rows = rows_of(order.dim, {&self, &values, &places});
  const Gather gather = find_gather(self.dtype, element);
  const auto bytes = static_cast<std::size_t>(self.element_bytes());
  auto* entries = reinterpret_cast<Entry<T>*>(execution.scratch.data());
  const auto before = order.largest ? comes_first<T, true> : comes_first<T, false>;
  each_of(rows, [&](const std::ptrdiff_t* row) {
    const std::ptrdiff_t from = row[0];
    for (std::int64_t i = 0; i < rows.n; ++i) {
      gather(self.at(from + i * rows.step[0]), 1, &entries[i].x, 1);
      entries[i].at = i;
      // The order of integers without a sign is that of integers of 64 bits whose highest bit is inverted.
      if constexpr (element == Element::i64)
        if (self.dtype == DType::uint64) entries[i].x ^= std::numeric_limits<T>::min();
    }
    if (order.k < rows.n) std::nth_element(entries, entries + order.k, entries + rows.n, before);
    std::sort(entries, entries + order.k, before);
    for (std::int64_t i = 0; i < order.k; ++i) {
      std::memcpy(values.at(row[1] + i * rows.step[1]), self.at(from + entries[i].at * rows.step[0]), bytes);
      places.elements<std::int64_t>()[row[2] + i * rows.step[2]] = entries[i].at;
    }
  });
  return true;
}

template <Asked asked, Element element>
constexpr Kernel ordered(const char* name) {
  return {name, accepts_order<asked, element>, prepare_order<element>, run_order<asked, element>};
}

using enum Element;

}  // namespace

constexpr Kernel cumsum_f32{"cumsum_f32", accepts_sums<f32>, nullptr, run_sums<f32>};
constexpr Kernel cumsum_i64{"cumsum_i64", accepts_sums<i64>, nullptr, run_sums<i64>};
constexpr Kernel cumsum_f64{"cumsum_f64", accepts_sums<f64>, nullptr, run_sums<f64>};
constexpr Kernel topk_f32 = ordered<first_few, f32>("topk_f32");
constexpr Kernel topk_i64 = ordered<first_few, i64>("topk_i64");
constexpr Kernel sort_f32 = ordered<sorted, f32>("sort_f32");
constexpr Kernel sort_i64 = ordered<sorted, i64>("sort_i64");
constexpr Kernel topk_f64 = ordered<first_few, f64>("topk_f64");
constexpr Kernel sort_f64 = ordered<sorted, f64>("sort_f64");
constexpr Kernel stable_sort_f32 = ordered<sorted_stably, f32>("stable_sort_f32");
constexpr Kernel stable_sort_i64 = ordered<sorted_stably, i64>("stable_sort_i64");
constexpr Kernel stable_sort_f64 = ordered<sorted_stably, f64>("stable_sort_f64");

}  // namespace assay::optimized
