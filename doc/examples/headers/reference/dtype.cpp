#include <reference/dtype.h>

#include <cstdio>

// Rounds a number to float16 and to bfloat16.
int main() {
  const assay::DType half = assay::dtype_named("float16").value();
  std::printf("%.17g\n", assay::round_to(half, 0.1));
  return assay::info(half).bytes == 2 && assay::round_to(half, 65520) > assay::largest(half) ? 0 : 1;
}
