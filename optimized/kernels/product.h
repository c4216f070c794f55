#pragma once

#include <algorithm>
#include <cstddef>

#include "optimized/kernels/epilogue.h"
#include "optimized/kernels/instruction_set.h"
#include "optimized/kernels/threads.h"

// The loop of matrix products and convolutions. Each result is a row of `columns` sums over taps and channels. A tap is
// a position in the image relative to the position of the result. Its channels are multiplied by packed weights.
namespace assay::kernels {

// The largest width of a panel in vectors. It leaves registers for tiles of six rows.
constexpr std::size_t panel_vectors(std::size_t registers) { return registers < 32 ? 2 : 4; }

// A matrix of `depth` rows, packed in panels of neighbouring columns. All panels together are vectors(columns) vectors
// wide; their widths differ by at most one. Within a panel the rows follow each other. The last vector is padded with
// zeros.
struct Panels {
  InstructionSet set = InstructionSet::sse4;
  std::size_t depth = 0, columns = 0;

  constexpr std::size_t lanes() const { return traits(set).lanes; }
  constexpr std::size_t vectors() const { return (columns + lanes() - 1) / lanes(); }
  constexpr std::size_t count() const {
    const std::size_t most = panel_vectors(traits(set).registers);
    return (vectors() + most - 1) / most;
  }
  constexpr Range of(std::size_t panel) const { return part(vectors(), panel, count()); }  // vectors
  constexpr std::size_t floats() const { return vectors() * lanes() * depth; }
};

// The most rows of a tile; x86 has no registers for more pointers.
constexpr std::size_t most_rows = 10;

// The number of rows of a tile that is `vectors` wide, so that its sums, a row of weights and one element stay in
// registers.
constexpr std::size_t tile_rows(std::size_t registers, std::size_t vectors) {
  return std::min(most_rows, (registers - 1 - vectors) / vectors);
}

// An image whose pixels have `channels` floats. Pixels outside of it are zeros.
struct Image {
  const float* data = nullptr;
  std::size_t height = 1, width = 1;
  std::size_t row_stride = 0, pixel_stride = 0;  // floats
  // As many zeros as there are channels. Null if no tap is ever outside of the image.
  const float* zeros = nullptr;
};

// Tap (i, j) of result (y, x) is the pixel (y y_stride + y_first + i y_step, ...).
struct TapAxis {
  std::size_t count = 1;
  std::ptrdiff_t first = 0, step = 1;
};
struct ResultAxis {
  std::size_t count = 1;
  std::ptrdiff_t stride = 1;
  std::size_t place = 1;  // the distance of results in the output, in pixels
};

struct Product;
struct Blocks;
using MultiplyBlock = void (*)(const Product&, const Blocks&, Range results, Range panels);

// Weights that are packed as a half type: in half of the memory, for products of few rows, whose time is the time in
// which weights are read. The instruction that converts float16 is slow if some numbers of a vector are subnormal.
// Therefore float16 weights are packed times a power of two that makes them normal, and the sums are divided by it.
// Requires that the other factor and the bias are numbers of the half type, so that this changes no result.
struct HalfWeights {
  std::size_t (*packed_floats)(const Panels&);
  // Packs element b[k, j], which is at k row_stride + j column_stride. It must be a number of the half type.
  void (*pack)(const Panels&, const float* b, std::size_t row_stride, std::size_t column_stride, void* packed);
  MultiplyBlock (*find_block)(InstructionSet);
};
extern const HalfWeights float16_weights, bfloat16_weights;

// The rows of a tile whose weights are halves.
constexpr std::size_t most_rows_of_halves = 4;

struct Product {
  Panels panels;
  const void* packed = nullptr;  // floats, unless `halves` tells how they are stored
  const HalfWeights* halves = nullptr;
  const float* bias = nullptr;  // null means zeros
  Image image;
  std::size_t channels = 0;  // the number of channels of a tap
  // The offset of each channel from its pixel, in floats. Null if the channels are contiguous.
  const std::ptrdiff_t* offsets = nullptr;
  TapAxis tap_y, tap_x;
  ResultAxis y, x;
  float* out = nullptr;
  std::size_t out_stride = 0;  // the distance of output pixels in floats
  Epilogue epilogue;
};

void multiply(const Product&, const Threads&);

inline float rounded_to(float, float x) { return x; }
template <class Half>
Half rounded_to(Half, float x) {
  return Half::of(x);
}

// Packs the rows of a matrix as elements of type W: float or a half type. Column j of row i is row(i)[j *
// column_stride], multiplied by the factor, and by scale[j] if `scale` is not null.
template <class Row, class W>
void pack_rows(const Panels& panels, const Row& row, std::size_t column_stride, const float* scale, W* packed,
               float factor = 1) {
  for (std::size_t panel = 0; panel < panels.count(); ++panel) {
    const std::size_t begin = panels.of(panel).begin * panels.lanes(), end = panels.of(panel).end * panels.lanes();
    const std::size_t columns = std::min(end, panels.columns) - begin, width = end - begin;
    for (std::size_t i = 0; i < panels.depth; ++i, packed += width) {
      const float* from = row(i) + begin * column_stride;
      for (std::size_t j = 0; j < columns; ++j) {
        const float x = from[j * column_stride] * factor;
        packed[j] = rounded_to(W(), scale ? x * scale[begin + j] : x);
      }
      std::fill(packed + columns, packed + width, W());
    }
  }
}

}  // namespace assay::kernels
