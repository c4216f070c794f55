#include <reference/number.h>

#include <cstdint>

// Integers wrap. A complex product is computed as in PyTorch, so that an infinite factor can give a NaN part.
int main() {
  const assay::Complex product = assay::Complex(INFINITY, 0) * assay::Complex(0, 1);
  return assay::wrapping_add(INT64_MAX, 1) == INT64_MIN && std::isnan(product.real()) ? 0 : 1;
}
