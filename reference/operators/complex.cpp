#include "operators/complex.gen.h"

#include <cmath>
#include <numbers>

namespace assay {

void operators::view_as_real_copy(Array<Real>& out, const Array<Complex>& self) {
  for (Int k = 0; k < out.count(); ++k) out[k] = k % 2 == 0 ? self[k / 2].real() : self[k / 2].imag();
}
void operators::view_as_complex_copy(Array<Complex>& out, const Array<Real>& self) {
  for (Int k = 0; k < out.count(); ++k) out[k] = {self[2 * k], self[2 * k + 1]};
}

Complex operators::complex(Real real, Real imag) { return {real, imag}; }
Complex operators::polar(Real abs, Real angle) { return {abs * std::cos(angle), abs * std::sin(angle)}; }

Real operators::angle(Real x) { return std::isnan(x) ? x : x < 0 ? std::numbers::pi_v<Real> : 0; }
Real operators::angle(Complex x) { return std::atan2(x.imag(), x.real()); }

}  // namespace assay
