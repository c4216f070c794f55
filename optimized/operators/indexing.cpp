#include <algorithm>
#include <cstring>

#include "kernels.gen.h"
#include "optimized/operators/elements.h"
#include "optimized/operators/layout.h"

// Rows that one tensor of indices names, of tensors that are contiguous.
namespace assay::optimized {
namespace {

struct Rows {
  const Tensor* index = nullptr;
  int dim = 0;             // of self, which index takes the place of
  bool from_end = false;   // a negative index counts from the end
  Shape shape;             // of all that is named
  std::int64_t outer = 1;  // rows are taken this many times
  std::size_t bytes = 1;   // of a row
};

bool in_order(const Tensor& t) {
  for (int d = 0; d < t.rank; ++d)
    if (t.dim_order[d] != d) return false;
  return true;
}

bool is_index(const Value* v) {
  return v && v->kind == ValueKind::tensor && in_order(*v->tensor) &&
         (v->tensor->dtype == DType::int64 || v->tensor->dtype == DType::int32);
}

// With row-major order of all else, `index` in the place of dimension `dim`.
bool make_rows(const Tensor& self, const Value* index, int dim, bool from_end, Rows& rows) {
  if (!is_index(index) || dim < 0 || dim >= self.rank || !in_order(self)) return false;
  const Tensor& i = *index->tensor;
  if (self.rank - 1 + i.rank > static_cast<int>(max_rank)) return false;
  rows = {&i, dim, from_end, {}, 1, self.element_bytes()};
  for (int d = 0; d < self.rank; ++d) {
    if (d == dim)
      for (int k = 0; k < i.rank; ++k) rows.shape.sizes[rows.shape.rank++] = i.sizes[k];
    else
      rows.shape.sizes[rows.shape.rank++] = self.sizes[d];
    if (d < dim) rows.outer *= self.sizes[d];
    if (d > dim) rows.bytes *= static_cast<std::size_t>(self.sizes[d]);
  }
  return true;
}

// Which row index k names; -1: none.
std::int64_t row_of(const Rows& rows, std::int64_t k, std::int64_t n) {
  std::int64_t i = rows.index->dtype == DType::int64 ? rows.index->elements<std::int64_t>()[k]
                                                     : rows.index->elements<std::int32_t>()[k];
  if (i < 0 && rows.from_end) i += n;
  return i >= 0 && i < n ? i : -1;
}

bool all_inside(const Rows& rows, std::int64_t n) {
  const std::int64_t count = rows.index->count();
  for (std::int64_t k = 0; k < count; ++k)
    if (row_of(rows, k, n) < 0) return false;
  return true;
}

// Calls f(at, row) for each row that is named: its place among those, and in self.
template <class F>
void each_named(const Rows& rows, std::int64_t n, F f) {
  const std::int64_t count = rows.index->count();
  for (std::int64_t o = 0; o < rows.outer; ++o)
    for (std::int64_t k = 0; k < count; ++k)
      f(static_cast<std::size_t>(o * count + k) * rows.bytes,
        static_cast<std::size_t>(o * n + row_of(rows, k, n)) * rows.bytes);
}

// Each operator's rows.

bool embedded(const Call& call, Rows& rows) {
  return call.tensor(0).rank == 2 && make_rows(call.tensor(0), call.arguments[1], 0, false, rows);
}
bool selected(const Call& call, Rows& rows) {
  return call[2].kind == ValueKind::tensor && call.tensor(2).rank <= 1 && call.tensor(0).rank > 0 &&
         make_rows(call.tensor(0), call.arguments[2], dim_of(call[1], call.tensor(0).rank), false, rows) &&
         (rows.index->rank == 1);
}
bool indexed(const Call& call, Rows& rows) {
  if (call[1].kind != ValueKind::tensors) return false;
  const auto all = call[1].items();
  int dim = -1;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i] || all[i]->kind == ValueKind::none) continue;
    if (dim >= 0) return false;
    dim = static_cast<int>(i);
  }
  return dim >= 0 && all.size() <= call.tensor(0).rank &&
         make_rows(call.tensor(0), all[static_cast<std::size_t>(dim)], dim, true, rows);
}

using Namer = bool (*)(const Call&, Rows&);

Tensor& out_of(const Call& call) {
  return call.roles->has(format::Use::written) ? *call.arguments.back()->tensor : call.tensor(0);
}

bool is_real(DType dtype) {
  const DTypeFacts& facts = *find_dtype(static_cast<int>(dtype));
  return facts.kind != Kind::opaque && dtype < DType::uint16;
}

template <Namer named>
bool accepts_taking(const Call& call) {
  if (call[0].kind != ValueKind::tensor || call.arguments.back()->kind != ValueKind::tensor) return false;
  Rows rows;
  return is_real(call.tensor(0).dtype) && call.tensor(0).dtype == out_of(call).dtype && in_order(out_of(call)) &&
         named(call, rows);
}

template <Namer named>
bool take(const Step& step, Run&) {
  const Tensor& self = step.call.tensor(0);
  Tensor& out = out_of(step.call);
  Rows rows;
  if (!named(step.call, rows)) return false;
  const std::int64_t n = self.size(rows.dim);
  if (!all_inside(rows, n) || !resize(out, rows.shape.span())) return false;
  each_named(rows, n,
             [&](std::size_t at, std::size_t row) { std::memcpy(out.data + at, self.data + row, rows.bytes); });
  return true;
}

// Operands: self, indices, values, accumulate, and the out where it is not self that changes.
bool accepts_putting(const Call& call) {
  if (call[0].kind != ValueKind::tensor || call[2].kind != ValueKind::tensor) return false;
  const Tensor &self = call.tensor(0), &values = call.tensor(2), &out = out_of(call);
  Rows rows;
  return call[3].kind == ValueKind::boolean && !call[3].boolean && !call[3].changes && is_real(self.dtype) &&
         values.dtype == self.dtype && out.dtype == self.dtype && in_order(values) && in_order(out) &&
         indexed(call, rows) && values.rank == rows.shape.rank;
}

bool put(const Step& step, Run&) {
  const Tensor &self = step.call.tensor(0), &values = step.call.tensor(2);
  Tensor& out = out_of(step.call);
  Rows rows;
  if (!indexed(step.call, rows) || !std::ranges::equal(rows.shape.span(), values.shape())) return false;
  const std::int64_t n = self.size(rows.dim);
  if (!all_inside(rows, n) || !resize(out, self.shape())) return false;
  if (out.data != self.data && self.bytes() > 0) std::memcpy(out.data, self.data, self.bytes());
  each_named(rows, n,
             [&](std::size_t at, std::size_t row) { std::memcpy(out.data + row, values.data + at, rows.bytes); });
  return true;
}

}  // namespace

constexpr Kernel embedding{"embedding", accepts_taking<embedded>, nullptr, take<embedded>};
constexpr Kernel index_rows{"index_rows", accepts_taking<indexed>, nullptr, take<indexed>};
constexpr Kernel index_select{"index_select", accepts_taking<selected>, nullptr, take<selected>};
constexpr Kernel index_put_rows{"index_put_rows", accepts_putting, nullptr, put};

}  // namespace assay::optimized
