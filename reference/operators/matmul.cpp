#include "operators/matmul.gen.h"

#include <cmath>

#include "reference/families.h"
#include "reference/numerics/bounds.h"

namespace assay {
namespace {

void add_product(Sum<Real>& sum, Real a, Real b) { sum += a * b; }
void add_product(Sum<Complex>& sum, Complex a, Complex b) { sum += a * b; }
void add_product(Int& sum, Int a, Int b) { sum = wrapping_add(sum, wrapping_multiply(a, b)); }

// out = a b for each pair of matrices in two stacks; the last two sizes are the sizes of a matrix.
template <class T>
void multiply(Array<T>& out, const Array<T>& a, const Array<T>& b) {
  const int rank = out.sizes.size();
  const Int rows = a.sizes[rank - 2], inner = a.sizes[rank - 1], columns = b.sizes[rank - 1];
  for (Int row = 0; row < out.count() / columns; ++row) {
    Array<Sum<T>> sums(Dims{columns});
    for (Int k = 0; k < inner; ++k) {
      const T factor = a[row * inner + k];
      const Int other = (row / rows * inner + k) * columns;
      for (Int j = 0; j < columns; ++j) add_product(sums[j], factor, b[other + j]);
    }
    std::ranges::copy(sums.data, out.data.begin() + row * columns);
  }
}

// out = beta self + alpha out, with self broadcast to out. An addend whose factor is 0 is left out.
template <class T>
void blend(Array<T>& out, const Array<T>& self, T beta, T alpha) {
  const families::Broadcast<T> addend = families::broadcast(self, out.sizes);
  Int flat = 0;
  for (const Dims& i : indices(out.sizes)) {
    Sum<T> sum = T{0};
    if (beta != T{0}) add_product(sum, beta, addend.at(i, flat));
    if (alpha != T{0}) add_product(sum, alpha, out[flat]);
    out[flat++] = sum;
  }
}

}  // namespace

void operators::mm(Array<Real>& out, const Array<Real>& self, const Array<Real>& mat2) { multiply(out, self, mat2); }
void operators::mm(Array<Int>& out, const Array<Int>& self, const Array<Int>& mat2) { multiply(out, self, mat2); }
void operators::mm(Array<Complex>& out, const Array<Complex>& self, const Array<Complex>& mat2) {
  multiply(out, self, mat2);
}
void operators::bmm(Array<Real>& out, const Array<Real>& self, const Array<Real>& mat2) { multiply(out, self, mat2); }
void operators::bmm(Array<Int>& out, const Array<Int>& self, const Array<Int>& mat2) { multiply(out, self, mat2); }
void operators::bmm(Array<Complex>& out, const Array<Complex>& self, const Array<Complex>& mat2) {
  multiply(out, self, mat2);
}

// Where there are no products, beta is rounded to the dtype first.
void operators::addmm(Array<Real>& out, const Array<Real>& self, const Array<Real>& mat1, const Array<Real>& mat2,
                      Real beta, Real alpha, const Rounding& round) {
  multiply(out, mat1, mat2);
  blend(out, self, mat1.sizes[1] > 0 ? beta : round(beta), mat1.sizes[1] > 0 ? alpha : 0);
}
void operators::addmm(Array<Int>& out, const Array<Int>& self, const Array<Int>& mat1, const Array<Int>& mat2, Int beta,
                      Int alpha, const Rounding&) {
  multiply(out, mat1, mat2);
  blend(out, self, beta, alpha);
}
void operators::addmm(Array<Complex>& out, const Array<Complex>& self, const Array<Complex>& mat1,
                      const Array<Complex>& mat2, Complex beta, Complex alpha, const Rounding&) {
  multiply(out, mat1, mat2);
  blend(out, self, beta, mat1.sizes[1] > 0 ? alpha : 0);
}

namespace {

// A row of out for each row of input: its products with the rows of weight, beginning with the bias.
template <class T>
void multiply_rows(Array<T>& out, const Array<T>& input, const Array<T>& weight, const std::optional<Array<T>>& bias) {
  const Int inner = weight.sizes[weight.sizes.size() - 1], columns = weight.sizes.size() == 1 ? 1 : weight.sizes[0];
  for (Int flat = 0; flat < out.count(); ++flat) {
    const Int row = flat / columns, column = flat % columns;
    Sum<T> sum = bias ? (*bias)[bias->count() == 1 ? 0 : column] : T{0};
    for (Int k = 0; k < inner; ++k) add_product(sum, input[row * inner + k], weight[column * inner + k]);
    out[flat] = sum;
  }
}

}  // namespace

void operators::linear(Array<Real>& out, const Array<Real>& input, const Array<Real>& weight,
                       const std::optional<Array<Real>>& bias) {
  multiply_rows(out, input, weight, bias);
}
void operators::linear(Array<Int>& out, const Array<Int>& input, const Array<Int>& weight,
                       const std::optional<Array<Int>>& bias) {
  multiply_rows(out, input, weight, bias);
}
void operators::linear(Array<Complex>& out, const Array<Complex>& input, const Array<Complex>& weight,
                       const std::optional<Array<Complex>>& bias) {
  multiply_rows(out, input, weight, bias);
}

void operators::mm_magnitude(Array<Complex>& out, const Array<Complex>& self, const Array<Complex>& mat2) {
  multiply(out, bounds(self), bounds(mat2));
}
void operators::addmm_magnitude(Array<Complex>& out, const Array<Complex>& self, const Array<Complex>& mat1,
                                const Array<Complex>& mat2, Complex beta, Complex alpha, const Rounding& round) {
  addmm(out, bounds(self), bounds(mat1), bounds(mat2), std::abs(beta), std::abs(alpha), round);
}
void operators::linear_magnitude(Array<Complex>& out, const Array<Complex>& input, const Array<Complex>& weight,
                                 const std::optional<Array<Complex>>& bias) {
  multiply_rows(out, bounds(input), bounds(weight), bias ? std::optional(bounds(*bias)) : std::nullopt);
}

// With alpha 0, a product that is not finite may make the result NaN, since kernels may multiply it by 0.
void operators::addmm_magnitude(Array<Real>& out, const Array<Real>& self, const Array<Real>& mat1,
                                const Array<Real>& mat2, Real beta, Real alpha, const Rounding& round) {
  Array<Real> product(out.sizes);
  multiply(product, mat1, mat2);
  addmm(out, magnitudes(self), magnitudes(mat1), magnitudes(mat2), std::fabs(beta), std::fabs(alpha), round);
  for (Int k = 0; k < out.count(); ++k)
    if (alpha == 0 && !std::isfinite(product[k])) out[k] = overflowing(out[k]);
}

}  // namespace assay
