#include "optimized/selection/numbers.h"

#include <limits>

#include "optimized/selection/gather.h"

namespace assay::optimized {
namespace {

template <class T, class D>
T read(const void* element) {
  const D x = *static_cast<const D*>(element);
  if constexpr (is_half<D>)
    return static_cast<T>(static_cast<float>(x));
  else if constexpr (std::is_same_v<T, Complex>)
    return static_cast<double>(x);
  else
    return static_cast<T>(x);
}
template <class T>
T read_truth(const void* element) {
  return static_cast<T>(*static_cast<const std::uint8_t*>(element) != 0);
}
// The parts of a complex number lie one after the other.
template <class D>
Complex read_complex(const void* element) {
  const auto* parts = static_cast<const D*>(element);
  return {read<double, D>(parts), read<double, D>(parts + 1)};
}

// The integer of at least 32 bits to which PyTorch converts a float before it wraps.
template <class D>
using Wide = std::conditional_t<sizeof(D) == 8 || std::is_same_v<D, std::uint8_t>, std::int64_t, std::int32_t>;

// A number that the wide integer does not hold becomes its least integer. For unsigned integers of 32 or 64 bits,
// larger numbers are valid up to the largest integer, and become 0 beyond it.
template <class D>
D truncated(double x) {
  using W = Wide<D>;
  constexpr double limit = -static_cast<double>(std::numeric_limits<W>::min());
  if (std::is_unsigned_v<D> && sizeof(D) >= 4 && x >= limit)
    return x < 2 * limit ? static_cast<D>(static_cast<std::uint64_t>(x)) : D{0};
  return static_cast<D>(x >= -limit && x < limit ? static_cast<W>(x) : std::numeric_limits<W>::min());
}

template <class T, class D>
void write(T x, void* element) {
  D& to = *static_cast<D*>(element);
  if constexpr (std::is_same_v<T, Complex>)
    write<double, D>(x.real(), element);
  else if constexpr (is_half<D>)
    to = D::of(static_cast<float>(x));
  else if constexpr (std::is_integral_v<D> && std::is_same_v<T, double>)
    to = truncated<D>(x);
  else
    to = static_cast<D>(x);
}
template <class T>
void write_truth(T x, void* element) {
  *static_cast<std::uint8_t*>(element) = x != T{};
}
template <class T, class D>
void write_complex(T x, void* element) {
  D* parts = static_cast<D*>(element);
  if constexpr (std::is_same_v<T, Complex>)
    write<double, D>(x.real(), parts), write<double, D>(x.imag(), parts + 1);
  else
    write<T, D>(x, parts), write<double, D>(0, parts + 1);
}

}  // namespace

template <class T>
ReadNumber<T> find_reader(DType dtype) {
  if (dtype == DType::boolean) return read_truth<T>;
  if constexpr (std::is_same_v<T, Complex>)
    if (is_complex(dtype))
      return with_type_of(part_of(dtype), []<class D>() -> ReadNumber<T> { return read_complex<D>; });
  if (std::is_integral_v<T> && is_floating(dtype)) return nullptr;
  return with_type_of(dtype, []<class D>() -> ReadNumber<T> { return read<T, D>; });
}

template <class T>
WriteNumber<T> find_writer(DType dtype) {
  if (dtype == DType::boolean) return write_truth<T>;
  if (is_complex(dtype))
    return with_type_of(part_of(dtype), []<class D>() -> WriteNumber<T> { return write_complex<T, D>; });
  return with_type_of(dtype, []<class D>() -> WriteNumber<T> { return write<T, D>; });
}

template ReadNumber<double> find_reader(DType);
template ReadNumber<std::int64_t> find_reader(DType);
template ReadNumber<Complex> find_reader(DType);
template WriteNumber<double> find_writer(DType);
template WriteNumber<std::int64_t> find_writer(DType);
template WriteNumber<Complex> find_writer(DType);

double stored_as(DType dtype, double number) {
  std::uint64_t element;
  find_writer(dtype)(number, &element);
  return find_reader(dtype)(&element);
}

}  // namespace assay::optimized
