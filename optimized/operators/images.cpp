#include "optimized/operators/images.h"

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
  int last = -1;  // channels last, but for dimensions of size 1
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

namespace {

// `count` matrices of rows by columns, transposed.
void transpose(const float* from, std::size_t count, std::size_t rows, std::size_t columns, float* to) {
  for (std::size_t i = 0; i < count; ++i, from += rows * columns)
    for (std::size_t c = 0; c < columns; ++c)
      for (std::size_t r = 0; r < rows; ++r) *to++ = from[r * columns + c];
}

}  // namespace

void to_planes(const float* pixels, std::size_t channels, const kernels::Images& as, float* planes) {
  transpose(pixels, as.count, as.height * as.width, channels, planes);
}
void to_pixels(const float* planes, std::size_t channels, const kernels::Images& as, float* pixels) {
  transpose(planes, as.count, channels, as.height * as.width, pixels);
}

std::span<float> take_floats(format::Workspace& packed, std::size_t n) {
  struct alignas(64) Line {
    float floats[16];
  };
  const auto lines = packed.take<Line>((n + 15) / 16);
  return {reinterpret_cast<float*>(lines.data()), lines.size() * 16};
}

void element_strides(const Tensor& t, std::size_t* strides) {
  std::size_t n = 1;
  for (int i = t.rank - 1; i >= 0; --i) {
    strides[t.dim_order[i]] = n;
    n *= static_cast<std::size_t>(t.size(t.dim_order[i]));
  }
}

kernels::Epilogue epilogue_of(const Fusion& fusion) {
  kernels::Epilogue e;
  e.activation = fusion.activation, e.low = fusion.low, e.high = fusion.high;
  return e;
}

}  // namespace assay::optimized
