#include <algorithm>

#include "kernels.gen.h"
#include "optimized/selection/copy.h"
#include "optimized/selection/scalars.h"

// Elements that masks and tensors of indices name, by plain loops. A mask has dtype bool or uint8. It names the places
// of its elements that are not 0, and replaces as many dimensions of self as it has. A tensor of indices replaces one.
namespace assay::optimized {
namespace {

bool is_index(DType dtype) { return dtype == DType::int64 || dtype == DType::int32; }
bool is_mask(DType dtype) { return dtype == DType::boolean || dtype == DType::uint8; }

// A tensor of indices or a mask. `dim` is the first dimension of self that it replaces.
struct Index {
  const Tensor* tensor;
  int dim = 0, dims = 1;
  std::int64_t count = 0;                // for a mask: how many places it names
  const std::int64_t* places = nullptr;  // for a mask: the indices of each place
  Strides strides = {};                  // of its indices or places, along the common sizes
};

struct Indices {
  int count = 0;
  Index all[max_rank];
  bool is_replaced[max_rank] = {};  // by dimension of self
  Shape common, shape;              // the sizes of the indices, and of all named elements
  int first = 0;                    // where the common sizes stand in `shape`
};

// Reads the list of argument 1. A None keeps a dimension, and so does a mask without dimensions keep all.
bool read_indices(const Call& call, Indices& to) {
  const Tensor& self = call.tensor(0);
  int dim = 0;
  for (const Value* v : call[1].items()) {
    const bool is_given = v && v->kind != ValueKind::none;
    const Tensor* t = is_given ? v->tensor : nullptr;
    const int dims = t && is_mask(t->dtype) ? t->rank : 1;
    if (dim + dims > self.rank) return false;
    for (int d = 0; d < dims && t; ++d) {
      if (is_mask(t->dtype) && t->sizes[d] != self.sizes[dim + d]) return false;
      to.is_replaced[dim + d] = true;
    }
    if (t && dims > 0) to.all[to.count++] = {.tensor = t, .dim = dim, .dims = dims};
    dim += dims;
  }
  return to.count > 0 || self.count() == 0;
}

// Writes the places that a mask names, in row-major order. Returns the memory behind them.
std::int64_t* name_places(Index& mask, std::int64_t* memory) {
  const Reading<std::int64_t> is_true(*mask.tensor, mask.tensor->dtype);
  Walk walk(*mask.tensor);
  mask.places = memory;
  each_index(shape_of(*mask.tensor), [&](const std::int32_t* index) {
    if (is_true[walk.place()] != 0) memory = std::copy_n(index, mask.dims, memory), ++mask.count;
    walk.next();
  });
  return memory;
}

Shape shape_of_places(const Index& index) {
  return index.places ? Shape{1, {static_cast<std::int32_t>(index.count)}} : shape_of(*index.tensor);
}

// Finds the common sizes and the sizes of all named elements. The common sizes take the place of the replaced
// dimensions if these are neighbours; else they come first.
bool find_shape(const Tensor& self, Indices& to) {
  for (int k = 0; k < to.count; ++k)
    if (!broadcast(to.common, shape_of_places(to.all[k]))) return false;
  for (int k = 0; k < to.count; ++k) {
    Index& index = to.all[k];
    if (!index.places)
      index.strides = strides_in(to.common, *index.tensor);
    else if (index.count != 1)
      index.strides.of[to.common.rank - 1] = index.dims;
  }
  const bool* replaced = to.is_replaced;
  const auto first = std::find(replaced, replaced + self.rank, true),
             end = std::find(first, replaced + self.rank, false);
  const bool adjoin = std::find(end, replaced + self.rank, true) == replaced + self.rank;
  to.first = adjoin ? static_cast<int>(first - replaced) : 0;
  int kept = 0;
  const auto kept_in_all = std::count(replaced, replaced + self.rank, false);
  to.shape.rank = static_cast<int>(kept_in_all) + to.common.rank;
  if (to.shape.rank > static_cast<int>(max_rank)) return false;
  std::copy_n(to.common.sizes, to.common.rank, to.shape.sizes + to.first);
  for (int d = 0; d < self.rank; ++d)
    if (!replaced[d]) to.shape.sizes[kept < to.first ? kept : kept + to.common.rank] = self.sizes[d], ++kept;
  return true;
}

// An index that is negative counts from the end.
bool are_inside(const Tensor& self, const Index& index) {
  if (index.places) return true;
  const Reading<std::int64_t> x(*index.tensor, index.tensor->dtype);
  const std::int64_t n = self.sizes[index.dim];
  for (std::int64_t i = 0; i < index.tensor->count(); ++i)
    if (x[i] < -n || x[i] >= n) return false;
  return true;
}

bool find_indices(const Call& call, Execution& execution, Indices& to) {
  const Tensor& self = call.tensor(0);
  auto* memory = reinterpret_cast<std::int64_t*>(execution.scratch.data());
  if (!read_indices(call, to)) return false;
  for (int k = 0; k < to.count; ++k)
    if (is_mask(to.all[k].tensor->dtype)) memory = name_places(to.all[k], memory);
  return find_shape(self, to) &&
         std::all_of(to.all, to.all + to.count, [&](const Index& index) { return are_inside(self, index); });
}

// The place in self of the named element with this index.
std::ptrdiff_t place_in_self(const Tensor& self, const Strides& strides, const Indices& of, const std::int32_t* index) {
  std::ptrdiff_t place = 0;
  for (int d = 0, kept = 0; d < self.rank; ++d)
    if (!of.is_replaced[d]) place += index[kept < of.first ? kept : kept + of.common.rank] * strides.of[d], ++kept;
  for (int k = 0; k < of.count; ++k) {
    const Index& by = of.all[k];
    const std::ptrdiff_t at = place_of(by.strides, index + of.first, of.common.rank);
    if (by.places) {
      for (int d = 0; d < by.dims; ++d) place += by.places[at + d] * strides.of[by.dim + d];
    } else {
      const std::int64_t i = find_reader<std::int64_t>(by.tensor->dtype)(by.tensor->at(at));
      place += (i < 0 ? i + self.sizes[by.dim] : i) * strides.of[by.dim];
    }
  }
  return place;
}

bool has_indices(const Call& call) {
  return call[0].is_tensor() && call[1].kind == ValueKind::tensors &&
         std::ranges::all_of(call[1].items(), [](const Value* v) {
           return !v || v->kind == ValueKind::none ||
                  (v->is_tensor() && (is_index(v->tensor->dtype) || is_mask(v->tensor->dtype)) &&
                   !v->tensor->unbounded);
         });
}
const void* prepare(const Call& call, Stores& stores) {
  std::uint64_t most = 0;
  for (const Value* v : call[1].items()) {
    if (!v || !v->is_tensor() || !is_mask(v->tensor->dtype)) continue;
    std::uint64_t count = v->tensor->rank;
    for (int d = 0; d < v->tensor->rank; ++d) count *= static_cast<std::uint64_t>(v->tensor->declared[d]);
    most += count;
  }
  stores.scratch = std::max(stores.scratch, most * sizeof(std::int64_t));
  return nullptr;
}

// index: self, indices, out.
bool accepts_index(const Call& call) { return has_indices(call) && call.tensor(0).dtype == call.out().dtype; }
bool run_index(const Step& step, Execution& execution) {
  const Tensor& self = step.call.tensor(0);
  Tensor& out = step.call.out();
  Indices indices;
  if (!find_indices(step.call, execution, indices) || !resize(out, indices.shape.span())) return false;
  const Strides strides = strides_of(self);
  Walk to(out);
  each_index(indices.shape, [&](const std::int32_t* index) {
    std::memcpy(out.at(to.place()), self.at(place_in_self(self, strides, indices, index)), self.element_bytes());
    to.next();
  });
  return true;
}

// index_put: self, indices, values, accumulate, out. In a single mask, one value of any dtype fills the named elements.
Tensor& put_in(const Call& call) {
  return call.roles->has(format::Use::written) ? *call.arguments.back()->tensor : call.tensor(0);
}
bool accepts_put(const Call& call) {
  if (!has_indices(call) || !call[2].is_tensor() || call[3].kind != ValueKind::boolean) return false;
  const DType dtype = call.tensor(0).dtype;
  return (is_real(dtype) || is_complex(dtype)) && find_reader<Complex>(call.tensor(2).dtype) &&
         put_in(call).dtype == dtype;
}
bool run_put(const Step& step, Execution& execution) {
  const Call& call = step.call;
  const Tensor &self = call.tensor(0), &values = call.tensor(2);
  Tensor& out = put_in(call);
  Indices indices;
  if (!find_indices(call, execution, indices)) return false;
  const bool adds = call[3].boolean,
             fills = !adds && values.count() == 1 && indices.count == 1 && indices.all[0].places;
  Shape shape = indices.shape;
  if (!fills && (values.dtype != self.dtype || values.rank > shape.rank || !broadcast(shape, values) ||
                 !std::ranges::equal(shape.span(), indices.shape.span())))
    return false;
  if (!resize(out, self.shape())) return false;
  copy(out, self, execution.threads);
  const Strides strides = strides_of(out), of_values = fills ? Strides{} : strides_in(shape, values);
  return with_number(out.dtype, [&]<class T>() {
    const Reading<T> x(values, out.dtype), total(out, out.dtype);
    const Writing<T> y(out);
    each_index(shape, [&](const std::int32_t* index) {
      const std::ptrdiff_t at = place_in_self(self, strides, indices, index);
      const T value = x[place_of(of_values, index, shape.rank)];
      y.set(at, adds ? plus(total[at], value) : value);
    });
    return true;
  });
}

}  // namespace

constexpr Kernel index_any{"index_any", accepts_index, prepare, run_index};
constexpr Kernel index_put_any{"index_put_any", accepts_put, prepare, run_put};

}  // namespace assay::optimized
