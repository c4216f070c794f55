#include "optimized/kernels/matmul.h"

namespace assay::kernels {

PackedMatrix pack(InstructionSet set, const float* b, std::size_t k, std::size_t n, std::size_t row_stride,
                  std::size_t column_stride, float* packed) {
  const Panels panels{set, k, n};
  pack_rows(
      panels, [=](std::size_t row) { return b + row * row_stride; }, column_stride, nullptr, packed);
  return {panels, packed};
}

void matmul(const float* a, std::size_t a_stride, std::size_t m, const PackedMatrix& b, const float* bias, float* out,
            std::size_t out_stride, const Epilogue& epilogue, const Threads& threads) {
  Product p;
  p.panels = b.panels;
  p.packed = b.data, p.halves = b.halves;
  p.bias = bias;
  p.image = {.data = a, .width = m, .pixel_stride = a_stride};
  p.channels = b.panels.depth;
  p.x.count = m;
  p.out = out;
  p.out_stride = out_stride;
  p.epilogue = epilogue;
  multiply(p, threads);
}

}  // namespace assay::kernels
