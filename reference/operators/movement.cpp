#include "operators/movement.gen.h"

#include <numeric>

#include "reference/dtype.h"

namespace assay {
namespace {

// The remainder of a / n from 0 to n - 1, for n > 0.
Int modulo(Int a, Int n) { return a - floor_div(a, n) * n; }

// The index of the element at position `flat` in row-major order.
Dims unflattened(const Dims& sizes, Int flat) {
  Dims i = sizes;
  for (int d = sizes.size() - 1; d >= 0; --d) i[d] = flat % sizes[d], flat /= sizes[d];
  return i;
}

}  // namespace

Element operators::copy(Element x) { return x; }

Real operators::conj(Real x) { return x; }
Int operators::conj(Int x) { return x; }
Complex operators::conj(Complex x) { return std::conj(x); }

void operators::reshape(Array<Element>& out, const Array<Element>& self) { out.data = self.data; }

// Elements are little-endian.
void operators::reinterpret(Array<Element>& out, const Array<Element>& self, Int dtype) {
  const Int wide = info(*dtype_numbered(dtype)).bytes, all = out.count() * wide, narrow = all / self.count();
  for (Int at = 0; at < all; ++at) {
    const auto from = std::as_bytes(std::span(&self[at / narrow], 1));
    const auto to = std::as_writable_bytes(std::span(&out[at / wide], 1));
    to[static_cast<std::size_t>(at % wide)] = from[static_cast<std::size_t>(at % narrow)];
  }
}

Dims operators::flip(const Dims& out, const Dims& sizes, const Ints& dims) {
  Dims in = out;
  for (Int d : dims) {
    if (sizes.size() == 0) continue;
    const Int at = wrap_dim(d, sizes.size());
    in[at] = sizes[at] - 1 - out[at];
  }
  return in;
}

Dims operators::roll(const Dims& out, const Dims& sizes, const Ints& shifts, const Ints& dims) {
  if (dims.empty()) {
    const Int n = count(sizes);
    return unflattened(sizes, modulo(offset(sizes, out) - shifts[0] % n, n));
  }
  Dims in = out;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    const Int at = wrap_dim(dims[k], sizes.size());
    in[at] = modulo(in[at] - shifts[k] % sizes[at], sizes[at]);
  }
  return in;
}

Dims operators::permute_copy(const Dims& out, const Dims& sizes, const Ints& dims) {
  Dims in = sizes;
  for (int k = 0; k < out.size(); ++k) in[wrap_dim(dims[static_cast<std::size_t>(k)], sizes.size())] = out[k];
  return in;
}

Dims operators::transpose_copy(const Dims& out, const Dims& sizes, Int dim0, Int dim1) {
  Dims in = out;
  if (sizes.size() > 0) std::swap(in[wrap_dim(dim0, sizes.size())], in[wrap_dim(dim1, sizes.size())]);
  return in;
}

Dims operators::t_copy(const Dims& out, const Dims&) {
  Dims in = out;
  std::reverse(in.begin(), in.end());
  return in;
}

Dims operators::select(const Dims& out, const Dims& sizes, Int dim, Int index) {
  const Int along = wrap_dim(dim, sizes.size());
  Dims in = out;
  in.insert(along, index < 0 ? index + sizes[along] : index);
  return in;
}

Dims operators::slice_copy(const Dims& out, const Dims& sizes, Int dim, std::optional<Int> start, Int step) {
  const Int along = wrap_dim(dim, sizes.size());
  Dims in = out;
  in[along] = slice(sizes[along], start, std::nullopt, step).start + out[along] * step;
  return in;
}

Dims operators::narrow_copy(const Dims& out, const Dims& sizes, Int dim, Int start) {
  const Int along = wrap_dim(dim, sizes.size());
  Dims in = out;
  in[along] += start < 0 ? start + sizes[along] : start;
  return in;
}

// The two dimensions of the diagonal are inserted among the others in rising order.
Dims operators::diagonal_copy(const Dims& out, const Dims& sizes, Int offset, Int dim1, Int dim2) {
  const Int row = wrap_dim(dim1, sizes.size()), column = wrap_dim(dim2, sizes.size()), k = out[out.size() - 1];
  Dims in = out;
  in.erase(out.size() - 1);
  in.insert(std::min(row, column), 0);
  in.insert(std::max(row, column), 0);
  in[row] = k - std::min<Int>(offset, 0);
  in[column] = k + std::max<Int>(offset, 0);
  return in;
}

