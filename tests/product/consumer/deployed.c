#include <optimized/api/assay.h>
#include <stdio.h>

/* A client in C: what is no program is refused by the rule that says so. */
int main(void) {
  _Alignas(16) const char file[64] = "no program";
  const assay_bytes bytes = {file, sizeof file};
  assay_program_sizes sizes;
  assay_fault fault;
  const assay_outcome outcome = assay_program_size(bytes, NULL, 0, &sizes, &fault);
  printf("%d %s\n", (int)outcome, fault.rule);
  return 0;
}
