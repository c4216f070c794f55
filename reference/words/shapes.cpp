#include "reference/words/shapes.h"

#include <cmath>

#include "reference/words/dtypes.h"
#include "reference/words/indexing.h"
#include "reference/words/window.h"

namespace assay::shapes {
namespace {

// Limits the number of tensors in a list of results.
void check_pieces(Int n) {
  constexpr Int most = Int{1} << 20;
  if (n > most)
    throw Fault(Outcome::exhausted, "limits.results",
                concat("a list of ", n, " results is longer than the limit of ", most));
  constexpr Int work_of_sizes = 32;
  Budget::Scope::work(n * work_of_sizes);
}

// Refuses sizes that leave no room in 64 bits for the padding of a window.
void check_room(const Tensor& tensor) {
  for (Int n : tensor.sizes) require(n <= Int{1} << 62, "sizes ", tensor.sizes, " are too large for a window");
}

// a * b + c as a size.
Int size_of(std::string_view name, Int a, Int b, Int c = 0) {
  Int n = 0;
  const bool exact = !__builtin_mul_overflow(a, b, &n) && !__builtin_add_overflow(n, c, &n);
  require(exact && n >= 0, name, " asks for a size of ", a, " * ", b, " + ", c);
  return n;
}

}  // namespace

void Broadcasting::add(std::string_view name, const Dims& sizes) {
  while (sizes_.size() < sizes.size()) sizes_.insert(0, 1);
  const int lead = sizes_.size() - sizes.size();
  for (int d = 0; d < sizes.size(); ++d) {
    Int& mine = sizes_[lead + d];
    require(sizes[d] == mine || sizes[d] == 1 || mine == 1, name, " has sizes ", sizes,
            ", which do not broadcast with ", sizes_);
    if (mine == 1) mine = sizes[d];
  }
}

Dims sizes(Argument<const Ints*> list) {
  for (Int n : *list.value) require(n >= 0, list.name, " is ", *list.value, ", but no size may be negative");
  return Dims(*list.value);
}

Dims dims(TensorArgument tensor, Argument<const Ints*> dim) {
  if (!dim || dim->empty()) return dims(tensor);
  Dims named;
  for (Int d : *dim.value)
    if (tensor->rank() > 0) named.push_back(wrap_dim(d, tensor->rank()));
  return named;
}

Dims dims(TensorArgument tensor, Argument<Int> dim) {
  return tensor->rank() == 0 ? Dims{} : Dims{wrap_dim(dim.value, tensor->rank())};
}

Dims dims(TensorArgument tensor, Argument<std::optional<Int>> dim) {
  return dim.value ? dims(tensor, some(dim)) : dims(tensor);
}

Dims without(const Dims& sizes, const Dims& dims, bool keepdim) {
  Dims left;
  for (Int d = 0; d < sizes.size(); ++d) {
    const bool gone = std::ranges::find(dims, d) != dims.end();
    if (!gone || keepdim) left.push_back(gone ? 1 : sizes[d]);
  }
  return left;
}

Dims permuted(TensorArgument tensor, Argument<const Ints*> dims) {
  Dims sizes;
  for (Int d : *dims.value) sizes.push_back(tensor->sizes[wrap_dim(d, tensor->rank())]);
  return sizes;
}

Dims resized(TensorArgument tensor, Argument<Int> dim, Argument<Int> size) {
  Dims sizes = tensor->sizes;
  if (sizes.size() > 0) sizes[wrap_dim(dim.value, sizes.size())] = size.value;
  return sizes;
}

Dims with_parts(TensorArgument tensor) {
  Dims sizes = tensor->sizes;
  sizes.push_back(2);
  return sizes;
}

Dims without_parts(TensorArgument tensor) {
  Dims sizes = tensor->sizes;
  sizes.erase(sizes.size() - 1);
  return sizes;
}

Dims spectrum(TensorArgument tensor, Argument<const Ints*> dim, Argument<bool> onesided) {
  Dims sizes = tensor->sizes;
  Int& last = sizes[dim->back()];
  last = onesided.value ? last / 2 + 1 : last;
  return sizes;
}

Dims from_half_spectrum(TensorArgument tensor, Argument<const Ints*> dim, Argument<Int> last_dim_size) {
  Dims sizes = tensor->sizes;
  sizes[dim->back()] = last_dim_size.value;
  return sizes;
}

Dims halved(TensorArgument tensor, Argument<Int> dim) {
  Dims sizes = tensor->sizes;
  sizes[wrap_dim(dim.value, sizes.size())] /= 2;
  return sizes;
}

Dims pixel_unshuffled(TensorArgument tensor, Argument<Int> downscale_factor) {
  Dims sizes = tensor->sizes;
  const int c = sizes.size() - 3;
  if (tensor->count() == 0) return sizes;
  sizes[c] = size_of(downscale_factor.name, sizes[c], downscale_factor.value * downscale_factor.value);
  sizes[c + 1] /= downscale_factor.value;
  sizes[c + 2] /= downscale_factor.value;
  return sizes;
}

Dims diagonal(TensorArgument tensor, Argument<Int> offset, Argument<Int> dim1, Argument<Int> dim2) {
  const Dims both{wrap_dim(dim1.value, tensor->rank()), wrap_dim(dim2.value, tensor->rank())};
  const Int rows = tensor->sizes[both[0]], columns = tensor->sizes[both[1]];
  const Int length = offset.value < 0         ? std::min(rows + offset.value, columns)
                     : columns < offset.value ? 0
                                              : std::min(rows, columns - offset.value);
  Dims sizes = without(tensor->sizes, both, false);
  sizes.push_back(std::max<Int>(length, 0));
  return sizes;
}

Dims unfolded(TensorArgument tensor, Argument<Int> dimension, Argument<Int> size, Argument<Int> step) {
  Dims sizes = tensor->sizes;
  if (sizes.size() > 0) {
    Int& along = sizes[wrap_dim(dimension.value, sizes.size())];
    along = size_of(size.name, (along - size.value) / step.value, 1, 1);
  }
  sizes.push_back(size.value);
  return sizes;
}

Dims folded(TensorArgument columns, Argument<const Ints*> output_size, Argument<const Ints*> kernel_size) {
  Dims sizes = columns->sizes;
  const int rank = sizes.size();
  sizes[rank - 2] /= count(Dims(*kernel_size.value));
  sizes[rank - 1] = (*output_size.value)[0];
  sizes.push_back((*output_size.value)[1]);
  return sizes;
}

Int marked(TensorArgument tensor, TensorArgument mask) {
  const Dims sizes = broadcast(tensor, mask);
  Int set = 0;
  for (const Int m : read<Int>(*mask.value).data) set += m != 0;
  return mask->count() == 0 ? 0 : set * (count(sizes) / mask->count());
}

Dims selected_by(TensorArgument tensor, TensorArgument mask) { return {marked(tensor, mask)}; }

Int runs(TensorArgument tensor, std::optional<Int> dim) {
  const auto number = [&]<class T>(std::type_identity<T>) {
    return std::ssize(first_of_runs(assay::read<T>(*tensor.value), dim));
  };
  return is_floating(tensor->dtype) ? number(std::type_identity<Real>()) : number(std::type_identity<Int>());
}

Dims unique(TensorArgument tensor, Argument<std::optional<Int>> dim) {
  if (!dim.value) return {runs(tensor, dim.value)};
  Dims sizes = tensor->sizes;
  sizes[wrap_dim(*dim.value, tensor->rank())] = runs(tensor, dim.value);
  return sizes;
}

// Whether a call without `flag` leaves out what is returned beside the unique elements.
bool leaves_out(TensorArgument tensor, Argument<bool> flag, std::optional<Int> dim) {
  return !flag.value && (!dim || (*dim == 0 && tensor->rank() == 1));
}

Dims inverse_of_unique(TensorArgument tensor, Argument<bool> return_inverse, Argument<std::optional<Int>> dim) {
  if (leaves_out(tensor, return_inverse, dim.value)) return {0};
  return dim.value ? Dims{tensor->sizes[wrap_dim(*dim.value, tensor->rank())]} : tensor->sizes;
}

Dims counts_of_unique(TensorArgument tensor, Argument<bool> return_counts, Argument<std::optional<Int>> dim) {
  return {leaves_out(tensor, return_counts, dim.value) ? 0 : runs(tensor, dim.value)};
}

Dims repeated_each(TensorArgument repeats) {
  Int sum = 0;
  for (const Int n : read<Int>(*repeats.value).data) sum = size_of(repeats.name, sum, 1, n);
  return {sum};
}

Dims ones_at_end(TensorArgument tensor, Argument<const Ints*> last) {
  Dims sizes = tensor->sizes;
  std::fill_n(sizes.end() - last->size(), last->size(), 1);
  return sizes;
}

Buffer<Dims> split(TensorArgument tensor, Argument<Int> split_size, Argument<Int> dim) {
  const Int along = wrap_dim(dim.value, tensor->rank()), whole = tensor->sizes[along];
  check_pieces(whole / std::max<Int>(split_size.value, 1));
  Buffer<Dims> pieces;
  Int start = 0;
  do {
    pieces.push_back(tensor->sizes);
    pieces.back()[along] = std::min(split_size.value, whole - start);
    start += pieces.back()[along];
  } while (start < whole);
  return pieces;
}

Buffer<Dims> split(TensorArgument tensor, Argument<const Ints*> split_sizes, Argument<Int> dim) {
  Buffer<Dims> pieces(split_sizes->size(), tensor->sizes);
  for (std::size_t k = 0; k < pieces.size(); ++k)
    pieces[k][wrap_dim(dim.value, tensor->rank())] = (*split_sizes.value)[k];
  return pieces;
}

Buffer<Dims> unbound(TensorArgument tensor, Argument<Int> dim) {
  const Int number = tensor->sizes[wrap_dim(dim.value, tensor->rank())];
  check_pieces(number);
  return Buffer<Dims>(static_cast<std::size_t>(number), selected(tensor, dim));
}

Dims sliced(TensorArgument tensor, Argument<Int> dim, Argument<std::optional<Int>> start,
            Argument<std::optional<Int>> end, Argument<Int> step) {
  Dims sizes = tensor->sizes;
  Int& along = sizes[wrap_dim(dim.value, tensor->rank())];
  along = slice(along, start.value, end.value, step.value).length;
  return sizes;
}

Dims transposed(TensorArgument tensor, Argument<Int> dim0, Argument<Int> dim1) {
  Dims sizes = tensor->sizes;
  if (tensor->rank() > 0)
    std::swap(sizes[wrap_dim(dim0.value, tensor->rank())], sizes[wrap_dim(dim1.value, tensor->rank())]);
  return sizes;
}

Dims transposed(TensorArgument matrix) {
  Dims sizes = matrix->sizes;
  std::reverse(sizes.begin(), sizes.end());
  return sizes;
}

Dims unsqueezed(TensorArgument tensor, Argument<Int> dim) {
  Dims sizes = tensor->sizes;
  sizes.insert(wrap_dim(dim.value, tensor->rank() + 1), 1);
  return sizes;
}

Dims squeezed(TensorArgument tensor, Argument<Int> dim) {
  const Ints one{dim.value};
  return squeezed(tensor, Argument<const Ints*>{dim.name, &one});
}

Dims squeezed(TensorArgument tensor, Argument<const Ints*> dim) {
  Dims ones;
  for (Int d : *dim.value)
    if (const Int at = wrap_dim(d, tensor->rank()); at < tensor->rank() && tensor->sizes[at] == 1) ones.push_back(at);
  return without(tensor->sizes, ones, false);
}

Dims expanded(TensorArgument tensor, Argument<const Ints*> size) {
  Dims sizes(*size.value);
  const Int lead = sizes.size() - tensor->rank();
  for (Int d = std::max<Int>(lead, 0); d < sizes.size(); ++d)
    if (sizes[d] == -1) sizes[d] = tensor->sizes[d - lead];
  return sizes;
}

Dims viewed(TensorArgument tensor, Argument<const Ints*> size) {
  Dims sizes(*size.value);
  Int* open = std::ranges::find(sizes, -1);
  if (open == sizes.end()) return sizes;
  Int rest = tensor->count();
  for (const Int* n = sizes.begin(); n != sizes.end(); ++n) {
    if (n == open) continue;
    if (*n <= 0) return sizes;
    rest /= *n;
  }
  *open = rest;
  return sizes;
}

Dims reinterpreted(TensorArgument tensor, Argument<Int> dtype) {
  Dims sizes = tensor->sizes;
  if (sizes.size() > 0) {
    Int& last = sizes[sizes.size() - 1];
    const Int from = info(tensor->dtype).bytes, to = info(types::named(dtype)).bytes;
    last = from > to ? size_of(dtype.name, last, from / to) : last / (to / from);
  }
  return sizes;
}

Dims repeated(TensorArgument tensor, Argument<const Ints*> repeats) {
  Dims sizes(*repeats.value);
  const int lead = sizes.size() - tensor->rank();
  for (int d = 0; d < tensor->rank(); ++d) sizes[lead + d] = size_of(repeats.name, sizes[lead + d], tensor->sizes[d]);
  return sizes;
}

Dims padded(TensorArgument tensor, Argument<const Ints*> pad) {
  Dims sizes = tensor->sizes;
  for (std::size_t k = 0; 2 * k < pad->size(); ++k) {  // the larger first: a negative pad may crop what the other adds
    const auto [less, more] = std::minmax((*pad.value)[2 * k], (*pad.value)[2 * k + 1]);
    Int& n = sizes[sizes.size() - 1 - static_cast<Int>(k)];
    n = size_of(pad.name, size_of(pad.name, n, 1, more), 1, less);
  }
  return sizes;
}

Dims last_as_one(TensorArgument tensor) {
  Dims sizes = tensor->sizes;
  if (sizes.size() > 0) sizes[sizes.size() - 1] = 1;
  return sizes;
}

Dims per_channel(TensorArgument input, TensorArgument channels, Argument<Int> axis) {
  Dims along = Dims::filled(input->rank(), 1);
  along[wrap_dim(axis.value, input->rank())] = channels->sizes[0];
  Broadcasting both;
  both.add(input.name, input->sizes);
  both.add(channels.name, along);
  return both.sizes();
}

Dims pooled(TensorArgument self, Int spatial, Argument<const Ints*> kernel_size, Argument<const Ints*> stride,
            Argument<const Ints*> padding, Argument<bool> ceil_mode) {
  static const Ints one{1};
  return pooled(self, spatial, kernel_size, stride, padding, Argument<const Ints*>{"dilation", &one}, ceil_mode);
}

Dims pooled(TensorArgument self, Int spatial, Argument<const Ints*> kernel_size, Argument<const Ints*> stride,
            Argument<const Ints*> padding, Argument<const Ints*> dilation, Argument<bool> ceil_mode) {
  check_room(*self.value);
  Dims sizes = self->sizes;
  const WindowAxes axes =
      window_axes(sizes.size(), spatial, *kernel_size.value, *stride.value, *padding.value, *dilation.value);
  for (int d = 0; d < sizes.size(); ++d) sizes[d] = axes[d].places(sizes[d], ceil_mode.value);
  return sizes;
}

Dims linear(TensorArgument input, TensorArgument weight) {
  Dims sizes = input->sizes;
  sizes.erase(sizes.size() - 1);
  if (weight->rank() == 2) sizes.push_back(weight->sizes[0]);
  return sizes;
}

Dims with_last(TensorArgument self, Argument<const Ints*> sizes) {
  Dims result = self->sizes;
  std::ranges::copy_backward(*sizes.value, result.end());
  return result;
}

Dims distances(TensorArgument x1, TensorArgument x2) {
  Broadcasting batches;
  for (const TensorArgument& x : {x1, x2}) batches.add(x.name, Dims(std::span(x->sizes.begin(), x->sizes.end() - 2)));
  Dims sizes = batches.sizes();
  for (const TensorArgument& x : {x1, x2}) sizes.push_back(x->sizes[x->rank() - 2]);
  return sizes;
}

Dims pairs(TensorArgument self) {
  const Int rows = self->sizes[0];
  return {size_of(self.name, rows, std::max<Int>(rows - 1, 0)) / 2};
}

Dims resized(TensorArgument input, Argument<const Ints*> output_size, Argument<const Doubles*> scale_factors) {
  if (output_size) return with_last(input, output_size);
  Ints sizes;
  const int first = input->rank() - static_cast<int>(scale_factors->size());
  for (int d = first; d < input->rank(); ++d)
    sizes.push_back(static_cast<Int>(std::floor(static_cast<double>(input->sizes[d]) *
                                                (*scale_factors.value)[static_cast<std::size_t>(d - first)])));
  return with_last(input, {scale_factors.name, &sizes});
}

Dims convolved(TensorArgument input, TensorArgument weight, Argument<const Ints*> stride, Argument<const Ints*> padding,
               Argument<const Ints*> dilation, Argument<bool> transposed, Argument<const Ints*> output_padding,
               Argument<Int> groups) {
  check_room(*input.value);
  Dims sizes = input->sizes;
  if (input->sizes[1] > 0)
    sizes[1] = transposed.value ? size_of(weight.name, weight->sizes[1], groups.value) : weight->sizes[0];
  for (Int d = 0; d + 2 < sizes.size(); ++d) {
    const WindowAxis axis = window_axis(d, {weight->sizes[d + 2]}, *stride.value, *padding.value, *dilation.value);
    const Int more = axis.extent() - 2 * axis.padding + within_window(entry(*output_padding.value, d));
    Int& size = sizes[d + 2];
    size = transposed.value ? size_of(input.name, size - 1, axis.stride, more) : axis.places(size, false);
  }
  return sizes;
}

Dims pixel_shuffled(TensorArgument tensor, Argument<Int> upscale_factor) {
  Dims sizes = tensor->sizes;
  const int channel = sizes.size() - 3;
  const Int r = upscale_factor.value;
  sizes[channel] /= r * r;
  for (int d : {channel + 1, channel + 2}) sizes[d] = size_of(upscale_factor.name, sizes[d], r);
  return sizes;
}

const Tensor* first_counted(const Tensors& tensors) {
  const auto at = std::ranges::find_if(tensors, [](const auto& t) { return !is_nothing(*t); });
  return at == tensors.end() ? nullptr : &**at;
}

Dims concatenated(Argument<const Tensors*> tensors, Argument<Int> dim) {
  const Tensor* first = first_counted(*tensors.value);
  if (!first) return {0};
  Dims sizes = first->sizes;
  Int& along = sizes[wrap_dim(dim.value, first->rank())];
  along = 0;
  for (const auto& t : *tensors.value)
    if (!is_nothing(*t)) along = size_of(tensors.name, along, 1, t->sizes[wrap_dim(dim.value, first->rank())]);
  return sizes;
}

Dims stacked(Argument<const Tensors*> tensors, Argument<Int> dim) {
  Dims sizes = tensors->front()->sizes;
  sizes.insert(wrap_dim(dim.value, sizes.size() + 1), static_cast<Int>(tensors->size()));
  return sizes;
}

// ceil((end - start) / step), as PyTorch computes it: for int64 in integers that wrap, else in double.
Dims arange(Argument<Scalar> start, Argument<Scalar> end, Argument<Scalar> step, DType dtype) {
  if (dtype == DType::int64) {
    const Int by = exact<Int>(step.value), span = wrapping_subtract(exact<Int>(end.value), exact<Int>(start.value));
    const Int reach = wrapping_add(span, wrapping_subtract(by, by > 0 ? 1 : -1));
    return {size_of(step.name, by == -1 ? wrapping_negate(reach) : reach / by, 1)};
  }
  const auto as_double = [](const Scalar& s) { return static_cast<double>(real(s)); };
  const double n = std::ceil((as_double(end.value) - as_double(start.value)) / as_double(step.value));
  require(n <= 0x1p62, "a range from ", start.value, " to ", end.value, " by ", step.value, " has too many numbers");
  return {static_cast<Int>(n)};
}

bool expands(const Dims& from, const Dims& to) {
  const int lead = to.size() - from.size();
  if (lead < 0) return false;
  for (int d = 0; d < from.size(); ++d)
    if (from[d] != 1 && from[d] != to[lead + d]) return false;
  return true;
}

Dims indexed(TensorArgument tensor, Argument<const Tensors*> indices) {
  return indexed_sizes(*indices.value, tensor->sizes).sizes;
}

Dims index_selected(TensorArgument tensor, Argument<Int> dim, TensorArgument index) {
  Dims sizes = tensor->sizes;
  if (tensor->rank() > 0) sizes[wrap_dim(dim.value, tensor->rank())] = index->count();
  return sizes;
}

Dims embedded(TensorArgument weight, TensorArgument indices, Int codes) {
  Dims sizes = indices->sizes;
  sizes.push_back(size_of(weight.name, weight->sizes[1], codes));
  return sizes;
}

Dims bag_of_each(TensorArgument indices, TensorArgument weight, Argument<Int> mode, Argument<Int> padding_idx) {
  const bool rows = weight->dim_order == Dims{0, 1} || weight->sizes[0] == 1;
  const bool fast = mode.value == 0 && padding_idx.value < 0 && weight->dtype != DType::float64 && rows;
  return {fast ? 0 : indices->count()};
}

Dims nonzero(TensorArgument tensor) {
  if (is_complex(tensor->dtype)) return nonzero_indices(read<Complex>(*tensor.value)).sizes;
  if (is_floating(tensor->dtype)) return nonzero_indices(read<Real>(*tensor.value)).sizes;
  return nonzero_indices(read<Int>(*tensor.value)).sizes;
}

}  // namespace assay::shapes
