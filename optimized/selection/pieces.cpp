#include <algorithm>

#include "kernels.gen.h"
#include "optimized/selection/copy.h"
#include "optimized/selection/creation.h"
#include "optimized/selection/scalars.h"
#include "optimized/selection/views.h"

// Tensors that are joined or cut along a dimension.
namespace assay::optimized {
namespace {

// Copies between a piece and the part of `whole` that begins at `begin` along `dim`. Elements are converted to the
// dtype `common` first.
enum class Way { into_whole, out_of_whole };
void copy_piece(Way way, const Tensor& whole, int dim, std::int64_t begin, const Tensor& piece, DType common,
                const kernels::Threads& threads) {
  const Strides of_whole = strides_of(whole), of_piece = strides_of(piece);
  const std::ptrdiff_t part = begin * of_whole.of[dim];
  const Shape shape = shape_of(piece);
  if (way == Way::into_whole) {
    const Strides strides[] = {of_whole, of_piece};
    copy_converted(nest_of(shape, whole.dim_order, strides), whole, part, piece, 0, common, threads);
  } else {
    const Strides strides[] = {of_piece, of_whole};
    copy_converted(nest_of(shape, piece.dim_order, strides), piece, 0, whole, part, common, threads);
  }
}

// Whether two tensors have the same sizes except along one dimension.
bool alike(const Tensor& a, const Tensor& b, int but) {
  if (a.rank != b.rank) return false;
  for (int d = 0; d < a.rank; ++d)
    if (d != but && a.sizes[d] != b.sizes[d]) return false;
  return true;
}

bool is_left_out(const Tensor& t) { return t.rank == 1 && t.sizes[0] == 0; }

// Operands: tensors, dim, out.
bool accepts_cat(const Call& call) {
  if (call[0].kind != ValueKind::tensors || call[0].count == 0 || call[2].kind != ValueKind::tensor) return false;
  return casts_to(call[0].items(), call.tensor(2).dtype) &&
         std::ranges::all_of(call[0].items(), [](const Value* v) { return v->tensor->rank > 0; });
}

bool run_cat(const Step& step, Execution& execution) {
  const auto tensors = step.call[0].items();
  Tensor& out = step.call.tensor(2);
  const auto first = std::ranges::find_if(tensors, [](const Value* v) { return !is_left_out(*v->tensor); });
  constexpr std::int32_t none[] = {0};
  if (first == tensors.end()) return resize(out, none);
  const DType common = common_of(tensors, out.dtype);
  Shape shape = shape_of(*(*first)->tensor);
  const int dim = dim_of(step.call[1], shape.rank);
  if (dim < 0) return false;
  std::int64_t size = 0;
  for (const Value* v : tensors) {
    if (is_left_out(*v->tensor)) continue;
    if (!alike(*v->tensor, *(*first)->tensor, dim)) return false;
    size += v->tensor->size(dim);
  }
  if (size > INT32_MAX) return false;
  shape.sizes[dim] = static_cast<std::int32_t>(size);
  if (!resize(out, shape.span())) return false;
  std::int64_t begin = 0;
  for (const Value* v : tensors) {
    if (is_left_out(*v->tensor)) continue;
    copy_piece(Way::into_whole, out, dim, begin, *v->tensor, common, execution.threads);
    begin += v->tensor->size(dim);
  }
  return true;
}

// Operands: self, sizes of the pieces, dim, outs.
bool accepts_split(const Call& call) {
  if (call[0].kind != ValueKind::tensor || call[3].kind != ValueKind::tensors) return false;
  const Tensor& self = call.tensor(0);
  const bool casts = call.roles->name == "aten::split_copy.Tensor_out" && find_reader<Complex>(self.dtype);
  return self.rank > 0 && std::ranges::all_of(call[3].items(), [&](const Value* v) {
           return v && v->is_tensor() &&
                  (v->tensor->dtype == self.dtype || (casts && find_reader<Complex>(v->tensor->dtype)));
         });
}

// The size of piece k. -1: it is invalid.
std::int64_t piece_size(const Value& sizes, std::size_t k, std::int64_t left) {
  const Value* size = &sizes;
  if (sizes.kind == ValueKind::integers) size = k < sizes.count ? sizes.items()[k] : nullptr;
  if (!size || size->kind != ValueKind::integer || size->integer < 0) return -1;
  if (sizes.kind == ValueKind::integers) return size->integer <= left ? size->integer : -1;
  return std::min(size->integer, left);
}

bool run_split(const Step& step, Execution& execution) {
  const Tensor& self = step.call.tensor(0);
  const Value& sizes = step.call[1];
  const auto outs = step.call[3].items();
  const int dim = dim_of(step.call[2], self.rank);
  if (dim < 0 || (sizes.kind == ValueKind::integers && sizes.count != outs.size())) return false;
  Shape shape = shape_of(self);
  std::int64_t left = self.size(dim);
  for (std::size_t k = 0; k < outs.size(); ++k) {
    const std::int64_t size = piece_size(sizes, k, left);
    if (size < 0 || (size == 0 && left != 0 && sizes.kind == ValueKind::integer)) return false;
    shape.sizes[dim] = static_cast<std::int32_t>(size), left -= size;
    if (!can_have(*outs[k]->tensor, shape)) return false;
  }
  if (left != 0) return false;
  std::int64_t begin = 0;
  for (std::size_t k = 0; k < outs.size(); ++k) {
    shape.sizes[dim] = static_cast<std::int32_t>(piece_size(sizes, k, self.size(dim) - begin));
    resize(*outs[k]->tensor, shape.span());
    copy_piece(Way::out_of_whole, self, dim, begin, *outs[k]->tensor, self.dtype, execution.threads);
    begin += shape.sizes[dim];
  }
  return true;
}

// Replaces a part of a tensor's elements by the second argument: self, src, ..., out.
using Part = bool (*)(const Call&, View&);
bool sliced(const Call& call, View& v) { return slice(v, call[2], call[3], call[4], call[5]); }
bool selected(const Call& call, View& v) { return select(v, call[2], call[3]); }

bool accepts_scatter(const Call& call) {
  const Value& out = *call.arguments.back();
  if (call[0].kind != ValueKind::tensor || call[1].kind != ValueKind::tensor || out.kind != ValueKind::tensor)
    return false;
  const DType dtype = call.tensor(0).dtype;
  const bool casts = find_reader<Complex>(dtype) && find_reader<Complex>(call.tensor(1).dtype);
  return out.tensor->dtype == dtype && (call.tensor(1).dtype == dtype || casts);
}

template <Part part>
bool run_scatter(const Step& step, Execution& execution) {
  const Tensor &self = step.call.tensor(0), &src = step.call.tensor(1);
  Tensor& out = *step.call.arguments.back()->tensor;
  View v{shape_of(self), 0, {}};
  v.strides = strides_of(v.shape, out.dim_order);
  if (out.rank != self.rank || !part(step.call, v) || !std::ranges::equal(v.shape.span(), src.shape()) ||
      !resize(out, self.shape()))
    return false;
  copy(out, self, execution.threads);
  const Strides strides[] = {v.strides, strides_of(src)};
  copy_converted(nest_of(v.shape, src.dim_order, strides), out, v.first, src, 0, out.dtype, execution.threads);
  return true;
}

// Operands: self, pad, value, out.
bool accepts_pad(const Call& call) {
  return call[0].kind == ValueKind::tensor && call[3].kind == ValueKind::tensor &&
         call.tensor(0).dtype == call.tensor(3).dtype && integers(call[1]);
}

// The padding before and after each dimension, the last dimension first. Negative padding cuts self. The value must fit
// the dtype if it is used.
bool run_pad(const Step& step, Execution& execution) {
  const Tensor& self = step.call.tensor(0);
  Tensor& out = step.call.tensor(3);
  const auto pad = step.call[1].items();
  alignas(8) std::byte element[most_element_bytes] = {};
  const bool is_used = std::ranges::any_of(pad, [](const Value* v) { return v->integer > 0; });
  if (pad.size() % 2 != 0 || pad.size() / 2 > self.rank || out.rank != self.rank ||
      (is_used && !element_of(step.call[2], out.dtype, element)))
    return false;
  Shape shape = shape_of(self), part = shape;
  std::int64_t skipped[max_rank] = {}, before[max_rank] = {};
  for (std::size_t k = 0; k < pad.size(); k += 2) {
    const int d = self.rank - 1 - static_cast<int>(k / 2);
    const std::int64_t b = pad[k]->integer, a = pad[k + 1]->integer, n = self.size(d);
    if (b < -n || a < -n || b > INT32_MAX || a > INT32_MAX || n + b + a > INT32_MAX) return false;
    skipped[d] = std::max<std::int64_t>(-b, 0), before[d] = std::max<std::int64_t>(b, 0);
    const std::int64_t left = n - skipped[d] - std::max<std::int64_t>(-a, 0);
    if (left < 0) return false;
    part.sizes[d] = static_cast<std::int32_t>(left), shape.sizes[d] = static_cast<std::int32_t>(n + b + a);
  }
  if (!resize(out, shape.span())) return false;
  fill(out, element);
  const Strides strides[] = {strides_of(out), strides_of(self)};
  std::ptrdiff_t to = 0, from = 0;
  for (int d = 0; d < self.rank; ++d) to += before[d] * strides[0].of[d], from += skipped[d] * strides[1].of[d];
  const auto bytes = static_cast<std::ptrdiff_t>(out.element_bytes());
  copy(nest_of(part, out.dim_order, strides), out.data + to * bytes, self.data + from * bytes, out.element_bytes(),
       execution.threads);
  return true;
}

}  // namespace

constexpr Kernel cat{"cat", accepts_cat, nullptr, run_cat};
constexpr Kernel split_copy{"split_copy", accepts_split, nullptr, run_split};
constexpr Kernel slice_scatter{"slice_scatter", accepts_scatter, nullptr, run_scatter<sliced>};
constexpr Kernel select_scatter{"select_scatter", accepts_scatter, nullptr, run_scatter<selected>};
constexpr Kernel constant_pad{"constant_pad", accepts_pad, nullptr, run_pad};

}  // namespace assay::optimized
