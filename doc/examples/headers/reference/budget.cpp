#include <reference/budget.h>
#include <reference/fault.h>

// A scope charges each allocation to its budget, and refuses an allocation that exceeds the budget.
int main() {
  const assay::Budget budget(assay::Budget::Limits{.bytes = 1000});
  const assay::Budget::Scope scope(budget, "the example");
  const assay::Buffer<double> fits(100);
  try {
    const assay::Buffer<double> does_not(100);
    return 1;
  } catch (const assay::Fault& fault) {
    return fault.rule == "limits.memory" && budget.used().bytes == 800 ? 0 : 1;
  }
}
