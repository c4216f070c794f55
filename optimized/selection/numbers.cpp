#include "optimized/selection/numbers.h"

#include <limits>

#include "optimized/selection/gather.h"

namespace assay::optimized {
namespace {

template <class D>
double read(const void* element) {
  return static_cast<double>(*static_cast<const D*>(element));
}
template <class Half>
double read_half(const void* element) {
  return static_cast<double>(static_cast<float>(*static_cast<const Half*>(element)));
}
double read_truth(const void* element) { return *static_cast<const std::uint8_t*>(element) != 0; }

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

template <class D>
void write(double x, void* element) {
  if constexpr (is_half<D>)
    *static_cast<D*>(element) = D::of(static_cast<float>(x));
  else if constexpr (std::is_integral_v<D>)
    *static_cast<D*>(element) = truncated<D>(x);
  else
    *static_cast<D*>(element) = static_cast<D>(x);
}
void write_truth(double x, void* element) { *static_cast<std::uint8_t*>(element) = x != 0; }

}  // namespace

ReadNumber find_reader(DType dtype) {
  if (dtype == DType::boolean) return read_truth;
  return with_type_of(dtype, []<class D>() -> ReadNumber {
    if constexpr (is_half<D>)
      return read_half<D>;
    else
      return read<D>;
  });
}

WriteNumber find_writer(DType dtype) {
  if (dtype == DType::boolean) return write_truth;
  return with_type_of(dtype, []<class D>() -> WriteNumber { return write<D>; });
}

double stored_as(DType dtype, double number) {
  std::uint64_t element;
  find_writer(dtype)(number, &element);
  return find_reader(dtype)(&element);
}

}  // namespace assay::optimized
