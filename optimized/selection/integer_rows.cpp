#include <algorithm>

#include "optimized/kernels/row_product.h"
#include "optimized/selection/integer_numbers.h"

// aten::mm of rows of float32, which are quantized, with constant codes of 8 or 4 bits. The rewrite
// multiply_quantized_rows makes such calls.
namespace assay::optimized {
namespace {

using kernels::RowProduct;

// The weight has a row for each input if the codes have 8 bits, else a row for each output, which may be split into
// groups.
std::optional<RowProduct> product_of(const Call& call) {
  const RowsOfCall* rows = call.fusion->codes->rows;
  if (!call.set || !rows || !is_f32(call[0]) || !is_weight_of_codes(call[1]) || !is_f32(*call.arguments.back()))
    return {};
  const Tensor &x = call.tensor(0), &w = call.tensor(1), &y = call.out();
  if (x.rank < 1 || y.rank < 1 || x.count() == 0 || y.count() == 0 || !x.is_contiguous() || !w.is_contiguous() ||
      !y.is_contiguous())
    return {};
  RowProduct p;
  p.set = *call.set, p.uses_vnni = kernels::has_vnni(p.set), p.has_bias = rows->bias != nullptr;
  const std::int64_t inputs = x.size(x.rank - 1), outputs = y.size(y.rank - 1);
  if (inputs * outputs != w.count() || x.count() / inputs != y.count() / outputs) return {};
  p.inputs = static_cast<std::size_t>(inputs), p.outputs = static_cast<std::size_t>(outputs);
  if (w.size(0) != (rows->has_groups ? outputs : inputs)) return {};
  if (rows->has_groups) p.group = static_cast<std::size_t>(w.size(2));
  return can_multiply(p) ? std::optional(p) : std::nullopt;
}

std::size_t rows_of(const Call& call, const RowProduct& p) {
  return static_cast<std::size_t>(call.tensor(0).count()) / p.inputs;
}

struct State {
  RowProduct product;
  const float* packed = nullptr;
};

bool accepts(const Call& call) { return product_of(call).has_value(); }

const void* prepare(const Call& call, Stores& stores) {
  const auto state = stores.tables.take<State>(1);
  if (state.empty()) return nullptr;
  State& s = state[0] = {*product_of(call)};
  RowProduct& p = s.product;
  const RowsOfCall& rows = *call.fusion->codes->rows;
  const Tensor& scales = *rows.scales->tensor;
  p.has_short_scales =
      p.group > 0 && kernels::are_short(scales.elements<float>(), static_cast<std::size_t>(scales.count()));
  stores.scratch = kernels::scratch_bytes(p, rows_of(call, p));
  const auto packed = stores.packed.take(kernels::packed_floats(p));
  s.packed = packed.data;
  if (packed.to_make.empty()) return &s;
  kernels::RowWeights weights{call.tensor(1).elements<std::int8_t>(),
                              1,
                              p.outputs,
                              scales.elements<float>(),
                              0,
                              p.has_bias ? rows.bias->tensor->elements<float>() : nullptr};
  if (p.group > 0) weights.output_stride = p.inputs, weights.input_stride = 1;
  if (scales.count() > 1) weights.scale_stride = p.groups();
  kernels::pack(p, weights, packed.to_make.data());
  return &s;
}

bool run(const Step& step, Execution& execution) {
  const State& s = *static_cast<const State*>(step.state);
  kernels::multiply(s.product, step.call.tensor(0).elements<float>(), rows_of(step.call, s.product), s.packed,
                    step.call.out().elements<float>(), execution.scratch.data(), execution.threads);
  return true;
}

}  // namespace

extern const Kernel row_product_i8;
const Kernel row_product_i8{"row_product_i8", accepts, prepare, run, false, nullptr, true};

}  // namespace assay::optimized
