#pragma once

#include "optimized/selection/layout.h"

// The dimensions that a reduction reduces, and the loops over its elements.
namespace assay::optimized {

// The reduced dimensions of the schemas self, dim, keepdim, ...: those that the call names, where an empty list names
// none, or all dimensions; or all. If the call gives None for the dimensions, all are reduced.
enum class Dims { named, named_or_all, all };

struct Loops {
  Nest kept, reduced;      // operands of `kept`: the result, self, the second result or the result again
  std::int64_t count = 1;  // elements of each result
};

// The sizes of the result of a reduction, and a bit for each reduced dimension. Returns false if a dimension is invalid
// or listed twice. `keepdim` is the index of the argument.
bool plan(const Call& call, Dims dims, Shape& result, std::uint32_t& reduced, std::size_t keepdim = 2);

// `order` is the order of the reduced dimensions, outermost first. `second` is a second out.
Loops loops_of(const Tensor& self, const Tensor& out, const Shape& result, std::uint32_t reduced,
               const std::uint8_t* order, const Tensor* second = nullptr);

}  // namespace assay::optimized
