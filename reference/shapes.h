#pragma once

#include "reference/call.h"

// The words in which spec/operators gives the sizes, dim orders and work of results; spec/rules.md defines each.
namespace assay::shapes {

// The sizes to which all broadcast, aligned at the last dimension: equal, or 1.
class Broadcasting {
 public:
  void add(std::string_view name, const Dims& sizes);
  const Dims& sizes() const { return sizes_; }

 private:
  Dims sizes_;
};

// The sizes that the tensors broadcast to; a None does not count.
template <class... T>
Dims broadcast(const T&... tensor) {
  Broadcasting b;
  ((tensor ? b.add(tensor.name, tensor->sizes) : void()), ...);
  return b.sizes();
}

inline Dims same(TensorArgument tensor) { return tensor->sizes; }
inline Dims scalar() { return {}; }
Dims sizes(Argument<const Ints*> list);  // each at least 0

// The dimensions named by dim, from 0 on; None or an empty list names all.
Dims dims(TensorArgument tensor, Argument<const Ints*> dim);
Dims dims(TensorArgument tensor, Argument<Int> dim);
Dims dims(TensorArgument tensor, Argument<std::optional<Int>> dim);
inline Dims dims(TensorArgument tensor) { return Dims::counting(tensor->rank()); }

// The same, but an empty list names none.
inline Dims named_dims(TensorArgument tensor, Argument<const Ints*> dim) { return dim && dim->empty() ? Dims{} : dims(tensor, dim); }

// The sizes without those dimensions, or with 1 in their place.
Dims without(const Dims& sizes, const Dims& dims, bool keepdim);
inline Dims without(TensorArgument tensor, const Dims& dims, Argument<bool> keepdim) { return without(tensor->sizes, dims, keepdim.value); }

Dims permuted(TensorArgument tensor, Argument<const Ints*> dims);
std::vector<Dims> split(TensorArgument tensor, Argument<Int> split_size, Argument<Int> dim);
std::vector<Dims> split(TensorArgument tensor, Argument<const Ints*> split_sizes, Argument<Int> dim);
std::vector<Dims> unbound(TensorArgument tensor, Argument<Int> dim);  // one piece for each index along dim, without it
inline Dims selected(TensorArgument tensor, Argument<Int> dim) { return without(tensor->sizes, dims(tensor, dim), false); }
Dims sliced(TensorArgument tensor, Argument<Int> dim, Argument<std::optional<Int>> start, Argument<std::optional<Int>> end, Argument<Int> step);
Dims transposed(TensorArgument tensor, Argument<Int> dim0, Argument<Int> dim1);
Dims transposed(TensorArgument matrix);  // of rank 2; a tensor of lower rank keeps its sizes
Dims unsqueezed(TensorArgument tensor, Argument<Int> dim);
Dims squeezed(TensorArgument tensor, Argument<Int> dim);
Dims squeezed(TensorArgument tensor, Argument<const Ints*> dim);
Dims expanded(TensorArgument tensor, Argument<const Ints*> size);  // -1 keeps a size of the tensor
Dims viewed(TensorArgument tensor, Argument<const Ints*> size);    // a -1 is inferred from the others where they decide it
Dims repeated(TensorArgument tensor, Argument<const Ints*> repeats);
Dims padded(TensorArgument tensor, Argument<const Ints*> pad);  // pad: before and after, of the last dimension first
Dims pixel_shuffled(TensorArgument tensor, Argument<Int> upscale_factor);
Dims concatenated(Argument<const Tensors*> tensors, Argument<Int> dim);
Dims stacked(Argument<const Tensors*> tensors, Argument<Int> dim);
Dims arange(Argument<Scalar> start, Argument<Scalar> end, Argument<Scalar> step, DType dtype);

Dims halved(TensorArgument tensor, Argument<Int> dim);
Dims pixel_unshuffled(TensorArgument tensor, Argument<Int> downscale_factor);  // a tensor without elements keeps its sizes
Dims diagonal(TensorArgument tensor, Argument<Int> offset, Argument<Int> dim1, Argument<Int> dim2);
Dims unfolded(TensorArgument tensor, Argument<Int> dimension, Argument<Int> size, Argument<Int> step);
Dims folded(TensorArgument columns, Argument<const Ints*> output_size, Argument<const Ints*> kernel_size);

// Whether `from` broadcasts to exactly `to`.
bool expands(const Dims& from, const Dims& to);

// What cat leaves out, whatever the rank of the others: a tensor of sizes (0). The first other one, or null.
inline bool is_nothing(const Tensor& tensor) { return tensor.sizes == Dims{0}; }
const Tensor* first_counted(const Tensors& tensors);

// Results of indexing.
Dims indexed(TensorArgument tensor, Argument<const Tensors*> indices);
Dims index_selected(TensorArgument tensor, Argument<Int> dim, TensorArgument index);
Dims embedded(TensorArgument weight, TensorArgument indices, Int codes = 1);  // with so many columns in each element of weight
inline Dims bags(TensorArgument offsets, Argument<bool> include_last) { return {offsets->count() - include_last.value}; }
inline Dims bags(TensorArgument offsets, Argument<bool> include_last, TensorArgument weight) { return {bags(offsets, include_last)[0], weight->sizes[1]}; }
inline Dims largest_of_bags(TensorArgument offsets, Argument<bool> include_last, TensorArgument weight, Argument<Int> mode) { return mode.value == 2 ? bags(offsets, include_last, weight) : bags(offsets, include_last); }
Dims bag_of_each(TensorArgument indices, TensorArgument weight, Argument<Int> mode, Argument<Int> padding_idx);  // none where PyTorch has a faster kernel
Dims nonzero(TensorArgument tensor);
Dims selected_by(TensorArgument tensor, TensorArgument mask);
Int marked(TensorArgument tensor, TensorArgument mask);  // how many elements of the mask are set when both broadcast
Dims repeated_each(TensorArgument repeats);              // their sum

// The sizes of tensor, but `size` along dim; a scalar stays one.
Dims resized(TensorArgument tensor, Argument<Int> dim, Argument<Int> size);

// The sizes of tensor, with 1 for each of the last dimensions that `last` names.
Dims ones_at_end(TensorArgument tensor, Argument<const Ints*> last);

inline Dims matrix(Argument<Int> rows, Argument<Int> columns) { return {rows.value, columns.value}; }
inline Dims size(Argument<Int> n) { return {n.value}; }
inline Dims vector(Int length) { return {length}; }
inline Dims size_of(TensorArgument tensor, Int dim) { return {tensor->sizes[wrap_dim(dim, tensor->rank())]}; }  // a vector as long as the dimension
inline Dims product(TensorArgument a, TensorArgument b) { return {a->sizes[0], b->sizes[1]}; }
inline Dims product_of_rows(TensorArgument a, TensorArgument b) { return {a->sizes[0], b->sizes[0]}; }
Dims linear(TensorArgument input, TensorArgument weight);  // a row of input becomes one of as many as weight has rows, or one number where weight is one row
inline Dims batched_product(TensorArgument a, TensorArgument b) { return {a->sizes[0], a->sizes[1], b->sizes[2]}; }
Dims last_as_one(TensorArgument tensor);  // the last size is 1; a scalar stays one

// Broadcast of the input with a list of channel values along one of its dimensions.
Dims per_channel(TensorArgument input, TensorArgument channels, Argument<Int> axis);

// Windows move over the last `spatial` dimensions; a list has one entry for each of them or one for all, an empty stride is the
// kernel's size.
Dims pooled(TensorArgument self, Int spatial, Argument<const Ints*> kernel_size, Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<bool> ceil_mode);
Dims pooled(TensorArgument self, Int spatial, Argument<const Ints*> kernel_size, Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<const Ints*> dilation, Argument<bool> ceil_mode);
inline Dims asked(Argument<const Bools*> output_mask, Int k, const Dims& sizes) { return (*output_mask.value)[static_cast<std::size_t>(k)] ? sizes : Dims{0}; }
inline Dims asked(Argument<const Bools*> output_mask, Int k, TensorArgument like) { return asked(output_mask, k, like->sizes); }  // the sizes of the tensor, or (0) where the k-th result is not asked for
inline Dims asked(Argument<const Bools*> output_mask, Int k, Argument<const Ints*> size) { return asked(output_mask, k, sizes(size)); }
inline Dims asked(Argument<const Bools*> output_mask, Int k, Argument<Int> length) { return asked(output_mask, k, Dims{length.value}); }
inline Dims asked_channels(Argument<const Bools*> output_mask, Int k, TensorArgument tensor) { return asked(output_mask, k, Dims{tensor->sizes[1]}); }  // likewise, of a vector with an element for each of its channels
inline Dims asked_channels(Argument<bool> flag, TensorArgument tensor) { return flag.value ? Dims{tensor->sizes[1]} : Dims{0}; }
inline Dims embeddings(Argument<Int> number, TensorArgument grad) { return {number.value, grad->sizes[grad->rank() - 1]}; }
Dims with_last(TensorArgument self, Argument<const Ints*> sizes);  // the last dimensions get these sizes
Dims distances(TensorArgument x1, TensorArgument x2);  // one for each row of both, batches broadcast
Dims pairs(TensorArgument self);                       // a vector with an element for each two rows
inline Dims sampled(TensorArgument input, TensorArgument grid) { return {input->sizes[0], input->sizes[1], grid->sizes[1], grid->sizes[2]}; }  // planes as input, of the sizes of grid
Dims resized(TensorArgument input, Argument<const Ints*> output_size, Argument<const Doubles*> scale_factors);  // or these multiples, rounded down
Dims convolved(TensorArgument input, TensorArgument weight, Argument<const Ints*> stride, Argument<const Ints*> padding, Argument<const Ints*> dilation,
               Argument<bool> transposed, Argument<const Ints*> output_padding, Argument<Int> groups);

}  // namespace assay::shapes

