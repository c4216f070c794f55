#include "conformance/text/layout.h"

#include <limits>

#include "conformance/text/malformed.h"

namespace assay::text {
namespace {

void check_sizes(DType dtype, const Ints& sizes) {
  Int bytes = info(dtype).bytes;  // a size of 0 counts as 1, because strides of an empty tensor use its other sizes
  for (const Int n : sizes) {
    well_formed(n >= 0, "call.tensor", "sizes ", sizes, " hold ", n, ", but a size is at least 0");
    well_formed(n == 0 || bytes <= std::numeric_limits<Int>::max() / n, "call.tensor", "sizes ", sizes,
                " are more than any tensor can have");
    bytes *= n == 0 ? 1 : n;
  }
}

void check_rank(const Ints& dims) {
  if (dims.size() > max_rank)
    throw Fault(Outcome::exhausted, "limits.rank",
                concat("a tensor has at most ", max_rank, " dimensions, but came with ", dims.size()));
}

}  // namespace

Tensor layout(DType dtype, const Ints& sizes, const std::optional<Ints>& dim_order) {
  check_rank(sizes);
  check_sizes(dtype, sizes);
  Tensor tensor{dtype, Dims(sizes), Dims::counting(static_cast<int>(sizes.size())), {}};
  if (!dim_order) return tensor;
  check_rank(*dim_order);
  tensor.dim_order = Dims(*dim_order);
  well_formed(is_dim_order(tensor.dim_order, tensor.rank()), "call.tensor", "dim_order ", tensor.dim_order,
              " is no permutation of the ", tensor.rank(), " dimensions");
  return tensor;
}

std::size_t byte_count(const Tensor& tensor) {
  return static_cast<std::size_t>(tensor.count() * info(tensor.dtype).bytes);
}

void fill(Tensor& tensor, Array<Element> elements) {
  elements.sizes = tensor.sizes;
  tensor.bytes.resize(byte_count(tensor));
  write(elements, tensor);
}

void Nesting::element(int depth) {
  well_formed(rank_.value_or(depth) == depth, "call.tensor", "an element stands inside of ", depth,
              " lists, another inside of ", rank_.value_or(depth));
  rank_ = depth;
}

void Nesting::list(int depth, Int length) {
  std::optional<Int>& known = lengths_[static_cast<std::size_t>(depth)];
  well_formed(known.value_or(length) == length, "call.tensor", "lists beside each other have ", known.value_or(length),
              " and ", length, " entries");
  known = length;
}

Ints Nesting::sizes() const {
  Ints found;
  for (const auto& length : lengths_)
    if (length) found.push_back(*length);
  well_formed(!rank_ || static_cast<std::size_t>(*rank_) == found.size(), "call.tensor",
              "an element stands beside a list");
  return found;
}

}  // namespace assay::text
