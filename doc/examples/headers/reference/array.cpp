#include <reference/array.h>

// An array whose element (i, j) is 10 i + j.
int main() {
  assay::Array<assay::Int> x(assay::Dims{2, 3});
  for (const assay::Dims& i : assay::indices(x.sizes)) x(i) = 10 * i[0] + i[1];
  return x.count() == 6 && x[assay::offset(x.sizes, {1, 2})] == 12 ? 0 : 1;
}
