#include "reference/tensor.h"

#include <bit>
#include <cstring>

namespace assay {
namespace {

// f(byte offset) for every element, in row-major order.
template <class F>
void each_offset(const Tensor& t, F f) {
  const Int n = t.count();
  charge_visits(n);
  if (n == 0) return;  // the products of the other sizes may exceed an Int
  Dims stride = t.sizes;
  Int step = info(t.dtype).bytes;
  if (t.dim_order == Dims::counting(t.rank())) {  // contiguous, the most common layout
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

// A uint64 rounded to a floating dtype in one step, without an intermediate Real. A value that does not fit int64 is
// halved. The last bit of the half is set if either of the last two bits was set, so that the half rounds as the whole
// does.
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

namespace {

// Copies a number of 1, 2, 4 or 8 bytes. A copy of a constant size needs no call of a function.
void copy_number(void* to, const void* from, int bytes) {
  if (bytes == 4) return void(std::memcpy(to, from, 4));
  if (bytes == 8) return void(std::memcpy(to, from, 8));
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

// Reads a number of `bytes` bytes at an offset.
Bits load(const Tensor& tensor, Int at, int bytes) {
  Bits b = 0;
  copy_number(&b, tensor.bytes.data() + at, bytes);
  return b;
}

// A call of `real_of` takes longer than the conversion of a float32.
Real real_at(const Tensor& tensor, Int at, const DTypeInfo& d, int bytes) {
  const Bits b = load(tensor, at, bytes);
  if (d.dtype != DType::float32) return d.real_of(b);
  return std::bit_cast<float>(static_cast<std::uint32_t>(b));
}

void store(Bits b, Tensor& tensor, Int at, int bytes) { copy_number(tensor.bytes.data() + at, &b, bytes); }

}  // namespace

template <class T>
Array<T> read(const Tensor& tensor) {
  look_at_elements(tensor);
  const DTypeInfo& d = info(tensor.dtype);
  const int part = d.bytes / d.parts();
  Array<T> out(tensor.sizes);
  Int flat = 0;
  each_offset(tensor, [&](Int at) {
    T& element = out[flat++];
    if constexpr (std::is_same_v<T, Element>)
      std::memcpy(&element, tensor.bytes.data() + at, static_cast<std::size_t>(d.bytes));
    if constexpr (std::is_same_v<T, Real>) element = real_at(tensor, at, d, part);
    if constexpr (std::is_same_v<T, Int>) element = d.int_of(load(tensor, at, part));
    if constexpr (std::is_same_v<T, Complex>)
      element = {d.real_of(load(tensor, at, part)), d.real_of(load(tensor, at + part, part))};
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
  const int part = d.bytes / d.parts();
  Int flat = 0;
  each_offset(tensor, [&](Int at) {
    const T& value = values[flat++];
    if constexpr (std::is_same_v<T, Element>)
      std::memcpy(tensor.bytes.data() + at, &value, static_cast<std::size_t>(d.bytes));
    if constexpr (std::is_same_v<T, Real>) store(d.bits_of_real(value), tensor, at, part);
    if constexpr (std::is_same_v<T, Int>) store(d.bits_of_int(value), tensor, at, part);
    if constexpr (std::is_same_v<T, Complex>) {
      store(d.bits_of_real(value.real()), tensor, at, part);
      if (d.parts() == 2) store(d.bits_of_real(value.imag()), tensor, at + part, part);
    }
  });
}

Array<Bits> read_parts(const Tensor& tensor) {
  look_at_elements(tensor);
  const DTypeInfo& d = info(tensor.dtype);
  const int part = d.bytes / d.parts();
  Array<Bits> out(is_complex(tensor.dtype) ? Dims{2 * tensor.count()} : tensor.sizes);
  Int flat = 0;
  if (d.parts() == 1) {  // the usual case, without an inner loop
    each_offset(tensor, [&](Int at) { out[flat++] = load(tensor, at, part); });
    return out;
  }
  each_offset(tensor, [&](Int at) {
    for (int k = 0; k < d.parts(); ++k) out[flat++] = load(tensor, at + k * part, part);
  });
  return out;
}

void write_parts(const Array<Bits>& parts, Tensor& tensor) {
  const DTypeInfo& d = info(tensor.dtype);
  const int part = d.bytes / d.parts();
  Int flat = 0;
  each_offset(tensor, [&](Int at) {
    for (int k = 0; k < d.parts(); ++k) store(parts[flat++], tensor, at + k * part, part);
  });
}

namespace {

// A complex tensor as a row of parts in memory order, the parts of each element adjacent.
Tensor row_of_parts(const Tensor& t) { return {info(t.dtype).part, {2 * t.count()}, {0}, t.bytes}; }

Array<Int> truths(const Tensor& t) {
  const Array<Complex> values = read<Complex>(t);
  Array<Int> truth(t.sizes);
  std::ranges::transform(values.data, truth.data.begin(),
                         [](const Complex& z) { return z.real() != 0 || z.imag() != 0; });
  return truth;
}

}  // namespace

Tensor cast(const Tensor& tensor, DType dtype) {
  if (tensor.dtype == dtype) return tensor;
  look_at_elements(tensor);
  const DType part = info(dtype).part;
  const bool from = is_complex(tensor.dtype), to = is_complex(dtype);
  if (from && to) return {dtype, tensor.sizes, tensor.dim_order, cast(row_of_parts(tensor), part).bytes};
  Tensor out = make(dtype, tensor.sizes, tensor.dim_order);
  if (to) {
    write(read<Real>(cast(tensor, part)), out);
  } else if (from && dtype == DType::boolean) {
    write(truths(tensor), out);
  } else if (from || is_floating(tensor.dtype)) {
    Array<Real> values = read<Real>(tensor);
    if (is_half(dtype)) std::ranges::transform(values.data, values.data.begin(), float32_first);
    write(values, out);
  } else if (tensor.dtype == DType::uint64 && is_floating(dtype)) {
    Array<Real> rounded(tensor.sizes);
    std::ranges::transform(read_parts(tensor).data, rounded.data.begin(),
                           [&](Bits n) { return rounded_once(n, dtype); });
    write(rounded, out);
  } else {
    write(read<Int>(tensor), out);
  }
  return out;
}

Tensor arranged(const Tensor& tensor, const Dims& dim_order) {
  Tensor out = make(tensor.dtype, tensor.sizes, dim_order);
  write(read<Element>(tensor), out);
  return out;
}

template Array<Real> read(const Tensor&);
template Array<Int> read(const Tensor&);
template Array<Complex> read(const Tensor&);
template Array<Element> read(const Tensor&);
template Array<Real> read(const Tensor&, DType);
template Array<Int> read(const Tensor&, DType);
template Array<Complex> read(const Tensor&, DType);
template Array<Element> read(const Tensor&, DType);
template void write(const Array<Real>&, Tensor&);
template void write(const Array<Int>&, Tensor&);
template void write(const Array<Complex>&, Tensor&);
template void write(const Array<Element>&, Tensor&);

}  // namespace assay
