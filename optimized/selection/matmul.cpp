#include "optimized/kernels/matmul.h"

#include <algorithm>
#include <optional>

#include "optimized/runtime/kernel.h"
#include "optimized/selection/images.h"
#include "optimized/selection/views.h"

// Products of float32 matrices: aten::mm, addmm, linear, bmm.
namespace assay::optimized {
namespace {

// `count` products of m by k and k by n matrices, into matrices of m rows of n.
struct Product {
  const Tensor *a = nullptr, *b = nullptr, *bias = nullptr;
  Tensor* out = nullptr;
  std::size_t count = 1, m = 0, k = 0, n = 0;
  // Floats from the beginning to the first element of a and b; of a, strides of matrices and rows; of b, strides of
  // matrices, rows and columns.
  std::size_t a_first = 0, a_stride = 0, a_row = 0;
  std::size_t b_first = 0, b_stride = 0, row_stride = 0, column_stride = 0;
};

bool is_float(const Value& v) { return v.kind == ValueKind::tensor && v.tensor->dtype == DType::float32; }

bool is_one(const Value& v) {
  return !v.changes && ((v.kind == ValueKind::integer && v.integer == 1) || (v.kind == ValueKind::real && v.real == 1));
}

std::size_t size(const View& v, int d) { return static_cast<std::size_t>(v.shape.sizes[d]); }

// The factors of a call. Returns nothing if kernels do not accept the dtypes or ranks.
struct Factors {
  const Tensor *a, *b, *bias = nullptr;
  Tensor* out;
  View a_view, b_view;
  bool transposed = false;  // whether b is transposed
};

std::optional<Factors> factors_of(const Call& call) {
  const std::string_view op = call.roles->name;
  const auto all = [&](std::size_t a, int a_rank, std::size_t b, int b_rank) -> std::optional<Factors> {
    if (!has_views_only_of(call, a, b) || !is_float(call[a]) || !is_float(call[b]) || !is_float(*call.arguments.back()))
      return {};
    Tensor* out = call.arguments.back()->tensor;
    const Factors f{&call.tensor(a), &call.tensor(b), nullptr, out, view_of(call, a), view_of(call, b)};
    const bool has_ranks = (a_rank == 0 || f.a_view.shape.rank == a_rank) && f.b_view.shape.rank == b_rank;
    return has_ranks ? std::optional(f) : std::nullopt;
  };
  if (op == "aten::mm.out") return all(0, 2, 1, 2);
  if (op == "aten::bmm.out") return all(0, 3, 1, 3);
  const bool is_linear = op == "aten::linear.out";
  const Value& bias = call[is_linear ? 2 : 0];
  if (!is_linear && (!is_one(call[3]) || !is_one(call[4]))) return {};
  auto factors = is_linear ? all(0, 0, 1, 2) : all(1, 2, 2, 2);
  if (!factors || factors->a_view.shape.rank < 2) return {};
  factors->transposed = is_linear;
  if (is_linear && bias.kind == ValueKind::none) return factors;
  if (!is_float(bias) || bias.tensor->rank != 1) return {};
  factors->bias = bias.tensor;
  return factors;
}

// Whether b is a single matrix.
bool has_one(const View& b) { return b.shape.rank == 2 || b.shape.sizes[0] == 1 || b.strides.of[0] == 0; }

bool moves(const Factors& f) { return f.a->moves || f.b->moves || f.out->moves || (f.bias && f.bias->moves); }

// The last two dimensions of a and b, b transposed or not. The rows of the result follow each other, also if the out
// has another shape.
std::optional<Product> product_of(const Factors& f) {
  Product p;
  p.a = f.a, p.b = f.b, p.bias = f.bias, p.out = f.out;
  View a = f.a_view;
  const View& b = f.b_view;
  if (b.shape.count() == 0 || !is_ascending(a) || !is_ascending(b)) return {};
  const int rank = b.shape.rank, row = rank - (f.transposed ? 1 : 2), column = rank - (f.transposed ? 2 : 1);
  const auto along = [](const View& v, int d) { return static_cast<std::size_t>(v.strides.of[d]); };
  p.k = size(b, row), p.n = size(b, column), p.row_stride = along(b, row), p.column_stride = along(b, column);
  if (size(a, a.shape.rank - 1) != p.k || (p.bias && static_cast<std::size_t>(p.bias->size(0)) != p.n)) return {};
  if (rank == 3) {
    if (a.shape.sizes[0] != b.shape.sizes[0]) return {};
    if (!has_one(b)) p.count = size(b, 0), p.b_stride = along(b, 0);
  }
  p.m = static_cast<std::size_t>(a.shape.count()) / p.k / p.count;
  if (p.m == 0) return p;
  const std::size_t sizes[] = {p.count, p.m, p.k};
  std::int32_t matrices[3];
  std::ranges::transform(sizes, matrices, [](std::size_t n) { return static_cast<std::int32_t>(n); });
  if (!reshape(a, matrices) || (a.strides.of[2] != 1 && p.k > 1)) return {};
  p.a_first = static_cast<std::size_t>(a.first), p.a_stride = along(a, 0), p.a_row = along(a, 1);
  p.b_first = static_cast<std::size_t>(b.first);
  return p;
}

// Whether b is packed once, before the first execution.
bool is_packed_once(const Factors& f) { return f.b->constant && !f.b->moves && has_one(f.b_view); }

// Whether the result has as many elements as the product.
bool has_elements_of(const Product& p) {
  return static_cast<std::size_t>(p.out->count()) == p.count * p.m * p.n && p.out->is_contiguous();
}

// Whether the result has the sizes of the product. Of a merged call the rewrite has checked that.
bool has_sizes_of(const Factors& f, const Product& p) {
  const auto a = f.a_view.shape.span(), out = p.out->shape();
  return out.size() == a.size() && std::equal(a.begin(), a.end() - 1, out.begin()) &&
         static_cast<std::size_t>(out.back()) == p.n;
}

bool fits_fusion(const Fusion& fusion) {
  return fusion.norm.empty() && (!fusion.residual || fusion.residual->tensor->is_contiguous());
}

// Of a merged call, only the rows may move: the reference cannot do it in place of the kernel, whatever the sizes are.
bool moves_in_rows(const Factors& f, const Call& call) {
  const auto p = product_of(f);
  return p && has_elements_of(*p) && !f.b->moves && !(f.bias && f.bias->moves) && is_row_major(*f.a) &&
         fits_fusion(*call.fusion);
}

bool accepts(const Call& call) {
  if (!call.set || (call.fusion && call.fusion->attention)) return false;
  const auto f = factors_of(call);
  if (!f) return false;
  if (moves(*f))
    return is_row_major(*f->out) && !f->b->unbounded &&
           (call.fusion ? moves_in_rows(*f, call) : f->out->rank == f->a->rank);
  const auto p = product_of(*f);
  if (!p || !has_elements_of(*p)) return false;
  return call.fusion ? fits_fusion(*call.fusion) : has_sizes_of(*f, *p);
}

struct State {
  std::optional<Product> product;  // empty if its sizes may change
  kernels::PackedMatrix packed;    // the packed matrix of a constant b
  kernels::Epilogue epilogue;
};

const void* prepare(const Call& call, Stores& stores) {
  const auto state = stores.tables.take<State>(1);
  if (state.empty()) return nullptr;
  State& s = state[0];
  const Factors f = *factors_of(call);
  const View& b = f.b_view;
  s.product = moves(f) ? std::nullopt : product_of(f);
  const kernels::InstructionSet set = *call.set;
  const int row = b.shape.rank - (f.transposed ? 1 : 2), column = b.shape.rank - (f.transposed ? 2 : 1);
  const std::size_t k = size(b, row), n = size(b, column);
  std::size_t floats = kernels::packed_floats(set, k, n);
  if (call.fusion) s.epilogue = epilogue_of(*call.fusion);
  s.packed = {.panels = {set, k, n}};
  if (!is_packed_once(f)) {
    stores.scratch = floats * sizeof(float);
    return &s;
  }
  if (s.product && s.product->m <= kernels::most_rows_of_halves) s.packed.halves = stores.halves;
  if (s.packed.halves) floats = s.packed.halves->packed_floats({set, k, n}), stores.packed.note("halves");
  const auto packed = stores.packed.take(floats);
  s.packed.data = packed.data;
  if (packed.to_make.empty()) return &s;
  const auto* first = f.b->elements<float>() + b.first;
  const auto along = [&](int d) { return static_cast<std::size_t>(b.strides.of[d]); };
  if (s.packed.halves)
    s.packed.halves->pack({set, k, n}, first, along(row), along(column), packed.to_make.data());
  else
    kernels::pack(set, first, k, n, along(row), along(column), packed.to_make.data());
  return &s;
}

const Tensor* packed_factor(const Call& call) {
  const auto f = factors_of(call);
  return f && is_packed_once(*f) ? f->b : nullptr;
}

// The sizes of the result. Returns nothing if the merged calls do not have as many elements.
std::optional<Shape> result_shape(const Call& call, const Factors& f, const Product& p) {
  Shape shape = f.a_view.shape;
  shape.sizes[shape.rank - 1] = static_cast<std::int32_t>(p.n);
  if (!call.fusion) return shape;
  const auto n = static_cast<std::int64_t>(p.count * p.m * p.n);
  if (call.fusion->residual) {
    shape = shape_of(*call.fusion->residual->tensor);
  } else if (const auto sizes = call.fusion->sizes; !sizes.empty()) {
    shape.rank = static_cast<int>(sizes.size());
    std::ranges::copy(sizes, shape.sizes);
    const std::int64_t known = -shape.count();  // one of the sizes is -1
    if (known <= 0 || n % known != 0) return {};
    std::ranges::replace(shape.sizes, shape.sizes + shape.rank, -1, static_cast<std::int32_t>(n / known));
  }
  return shape.count() == n ? std::optional(shape) : std::nullopt;
}

// The product of the tensors' current sizes, if the result can have its sizes and b fits.
std::optional<Product> moved_product(const Call& call, std::size_t scratch) {
  const Factors f = *factors_of(call);
  const auto p = product_of(f);
  if (!p || (!is_packed_once(f) && kernels::packed_floats(*call.set, p->k, p->n) * sizeof(float) > scratch)) return {};
  const auto shape = result_shape(call, f, *p);
  return shape && resize(*p->out, shape->span()) ? p : std::nullopt;
}

bool run(const Step& step, Execution& execution) {
  const State& s = *static_cast<const State*>(step.state);
  const std::optional<Product> now = s.product ? s.product : moved_product(step.call, execution.scratch.size());
  if (!now) return false;
  const Product& p = *now;
  if (p.m == 0) return true;
  kernels::Epilogue epilogue = s.epilogue;
  const Fusion* fusion = step.call.fusion;
  if (fusion && fusion->residual)
    epilogue.residual = fusion->residual->tensor->elements<float>(), epilogue.residual_stride = p.n;
  for (std::size_t i = 0; i < p.count; ++i) {
    kernels::PackedMatrix b = s.packed;
    if (!b.data)
      b = kernels::pack(*step.call.set, p.b->elements<float>() + p.b_first + i * p.b_stride, p.k, p.n, p.row_stride,
                        p.column_stride, reinterpret_cast<float*>(execution.scratch.data()));
    kernels::matmul(p.a->elements<float>() + p.a_first + i * p.a_stride, p.a_row, p.m, b,
                    p.bias ? p.bias->elements<float>() : nullptr, p.out->elements<float>() + i * p.m * p.n, p.n,
                    epilogue, execution.threads);
    if (epilogue.residual) epilogue.residual += p.m * p.n;
  }
  return true;
}

}  // namespace

extern const Kernel matmul_f32;
const Kernel matmul_f32{"matmul_f32", accepts, prepare, run, true, packed_factor};

}  // namespace assay::optimized
