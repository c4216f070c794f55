#include "optimized/selection/creation.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels.gen.h"
#include "optimized/selection/scalars.h"

// Makes tensors from numbers.
namespace assay::optimized {
namespace {

template <class T>
void fill_words(std::byte* to, std::int64_t n, const void* element) {
  T x;
  std::memcpy(&x, element, sizeof x);
  std::fill_n(reinterpret_cast<T*>(to), n, x);
}

}  // namespace

bool element_of(const Value& number, DType dtype, void* to, bool is_operand) {
  std::int64_t element = 0;
  if (is_complex(dtype)) {
    const auto bytes = static_cast<std::size_t>(find_dtype(static_cast<int>(part_of(dtype)))->bytes);
    std::memset(static_cast<std::byte*>(to) + bytes, 0, bytes);
    return element_of(number, part_of(dtype), to);
  }
  const auto carrier = carrier_of(dtype);
  if (!carrier || !rounded_number_as(dtype, number, &element, is_operand)) return false;
  if (const Store store = find_store(*carrier, dtype)) return store(&element, to, 1), true;
  return std::memcpy(to, &element, kernels::bytes_of(*carrier)), true;
}

void fill(const Tensor& to, const void* element) {
  switch (to.element_bytes()) {
    case 1:
      return fill_words<std::uint8_t>(to.data, to.count(), element);
    case 2:
      return fill_words<std::uint16_t>(to.data, to.count(), element);
    case 4:
      return fill_words<std::uint32_t>(to.data, to.count(), element);
    case 8:
      return fill_words<std::uint64_t>(to.data, to.count(), element);
    default:
      return fill_words<Complex>(to.data, to.count(), element);
  }
}

namespace {

// The sizes of the result. Returns false if they are invalid.
bool listed_sizes(const Call& call, Shape& shape) {
  const auto sizes = call[0].items();
  if (!integers(call[0]) || sizes.size() > max_rank) return false;
  shape.rank = static_cast<int>(sizes.size());
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d]->integer < 0 || sizes[d]->integer > INT32_MAX) return false;
    shape.sizes[d] = static_cast<std::int32_t>(sizes[d]->integer);
  }
  return true;
}
bool formatted_sizes(const Call& call, Shape& shape) {
  shape = shape_of(call.tensor(0));
  return is_memory_format(call[2], shape.rank);
}
bool sizes_of_self(const Call& call, Shape& shape) {
  shape = shape_of(call.tensor(0));
  return call.tensor(0).dtype == call.tensor(2).dtype;
}
bool no_sizes(const Call&, Shape&) { return true; }

// A number that fills one element of a half type may be beyond its range.
bool may_overflow(DType dtype) { return is_floating(dtype) && computed_in(dtype) != dtype; }

using Sizes = bool (*)(const Call&, Shape&);

template <Sizes sizes, int number>
bool accepts_fill(const Call& call) {
  std::byte element[most_element_bytes];
  if (!call.arguments.back()->is_tensor()) return false;
  const DType dtype = call.out().dtype;
  return (call[number].changes && carrier_of(part_of(dtype))) ||
         element_of(call[number], dtype, element, may_overflow(dtype));
}

template <Sizes sizes, int number>
bool run_fill(const Step& step, Execution&) {
  Tensor& out = *step.call.arguments.back()->tensor;
  alignas(8) std::byte element[most_element_bytes];
  Shape shape;
  if (!sizes(step.call, shape)) return false;
  const bool is_one = std::ranges::all_of(shape.span(), [](std::int32_t n) { return n == 1; });
  if (!element_of(step.call[number], out.dtype, element, is_one && may_overflow(out.dtype)) ||
      !resize(out, shape.span()))
    return false;
  fill(out, element);
  return true;
}

// Operators whose number is not an operand.
template <Sizes sizes, int number>
bool accepts_constant(const Call& call) {
  const Value& out = *call.arguments.back();
  return out.kind == ValueKind::tensor && (number == 0 || find_reader<Complex>(out.tensor->dtype));
}
template <Sizes sizes, int number>
bool run_constant(const Step& step, Execution&) {
  Tensor& out = *step.call.arguments.back()->tensor;
  Value constant;
  constant.kind = ValueKind::integer, constant.integer = number;
  std::uint64_t element[2] = {};
  Shape shape;
  if ((number != 0 && !element_of(constant, out.dtype, element)) || !sizes(step.call, shape) ||
      !resize(out, shape.span()))
    return false;
  if (number != 0)
    fill(out, element);
  else
    clear(out);
  return true;
}
template <Sizes sizes, int number>
constexpr Kernel constant(const char* name) {
  return {name, accepts_constant<sizes, number>, nullptr, run_constant<sizes, number>};
}

