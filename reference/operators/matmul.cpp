#include "operators/matmul.gen.h"

namespace assay {
namespace {

Real multiply_add(Real sum, Real a, Real b) { return sum + a * b; }
Int multiply_add(Int sum, Int a, Int b) { return wrapping_add(sum, wrapping_multiply(a, b)); }

template <class T>
void product(Array<T>& out, const Array<T>& self, const Array<T>& mat2) {
  const Int inner = self.sizes[1];
  for (const Dims& i : indices(out.sizes)) {
    T sum = 0;
    for (Int k = 0; k < inner; ++k) sum = multiply_add(sum, self({i[0], k}), mat2({k, i[1]}));
    out(i) = sum;
  }
}

}  // namespace

void operators::mm(Array<Real>& out, const Array<Real>& self, const Array<Real>& mat2) { product(out, self, mat2); }
void operators::mm(Array<Int>& out, const Array<Int>& self, const Array<Int>& mat2) { product(out, self, mat2); }

}  // namespace assay
