#include "operators/movement.gen.h"

namespace assay {

Dims operators::flip(const Dims& out, const Dims& sizes, const Ints& dims) {
  Dims in = out;
  for (Int d : dims) {
    if (sizes.size() == 0) continue;
    const Int at = wrap_dim(d, sizes.size());
    in[at] = sizes[at] - 1 - out[at];
  }
  return in;
}

Dims operators::permute_copy(const Dims& out, const Dims& sizes, const Ints& dims) {
  Dims in = sizes;
  for (int k = 0; k < out.size(); ++k) in[wrap_dim(dims[static_cast<std::size_t>(k)], sizes.size())] = out[k];
  return in;
}

void operators::split(std::vector<Array<Bits>>& out, const Array<Bits>& self, Int dim) {
  const Int along = wrap_dim(dim, self.sizes.size());
  Int start = 0;
  for (Array<Bits>& piece : out) {
    Int flat = 0;
    for (Dims i : indices(piece.sizes)) {
      i[along] += start;
      piece[flat++] = self(i);
    }
    start += piece.sizes[along];
  }
}

}  // namespace assay
