#pragma once

#include <optional>

#include "optimized/selection/layout.h"

namespace assay::optimized {

// A view of a tensor's elements with other sizes. `first` and the strides are in elements.
struct View {
  Shape shape;
  std::ptrdiff_t first = 0;
  Strides strides{};
};
inline View whole(const Tensor& t) { return {shape_of(t), 0, strides_of(t)}; }
void erase(View& view, int dim);
bool is_ascending(const View& view);  // whether no stride is negative
// The view through which the call reads an argument or writes its out.
View view_of(const Call& call, std::size_t argument);
// Whether the call uses views for at most these two arguments.
bool has_views_only_of(const Call& call, std::size_t argument, std::size_t other);
bool has_sizes(const View& view, const Tensor& tensor);
Strides strides_in(const Shape& shape, const View& view);  // the strides of a tensor that is read through the view

// Changes the sizes of a view and keeps its elements and their row-major order. Returns false if no strides describe
// the result.
bool reshape(View& view, std::span<const std::int32_t> sizes);
// Composes two views. `view` is a view of a tensor that was copied through `inner`. It becomes a view of the memory
// from which the tensor was copied. A dimension may be split. Returns false if no strides describe the result.
bool compose(View& view, const View& inner, const Strides& of_tensor);
// `view` has each element of a tensor once. Given the strides of another tensor along the view's dimensions, it becomes
// the places in the other tensor of the elements in the tensor's own order. Returns false if no strides describe them.
bool invert(View& view, const Strides& other);

// Slices a view, or selects an index of it. Returns false if the operands are invalid.
bool slice(View& view, const Value& dim, const Value& start, const Value& end, const Value& step);
bool select(View& view, const Value& dim, const Value& index);

// A function for an operator that copies. `view` is the view of the operator's first argument; the function changes it
// to the view of which the result is a copy. Returns false if the call will be refused or no strides describe the view.
using Viewer = bool (*)(const Call& call, View& view);
Viewer find_viewer(std::string_view op);  // null if the operator does not copy, or changes the elements
// The sizes that view_copy gives to a tensor with this many elements; one of the listed sizes may be -1. Returns false
// if the sizes are invalid.
bool viewed_shape(const Call& call, std::int64_t count, Shape& shape);
// The view of its first argument that a call copies. Returns nothing if the call does not copy, will be refused, or has
// an operand that may change.
std::optional<View> view_of_copy(const Call& call);
// Changes a view of the first argument of a call to the view that the result is of the same elements. The call copies,
// or makes a handle. Returns false if the call will be refused, changes elements, or no strides describe the view.
bool view_through(const Call& call, View& view);

// How attention reads operands whose sizes move: for each operand, the calls that make what attention reads of the
// operand's tensor, the first call first. Those of `out` make the out of the result.
struct MovingViews {
  std::span<const Call> q, k, values, mask, out;
  std::size_t queries = 0, keys = 0, depth = 0, width = 0;  // upper bounds
  // Whether a kernel has accepted the call for all sizes. While a method is made, sizes that move are not known.
  bool accepted = false;
};

}  // namespace assay::optimized