namespace assay::layouts {

// Of two dimensions that lies inside which does so in the first operand that is broadcast along neither; else the later one.
Dims like(const Dims& sizes, const std::vector<const Tensor*>& operands);
template <class... T>
Dims like(const Dims& sizes, const T&... tensor) {
  std::vector<const Tensor*> operands;
  ((tensor ? operands.push_back(&*tensor.value) : void()), ...);
  return like(sizes, operands);
}

inline Dims contiguous(const Dims& sizes) { return Dims::counting(sizes.size()); }

// The order, or contiguous where both lay the elements out alike.
Dims normal(const Dims& sizes, const Dims& order);

// Of a matrix: how nonzero lays out its rows.
inline Dims columns_first(const Dims& sizes) { return normal(sizes, {1, 0}); }

// In a memory format of PyTorch; None and preserve_format are as `tensor`, or contiguous where there is none.
Dims format(const Dims& sizes, Argument<std::optional<Int>> memory_format, TensorArgument tensor);
Dims format(const Dims& sizes, Argument<std::optional<Int>> memory_format);

// In the given dim order, a contiguous one of any length; None is as `tensor`, or contiguous where there is none.
Dims ordered(const Dims& sizes, Argument<const Ints*> dim_order, TensorArgument tensor);
Dims ordered(const Dims& sizes, Argument<const Ints*> dim_order);

// Channels last where the tensor, or every tensor of the list, is.
Dims suggested(const Dims& sizes, TensorArgument tensor);
Dims suggested(const Dims& sizes, Argument<const Tensors*> tensors);
Dims suggested(const Dims& sizes, TensorArgument a, TensorArgument b);  // of 4 dimensions, where either is
}  // namespace assay::layouts

