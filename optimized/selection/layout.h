#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "optimized/runtime/kernel.h"

// Where elements lie, and loops over those of several tensors at once.
namespace assay::optimized {

struct Shape {
  int rank = 0;
  std::int32_t sizes[max_rank];

  std::span<const std::int32_t> span() const { return {sizes, static_cast<std::size_t>(rank)}; }
  std::int64_t count() const;
};
Shape shape_of(const Tensor& t);
bool broadcast(Shape& shape, const Shape& with);  // false: they do not fit
inline bool broadcast(Shape& shape, const Tensor& with) { return broadcast(shape, shape_of(with)); }

// Elements from one to the next along each dimension.
struct Strides {
  std::ptrdiff_t of[max_rank];
};
Strides strides_of(const Shape& shape, const std::uint8_t* dim_order);
inline Strides strides_of(const Tensor& t) { return strides_of(shape_of(t), t.dim_order); }
// Those of a tensor along the dimensions of a shape that it is broadcast to.
Strides strides_in(const Shape& shape, const Tensor& t);

constexpr int most_operands = 4;

// Loops, the outermost first, with the strides of each operand in them. Loops that one loop can do are one.
struct Nest {
  int loops = 0;  // none: there are no elements
  std::ptrdiff_t count[max_rank];
  std::ptrdiff_t stride[most_operands][max_rank];
};
// Over a shape, its dimensions in this order.
Nest nest_of(const Shape& shape, const std::uint8_t* dim_order, std::span<const Strides> operands);

// Calls body(at, n) for each innermost loop: where each operand is, in elements, and how many there are.
template <class Body>
void each_row(const Nest& nest, int operands, Body body) {
  if (nest.loops == 0) return;
  const int inner = nest.loops - 1;
  std::ptrdiff_t at[most_operands] = {}, i[max_rank] = {};
  for (;;) {
    body(at, nest.count[inner]);
    int d = inner - 1;
    for (; d >= 0; --d) {
      for (int k = 0; k < operands; ++k) at[k] += nest.stride[k][d];
      if (++i[d] < nest.count[d]) break;
      for (int k = 0; k < operands; ++k) at[k] -= nest.stride[k][d] * nest.count[d];
      i[d] = 0;
    }
    if (d < 0) return;
  }
}

// Whether its dim_order is 0, 1, 2, ...
bool is_row_major(const Tensor& t);

// Whether `resize` would give it these sizes.
bool can_have(const Tensor& tensor, const Shape& shape);

// Whether neither sizes nor numbers may change, so that what is made of them stays right.
bool is_fixed(const Value& value);
bool is_fixed(const Call& call);

// A dimension that may count from the end; -1: there is no such.
int dim_of(const Value& dim, int rank);

// A list of integers.
bool integers(const Value& list);

// What copies may be asked for: None, contiguous (0), preserved (1) or channels last (2), and none, contiguous or
// channels last.
bool is_memory_format(const Value& format, int rank);
bool is_format_order(const Value& dim_order, int rank);

}  // namespace assay::optimized
