#include "optimized/selection/creation.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels.gen.h"
#include "optimized/selection/elements.h"

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

bool element_of(const Value& number, DType dtype, void* to) {
  std::int64_t element = 0;
  const auto carrier = carrier_of(dtype);
  if (!carrier || !rounded_number_as(dtype, number, &element)) return false;
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

using Sizes = bool (*)(const Call&, Shape&);

template <Sizes sizes, int number>
bool accepts_fill(const Call& call) {
  std::int64_t element;
  return call.arguments.back()->kind == ValueKind::tensor &&
         element_of(call[number], call.arguments.back()->tensor->dtype, &element);
}

template <Sizes sizes, int number>
bool run_fill(const Step& step, Execution&) {
  Tensor& out = *step.call.arguments.back()->tensor;
  std::int64_t element;
  Shape shape;
  if (!element_of(step.call[number], out.dtype, &element) || !sizes(step.call, shape) || !resize(out, shape.span()))
    return false;
  fill(out, &element);
  return true;
}

// Operators whose number is not an operand.
template <Sizes sizes, int number>
bool accepts_constant(const Call& call) {
  const Value& out = *call.arguments.back();
  return out.kind == ValueKind::tensor && (number == 0 || carrier_of(out.tensor->dtype));
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
    std::memset(out.data, 0, out.bytes());
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
bool strided_sizes(const Call& call, Shape& shape) {
  return integers(call[1]) && listed_sizes(call, shape) && call[1].count == static_cast<std::uint32_t>(shape.rank) &&
         (shape.count() == 0 || std::ranges::all_of(call[1].items(), [](const Value* v) { return v->integer >= 0; }));
}

template <Sizes sizes, int number>
constexpr Kernel filled(const char* name) {
  return {name, accepts_fill<sizes, number>, nullptr, run_fill<sizes, number>};
}

// Numbers from start on, with this end and step. Floats are sums of doubles.
template <class Number>
struct Range {
  Number start = 0, end = 0, step = 1;

  double count() const {
    return std::ceil((static_cast<double>(end) - static_cast<double>(start)) / static_cast<double>(step));
  }
};
template <class Number>
bool range_of(const Call& call, Range<Number>& r) {
  constexpr bool is_real = std::is_same_v<Number, double>;
  Number* const last[] = {&r.start, &r.end, &r.step};
  const std::size_t n = call.arguments.size() - 1;
  for (std::size_t i = 0; i < n; ++i) {
    const bool is_integer = call[i].kind == ValueKind::integer;
    if (!is_integer && (!is_real || call[i].kind != ValueKind::real)) return false;
    *last[n == 1 ? 1 : i] = is_integer ? static_cast<Number>(call[i].integer) : static_cast<Number>(call[i].real);
  }
  constexpr Number most = is_real ? std::numeric_limits<float>::max() : std::int64_t{1} << 31;
  const auto is_known = [](Number x) { return x >= -most && x <= most; };
  if (!is_known(r.start) || !is_known(r.end) || !is_known(r.step) || r.step == 0) return false;
  return (r.step > 0 ? r.start <= r.end : r.start >= r.end) && r.count() <= INT32_MAX;
}
template <class Number>
constexpr Element element_of_range = std::is_same_v<Number, double> ? Element::f32 : Element::i64;

template <class Number>
bool accepts_range(const Call& call) {
  Range<Number> r;
  return call.arguments.back()->kind == ValueKind::tensor &&
         element_of(call.arguments.back()->tensor->dtype) == element_of_range<Number> && range_of(call, r);
}
template <class Number>
bool run_range(const Step& step, Execution&) {
  using T = std::conditional_t<element_of_range<Number> == Element::f32, float, std::int64_t>;
  Tensor& out = *step.call.arguments.back()->tensor;
  Range<Number> r;
  if (!range_of(step.call, r)) return false;
  const auto size = static_cast<std::int32_t>(r.count());
  if (!resize(out, {&size, 1})) return false;
  const Store store = find_store(element_of_range<Number>, out.dtype);
  for (std::ptrdiff_t i = 0; i < size; ++i) {
    const T x = static_cast<T>(r.start + static_cast<Number>(i) * r.step);
    std::byte* to = out.data + i * static_cast<std::ptrdiff_t>(out.element_bytes());
    if (store)
      store(&x, to, 1);
    else
      std::memcpy(to, &x, sizeof x);
  }
  return true;
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
constexpr Kernel arange_f32{"arange_f32", accepts_range<double>, nullptr, run_range<double>};
constexpr Kernel arange_i64{"arange_i64", accepts_range<std::int64_t>, nullptr, run_range<std::int64_t>};

}  // namespace assay::optimized
