#include <reference/real.h>

#include <initializer_list>

// Adds numbers of the formulas' type, from the first to the last.
int main() {
  assay::Sum<assay::Real> sum = 0;
  for (const assay::Real term : {0.5, 0.25, 0.125}) sum += term;
  return sum == 0.875 ? 0 : 1;
}
