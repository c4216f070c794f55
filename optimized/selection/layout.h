#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "optimized/runtime/kernel.h"

// The positions of elements in memory, and loops over the elements of several tensors at once.
namespace assay::optimized {

struct Shape {
  int rank = 0;
  std::int32_t sizes[max_rank];

  std::span<const std::int32_t> span() const { return {sizes, static_cast<std::size_t>(rank)}; }
  std::int64_t count() const;
};
Shape shape_of(const Tensor& t);
bool broadcast(Shape& shape, const Shape& with);  // returns false if the sizes do not broadcast
inline bool broadcast(Shape& shape, const Tensor& with) { return broadcast(shape, shape_of(with)); }

// The stride of each dimension, in elements.
struct Strides {
  std::ptrdiff_t of[max_rank];
};
Strides strides_of(const Shape& shape, const std::uint8_t* dim_order);
inline Strides strides_of(const Tensor& t) { return strides_of(shape_of(t), t.dim_order); }
// The strides of a tensor along the dimensions of a shape that it is broadcast to.
Strides strides_in(const Shape& shape, const Tensor& t);

constexpr int most_operands = 4;

// Nested loops, outermost first, and the strides of each operand in each loop. Loops that can be merged are one loop.
struct Nest {
  int loops = 0;  // 0 if there are no elements
  std::ptrdiff_t count[max_rank];
  std::ptrdiff_t stride[most_operands][max_rank];
};
// Makes loops over a shape, with its dimensions in the order `dim_order`.
Nest nest_of(const Shape& shape, const std::uint8_t* dim_order, std::span<const Strides> operands);

// Gives the out of a call the sizes to which its first operands are broadcast, and makes loops over the out and these
// operands. Numbers have stride 0. Returns false if the sizes do not broadcast, or the out cannot have them.
bool make_broadcast_nest(const Call& call, std::size_t operands, Nest& nest);

// Calls body(at, n) for each run of the innermost loop. `at` has the position of each operand in elements, and n is the
// number of elements.
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

inline constexpr std::uint8_t row_major[max_rank] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
// Whether dim_order is 0, 1, 2, ...
bool is_row_major(const Tensor& t);

// Whether `resize` would accept these sizes.
bool can_have(const Tensor& tensor, const Shape& shape);

// Whether the value, or every value of the call, keeps its size or number, so that results computed from it stay valid.
bool is_fixed(const Value& value);
bool is_fixed(const Call& call);

// The index of a dimension. A negative `dim` counts from the end. Returns -1 if there is no such dimension.
int dim_of(const Value& dim, int rank);

// Whether the value is a list of integers.
bool integers(const Value& list);

// Whether a copy accepts the memory format or dim order. A memory format may be None, contiguous (0), preserved (1),
// channels last (2), or channels last of 5 dimensions (3). A dim order may be None, contiguous of any length, or
// channels last.
bool is_memory_format(const Value& format, int rank);
bool is_format_order(const Value& dim_order, int rank);

}  // namespace assay::optimized
