#pragma once

#include "optimized/operators/layout.h"

namespace assay::optimized {

// Elements of a tensor, seen with other sizes; `first` and the strides are in elements.
struct View {
  Shape shape;
  std::ptrdiff_t first = 0;
  Strides strides{};
};

// What slices and selections leave of one; false: they are none.
bool slice(View& view, const Value& dim, const Value& start, const Value& end, const Value& step);
bool select(View& view, const Value& dim, const Value& index);

// As what an operator that copies sees its first argument; false: such a call is refused.
using Viewer = bool (*)(const Call& call, View& view);
Viewer find_viewer(std::string_view op);  // null: it is no copy, or changes what it copies

}  // namespace assay::optimized
