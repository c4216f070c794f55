#include <algorithm>
#include <limits>

#include "kernels.gen.h"
#include "optimized/selection/copy.h"
#include "optimized/selection/creation.h"
#include "optimized/selection/gather.h"
#include "optimized/selection/scalars.h"

// Elements that tensors of indices name.
namespace assay::optimized {
namespace {

bool is_index(const Value* v) {
  return v && v->kind == ValueKind::tensor && (v->tensor->dtype == DType::int64 || v->tensor->dtype == DType::int32);
}

// The element that index i names, of n; -1: none. A negative index may count from the end.
std::ptrdiff_t named_by(const Tensor& index, std::ptrdiff_t i, std::int64_t n, bool from_end) {
  std::int64_t k = index.dtype == DType::int64 ? index.elements<std::int64_t>()[i] : index.elements<std::int32_t>()[i];
  if (k < 0 && from_end) k += n;
  return k >= 0 && k < n ? k : -1;
}

bool all_inside(const Tensor& index, std::int64_t n, bool from_end) {
  const std::int64_t count = index.count();
  for (std::int64_t i = 0; i < count; ++i)
    if (named_by(index, i, n, from_end) < 0) return false;
  return true;
}

Tensor& out_of(const Call& call) {
  return call.roles->has(format::Use::written) ? *call.arguments.back()->tensor : call.tensor(0);
}

// The dtypes whose elements PyTorch moves by an index along a dimension.
bool is_moved(DType dtype) { return is_real(dtype) || is_complex(dtype); }

// Tensors of indices. Each replaces a dimension of self; all are broadcast with each other.
struct Named {
  static constexpr int most = most_operands - 1;
  int count = 0;
  const Tensor* index[most];
  int dim[most];
  bool from_end = false;
  Shape shape;              // the shape of all indexed elements
  int first = 0, rank = 0;  // the dimensions of the shape that the indices give

  bool add(const Value* v, int d) {
    if (count == most || !is_index(v) || d < 0) return false;
    index[count] = v->tensor, dim[count++] = d;
    return true;
  }
  bool names(int d) const { return std::find(dim, dim + count, d) != dim + count; }

  // They stand in the place of the replaced dimensions if these are neighbours, else in front.
  bool place(const Tensor& self) {
    Shape indices;
    for (int k = 0; k < count; ++k)
      if (!broadcast(indices, *index[k])) return false;
    rank = indices.rank, first = count > 0 && dim[count - 1] - dim[0] == count - 1 ? dim[0] : 0;
    if (count == 0 || dim[count - 1] >= self.rank || self.rank - count + rank > static_cast<int>(max_rank))
      return false;
    shape.rank = self.rank - count + rank;
    std::copy_n(indices.sizes, rank, shape.sizes + first);
    for (int d = 0, at = 0; d < self.rank; ++d)
      if (!names(d)) shape.sizes[at < first ? at : at + rank] = self.sizes[d], ++at;
    return true;
  }

