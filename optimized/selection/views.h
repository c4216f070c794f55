#pragma once

#include <optional>

#include "optimized/selection/layout.h"

namespace assay::optimized {

// Elements of a tensor, seen with other sizes; `first` and the strides are in elements.
struct View {
  Shape shape;
  std::ptrdiff_t first = 0;
  Strides strides{};
};
inline View whole(const Tensor& t) { return {shape_of(t), 0, strides_of(t)}; }
void erase(View& view, int dim);
bool is_ascending(const View& view);  // no stride is negative
// As what a call reads an argument, or writes its out.
View view_of(const Call& call, std::size_t argument);
// Whether no other arguments are seen so than these.
bool has_views_only_of(const Call& call, std::size_t argument, std::size_t other);
bool has_sizes(const View& view, const Tensor& tensor);
Strides strides_in(const Shape& shape, const View& view);  // as that of a tensor

// The same elements in row-major order with other sizes; false: no strides say where they are.
bool reshape(View& view, std::span<const std::int32_t> sizes);
// Of the elements of a tensor that is itself seen as `inner` where it was copied from, those; a dimension may become
// several. False: no strides say where they are.
bool compose(View& view, const View& inner, const Strides& of_tensor);

// What slices and selections leave of one; false: they are none.
bool slice(View& view, const Value& dim, const Value& start, const Value& end, const Value& step);
bool select(View& view, const Value& dim, const Value& index);

// Makes of what an operator that copies sees as its first argument what it gives; false: such a call is refused, or no
// strides say where its elements are.
using Viewer = bool (*)(const Call& call, View& view);
Viewer find_viewer(std::string_view op);  // null: it is no copy, or changes what it copies
// As what a copy whose operands never change gives the elements of its first argument; none: it is no copy, or will be
// refused.
std::optional<View> view_of_copy(const Call& call);

}  // namespace assay::optimized