Dims operators::unfold_copy(const Dims& out, const Dims& sizes, Int dimension, Int step) {
  if (sizes.size() == 0) return {};
  const Int k = out[out.size() - 1];
  Dims in = out;
  in.erase(out.size() - 1);
  Int& along = in[wrap_dim(dimension, sizes.size())];
  along = along * step + k;
  return in;
}

Dims operators::as_strided_copy(const Dims& out, const Dims&, const Ints& stride, std::optional<Int> storage_offset) {
  return {std::inner_product(out.begin(), out.end(), stride.begin(), storage_offset.value_or(0))};
}

Dims operators::repeat(const Dims& out, const Dims& sizes) {
  Dims in = sizes;
  const int lead = out.size() - sizes.size();
  for (int d = 0; d < sizes.size(); ++d) in[d] = out[lead + d] % sizes[d];
  return in;
}

Dims operators::pixel_shuffle(const Dims& out, const Dims& sizes, Int upscale_factor) {
  const int c = sizes.size() - 3, h = c + 1, w = c + 2;
  const Int r = upscale_factor;
  Dims in = out;
  in[c] = (out[c] * r + out[h] % r) * r + out[w] % r;
  in[h] = out[h] / r;
  in[w] = out[w] / r;
  return in;
}

Dims operators::pixel_unshuffle(const Dims& out, const Dims& sizes, Int downscale_factor) {
  const int c = sizes.size() - 3, h = c + 1, w = c + 2;
  const Int r = downscale_factor;
  Dims in = out;
  in[c] = out[c] / (r * r);
  in[h] = out[h] * r + out[c] / r % r;
  in[w] = out[w] * r + out[c] % r;
  return in;
}

Dims operators::constant_pad_nd(const Dims& out, const Dims& sizes, const Ints& pad) {
  Dims in = out;
  for (std::size_t k = 0; 2 * k < pad.size(); ++k) in[sizes.size() - 1 - static_cast<Int>(k)] -= pad[2 * k];
  return in;
}

Dims operators::tril(const Dims& out, const Dims& sizes, Int diagonal) {
  const int column = sizes.size() - 1;
  Dims in = out;
  if (out[column] - out[column - 1] > diagonal) in[column] = -1;  // outside: the result is 0
  return in;
}

void operators::cat(Array<Element>& out, const Arrays<Element>& tensors, Int dim) {
  const Int along = wrap_dim(dim, out.sizes.size());
  Int start = 0;
  for (const Array<Element>& tensor : tensors) {
    if (tensor.count() == 0) continue;
    Int flat = 0;
    for (Dims i : indices(tensor.sizes)) {
      i[along] += start;
      out(i) = tensor[flat++];
    }
    start += tensor.sizes[along];
  }
}

void operators::stack(Array<Element>& out, const Arrays<Element>& tensors, Int dim) {
  const Int along = wrap_dim(dim, out.sizes.size());
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    Int flat = 0;
    for (Dims i : indices(tensors[k].sizes)) {
      i.insert(along, static_cast<Int>(k));
      out(i) = tensors[k][flat++];
    }
  }
}

void operators::split(Arrays<Element>& out, const Array<Element>& self, Int dim) {
  const Int along = wrap_dim(dim, self.sizes.size());
  Int start = 0;
  for (Array<Element>& piece : out) {
    Int flat = 0;
    for (Dims i : indices(piece.sizes)) {
      i[along] += start;
      piece[flat++] = self(i);
    }
    start += piece.sizes[along];
  }
}

void operators::unbind(Arrays<Element>& out, const Array<Element>& self, Int dim) {
  const Int along = wrap_dim(dim, self.sizes.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    Int flat = 0;
    for (Dims i : indices(out[k].sizes)) {
      i.insert(along, static_cast<Int>(k));
      out[k][flat++] = self(i);
    }
  }
}

}  // namespace assay
