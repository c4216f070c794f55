#include "optimized/kernels/winograd.h"

#include "optimized/selection/convolution.h"
#include "optimized/selection/convolution_call.h"
#include "optimized/selection/images.h"

// aten::convolution of float32 by Winograd's algorithm, where arithmetic may be relaxed.
namespace assay::optimized {
namespace {

using namespace convolution;
namespace winograd = kernels::winograd;

// There are fewer products, but transforms and more weights. With fewer channels, or with fewer tiles that share the
// weights, that takes longer than all products.
constexpr std::size_t least_channels = 16, least_tiles = 9;

bool accepts(const Call& call) {
  if (!call.relaxed) return false;
  const auto c = fixed_convolution(call);
  if (!c || !winograd::can_convolve(*c) || !has_finite_weights(call.tensor(weight))) return false;
  return c->inputs >= least_channels && c->outputs >= least_channels &&
         winograd::tiles_of(*c, *images_of(call.tensor(input))) >= least_tiles;
}

constexpr Algorithm algorithm{winograd::packed_floats, winograd::pack, winograd::scratch_floats, winograd::convolve};

const void* prepare_winograd(const Call& call, Stores& stores) { return prepare(call, stores, algorithm); }

}  // namespace

extern const Kernel winograd_f32;
const Kernel winograd_f32{"winograd_f32", accepts, prepare_winograd, run, false, packed_weight};

}  // namespace assay::optimized
