#include "reference/tensor.h"

#include <cstring>

namespace assay {
namespace {

// f(byte offset) for every element, in row-major order.
template <class F>
void each_offset(const Tensor& t, F f) {
  const Int n = t.count();
  charge_visits(n);
  if (n == 0) return;  // products of the other sizes may be beyond an Int
  Dims stride = t.sizes;
  Int step = info(t.dtype).bytes;
  if (t.dim_order == Dims::counting(t.rank())) {  // contiguous, as nearly every tensor is
    for (Int k = 0; k < n; ++k) f(k * step);
    return;
  }
  for (int k = t.rank() - 1; k >= 0; --k) {
    const Int d = t.dim_order[k];
    stride[d] = step;
    step *= t.sizes[d];
  }
  for (const Dims& i : indices(t.sizes)) f(std::inner_product(i.begin(), i.end(), stride.begin(), Int{0}));
}

void look_at_elements(const Tensor& t) {
  if (t.bytes.empty() && t.count() > 0) throw Unknown{};
}

// A uint64 rounded to a floating dtype without the detour through Real. One that is no int64 is halved; its last bit
// stays set when either of the last two was, so that the half rounds as the whole does.
Real rounded_once(Bits n, DType dtype) {
  const DTypeInfo& d = info(dtype);
  const bool fits = n >> 63 == 0;
  return (fits ? 1 : 2) * d.real_of(d.bits_of_int(static_cast<Int>(fits ? n : n >> 1 | (n & 1))));
}

Real float32_first(Real x) { return round_to(DType::float32, x); }

}  // namespace

Tensor make(DType dtype, const Dims& sizes, const Dims& dim_order) {
  Tensor t{dtype, sizes, dim_order, {}};
  t.bytes.resize(static_cast<std::size_t>(t.count() * info(dtype).bytes));
  return t;
}

Tensor make(DType dtype, const Dims& sizes) { return make(dtype, sizes, Dims::counting(sizes.size())); }

bool is_dim_order(const Dims& dim_order, int rank) {
  return dim_order.size() == rank &&
         std::is_permutation(dim_order.begin(), dim_order.end(), Dims::counting(rank).begin());
}

template <class T>
Array<T> read(const Tensor& tensor) {
  look_at_elements(tensor);
  const DTypeInfo& d = info(tensor.dtype);
  Array<T> out(tensor.sizes);
  Int flat = 0;
  each_offset(tensor, [&](Int at) {
    Bits b = 0;
    std::memcpy(&b, tensor.bytes.data() + at, static_cast<std::size_t>(d.bytes));
    if constexpr (std::is_same_v<T, Bits>) out[flat++] = b;
    if constexpr (std::is_same_v<T, Real>) out[flat++] = d.real_of(b);
    if constexpr (std::is_same_v<T, Int>) out[flat++] = d.int_of(b);
  });
  return out;
}

template <class T>
Array<T> read(const Tensor& tensor, DType dtype) {
  return tensor.dtype == dtype ? read<T>(tensor) : read<T>(cast(tensor, dtype));
}

template <class T>
void write(const Array<T>& values, Tensor& tensor) {
  const DTypeInfo& d = info(tensor.dtype);
  Int flat = 0;
  each_offset(tensor, [&](Int at) {
    Bits b = 0;
    if constexpr (std::is_same_v<T, Bits>) b = values[flat++];
    if constexpr (std::is_same_v<T, Real>) b = d.bits_of_real(values[flat++]);
    if constexpr (std::is_same_v<T, Int>) b = d.bits_of_int(values[flat++]);
    std::memcpy(tensor.bytes.data() + at, &b, static_cast<std::size_t>(d.bytes));
  });
}

Tensor cast(const Tensor& tensor, DType dtype) {
  if (tensor.dtype == dtype) return tensor;
  look_at_elements(tensor);
  Tensor out = make(dtype, tensor.sizes, tensor.dim_order);
  if (is_floating(tensor.dtype)) {
    Array<Real> values = read<Real>(tensor);
    if (is_half(dtype)) std::ranges::transform(values.data, values.data.begin(), float32_first);
    write(values, out);
  } else if (tensor.dtype == DType::uint64 && is_floating(dtype)) {
    Array<Real> rounded(tensor.sizes);
    std::ranges::transform(read<Bits>(tensor).data, rounded.data.begin(),
                           [&](Bits n) { return rounded_once(n, dtype); });
    write(rounded, out);
  } else {
    write(read<Int>(tensor), out);
  }
  return out;
}

Tensor arranged(const Tensor& tensor, const Dims& dim_order) {
  Tensor out = make(tensor.dtype, tensor.sizes, dim_order);
  write(read<Bits>(tensor), out);
  return out;
}

template Array<Real> read(const Tensor&);
template Array<Int> read(const Tensor&);
template Array<Bits> read(const Tensor&);
template Array<Real> read(const Tensor&, DType);
template Array<Int> read(const Tensor&, DType);
template Array<Bits> read(const Tensor&, DType);
template void write(const Array<Real>&, Tensor&);
template void write(const Array<Int>&, Tensor&);
template void write(const Array<Bits>&, Tensor&);

}  // namespace assay
