#include <reference/number.h>

#include <cstdint>

// Integers wrap. The product of complex numbers is that of PyTorch, which does not recover infinities from NaN.
int main() {
  const assay::Complex product = assay::Complex(INFINITY, 0) * assay::Complex(0, 1);
  return assay::wrapping_add(INT64_MAX, 1) == INT64_MIN && std::isnan(product.real()) ? 0 : 1;
}