// Sizes with a memory format, which is None where an out is given.
bool unformatted_sizes(const Call& call, Shape& shape) {
  return call[1].kind == ValueKind::none && listed_sizes(call, shape);
}
bool ordered_sizes(const Call& call, Shape& shape) {
  return call[1].kind != ValueKind::none && listed_sizes(call, shape) && is_format_order(call[1], shape.rank);
}
bool permuted_sizes(const Call& call, Shape& shape) {
  if (!integers(call[1]) || !listed_sizes(call, shape) || call[1].count != static_cast<std::uint32_t>(shape.rank))
    return false;
  std::uint32_t seen = 0;
  for (const Value* d : call[1].items()) {
    if (d->integer < 0 || d->integer >= shape.rank || (seen >> d->integer & 1)) return false;
    seen |= std::uint32_t{1} << d->integer;
  }
  return true;
}
bool has_negative_stride(const Shape& shape, std::span<Value* const> strides) {
  for (std::size_t d = 0; d < strides.size(); ++d)
    if (shape.sizes[d] > 1 && strides[d]->integer < 0) return true;
  return false;
}
bool strided_sizes(const Call& call, Shape& shape) {
  return integers(call[1]) && listed_sizes(call, shape) && call[1].count == static_cast<std::uint32_t>(shape.rank) &&
         (shape.count() == 0 || !has_negative_stride(shape, call[1].items()));
}

template <Sizes sizes, int number>
constexpr Kernel filled(const char* name) {
  return {name, accepts_fill<sizes, number>, nullptr, run_fill<sizes, number>};
}

// Numbers from start on, with a step, before an end: start, end, step, out. Only the end may be given. Each result is
// computed in doubles, or in integers, to which the numbers are truncated. Their count is computed in doubles, but in
// integers if the results are int64. Only the step may be infinite, unless they are.
struct Range {
  double real[3] = {0, 0, 1};
  std::int64_t whole[3] = {0, 0, 1};
};
bool read_range(const Call& call, bool is_whole, Range& r) {
  const std::size_t n = call.arguments.size() - 1;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = n == 1 ? 1 : i;
    if (call[i].kind < ValueKind::integer || call[i].kind > ValueKind::boolean) return false;
    const bool is_real = call[i].kind == ValueKind::real;
    const bool is_infinite = is_real && at == 2 && std::isinf(call[i].real) && !is_whole;
    if (is_real && !is_infinite && !(std::fabs(call[i].real) < 0x1p63)) return false;
    r.whole[at] = is_infinite                          ? 0
                  : is_real                            ? static_cast<std::int64_t>(call[i].real)
                  : call[i].kind == ValueKind::boolean ? call[i].boolean
                                                       : call[i].integer;
    r.real[at] = is_real ? call[i].real : static_cast<double>(r.whole[at]);
  }
  return r.real[2] > 0 ? r.real[1] >= r.real[0] : r.real[2] < 0 && r.real[1] <= r.real[0];
}
// The number of results. Returns a negative number if it is too large, or the step is 0.
double count_of(const Range& r, DType out) {
  if (out != DType::int64) return std::ceil((r.real[1] - r.real[0]) / r.real[2]);
  std::int64_t distance = 0;
  if (r.whole[2] == 0 || __builtin_sub_overflow(r.whole[1], r.whole[0], &distance) || r.whole[2] == -1)
    return r.whole[2] == -1 ? static_cast<double>(r.whole[0]) - static_cast<double>(r.whole[1]) : -1;
  return static_cast<double>(distance / r.whole[2] + (distance % r.whole[2] != 0));
}

bool accepts_range(const Call& call) {
  return call.arguments.back()->is_tensor() && is_number(call.arguments.back()->tensor->dtype);
}
bool run_range(const Step& step, Execution&) {
  Tensor& out = *step.call.arguments.back()->tensor;
  Range r;
  if (!read_range(step.call, out.dtype == DType::int64, r)) return false;
  const double count = count_of(r, out.dtype);
  if (!(count >= 0 && count <= INT32_MAX)) return false;
  const std::int32_t sizes[] = {static_cast<std::int32_t>(count)};
  if (!resize(out, sizes)) return false;
  return with_number(out.dtype, [&]<class T>() {
    const Writing<T> y(out);
    for (std::int32_t i = 0; i < sizes[0]; ++i) {
      if constexpr (std::is_integral_v<T>)
        y.set(i, plus(r.whole[0], times<T>(i, r.whole[2])));
      else
        y.set(i, i == 0 ? r.real[0] : r.real[0] + i * r.real[2]);
    }
    return true;
  });
}

}  // namespace

constexpr Kernel full = filled<listed_sizes, 1>("full");
constexpr Kernel full_like = filled<formatted_sizes, 1>("full_like");
constexpr Kernel fill_scalar = filled<sizes_of_self, 1>("fill_scalar");
constexpr Kernel scalar_tensor = filled<no_sizes, 0>("scalar_tensor");
constexpr Kernel zeros = constant<listed_sizes, 0>("zeros");
constexpr Kernel ones = constant<listed_sizes, 1>("ones");
constexpr Kernel empty = constant<unformatted_sizes, 0>("empty");
constexpr Kernel empty_ordered = constant<ordered_sizes, 0>("empty_ordered");
constexpr Kernel empty_permuted = constant<permuted_sizes, 0>("empty_permuted");
constexpr Kernel empty_strided = constant<strided_sizes, 0>("empty_strided");
constexpr Kernel arange{"arange", accepts_range, nullptr, run_range};

}  // namespace assay::optimized
