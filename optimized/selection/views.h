#pragma once

#include <optional>

#include "optimized/selection/layout.h"

namespace assay::optimized {

// Elements of a tensor seen with other sizes. `first` and the strides count elements.
struct View {
  Shape shape;
  std::ptrdiff_t first = 0;
  Strides strides{};
};
inline View whole(const Tensor& t) { return {shape_of(t), 0, strides_of(t)}; }
void erase(View& view, int dim);
bool is_ascending(const View& view);  // no stride is negative
// How the call reads an argument, or writes its out.
View view_of(const Call& call, std::size_t argument);
// Whether the call sees no arguments through views but these two.
bool has_views_only_of(const Call& call, std::size_t argument, std::size_t other);
bool has_sizes(const View& view, const Tensor& tensor);
Strides strides_in(const Shape& shape, const View& view);  // the strides of a tensor that is seen so

// The same elements, row-major, with other sizes. False: no strides describe that.
bool reshape(View& view, std::span<const std::int32_t> sizes);
// Composes views: the view is of a tensor that was copied from `inner`; it becomes a view of the memory that was
// copied. A dimension may be split. False: no strides describe that.
bool compose(View& view, const View& inner, const Strides& of_tensor);

// Slices a view, or selects an index of it. False: the operands are invalid.
bool slice(View& view, const Value& dim, const Value& start, const Value& end, const Value& step);
bool select(View& view, const Value& dim, const Value& index);

// Given how an operator that copies sees its first argument, computes the view that its result is a copy of. False: the
// call will be refused, or no strides describe the view.
using Viewer = bool (*)(const Call& call, View& view);
Viewer find_viewer(std::string_view op);  // null: the operator does not copy, or changes what it copies
// The view of its first argument that a call copies, if no operand ever changes. None: the call does not copy, or will
// be refused.
std::optional<View> view_of_copy(const Call& call);

}  // namespace assay::optimized
