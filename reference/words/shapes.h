#pragma once

#include "reference/words/rules.h"

// The words that give the sizes of results; spec/rules.md defines each. Some are expressions there,
// which words.gen.h declares. This header declares those that are computations.
namespace assay::shapes {

// The sizes to which all operands broadcast. The sizes are aligned at the last dimension and must be equal or 1.
class Broadcasting {
 public:
  void add(std::string_view name, const Dims& sizes);
  const Dims& sizes() const { return sizes_; }

 private:
  Dims sizes_;
};

// The sizes to which the arguments broadcast. An argument that is None is ignored.
template <class... T>
Dims broadcast(const T&... tensor) {
  Broadcasting b;
  ((tensor ? b.add(tensor.name, tensor->sizes) : void()), ...);
  return b.sizes();
}

Dims sizes(Argument<const Ints*> list);

// Dimensions, counted from 0.
inline Dims dims(TensorArgument tensor) { return Dims::counting(tensor->rank()); }
Dims dims(TensorArgument tensor, Argument<const Ints*> dim);
Dims dims(TensorArgument tensor, Argument<Int> dim);
Dims dims(TensorArgument tensor, Argument<std::optional<Int>> dim);
inline Dims named_dims(TensorArgument tensor, Argument<const Ints*> dim) {
  return dim && dim->empty() ? Dims{} : dims(tensor, dim);
}

Dims without(const Dims& sizes, const Dims& dims, bool keepdim);
inline Dims without(TensorArgument tensor, const Dims& dims, Argument<bool> keepdim) {
  return without(tensor->sizes, dims, keepdim.value);
}

// Movement.
Dims permuted(TensorArgument tensor, Argument<const Ints*> dims);
Dims transposed(TensorArgument tensor, Argument<Int> dim0, Argument<Int> dim1);
Dims transposed(TensorArgument matrix);  // a tensor of lower rank keeps its sizes
Dims unsqueezed(TensorArgument tensor, Argument<Int> dim);
Dims squeezed(TensorArgument tensor, Argument<Int> dim);
Dims squeezed(TensorArgument tensor, Argument<const Ints*> dim);
Dims expanded(TensorArgument tensor, Argument<const Ints*> size);  // -1 in `size` keeps the tensor's size
Dims viewed(TensorArgument tensor, Argument<const Ints*> size);    // a -1 in `size` is computed from the other sizes
Dims reinterpreted(TensorArgument tensor, Argument<Int> dtype);
Dims with_parts(TensorArgument tensor);     // appends a dimension of size 2
Dims without_parts(TensorArgument tensor);  // removes the last dimension
Dims spectrum(TensorArgument tensor, Argument<const Ints*> dim, Argument<bool> onesided);
Dims from_half_spectrum(TensorArgument tensor, Argument<const Ints*> dim, Argument<Int> last_dim_size);
Dims repeated(TensorArgument tensor, Argument<const Ints*> repeats);
Dims padded(TensorArgument tensor,
            Argument<const Ints*> pad);  // `pad` has the pairs (before, after), last dimension first.
Dims sliced(TensorArgument tensor, Argument<Int> dim, Argument<std::optional<Int>> start,
            Argument<std::optional<Int>> end, Argument<Int> step);
inline Dims selected(TensorArgument tensor, Argument<Int> dim) {
  return without(tensor->sizes, dims(tensor, dim), false);
}
Dims pixel_shuffled(TensorArgument tensor, Argument<Int> upscale_factor);
Dims pixel_unshuffled(TensorArgument tensor, Argument<Int> downscale_factor);
Dims halved(TensorArgument tensor, Argument<Int> dim);
Dims diagonal(TensorArgument tensor, Argument<Int> offset, Argument<Int> dim1, Argument<Int> dim2);
Dims unfolded(TensorArgument tensor, Argument<Int> dimension, Argument<Int> size, Argument<Int> step);
Dims folded(TensorArgument columns, Argument<const Ints*> output_size, Argument<const Ints*> kernel_size);
Dims resized(TensorArgument tensor, Argument<Int> dim, Argument<Int> size);  // a tensor of rank 0 is unchanged
Dims resized(TensorArgument input, Argument<const Ints*> output_size, Argument<const Doubles*> scale_factors);
Dims with_last(TensorArgument self, Argument<const Ints*> sizes);
Dims last_as_one(TensorArgument tensor);
Dims ones_at_end(TensorArgument tensor, Argument<const Ints*> last);

// Lists of tensors.
Dims concatenated(Argument<const Tensors*> tensors, Argument<Int> dim);
Dims stacked(Argument<const Tensors*> tensors, Argument<Int> dim);
Buffer<Dims> split(TensorArgument tensor, Argument<Int> split_size, Argument<Int> dim);
Buffer<Dims> split(TensorArgument tensor, Argument<const Ints*> split_sizes, Argument<Int> dim);
Buffer<Dims> unbound(TensorArgument tensor, Argument<Int> dim);

Dims arange(Argument<Scalar> start, Argument<Scalar> end, Argument<Scalar> step, DType dtype);

// Indices, masks, counts.
Dims indexed(TensorArgument tensor, Argument<const Tensors*> indices);
Dims index_selected(TensorArgument tensor, Argument<Int> dim, TensorArgument index);
Dims embedded(TensorArgument weight, TensorArgument indices,
              Int codes = 1);  // Each element of the weight holds `codes` columns.
Dims nonzero(TensorArgument tensor);
Dims selected_by(TensorArgument tensor, TensorArgument mask);
Dims repeated_each(TensorArgument repeats);
inline Dims largest_of_bags(TensorArgument offsets, Argument<bool> include_last, TensorArgument weight,
                            Argument<Int> mode) {
  return mode.value == 2 ? bags(offsets, include_last, weight) : bags(offsets, include_last);
}
Dims bag_of_each(TensorArgument indices, TensorArgument weight, Argument<Int> mode, Argument<Int> padding_idx);

// Sizes of results that output_mask may leave out
inline Dims asked(Argument<const Bools*> output_mask, Int k, const Dims& sizes) {
  return (*output_mask.value)[static_cast<std::size_t>(k)] ? sizes : Dims{0};
}
inline Dims asked(Argument<const Bools*> output_mask, Int k, TensorArgument like) {
  return asked(output_mask, k, like->sizes);
}
inline Dims asked(Argument<const Bools*> output_mask, Int k, Argument<const Ints*> size) {
  return asked(output_mask, k, sizes(size));
}
inline Dims asked(Argument<const Bools*> output_mask, Int k, Argument<Int> length) {
  return asked(output_mask, k, Dims{length.value});
}
inline Dims asked_channels(Argument<const Bools*> output_mask, Int k, TensorArgument tensor) {
  return asked(output_mask, k, Dims{tensor->sizes[1]});
}
inline Dims asked_channels(Argument<bool> flag, TensorArgument tensor) {
  return flag.value ? Dims{tensor->sizes[1]} : Dims{0};
}

Dims distances(TensorArgument x1, TensorArgument x2);
Dims pairs(TensorArgument self);

// Matrices, windows, channels. A window moves over the last `spatial` dimensions. A list has one entry for each of
// these dimensions, or one entry for all. An empty stride means the kernel's size.
Dims linear(TensorArgument input, TensorArgument weight);
Dims convolved(TensorArgument input, TensorArgument weight, Argument<const Ints*> stride, Argument<const Ints*> padding,
               Argument<const Ints*> dilation, Argument<bool> transposed, Argument<const Ints*> output_padding,
               Argument<Int> groups);
Dims pooled(TensorArgument self, Int spatial, Argument<const Ints*> kernel_size, Argument<const Ints*> stride,
            Argument<const Ints*> padding, Argument<bool> ceil_mode);
Dims pooled(TensorArgument self, Int spatial, Argument<const Ints*> kernel_size, Argument<const Ints*> stride,
            Argument<const Ints*> padding, Argument<const Ints*> dilation, Argument<bool> ceil_mode);
Dims per_channel(TensorArgument input, TensorArgument channels, Argument<Int> axis);

// Whether `from` broadcasts to exactly `to`.
bool expands(const Dims& from, const Dims& to);
// The number of true elements of the mask after the tensor and the mask are broadcast to each other.
Int marked(TensorArgument tensor, TensorArgument mask);
// is_nothing: whether the tensor has sizes (0). cat ignores such a tensor, whatever the rank of the other tensors.
// first_counted returns the first tensor that cat does not ignore, or null.
inline bool is_nothing(const Tensor& tensor) { return tensor.sizes == Dims{0}; }
const Tensor* first_counted(const Tensors& tensors);

}  // namespace assay::shapes