namespace assay::terms {

// How many elements of the tensor make one result over those dimensions.
template <class... D>
Int reduced(TensorArgument tensor, const D&... dim) {
  Int n = 1;
  for (Int d : shapes::dims(tensor, dim...)) n *= tensor->sizes[d];
  return n;
}
inline Int linear(TensorArgument input) { return input->sizes[input->rank() - 1] + 1; }  // products of a row, and the bias
inline Int blended(TensorArgument mat1) { return mat1->sizes[1] + 2; }              // products of a matrix product, and two matrices blended
Int window(Int spatial, Argument<const Ints*> kernel_size);                      // cells of a window over so many dimensions
Int adaptive_window(TensorArgument self, Argument<const Ints*> output_size);     // cells of the largest one
Int convolved(TensorArgument weight, Argument<bool> transposed, Argument<Int> groups);  // products and the bias
inline Int size(TensorArgument tensor, Int dim) { return tensor->rank() == 0 ? 1 : tensor->sizes[wrap_dim(dim, tensor->rank())]; }
inline Int beside(TensorArgument tensor, Int dim) { return tensor->count() / std::max<Int>(size(tensor, dim), 1); }  // elements for each index along dim
inline Int normalised(TensorArgument input, Argument<bool> training) { return training.value ? beside(input, 1) : 2; }
inline Int along(TensorArgument tensor, Argument<Int> dim) { return tensor->count() == 0 ? 1 : size(tensor, dim.value); }
Int indexed(TensorArgument tensor, Argument<const Tensors*> indices);  // how many elements the index list names along the indexed dimensions
Int adaptive_gradient(TensorArgument grad_output, TensorArgument self);  // windows that a cell may be in
Int convolution_gradient(TensorArgument grad_output, TensorArgument weight, Argument<bool> transposed);  // products of a cell or of a weight, whichever has more
Int product(Argument<const Ints*> sizes);
Int quotient(TensorArgument tensor, Argument<Int> a, Argument<Int> b);  // the tensor's elements, divided among a * b results
inline Int attended(TensorArgument query, TensorArgument key) { return query->sizes[3] + key->sizes[1]; }  // products of a score, and keys
inline Int attended(TensorArgument query, TensorArgument key, Argument<bool> heads_first) { return query->sizes[3] + key->sizes[heads_first.value ? 2 : 1]; }
Int resampled(TensorArgument self, Argument<const Ints*> output_size, Argument<bool> align_corners, Argument<std::optional<double>> scales_h, Argument<std::optional<double>> scales_w);  // cells of a row and of a column of the largest window
inline Int one_more(TensorArgument tensor) { return tensor->count() + 1; }
constexpr Int number(Int n) { return n; }

}  // namespace assay::terms
