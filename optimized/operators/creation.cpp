#include "optimized/operators/creation.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels.gen.h"
#include "optimized/operators/elements.h"

// Tensors made of numbers.
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
  Value plain = number;
  if (number.kind == ValueKind::boolean) plain.kind = ValueKind::integer, plain.integer = number.boolean;
  if (dtype == DType::boolean) {
    if (number.kind != ValueKind::boolean) return false;
    return *static_cast<std::uint8_t*>(to) = number.boolean, true;
  }
  std::int64_t element = 0;
  if (!number_as(dtype, plain, &element)) return false;
  const auto computed = element_of(dtype);
  if (!computed) return false;
  if (dtype == dtype_of(*computed)) return std::memcpy(to, &element, kernels::bytes_of(*computed)), true;
  const Store store = find_store(*computed, dtype);
  if (!store) return false;
  return store(&element, to, 1), true;
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

// Sizes of the result; false: they are none.
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
bool run_fill(const Step& step, Run&) {
  Tensor& out = *step.call.arguments.back()->tensor;
  std::int64_t element;
  Shape shape;
  if (!element_of(step.call[number], out.dtype, &element) || !sizes(step.call, shape) || !resize(out, shape.span()))
    return false;
  fill(out, &element);
  return true;
}

template <Sizes sizes, int number>
constexpr Kernel filled(const char* name) {
  return {name, accepts_fill<sizes, number>, nullptr, run_fill<sizes, number>};
}

// Integers from start on: those of the last of start, end and step.
struct Range {
  std::int64_t start = 0, end = 0, step = 1;
};
bool range_of(const Call& call, Range& r) {
  const std::size_t n = call.arguments.size() - 1;
  for (std::size_t i = 0; i < n; ++i)
    if (call[i].kind != ValueKind::integer) return false;
  if (n == 1)
    r.end = call[0].integer;
  else
    r = {call[0].integer, call[1].integer, call[2].integer};
  constexpr std::int64_t most = std::int64_t{1} << 31;
  return r.step > 0 && r.start >= -most && r.start <= r.end && r.end <= most;
}
bool accepts_range(const Call& call) {
  Range r;
  return call.arguments.back()->kind == ValueKind::tensor && call.arguments.back()->tensor->dtype == DType::int64 &&
         range_of(call, r);
}
bool run_range(const Step& step, Run&) {
  Tensor& out = *step.call.arguments.back()->tensor;
  Range r;
  if (!range_of(step.call, r)) return false;
  const std::int64_t n = (r.end - r.start + r.step - 1) / r.step;
  const auto size = static_cast<std::int32_t>(n);
  if (n > INT32_MAX || !resize(out, {&size, 1})) return false;
  for (std::int64_t i = 0; i < n; ++i) out.elements<std::int64_t>()[i] = r.start + i * r.step;
  return true;
}

}  // namespace

constexpr Kernel full = filled<listed_sizes, 1>("full");
constexpr Kernel full_like = filled<formatted_sizes, 1>("full_like");
constexpr Kernel fill_scalar = filled<sizes_of_self, 1>("fill_scalar");
constexpr Kernel scalar_tensor = filled<no_sizes, 0>("scalar_tensor");
constexpr Kernel arange_i64{"arange_i64", accepts_range, nullptr, run_range};

}  // namespace assay::optimized