  bool all_inside(const Tensor& self) const {
    for (int k = 0; k < count; ++k)
      if (!optimized::all_inside(*index[k], self.size(dim[k]), from_end)) return false;
    return true;
  }
};

// Calls row(at, in_self, strides, n) for all named elements in the order of the indices: elements of a tensor of this
// shape and strides, and elements of self.
template <class Row>
void each_named(const Named& named, const Tensor& self, const Strides& of_self, const Strides& strides, Row row) {
  Shape indexed = named.shape, kept = named.shape;
  Strides operands[most_operands]{strides}, in_kept[2]{strides};
  for (int d = 0; d < named.shape.rank; ++d)
    (d >= named.first && d < named.first + named.rank ? kept : indexed).sizes[d] = 1;
  Shape indices{named.rank, {}};
  std::copy_n(named.shape.sizes + named.first, named.rank, indices.sizes);
  for (int k = 0; k < named.count; ++k) {
    const Strides own = strides_in(indices, *named.index[k]);
    std::copy_n(own.of, named.rank, operands[k + 1].of + named.first);
  }
  for (int d = 0, at = 0; d < self.rank; ++d)
    if (!named.names(d)) in_kept[1].of[at < named.first ? at : at + named.rank] = of_self.of[d], ++at;
  const auto operand_count = static_cast<std::size_t>(named.count) + 1;
  const Nest outer = nest_of(indexed, row_major, {operands, operand_count}), inner = nest_of(kept, row_major, in_kept);
  const int last = outer.loops - 1, along = inner.loops - 1;
  each_row(outer, named.count + 1, [&](const std::ptrdiff_t* at, std::ptrdiff_t many) {
    for (std::ptrdiff_t i = 0; i < many; ++i) {
      std::ptrdiff_t from = 0;
      for (int k = 0; k < named.count; ++k)
        from += of_self.of[named.dim[k]] * named_by(*named.index[k], at[k + 1] + i * outer.stride[k + 1][last],
                                                    self.size(named.dim[k]), named.from_end);
      const std::ptrdiff_t to = at[0] + i * outer.stride[0][last];
      each_row(inner, 2, [&](const std::ptrdiff_t* in, std::ptrdiff_t n) {
        row(to + in[0], inner.stride[0][along], from + in[1], inner.stride[1][along], n);
      });
    }
  });
}

// The indices of each operator.

bool embedded(const Call& call, Named& named) {
  return call.tensor(0).rank == 2 && named.add(call.arguments[1], 0) && named.place(call.tensor(0));
}
bool selected(const Call& call, Named& named) {
  const Tensor& self = call.tensor(0);
  return self.rank > 0 && (self.rank > 1 || is_moved(self.dtype)) &&
         named.add(call.arguments[2], dim_of(call[1], self.rank)) && named.index[0]->rank == 1 && named.place(self);
}
bool indexed(const Call& call, Named& named) {
  if (call[1].kind != ValueKind::tensors) return false;
  named.from_end = true;
  int d = 0;
  for (const Value* v : call[1].items()) {
    if (v && v->kind != ValueKind::none && !named.add(v, d)) return false;
    ++d;
  }
  return d <= call.tensor(0).rank && named.place(call.tensor(0));
}

using Namer = bool (*)(const Call&, Named&);

template <Namer namer>
bool accepts_taking(const Call& call) {
  if (call[0].kind != ValueKind::tensor || call.arguments.back()->kind != ValueKind::tensor) return false;
  Named named;
  return call.tensor(0).dtype == out_of(call).dtype && namer(call, named);
}

template <Namer namer>
bool take(const Step& step, Execution&) {
  const Tensor& self = step.call.tensor(0);
  Tensor& out = out_of(step.call);
  Named named;
  if (!namer(step.call, named) || !named.all_inside(self) || !resize(out, named.shape.span())) return false;
  const auto bytes = static_cast<std::ptrdiff_t>(self.element_bytes());
  const Mover move = find_mover(self.element_bytes());
  each_named(named, self, strides_of(self), strides_of(out),
             [&](std::ptrdiff_t at, std::ptrdiff_t stride, std::ptrdiff_t in, std::ptrdiff_t self_stride,
                 std::ptrdiff_t n) { move(out.data + at * bytes, stride, self.data + in * bytes, self_stride, n); });
  return true;
}

struct Truth {  // an element of dtype bool
  std::uint8_t byte;
};

// Adds instead of copying. Integers wrap; a sum of bools is true if one of them is. The sum of a half type is rounded.
template <class D>
D sum(D a, D b) {
  if constexpr (is_half<D>)
    return D::of(static_cast<float>(a) + static_cast<float>(b));
  else if constexpr (std::is_integral_v<D>)
    return static_cast<D>(plus<std::int64_t>(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)));
  else
    return a + b;
}
Truth sum(Truth a, Truth b) { return {a.byte != 0 || b.byte != 0}; }
template <class D>
void add(std::byte* to, std::ptrdiff_t to_stride, const std::byte* from, std::ptrdiff_t from_stride, std::ptrdiff_t n) {
  D* y = reinterpret_cast<D*>(to);
  const D* x = reinterpret_cast<const D*>(from);
  for (std::ptrdiff_t i = 0; i < n; ++i) y[i * to_stride] = sum(y[i * to_stride], x[i * from_stride]);
}
Mover find_adder(DType dtype) {
  if (dtype == DType::boolean) return add<Truth>;
  if (dtype == DType::complex64) return add<std::complex<float>>;
  if (dtype == DType::complex128) return add<Complex>;
  return is_number(dtype) ? with_type_of(dtype, []<class D>() -> Mover { return add<D>; }) : nullptr;
}

// Operands: self, indices, values, accumulate, and the out, unless self changes in place.
bool accepts_putting(const Call& call) {
  if (call[0].kind != ValueKind::tensor || call[2].kind != ValueKind::tensor) return false;
  const Tensor &self = call.tensor(0), &values = call.tensor(2), &out = out_of(call);
  Named named;
  return call[3].kind == ValueKind::boolean && !call[3].changes && is_moved(self.dtype) && values.dtype == self.dtype &&
         out.dtype == self.dtype && (!call[3].boolean || find_adder(self.dtype)) && indexed(call, named) &&
         values.rank <= named.shape.rank;
}

bool put(const Step& step, Execution& execution) {
  const Tensor &self = step.call.tensor(0), &values = step.call.tensor(2);
  Tensor& out = out_of(step.call);
  Named named;
  if (!indexed(step.call, named) || values.rank > named.shape.rank) return false;
  Shape shape = named.shape;
  if (!broadcast(shape, values) || !std::ranges::equal(shape.span(), named.shape.span())) return false;
  if (!named.all_inside(self) || !resize(out, self.shape())) return false;
  copy(out, self, execution.threads);
  const auto bytes = static_cast<std::ptrdiff_t>(self.element_bytes());
  const Mover move = step.call[3].boolean ? find_adder(self.dtype) : find_mover(self.element_bytes());
  each_named(named, self, strides_of(out), strides_in(shape, values),
             [&](std::ptrdiff_t at, std::ptrdiff_t stride, std::ptrdiff_t in, std::ptrdiff_t out_stride,
                 std::ptrdiff_t n) { move(out.data + in * bytes, out_stride, values.data + at * bytes, stride, n); });
  return true;
}

// A dimension of self. The index has as many dimensions as self; each of its places names one element along the
// dimension.

// The size along a dimension; 1 for a tensor of rank 0.
std::int32_t size_of(const Tensor& t, int d) { return t.rank > 0 ? t.sizes[d] : 1; }

// Operands: self, dim, index, and maybe src. A tensor of rank 0 counts as one of rank 1.
bool is_along(const Call& call, const Tensor& src) {
  const Tensor &self = call.tensor(0), &index = call.tensor(2);
  const int dim = dim_of(call[1], self.rank), rank = std::max<int>(self.rank, 1);
  if (dim < 0) return false;
  if (index.count() == 0) return true;
  if (!is_index(call.arguments[2]) || !is_moved(self.dtype) || self.dtype == DType::complex32) return false;
  if (std::max<int>(index.rank, 1) != rank || std::max<int>(src.rank, 1) != rank) return false;
  for (int d = 0; d < rank; ++d)
    if ((d != dim && size_of(index, d) > size_of(self, d)) || size_of(index, d) > size_of(src, d)) return false;
  return all_inside(index, size_of(self, dim), false);
}

// Calls element(in whole, in other) for each place of the index, the last dimension first: the named element of a
// tensor with these strides, and the element at that place of another tensor.
template <class Element>
void each_along(const Call& call, const Strides& whole, const Strides& other, Element element) {
  const Tensor& index = call.tensor(2);
  const int dim = dim_of(call[1], call.tensor(0).rank);
  Strides strides[] = {whole, other, strides_of(index)};
  const std::ptrdiff_t step = whole.of[dim];
  strides[0].of[dim] = 0;
  const Nest nest = nest_of(shape_of(index), row_major, strides);
  const int last = nest.loops - 1;
  each_row(nest, 3, [&](const std::ptrdiff_t* at, std::ptrdiff_t n) {
    for (std::ptrdiff_t i = 0; i < n; ++i)
      element(
          at[0] + i * nest.stride[0][last] +
              step * named_by(index, at[2] + i * nest.stride[2][last], std::numeric_limits<std::int64_t>::max(), false),
          at[1] + i * nest.stride[1][last]);
  });
}

// Without indices, self and the index may have any dtype.
bool accepts_along(const Call& call) {
  return call[0].is_tensor() && call[2].is_tensor() && call.arguments.back()->is_tensor() &&
         out_of(call).dtype == call.tensor(0).dtype && call[1].kind == ValueKind::integer;
}

bool run_gather(const Step& step, Execution&) {
  const Tensor &self = step.call.tensor(0), &index = step.call.tensor(2);
  Tensor& out = out_of(step.call);
  if (!is_along(step.call, index) || !resize(out, index.shape())) return false;
  const auto bytes = static_cast<std::ptrdiff_t>(self.element_bytes());
  const Mover move = find_mover(self.element_bytes());
  each_along(step.call, strides_of(self), strides_of(out), [&](std::ptrdiff_t in, std::ptrdiff_t at) {
    move(out.data + at * bytes, 1, self.data + in * bytes, 1, 1);
  });
  return true;
}

// What each place of the index gives to the element that it names: an element of src, or a number.
bool accepts_scatter(const Call& call) {
  std::byte element[most_element_bytes];
  return accepts_along(call) &&
         (call[3].kind == ValueKind::tensor ? call.tensor(3).dtype == call.tensor(0).dtype
                                            : element_of(call[3], call.tensor(0).dtype, element));
}
bool accepts_scatter_add(const Call& call) { return accepts_scatter(call) && call[3].kind == ValueKind::tensor; }

template <bool adds>
bool run_scatter(const Step& step, Execution& execution) {
  const Call& call = step.call;
  const Tensor& self = call.tensor(0);
  Tensor& out = out_of(call);
  alignas(8) std::byte element[most_element_bytes] = {};
  const bool has_src = call[3].kind == ValueKind::tensor;
  if (!has_src && !element_of(call[3], self.dtype, element)) return false;
  if (!is_along(call, has_src ? call.tensor(3) : call.tensor(2)) || !resize(out, self.shape())) return false;
  copy(out, self, execution.threads);
  const auto bytes = static_cast<std::ptrdiff_t>(self.element_bytes());
  const Mover move = adds ? find_adder(self.dtype) : find_mover(self.element_bytes());
  const std::byte* from = has_src ? call.tensor(3).data : element;
  each_along(call, strides_of(out), has_src ? strides_of(call.tensor(3)) : Strides{},
             [&](std::ptrdiff_t in, std::ptrdiff_t at) { move(out.data + in * bytes, 1, from + at * bytes, 1, 1); });
  return true;
}

// scatter_reduce: self, dim, index, src, reduce, include_self, out. The first number that counts replaces the element
// of self if that does not count. Each step is rounded to the dtype. The mean of integers is rounded down.
bool is_extreme(std::string_view reduce) { return reduce == "amax" || reduce == "amin"; }
bool accepts_reducing(const Call& call) {
  if (!accepts_along(call) || call.tensor(0).unbounded || !call[3].is_tensor() || call[4].kind != ValueKind::string ||
      call[5].kind != ValueKind::boolean)
    return false;
  const DType dtype = call.tensor(0).dtype;
  const std::string_view reduce = call[4].string();
  if (reduce == "mean" && dtype == DType::boolean) return false;
  return is_index(call.arguments[2]) && is_moved(dtype) && dtype != DType::complex32 && call.tensor(3).dtype == dtype &&
         (reduce == "sum" || reduce == "prod" || reduce == "mean" || (is_extreme(reduce) && !is_complex(dtype)));
}
const void* prepare_reducing(const Call& call, Stores& stores) {
  std::uint64_t most = 1;
  for (int d = 0; d < call.tensor(0).rank; ++d) most *= static_cast<std::uint64_t>(call.tensor(0).declared[d]);
  stores.scratch = std::max(stores.scratch, most * sizeof(std::int64_t));  // how many numbers each element has
  return nullptr;
}
template <class T>
T reduced(T a, T b, std::string_view reduce) {
  if (reduce == "prod") return times(a, b);
  if constexpr (!std::is_same_v<T, Complex>) {  // complex numbers have no larger one
    if (reduce == "amax") return a != a || a >= b ? a : b;
    if (reduce == "amin") return a != a || a <= b ? a : b;
  }
  return plus(a, b);
}
template <class T>
T mean_of(T sum, std::int64_t n) {
  if constexpr (std::is_integral_v<T>)
    return sum / n - (sum % n < 0);
  else
    return sum / T(static_cast<double>(n));
}
bool run_reducing(const Step& step, Execution& execution) {
  const Call& call = step.call;
  const Tensor &self = call.tensor(0), &src = call.tensor(3);
  Tensor& out = out_of(call);
  const std::string_view reduce = call[4].string();
  if (!is_along(call, src) || !resize(out, self.shape())) return false;
  copy(out, self, execution.threads);
  auto* counts = reinterpret_cast<std::int64_t*>(execution.scratch.data());
  std::fill_n(counts, out.count(), call[5].boolean);
  return with_number(out.dtype, [&]<class T>() {
    const Reading<T> x(src, out.dtype), total(out, out.dtype);
    const Writing<T> y(out);
    each_along(call, strides_of(out), strides_of(src), [&](std::ptrdiff_t in, std::ptrdiff_t at) {
      y.set(in, counts[in]++ == 0 ? x[at] : reduced(total[in], x[at], reduce));
    });
    for (std::ptrdiff_t i = 0; i < out.count(); ++i)
      if (reduce == "mean" && counts[i] > 1) y.set(i, mean_of(total[i], counts[i]));
    return true;
  });
}

}  // namespace

constexpr Kernel scatter_reduce{"scatter_reduce", accepts_reducing, prepare_reducing, run_reducing};
constexpr Kernel embedding{"embedding", accepts_taking<embedded>, nullptr, take<embedded>};
constexpr Kernel index_elements{"index_elements", accepts_taking<indexed>, nullptr, take<indexed>};
constexpr Kernel index_select{"index_select", accepts_taking<selected>, nullptr, take<selected>};
constexpr Kernel index_put{"index_put", accepts_putting, nullptr, put};
constexpr Kernel gather{"gather", accepts_along, nullptr, run_gather};
constexpr Kernel scatter{"scatter", accepts_scatter, nullptr, run_scatter<false>};
constexpr Kernel scatter_add{"scatter_add", accepts_scatter_add, nullptr, run_scatter<true>};

}  // namespace assay::optimized
