#include "optimized/kernels/matmul.h"

#include <algorithm>
#include <optional>

#include "optimized/operators/images.h"
#include "optimized/operators/layout.h"
#include "optimized/runtime/kernel.h"

// Products of f32 matrices: aten::mm, addmm, linear, bmm.
namespace assay::optimized {
namespace {

// count products of m by k and k by n matrices, into matrices of m rows of n.
struct Product {
  const Tensor *a = nullptr, *b = nullptr, *bias = nullptr;
  Tensor* out = nullptr;
  std::size_t count = 1, m = 0, k = 0, n = 0;
  std::size_t b_stride = 0, row_stride = 0,
              column_stride = 0;  // floats: from a matrix, a row, a column of b to the next
};

bool is_f32(const Value& v, int rank) {  // 0: any
  return optimized::is_f32(v) && (rank == 0 || v.tensor->rank == rank) && v.tensor->count() > 0;
}

bool is_one(const Value& v) {
  return !v.changes && ((v.kind == ValueKind::integer && v.integer == 1) || (v.kind == ValueKind::real && v.real == 1));
}

std::size_t size(const Tensor& t, int d) { return static_cast<std::size_t>(t.size(d)); }

// The last two dimensions of a and b, in the order of b's or transposed. The rows of the result follow each other, even
// where another shape is asked for.
std::optional<Product> product_of(const Value& a, const Value& b, const Value& out, bool transposed) {
  if (!is_f32(a, 0) || !is_f32(b, 0) || !is_f32(out, 0) || a.tensor->rank < 2 || b.tensor->rank < 2) return {};
  Product p;
  p.a = a.tensor, p.b = b.tensor, p.out = out.tensor;
  if (!p.a->is_contiguous() || !p.out->is_contiguous()) return {};
  const int rank = p.b->rank;
  const Strides strides = strides_of(*p.b);
  const auto along = [&](int d) { return static_cast<std::size_t>(strides.of[d]); };
  p.k = size(*p.b, rank - (transposed ? 1 : 2)), p.n = size(*p.b, rank - (transposed ? 2 : 1));
  p.row_stride = along(rank - (transposed ? 1 : 2)), p.column_stride = along(rank - (transposed ? 2 : 1));
  if (size(*p.a, p.a->rank - 1) != p.k) return {};
  if (rank == 3) {
    if (p.a->rank != 3 || p.a->size(0) != p.b->size(0)) return {};
    p.count = size(*p.b, 0), p.b_stride = along(0);
  } else if (rank != 2) {
    return {};
  }
  p.m = static_cast<std::size_t>(p.a->count()) / p.k / p.count;
  if (static_cast<std::size_t>(p.out->count()) != p.count * p.m * p.n) return {};
  return p;
}

std::optional<Product> product_of(const Call& call) {
  const auto ranks = [&](std::initializer_list<std::pair<int, int>> all) {
    for (const auto& [i, rank] : all)
      if (!is_f32(call[static_cast<std::size_t>(i)], rank)) return false;
    return true;
  };
  const std::string_view op = call.roles->name;
  const Value& out = *call.arguments.back();
  if (op == "aten::mm.out") return ranks({{0, 2}, {1, 2}}) ? product_of(call[0], call[1], out, false) : std::nullopt;
  if (op == "aten::bmm.out") return ranks({{0, 3}, {1, 3}}) ? product_of(call[0], call[1], out, false) : std::nullopt;
  std::optional<Product> p;
  const bool is_linear = op == "aten::linear.out";
  const Value& bias = call[is_linear ? 2 : 0];
  if (is_linear) {
    if (!ranks({{1, 2}})) return {};
    p = product_of(call[0], call[1], out, true);
    if (bias.kind == ValueKind::none) return p;
  } else if (ranks({{1, 2}, {2, 2}}) && is_one(call[3]) && is_one(call[4])) {
    p = product_of(call[1], call[2], out, false);
  }
  if (!p || !is_f32(bias, 1) || size(*bias.tensor, 0) != p->n) return {};
  p->bias = bias.tensor;
  return p;
}

// Whether the result is of the sizes that the product has; where it is merged with others, that has been asked.
bool has_sizes_of(const Product& p) {
  const auto a = p.a->shape(), out = p.out->shape();
  return out.size() == a.size() && std::equal(a.begin(), a.end() - 1, out.begin()) &&
         static_cast<std::size_t>(out.back()) == p.n;
}

bool accepts(const Call& call) {
  if (!call.set) return false;
  const auto p = product_of(call);
  if (!p) return false;
  if (!call.fusion) return has_sizes_of(*p);
  return call.fusion->norm.empty() && (!call.fusion->residual || call.fusion->residual->tensor->is_contiguous());
}

struct State {
  Product product;
  kernels::PackedMatrix packed;  // of a constant
  kernels::Epilogue epilogue;
};

const void* prepare(const Call& call, Stores& stores) {
  const auto state = stores.tables.take<State>(1);
  if (state.empty()) return nullptr;
  State& s = state[0];
  const Product& p = s.product = *product_of(call);
  const kernels::InstructionSet set = *call.set;
  const std::size_t floats = kernels::packed_floats(set, p.k, p.n);
  if (call.fusion) s.epilogue = epilogue_of(*call.fusion);
  s.packed = {{set, p.k, p.n}, nullptr};
  if (!p.b->constant || p.count > 1) {
    stores.scratch = floats * sizeof(float);
  } else if (const auto packed = take_floats(stores.packed, floats); !packed.empty()) {
    s.packed = kernels::pack(set, p.b->elements<float>(), p.k, p.n, p.row_stride, p.column_stride, packed.data());
  }
  return &s;
}

bool run(const Step& step, Run& run) {
  const State& s = *static_cast<const State*>(step.state);
  const Product& p = s.product;
  kernels::Epilogue epilogue = s.epilogue;
  const Fusion* fusion = step.call.fusion;
  if (fusion && fusion->residual)
    epilogue.residual = fusion->residual->tensor->elements<float>(), epilogue.residual_stride = p.n;
  for (std::size_t i = 0; i < p.count; ++i) {
    kernels::PackedMatrix b = s.packed;
    if (!b.data)
      b = kernels::pack(b.panels.set, p.b->elements<float>() + i * p.b_stride, p.k, p.n, p.row_stride, p.column_stride,
                        reinterpret_cast<float*>(run.scratch.data()));
    kernels::matmul(p.a->elements<float>() + i * p.m * p.k, p.k, p.m, b, p.bias ? p.bias->elements<float>() : nullptr,
                    p.out->elements<float>() + i * p.m * p.n, p.n, epilogue, run.threads);
    if (epilogue.residual) epilogue.residual += p.m * p.n;
  }
  return true;
}

}  // namespace

extern const Kernel matmul_f32;
const Kernel matmul_f32{"matmul_f32", accepts, prepare, run};

}  // namespace assay::optimized
