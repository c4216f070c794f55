#include "optimized/selection/images.h"

namespace assay::optimized {

std::optional<kernels::Images> images_of(const Tensor& t) {
  if (t.rank != 3 && t.rank != 4) return {};
  kernels::Images images;
  images.count = static_cast<std::size_t>(t.size(0));
  images.height = t.rank == 4 ? static_cast<std::size_t>(t.size(2)) : 1;
  images.width = static_cast<std::size_t>(t.size(t.rank - 1));
  images.pixel_stride = static_cast<std::size_t>(t.size(1));
  std::uint8_t renamed[] = {0, 2, 3, 1};
  if (t.rank == 3) renamed[1] = 2, renamed[2] = 1;
  int last = -1;  // channels last, dimensions of size 1 aside
  bool is_last = true;
  for (int i = 0; i < t.rank; ++i) {
    const int d = t.dim_order[i];
    if (t.size(d) == 1) continue;
    int at = 0;
    while (renamed[at] != d) ++at;
    is_last = is_last && at > last;
    last = at;
  }
  if (!is_last && !t.is_contiguous()) return {};
  images.channels_first = !is_last;
  return images;
}

kernels::Epilogue epilogue_of(const Fusion& fusion) {
  kernels::Epilogue e;
  e.activation = fusion.activation, e.low = fusion.low, e.high = fusion.high;
  e.fake_quantizer = fusion.fake_quantizer;
  return e;
}

}  // namespace assay::optimized
