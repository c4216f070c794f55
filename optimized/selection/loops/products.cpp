#include <algorithm>

#include "kernels.gen.h"
#include "optimized/selection/scalars.h"

// Matrix products of any dtype and in any layout, by plain loops: each result is a sum of products of the elements of
// two rows, with a bias.
namespace assay::optimized {
namespace {

// Where the rows of each result begin, and the strides along them. The bias may be null.
struct Product {
  const Tensor *a, *b, *bias = nullptr;
  Shape shape;
  Strides of_a{}, of_b{}, of_bias{};
  std::int64_t n = 0;
  std::ptrdiff_t step_a = 0, step_b = 0;
  const Value *alpha = nullptr, *beta = nullptr;  // factors of the sum and of the bias; null for 1
};

// The matrix product of the last two dimensions, of which there may be a batch.
bool of_matrices(const Tensor& a, const Tensor& b, int rank, Product& p) {
  if (a.rank != rank || b.rank != rank) return false;
  const int row = rank - 2, column = rank - 1;
  if (a.size(column) != b.size(row) || (rank == 3 && a.size(0) != b.size(0))) return false;
  const Strides in_a = strides_of(a), in_b = strides_of(b);
  p.a = &a, p.b = &b, p.n = a.size(column);
  p.shape = shape_of(a), p.shape.sizes[column] = b.sizes[column];
  p.of_a = in_a, p.of_a.of[column] = 0, p.step_a = in_a.of[column];
  p.of_b = in_b, p.of_b.of[row] = 0, p.step_b = in_b.of[row];
  return true;
}

bool mm(const Call& call, Product& p) { return of_matrices(call.tensor(0), call.tensor(1), 2, p); }
bool bmm(const Call& call, Product& p) { return of_matrices(call.tensor(0), call.tensor(1), 3, p); }

// Operands: self, mat1, mat2, beta, alpha, out.
bool addmm(const Call& call, Product& p) {
  if (!of_matrices(call.tensor(1), call.tensor(2), 2, p) || call.tensor(0).rank > 2) return false;
  Shape shape = p.shape;
  if (!broadcast(shape, call.tensor(0)) || !std::ranges::equal(shape.span(), p.shape.span())) return false;
  p.bias = &call.tensor(0), p.of_bias = strides_in(p.shape, *p.bias);
  p.beta = &call[3], p.alpha = &call[4];
  return true;
}

// Operands: input, weight, bias, out. The weight has a row for each column of the result; a weight of one dimension
// gives no columns. The bias has an element for each column, or one for all.
bool linear(const Call& call, Product& p) {
  const Tensor &input = call.tensor(0), &weight = call.tensor(1);
  if (input.rank < 1 || weight.rank < 1 || weight.rank > 2 ||
      input.size(input.rank - 1) != weight.size(weight.rank - 1))
    return false;
  const int last = input.rank - 1;
  const Strides in_input = strides_of(input), in_weight = strides_of(weight);
  p.a = &input, p.b = &weight, p.n = input.size(last);
  p.shape = shape_of(input), p.of_a = in_input;
  p.step_a = in_input.of[last], p.step_b = in_weight.of[weight.rank - 1];
  if (weight.rank == 1)
    --p.shape.rank;
  else
    p.shape.sizes[last] = weight.sizes[0], p.of_a.of[last] = 0, p.of_b.of[last] = in_weight.of[0];
  if (!call[2].is_tensor()) return call[2].kind == ValueKind::none;
  p.bias = &call.tensor(2);
  const Shape one{0, {}}, columns{2, {1, weight.sizes[0]}}, &most = weight.rank == 1 ? one : columns;
  Shape shape = most;
  if ((weight.rank == 1 && input.rank == 2) || p.bias->rank > most.rank || !broadcast(shape, *p.bias) ||
      !std::ranges::equal(shape.span(), most.span()))
    return false;
  p.of_bias.of[last] =
      p.bias->rank > 0 && p.bias->sizes[p.bias->rank - 1] > 1 ? strides_of(*p.bias).of[p.bias->rank - 1] : 0;
  return true;
}

bool accepts(const Call& call) {
  for (std::size_t i = 0; i + 1 < call.arguments.size(); ++i)
    if (call[i].is_tensor() && call.tensor(i).dtype != call.out().dtype) return false;
  return call[0].is_tensor() && call[1].is_tensor() && find_reader<Complex>(call.out().dtype);
}

// A factor as a number of the product's dtype; 1 if the call has none.
template <class T>
bool read_factor(const Value* factor, DType common, T& to) {
  to = T(1);
  return !factor || read_scalar(common, *factor, to);
}

// A factor of the bias that is not 0 has at most the kind of the dtype.
bool keeps_kind(const Value* factor, DType common) {
  if (!factor) return true;
  const bool is_real = factor->kind == ValueKind::real, is_truth = factor->kind == ValueKind::boolean;
  if (is_real ? factor->real == 0 : is_truth ? !factor->boolean : factor->integer == 0) return true;
  return is_truth || is_floating(common) || is_complex(common) || (!is_real && common != DType::boolean);
}

// A sum of no products is left out, and a half type then rounds the factor of the bias.
template <class T>
void read_empty_sum(DType common, T& alpha, T& beta) {
  alpha = T{};
  if constexpr (std::is_same_v<T, double>) beta = stored_as(common, beta);
}

template <class T>
bool multiply(const Product& p, const Tensor& out) {
  T alpha{}, beta{};
  if ((p.n > 0 && !read_factor(p.alpha, out.dtype, alpha)) || !read_factor(p.beta, out.dtype, beta)) return false;
  if (p.n == 0) read_empty_sum(out.dtype, alpha, beta);
  const Reading<T> a(*p.a, out.dtype), b(*p.b, out.dtype), bias(p.bias ? *p.bias : *p.a, out.dtype);
  const Writing<T> y(out);
  const Strides strides[] = {strides_of(out), p.of_a, p.of_b, p.of_bias};
  const Nest nest = nest_of(p.shape, row_major, strides);
  const int inner = nest.loops - 1;
  each_row(nest, 4, [&](const std::ptrdiff_t* at, std::ptrdiff_t many) {
    for (std::ptrdiff_t i = 0; i < many; ++i) {
      const auto place = [&](int k) { return at[k] + i * nest.stride[k][inner]; };
      T total{};
      for (std::int64_t k = 0; k < p.n && alpha != T{}; ++k)
        total = plus(total, times(a[place(1) + k * p.step_a], b[place(2) + k * p.step_b]));
      if (alpha != T{} && alpha != T(1)) total = times(total, alpha);
      if (p.bias && beta != T{}) total = plus(total, beta == T(1) ? bias[place(3)] : times(beta, bias[place(3)]));
      y.set(place(0), total);
    }
  });
  return true;
}

template <bool (*describe)(const Call&, Product&)>
bool run(const Step& step, Execution&) {
  Product p;
  Tensor& out = step.call.out();
  if (!describe(step.call, p)) return false;
  if (!is_number_or_complex(out.dtype) && (p.n > 0 && p.a->count() > 0 && p.b->count() > 0)) return false;
  if ((p.n == 0 && p.shape.count() > 0 && !keeps_kind(p.beta, out.dtype)) || !resize(out, p.shape.span())) return false;
  return out.count() == 0 || with_number(out.dtype, [&]<class T>() { return multiply<T>(p, out); });
}

template <bool (*describe)(const Call&, Product&)>
constexpr Kernel product(const char* name) {
  return {name, accepts, nullptr, run<describe>};
}

}  // namespace

constexpr Kernel mm_any = product<mm>("mm_any");
constexpr Kernel bmm_any = product<bmm>("bmm_any");
constexpr Kernel addmm_any = product<addmm>("addmm_any");
constexpr Kernel linear_any = product<linear>("linear_any");

}  // namespace assay::optimized
