#include <algorithm>
#include <optional>

#include "optimized/selection/layout.h"
#include "optimized/xnnpack/kernels.h"
#include "optimized/xnnpack/operator.h"

// aten::mm, addmm and linear of float32 with a constant matrix, by XNNPACK.
namespace assay::optimized {
namespace xnnpack {
namespace {

// The arguments that are the factors and the addend, and the dimension of b that runs over inputs.
struct Roles {
  std::size_t a, b;
  std::optional<std::size_t> bias;
  int inputs;
};

Roles roles_of(const Call& call) {
  if (call.roles->name == "aten::linear.out") return {0, 1, 2, 1};
  if (call.roles->name == "aten::mm.out") return {0, 1, {}, 0};
  return {1, 2, 0, 0};
}

bool is_constant(const Value& v, int rank) { return is_f32(v) && v.tensor->constant && v.tensor->rank == rank; }

bool is_one(const Value& v) {
  return !v.changes && ((v.kind == ValueKind::integer && v.integer == 1) || (v.kind == ValueKind::real && v.real == 1));
}

struct State {
  xnn_operator_t op;
  std::size_t rows;
};

xnn_status set_up(const Call& call, const State& state, pthreadpool_t pool) {
  return xnn_setup_fully_connected_nc_f32(state.op, state.rows, call.tensor(roles_of(call).a).elements<float>(),
                                          call.arguments.back()->tensor->elements<float>(), pool);
}

bool make(const Call& call, State& state) {
  const Roles r = roles_of(call);
  const Tensor& b = call.tensor(r.b);
  const auto inputs = static_cast<std::size_t>(b.size(r.inputs)),
             outputs = static_cast<std::size_t>(b.size(1 - r.inputs));
  const bool has_bias = r.bias && call[*r.bias].kind != ValueKind::none;
  const float* bias = has_bias ? call.tensor(*r.bias).elements<float>() : nullptr;
  Limits limits;
  limits_of(call, limits);
  const bool rows_are_inputs = strides_of(b).of[r.inputs] != 1 && outputs > 1;
  return xnn_create_fully_connected_nc_f32(inputs, outputs, inputs, outputs, b.elements<float>(), bias, limits.low,
                                           limits.high, rows_are_inputs ? XNN_FLAG_TRANSPOSE_WEIGHTS : 0,
                                           &state.op) == xnn_status_success &&
         set_up(call, state, nullptr) == xnn_status_success;
}

const void* prepare(const Call& call, Stores& stores) {
  const auto state = stores.tables.take<State>(1);
  if (state.empty()) return nullptr;
  const Tensor& a = call.tensor(roles_of(call).a);
  state[0] = {nullptr, static_cast<std::size_t>(a.count() / a.size(a.rank - 1))};
  Memory memory(*stores.prepared);
  if (!make(call, state[0]) || !memory.was_asked()) stores.refused = "XNNPACK cannot make the operator in this memory";
  call.tensor(roles_of(call).a).read_beyond = true;
  return state.data();
}

bool run(const Step& step, Execution& execution) {
  const State& state = *static_cast<const State*>(step.state);
  return run_operator(state.op, execution.threads, [&](pthreadpool_t pool) { return set_up(step.call, state, pool); });
}

}  // namespace

bool can_multiply(const Call& call) {
  const Roles r = roles_of(call);
  Limits limits;
  const Value &a = call[r.a], &b = call[r.b], &out = *call.arguments.back();
  if (!is_f32(a) || !is_f32(out) || !is_constant(b, 2) || !limits_of(call, limits) || !is_readable(*a.tensor))
    return false;
  if (call.fusion && !call.fusion->norm.empty()) return false;
  if (call.roles->name == "aten::addmm.out" && (!is_one(call[3]) || !is_one(call[4]))) return false;
  const std::int64_t inputs = b.tensor->size(r.inputs), outputs = b.tensor->size(1 - r.inputs);
  if (r.bias && call[*r.bias].kind != ValueKind::none &&
      (!is_constant(call[*r.bias], 1) || call.tensor(*r.bias).size(0) != outputs))
    return false;
  const auto x = a.tensor->shape(), y = out.tensor->shape();
  const bool has_sizes =
      call.fusion || (x.size() == y.size() && std::equal(x.begin(), x.end() - 1, y.begin()) && y.back() == outputs);
  return has_sizes && x.size() >= 2 && x.back() == inputs && a.tensor->count() > 0 && outputs > 0 &&
         out.tensor->count() == a.tensor->count() / inputs * outputs && a.tensor->is_contiguous() &&
         out.tensor->is_contiguous() && is_ready();
}

}  // namespace xnnpack

namespace {

bool accepts(const Call& call) { return call.relaxed && xnnpack::can_multiply(call); }

}  // namespace

const Kernel matmul_xnnpack_f32{"matmul_xnnpack_f32", accepts, xnnpack::prepare, xnnpack::run};

}  // namespace assay::optimized
