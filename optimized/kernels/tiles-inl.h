// Products of bytes by the tiles of AMX.
#if defined(ASSAY_KERNELS_TILES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ASSAY_KERNELS_TILES_INL_H
#undef ASSAY_KERNELS_TILES_INL_H
#else
#define ASSAY_KERNELS_TILES_INL_H
#endif

#include "optimized/kernels/dot-inl.h"

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace assay::kernels::HWY_NAMESPACE {

// A register has 16 rows of 64 bytes. These are assembler statements for the same reason as in ByVnni: the machine must
// be asked with is_supported(InstructionSet::amx) before they are used.
constexpr std::size_t tile_side = 16;

// The registers have their shapes while an object lives.
class TileShapes {
 public:
  HWY_INLINE TileShapes() {
    constexpr std::uint8_t registers = 8;
    struct alignas(64) {
      std::uint8_t palette = 1, first_row = 0, reserved[14] = {};
      std::uint16_t row_bytes[16] = {};
      std::uint8_t rows[16] = {};
    } shapes;
    for (std::size_t i = 0; i < registers; ++i) shapes.row_bytes[i] = 4 * tile_side, shapes.rows[i] = tile_side;
    asm volatile("ldtilecfg %0" : : "m"(shapes));
  }
  TileShapes(const TileShapes&) = delete;
  HWY_INLINE ~TileShapes() { asm volatile("tilerelease"); }
};

// Register n, with rows that are `stride` bytes apart in memory.
template <std::size_t n>
HWY_INLINE void load_tile(const void* p, std::size_t stride) {
  asm volatile("tileloadd (%1,%2,1), %%tmm%c0" : : "i"(n), "r"(p), "r"(stride) : "memory");
}
template <std::size_t n>
HWY_INLINE void store_tile(void* p, std::size_t stride) {
  asm volatile("tilestored %%tmm%c0, (%1,%2,1)" : : "i"(n), "r"(p), "r"(stride) : "memory");
}
// Adds to element (i, j) of `sum` the products of the 64 unsigned bytes of row i of x with the signed bytes of w: four
// of each row, at element j.
template <std::size_t sum, std::size_t x, std::size_t w>
HWY_INLINE void add_products() {
  asm volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(sum), "i"(x), "i"(w));
}

// Computes sums of R x V registers, R and V at most 2, which begin with the V vectors `begin` in each row. Rows of
// codes are `row_bytes` apart, which is a multiple of 64; rows of weights are `weight_stride` bytes apart.
template <std::size_t R, std::size_t V>
void sum_tiles(const std::uint8_t* rows, std::size_t row_bytes, const float* weights, std::size_t weight_stride,
               const float* begin, float* sums, std::size_t sum_stride) {
  const auto* w = reinterpret_cast<const std::uint8_t*>(weights);
  unrolled<R>([&](auto r)
                  HWY_ATTR { unrolled<V>([&](auto v) HWY_ATTR { load_tile<2 * r + v>(begin + v * lanes, 0); }); });
  for (std::size_t k = 0; k < row_bytes; k += 4 * tile_side, w += tile_side * weight_stride) {
    unrolled<V>([&](auto v) HWY_ATTR { load_tile<6 + v>(w + v * vector_bytes, weight_stride); });
    unrolled<R>([&](auto r) HWY_ATTR {
      load_tile<4 + r>(rows + r * tile_side * row_bytes + k, row_bytes);
      unrolled<V>([&](auto v) HWY_ATTR { add_products<2 * r + v, 4 + r, 6 + v>(); });
    });
  }
  unrolled<R>([&](auto r) HWY_ATTR {
    unrolled<V>([&](auto v) HWY_ATTR {
      store_tile<2 * r + v>(sums + r * tile_side * sum_stride + v * lanes, sum_stride * sizeof(float));
    });
  });
}

}  // namespace assay::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
#endif
