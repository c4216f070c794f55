#include <algorithm>

#include "optimized/selection/integer_numbers.h"

// aten::mm, addmm and linear whose factors and result are 8-bit codes: convolutions of one tap. The rewrite
// compute_with_codes makes such calls.
namespace assay::optimized {
namespace {

struct Factors {
  const Value &a, &b;
  const Value* bias;          // null if there is none
  bool is_transposed = true;  // whether b is stored with a row for each output channel
};

bool is_one(const Value& v) { return v.kind == ValueKind::integer && !v.changes && v.integer == 1; }

std::optional<Factors> factors_of(const Call& call) {
  const std::string_view op = call.roles->name;
  const bool is_transposed = call.fusion->codes->has_transposed_weight;
  if (op == "aten::linear.out") return Factors{call[0], call[1], &call[2]};
  if (op == "aten::mm.out") return Factors{call[0], call[1], nullptr, is_transposed};
  if (!is_one(call[3]) || !is_one(call[4]) || !call[0].is_tensor() || call.tensor(0).rank != 1) return {};
  return Factors{call[1], call[2], &call[0], is_transposed};
}

struct State {
  kernels::IntegerConvolution product;
  const float* packed = nullptr;
};

std::optional<kernels::IntegerConvolution> product_of(const Call& call, const Factors& f) {
  const Value& out = *call.arguments.back();
  if (!call.set || !is_tensor_of_codes(f.a) || !is_tensor_of_codes(out) || !is_weight_of_codes(f.b)) return {};
  const Tensor &a = *f.a.tensor, &b = *f.b.tensor, &y = *out.tensor;
  if (a.rank < 1 || b.rank != 2 || y.rank < 1 || a.count() == 0 || b.count() == 0) return {};
  if (!a.is_contiguous() || !b.is_contiguous() || !y.is_contiguous()) return {};
  const std::int64_t k = b.size(f.is_transposed ? 1 : 0), n = b.size(f.is_transposed ? 0 : 1);
  if (a.size(a.rank - 1) != k || y.size(y.rank - 1) != n || y.count() / n != a.count() / k) return {};
  kernels::Convolution shape;
  shape.set = *call.set, shape.inputs = static_cast<std::size_t>(k), shape.outputs = static_cast<std::size_t>(n);
  return integer_convolution(shape, *call.fusion->codes, a.dtype);
}

IntegerNumbers numbers_of(const Call& call, const Factors& f) {
  static constexpr Value none{};
  return {*call.fusion->codes, *f.b.tensor, f.bias ? *f.bias : none, f.is_transposed ? 0 : 1};
}

bool accepts(const Call& call) {
  const auto f = factors_of(call);
  return f && product_of(call, *f) && numbers_of(call, *f).are_supported();
}

const void* prepare(const Call& call, Stores& stores) {
  const auto state = stores.tables.take<State>(1);
  if (state.empty()) return nullptr;
  const Factors f = *factors_of(call);
  State& s = state[0] = {*product_of(call, f)};
  kernels::Threads threads;
  threads.count = stores.threads;
  stores.scratch = kernels::scratch_bytes(s.product, {}, threads);
  const auto packed = stores.packed.take(kernels::packed_floats(s.product));
  s.packed = packed.data;
  if (packed.to_make.empty()) return &s;
  const IntegerNumbers numbers = numbers_of(call, f);
  const std::size_t inputs = s.product.shape.inputs, outputs = s.product.shape.outputs;
  const kernels::WeightStrides strides =
      f.is_transposed ? kernels::WeightStrides{inputs, 1, 0, 0} : kernels::WeightStrides{1, outputs, 0, 0};
  kernels::pack(s.product, f.b.tensor->elements<std::int8_t>(), strides, {IntegerNumbers::of, &numbers},
                packed.to_make.data());
  return &s;
}

bool run(const Step& step, Execution& execution) {
  const State& s = *static_cast<const State*>(step.state);
  const Tensor &a = *factors_of(step.call)->a.tensor, &y = step.call.out();
  const std::size_t inputs = s.product.shape.inputs, rows = static_cast<std::size_t>(a.count()) / inputs;
  kernels::convolve(s.product, {a.data, 1, 1, rows, inputs}, s.packed, y.data, s.product.shape.outputs,
                    execution.scratch.data(), execution.threads);
  return true;
}

}  // namespace

extern const Kernel matmul_i8;
const Kernel matmul_i8{"matmul_i8", accepts, prepare, run, false, nullptr, true};

}  // namespace assay::optimized
